"""Pieces of the verdict's sentences: numbers with their ranges, names that a verb can follow."""

from textwrap import shorten

from surefoot.report.models.candidate_models import YOUR_PREDICTIONS
from surefoot.report.page.numbers import percent
from surefoot.report.sections.accuracy.findings import AccuracyFindings, ModelScore
from surefoot.report.statistics import is_withheld
from surefoot.report.statistics.estimates import Estimate

NO_TIME = "There was no time to find out."
MAX_LETTERS = 200  # of a set of models


def audited_model(accuracy: AccuracyFindings) -> ModelScore:
    """The one model that all answers are about."""
    return next(model for model in accuracy.models if model.chosen)


def called(model: ModelScore) -> str:
    """A name that a verb can follow."""
    return "the model of your predictions" if model.name == YOUR_PREDICTIONS else model.name


def listed(names: list[str]) -> str:
    """Names, with an "and" before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def between_percents(estimate: Estimate) -> str:
    """The ends of an interval of a fraction; an open end is named."""
    if is_withheld(estimate):
        return "no interval"
    low, high = (percent(edge) for edge in (estimate.low, estimate.high))
    if estimate.high == float("inf"):
        return f"at least {low}"
    return f"at most {high}" if estimate.low == float("-inf") else f"{low} to {high}"


def more_rows(needed: int | None, n_rows: int) -> str:
    """How many rows would decide a question; nothing if that cannot be said."""
    if not needed or needed <= n_rows:
        return ""
    return f" About {needed:,} rows in all would decide it."


def cut(text: str) -> str:
    """The beginning of what would fill the verdict; the page has all of it."""
    return shorten(text, MAX_LETTERS, placeholder=" ... (in full below)")


def capital(text: str) -> str:
    """With a capital letter at the start."""
    return text[:1].upper() + text[1:]
