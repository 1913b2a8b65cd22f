"""Which answers are so close to a limit that another draw of the folds may turn them."""

from collections.abc import Sequence

from surefoot.report.sections.section import RedrawnSection, SectionContext
from surefoot.report.statistics.estimates import Estimate
from surefoot.report.statistics.repeats import standard_error

DRAW_ERRORS = 1.0  # standard errors by which a draw of the folds may move the end of an interval


def close_answers(sections: Sequence[RedrawnSection], context: SectionContext, n_draws: int) -> set[str]:
    """Names of the sections whose answers would change if intervals were wider, or narrower, or leads smaller."""
    return {section.name for section in sections if len(_answers(section, context, n_draws)) > 1}


def _answers(section: RedrawnSection, context: SectionContext, n_draws: int) -> set[str]:
    findings, reach = context.findings[section.name], _reach(n_draws)
    return {section.verdict(section.moved(findings, by), context).answer for by in (-reach, 0.0, reach)}


def is_near(end: float, estimate: Estimate, n_draws: int) -> bool:
    """Whether an end of an interval is so close to 0 that a draw of the folds may move it across."""
    return abs(end) < _reach(n_draws) * standard_error(estimate)


def _reach(n_draws: int) -> float:
    """What another draw may change, in standard errors, of means over so many draws."""
    return DRAW_ERRORS / float(n_draws**0.5)
