"""Parts of the sentences of the verdict: numbers with their intervals, and names of models."""

from textwrap import shorten

from surefoot.report.models.cross_fitting import CONSTANT, ENSEMBLE, YOUR_PREDICTIONS
from surefoot.report.sections.accuracy.findings import AccuracyFindings, ModelScore

NO_TIME = "There was not enough time to answer this."
MAX_LETTERS = 200  # of a set of models
SENTENCE_NAMES = {
    CONSTANT: "the constant",
    "linear": "the linear model",
    ENSEMBLE: "the ensemble",
    "forest": "the forest",
    YOUR_PREDICTIONS: "the model of your predictions",
}


def audited_model(accuracy: AccuracyFindings) -> ModelScore:
    """The one model that all answers are about."""
    return next(model for model in accuracy.models if model.chosen)


def called(name: str) -> str:
    """The name of a model in a sentence, such as "the ensemble"."""
    return SENTENCE_NAMES.get(name, name)


def listed(names: list[str]) -> str:
    """Names, with an "and" before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def more_rows(needed: int | None, n_rows: int) -> str:
    """How many rows would decide a question; empty if that is not known."""
    if not needed or needed <= n_rows:
        return ""
    return f" About {needed:,} rows in all would decide it."


def cut(text: str) -> str:
    """The beginning of a text that is too long for the verdict; the page has all of it."""
    return shorten(text, MAX_LETTERS, placeholder=" ... (in full below)")


def capital(text: str) -> str:
    """The text with a capital letter at the start."""
    return text[:1].upper() + text[1:]
