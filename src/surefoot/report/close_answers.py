"""Which answers are so close to a limit that another draw of the folds may turn them."""

from collections.abc import Sequence

from surefoot.report.sections.accuracy.findings import AccuracyFindings
from surefoot.report.sections.accuracy.verdict import accuracy_line
from surefoot.report.sections.sentences import NAMES
from surefoot.report.sections.stability.findings import StabilityFindings
from surefoot.report.sections.stability.verdict import moved_leads, stability_line
from surefoot.report.sections.uncertainty.findings import UncertaintyFindings
from surefoot.report.sections.uncertainty.verdict import knowing_line
from surefoot.report.statistics.estimates import Estimate
from surefoot.report.statistics.repeats import narrowed_record, standard_error
from surefoot.report.subject import DataCheck

DRAW_ERRORS = 1.0  # standard errors by which a draw of the folds may move the end of an interval


def close_answers(
    accuracy: AccuracyFindings,
    uncertainty: UncertaintyFindings | None,
    stability: StabilityFindings | None,
    checks: Sequence[DataCheck],
    n_draws: int,
) -> set[str]:
    """Names of the questions whose answers would be others if intervals were wider, or narrower, or leads smaller."""
    found = [
        (
            accuracy_line(narrowed_record(accuracy, by), checks).answer,
            knowing_line(narrowed_record(uncertainty, by)).answer,
            stability_line(moved_leads(stability, by)).answer,
        )
        for by in (-_reach(n_draws), 0.0, _reach(n_draws))
    ]
    return {name for name, answers in zip(NAMES[:3], zip(*found, strict=True), strict=True) if len({*answers}) > 1}


def is_near(end: float, estimate: Estimate, n_draws: int) -> bool:
    """Whether an end of an interval is so close to 0 that a draw of the folds may move it across."""
    return abs(end) < _reach(n_draws) * standard_error(estimate)


def _reach(n_draws: int) -> float:
    """What another draw may change, in standard errors, of means over so many draws."""
    return DRAW_ERRORS / float(n_draws**0.5)
