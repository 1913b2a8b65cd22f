"""The audit as one HTML page that needs nothing else: no network, no other file."""

from base64 import b64encode
from dataclasses import asdict, replace
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from surefoot.plots.model_weights_display import shortened
from surefoot.report.inputs.target import REGRESSION
from surefoot.report.models.scoring import ERROR_RATE, RANKING_ERROR, RATES, RMSE
from surefoot.report.page import charts, numbers, words
from surefoot.report.page.chart_svg import usable
from surefoot.report.sections.accuracy.findings import ModelScore
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.sentences import NAMES, QUESTIONS
from surefoot.report.sections.shift import page as shift_words
from surefoot.report.sections.uncertainty.findings import UncertaintyFindings

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE, STYLE, SCRIPT = "page.html.j2", "page.css", "page.js"
ANSWERS = {YES: "Yes", PARTLY: "Partly", NO: "No", UNKNOWN: "Not known"}
MOST_LETTERS = 80  # of a name
MOST_ROWS = 60  # of a table


def page_html(audit: Any) -> str:
    """The page, as text to be written in UTF-8.

    Parameters
    ----------
    audit : object
        With the records of `surefoot.report.answers` as ``subject``, ``verdict`` (the headline, then a line for each
        question), ``accuracy``, ``uncertainty``, ``stability`` and ``shift`` (None: left out), and with ``version``,
        ``command`` (None: not known), ``seconds`` and ``random_state``.
    """
    return _environment().get_template(TEMPLATE).render(_view(audit)).strip() + "\n"


def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_text_of),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = _short
    environment.filters["sort_value"] = _sort_value
    environment.filters["sentence"] = _sentence
    for module in (numbers, words, shift_words):
        public = {name: each for name, each in vars(module).items() if callable(each) and not name.startswith("_")}
        environment.globals.update(public)
    environment.globals.update(ANSWERS=ANSWERS, MOST_ROWS=MOST_ROWS, SELECTORS=words.SELECTORS)
    return environment


def _text_of(name: str) -> str:
    return files("surefoot.report.page").joinpath(name).read_text(encoding="utf-8")


def _finalized(value: Any) -> Any:
    """What the template prints: text is cleaned of characters that no page can hold, but markup is left alone."""
    return usable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _short(name: str, most: int = MOST_LETTERS) -> str:
    """A name on one line, without its middle if it is long."""
    return shortened(" ".join(str(name).split()) or "(no name)", most)


def _sentence(text: str) -> str:
    """Text that begins and ends like a sentence."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}" if text else ""


def _sort_value(value: float) -> str:
    """What a table sorts a number by; empty if there is none, which comes last."""
    return repr(float(value)) if isfinite(value) else ""


def _view(audit: Any) -> dict[str, Any]:
    """Everything that the template asks for."""
    accuracy, knowing, transfer = audit.accuracy, audit.uncertainty, audit.shift
    measure, script = RMSE if audit.subject.task == REGRESSION else ERROR_RATE, _text_of(SCRIPT)
    lines = dict(zip(NAMES, _lines(audit.verdict), strict=True))
    return {
        "audit": audit,
        "subject": audit.subject,
        "accuracy": accuracy,
        "knowing": knowing,
        "stability": audit.stability,
        "transfer": transfer,
        "measure": measure,
        "is_rate": measure == ERROR_RATE,
        "RATES": RATES,
        "RANKING_ERROR": RANKING_ERROR,
        "style": Markup(_text_of(STYLE)),
        "script": Markup(script),
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
        "headline": audit.verdict[0] if audit.verdict else VerdictLine("", UNKNOWN, ""),
        "lines": lines,
        "charts": {
            "models": charts.models_chart(accuracy),
            "learning": charts.learning_chart(accuracy.curve, accuracy.measure),
            "calibration": charts.calibration_chart(knowing.calibration) if knowing and knowing.calibration else None,
            "transfer": charts.transfer_chart(transfer) if transfer else None,
        },
        "rejection": _rejection(knowing, measure) if knowing else None,
        "shown": {"accuracy": _columns(accuracy.models), "transfer": _columns(transfer.models if transfer else ())},
    }


def _lines(verdict: tuple[VerdictLine, ...]) -> list[VerdictLine]:
    """A line for each question, whatever the verdict lacks."""
    blank = [VerdictLine(question, UNKNOWN, "") for question in QUESTIONS]
    given = [*verdict[1:], *blank[len(verdict[1:]) :]]
    return [replace(line, question=line.question or QUESTIONS[place]) for place, line in enumerate(given[: len(blank)])]


def _rejection(knowing: UncertaintyFindings, measure: str) -> dict[str, Any] | None:
    """The rejection curve with all that the slider says about it."""
    if knowing.by_total is None:
        return None
    chart = charts.rejection_chart(knowing, measure)
    steps = words.rejection_steps(knowing.by_total, measure, knowing.n_rows, knowing.unit, knowing.by_groups)
    if chart is None or not steps:
        return None
    svg, frame = chart
    table = [steps[place] for place in words.TABLE_STEPS]
    return {"svg": svg, "data": {"frame": asdict(frame), "steps": steps}, "steps": steps, "table": table, "first": 10}


def _columns(models: tuple[ModelScore, ...]) -> dict[str, bool]:
    """Which columns of a table of models have anything in them."""
    return {
        "error_rate": any(model.error_rate is not None for model in models),
        "auc": any(model.auc is not None and model.error_rate is None for model in models),
        "log_loss": any(model.log_loss is not None for model in models),
        "excess": any(model.excess is not None for model in models),
        "seconds": any(isfinite(model.seconds) for model in models),
    }
