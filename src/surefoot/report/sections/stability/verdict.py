"""The verdict's line about question 3."""

from dataclasses import replace

from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.sentences import NO_TIME, cut
from surefoot.report.sections.stability.bags import MAX_INSTABILITY, MIN_LEAD, upper_limit
from surefoot.report.sections.stability.column_selection import LASSO, TREE
from surefoot.report.sections.stability.findings import StabilityFindings, StableSet
from surefoot.report.sections.stability.stable_sets import LEADING, NO_COLUMN, WINNER

QUESTION = "Would the conclusion survive dropping a row?"


def stability_line(stability: StabilityFindings | None) -> VerdictLine:
    """Yes if every conclusion survives, partly if some do, unknown if none is shown to but one may, no if none does."""
    if stability is None or not stability.sets:
        why = NO_TIME if stability is None else stability.note or "There was nothing to choose between."
        return VerdictLine(QUESTION, UNKNOWN, why)
    held = "; ".join(claim_of(each) for each in stability.sets if each.holds)
    lost = "; ".join(f"{claim_of(each)} ({doubt_of(each)})" for each in stability.sets if not each.holds)
    if not lost:
        return VerdictLine(QUESTION, YES, f"Every conclusion survives: {held}.")
    if held:
        return VerdictLine(QUESTION, PARTLY, f"What survives: {held}. What does not, or may not: {lost}.")
    if any(is_open(each) or is_unknown(each) for each in stability.sets):
        return VerdictLine(QUESTION, UNKNOWN, f"No conclusion is known to survive: {lost}.")
    return VerdictLine(QUESTION, NO, f"No conclusion survives: {lost}.")


def _is_alone(found: StableSet) -> bool:
    """Whether the claim is the only choice in the stable set, but does not hold for another reason."""
    return not found.holds and not found.undecided and found.claim_inside and found.n_models == 1


def _changed(found: StableSet) -> float:
    return max(found.instability, found.single_changed / max(found.n_dropped, 1))


def is_unknown(found: StableSet) -> bool:
    """Whether a conclusion was measured to survive, but on too few rows to exclude that 5% of them overturn it."""
    return _is_alone(found) and _changed(found) < MAX_INSTABILITY and not is_open(found)


def is_open(found: StableSet) -> bool:
    """Whether a model or column is not clearly ahead: another draw of the folds may change by how much it leads.

    That bags of the same losses disagree does not show that it is not best.
    """
    return not found.holds and found.lead is not None and found.lead < MIN_LEAD


def moved_leads(stability: StabilityFindings | None, by: float) -> StabilityFindings | None:
    """The same with every lead moved by so many standard errors."""
    if stability is None:
        return None
    return replace(stability, sets=tuple(_moved_lead(each, by) for each in stability.sets))


def _moved_lead(found: StableSet, by: float) -> StableSet:
    if found.lead is None:
        return found
    lead = found.lead + by
    may_hold = found.holds or (_is_alone(found) and found.lead < MIN_LEAD and _changed(found) < MAX_INSTABILITY)
    return replace(found, lead=lead, holds=may_hold and lead >= MIN_LEAD)


def claim_of(found: StableSet) -> str:
    """What one look at all rows claims."""
    claims = {
        WINNER: f"{found.single} is the best model",
        LASSO: f"the LASSO chooses {cut(found.single)}",
        TREE: f"a small decision tree asks for {cut(found.single)}",
        LEADING: f"the model relies most on {found.single}",
    }
    if found.selector == LEADING and found.single == NO_COLUMN:
        return "the model relies on no column"
    return claims[found.selector]


def doubt_of(found: StableSet) -> str:
    """Why a conclusion does not survive."""
    if found.undecided and found.selector == WINNER:
        return "no model is clearly best"
    if found.undecided:
        return f"bags of {found.unit}s make too many different choices"
    if not found.claim_inside:
        return f"bags of {found.unit}s choose {cut(found.stable)}"
    if found.n_models > 1:
        return f"the {found.unit}s cannot decide between {found.n_models:,} choices: {cut(found.stable)}"
    if is_open(found):
        return f"it leads by {found.lead:.1f} standard errors, and {MIN_LEAD:.0f} are asked for"
    changed = max(found.instability * found.n_left_out, found.single_changed)
    n = min(found.n_left_out, found.n_dropped or found.n_left_out)
    if not is_unknown(found):
        return f"{changed:.0f} of {n} {found.unit}s overturn it when dropped"
    enough = next(k for k in range(n, 100_000) if upper_limit(round(changed), k) < MAX_INSTABILITY)
    few = f"{changed:.0f} of {n} {found.unit}s overturn it when dropped"
    return f"{few}; about {enough} would have to be tried to tell"
