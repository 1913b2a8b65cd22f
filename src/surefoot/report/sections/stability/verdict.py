"""The verdict on question 3: would the conclusion survive dropping a row?"""

from dataclasses import replace

from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.sentences import NO_TIME, cut, listed
from surefoot.report.sections.stability.bags import MAX_INSTABILITY, MIN_LEAD, upper_limit
from surefoot.report.sections.stability.column_selection import LASSO, TREE
from surefoot.report.sections.stability.findings import StabilityFindings, StableSet
from surefoot.report.sections.stability.stable_sets import LEADING, NO_COLUMN, WINNER

QUESTION = "Would the conclusion survive dropping a row?"


def stability_line(stability: StabilityFindings | None) -> VerdictLine:
    """Yes if every conclusion survives, partly if some do, unknown if one may, and no if none does.

    If a conclusion was not assessed, neither yes nor no is known.
    """
    if stability is None or not stability.sets:
        reason = NO_TIME if stability is None else stability.note or NO_TIME
        return VerdictLine(QUESTION, UNKNOWN, reason)
    surviving = "; ".join(claim_of(each) for each in stability.sets if each.holds)
    others = [each for each in stability.sets if not each.holds]
    doubtful = "; ".join(f"{claim_of(each)} ({doubt_of(each)})" for each in others)
    missing = f" Not assessed: {listed(list(stability.not_assessed))}." if stability.not_assessed else ""
    if not others and missing:
        return VerdictLine(QUESTION, UNKNOWN, f"These survive: {surviving}.{missing}")
    if not others:
        return VerdictLine(QUESTION, YES, f"Every conclusion survives: {surviving}.")
    if surviving:
        sentence = f"These survive: {surviving}. These do not, or may not: {doubtful}.{missing}"
        return VerdictLine(QUESTION, PARTLY, sentence)
    if missing or any(may_survive(each) for each in others):
        return VerdictLine(QUESTION, UNKNOWN, f"No conclusion is known to survive: {doubtful}.{missing}")
    return VerdictLine(QUESTION, NO, f"No conclusion survives: {doubtful}.")


def may_survive(conclusion: StableSet) -> bool:
    """Whether it is not known if a conclusion survives; the verdict and the page use this one limit."""
    return not conclusion.holds and (has_small_lead(conclusion) or has_too_few_rows(conclusion))


def has_small_lead(conclusion: StableSet) -> bool:
    """Whether a model or column is not clearly ahead: another draw of the folds may change its lead.

    Even if bags of the same losses disagree, it may still be the best.
    """
    return not conclusion.holds and conclusion.lead is not None and conclusion.lead < MIN_LEAD


def has_too_few_rows(conclusion: StableSet) -> bool:
    """Whether a conclusion was measured to survive, but on too few rows to exclude that 5% of them overturn it."""
    is_stable = _is_alone(conclusion) and _changed(conclusion) < MAX_INSTABILITY
    return is_stable and not has_small_lead(conclusion)


def _is_alone(conclusion: StableSet) -> bool:
    """Whether the claim is the only choice in the stable set, but does not hold for another reason."""
    is_in_set = conclusion.claim_inside and conclusion.n_models == 1
    return not conclusion.holds and not conclusion.undecided and is_in_set


def _changed(conclusion: StableSet) -> float:
    return max(conclusion.instability, conclusion.single_changed / max(conclusion.n_dropped, 1))


def moved_leads(stability: StabilityFindings | None, by: float) -> StabilityFindings | None:
    """The findings with every lead moved by ``by`` standard errors."""
    if stability is None:
        return None
    return replace(stability, sets=tuple(_moved_lead(each, by) for each in stability.sets))


def _moved_lead(conclusion: StableSet, by: float) -> StableSet:
    if conclusion.lead is None:
        return conclusion
    lead = conclusion.lead + by
    is_stable = _is_alone(conclusion) and _changed(conclusion) < MAX_INSTABILITY
    may_hold = conclusion.holds or (is_stable and conclusion.lead < MIN_LEAD)
    return replace(conclusion, lead=lead, holds=may_hold and lead >= MIN_LEAD)


def claim_of(conclusion: StableSet) -> str:
    """The conclusion from all rows."""
    claims = {
        WINNER: f"{conclusion.single} is the best model",
        LASSO: f"the LASSO chooses {cut(conclusion.single)}",
        TREE: f"a small decision tree splits on {cut(conclusion.single)}",
        LEADING: f"the model relies most on {conclusion.single}",
    }
    if conclusion.selector == LEADING and conclusion.single == NO_COLUMN:
        return "the model relies on no column"
    return claims[conclusion.selector]


def doubt_of(conclusion: StableSet) -> str:
    """Why a conclusion does not survive, or may not."""
    unit = conclusion.unit
    if conclusion.undecided and conclusion.selector == WINNER:
        return "no model is clearly best"
    if conclusion.undecided:
        return f"bags of {unit}s make too many different choices"
    if not conclusion.claim_inside:
        return f"bags of {unit}s choose {cut(conclusion.stable)}"
    if conclusion.n_models > 1:
        return f"the {unit}s cannot decide between {conclusion.n_models:,} choices: {cut(conclusion.stable)}"
    if has_small_lead(conclusion):
        return f"it leads by {conclusion.lead:.1f} standard errors; {MIN_LEAD:.0f} are needed"
    n_changed = max(conclusion.instability * conclusion.n_left_out, conclusion.single_changed)
    n = min(conclusion.n_left_out, conclusion.n_dropped or conclusion.n_left_out)
    changed = f"{n_changed:.0f} of {n} {unit}s overturn it when dropped"
    if not has_too_few_rows(conclusion):
        return changed
    needed = next(k for k in range(n, 100_000) if upper_limit(round(n_changed), k) < MAX_INSTABILITY)
    return f"{changed}; about {needed} {unit}s would decide it"
