"""The templates of the page, and the formats and filters that they share."""

from functools import cache
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from surefoot.report.models.scoring import RATES
from surefoot.report.page import numbers
from surefoot.report.page.chart_svg import usable

if TYPE_CHECKING:
    from jinja2 import Environment

ANSWERS = {"yes": "Yes", "partly": "Partly", "no": "No", "unknown": "Not known"}
MAX_LETTERS = 80  # of a name
MAX_ROWS = 60  # of a table


def render(template: str, **values: Any) -> Markup:
    """Render a template, named by its path in `surefoot.report`.

    Every template has the number formats of `surefoot.report.page.numbers`, the filters ``initial``, ``sentence``,
    ``short`` and ``sort_value``, and the macros of ``page/macros.html.j2``. Text is escaped.
    """
    return Markup(_environment().get_template(template).render(values))


def text_of(name: str) -> str:
    """The text of a file of this package."""
    return files("surefoot.report").joinpath(*name.split("/")).read_text(encoding="utf-8")


def model_columns(models: tuple[Any, ...]) -> dict[str, bool]:
    """Which columns of a table of models have values."""
    return {
        "error_rate": any(model.error_rate is not None for model in models),
        "auc": any(model.auc is not None and model.error_rate is None for model in models),
        "log_loss": any(model.log_loss is not None for model in models),
        "excess": any(model.excess is not None for model in models),
        "seconds": any(isfinite(model.seconds) for model in models),
    }


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(text_of),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(initial=_initial, sentence=_sentence, short=_short, sort_value=_sort_value)
    environment.globals.update({name: getattr(numbers, name) for name in numbers.__all__})
    environment.globals.update(ANSWERS=ANSWERS, MAX_ROWS=MAX_ROWS, RATES=RATES)
    return environment


def _finalized(value: Any) -> Any:
    """The value as a template prints it: text without characters that HTML does not allow; markup is kept."""
    return usable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _short(name: str, max_letters: int = MAX_LETTERS) -> str:
    """A name on one line, without its middle if it is long."""
    return numbers.one_line(name, max_letters)


def _initial(text: str) -> str:
    """Text with a capital letter at the start."""
    return f"{text[:1].upper()}{text[1:]}"


def _sentence(text: str) -> str:
    """Text that begins and ends like a sentence."""
    text = text.strip()
    return f"{_initial(text)}{'' if text.endswith(('.', '!', '?')) else '.'}" if text else ""


def _sort_value(value: float) -> str:
    """The value by which a table is sorted; empty, and therefore last, if it is not finite."""
    return repr(float(value)) if isfinite(value) else ""
