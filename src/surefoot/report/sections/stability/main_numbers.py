"""The main numbers of question 3."""

from surefoot.report.sections.main_numbers import HIGHER, MainNumber
from surefoot.report.sections.stability.findings import StabilityFindings


def _surviving(findings: StabilityFindings) -> MainNumber:
    """The fraction of the conclusions that survive; they are few, so it has no interval."""
    fraction = sum(each.holds for each in findings.sets) / len(findings.sets) if findings.sets else None
    kind = ", ".join(each.selector for each in findings.sets)
    return MainNumber("conclusions that survive", fraction, HIGHER, is_rate=True, kind=kind)


def _instability(findings: StabilityFindings) -> MainNumber:
    """The largest upper limit of a conclusion."""
    limits = [each.instability_limit for each in findings.sets]
    kind = ", ".join(each.selector for each in findings.sets)
    return MainNumber("largest 95% limit of instability", max(limits, default=None), is_rate=True, kind=kind)


def _changed(findings: StabilityFindings) -> MainNumber:
    """The change of predictions without a random hundredth of the rows, as a fraction of labels or of the RMSE."""
    changed = next((each.predictions_changed for each in findings.drops), None)
    what = findings.drops[0].what if findings.drops else ""
    return MainNumber("predictions changed without 1% of the rows", changed, is_rate=True, kind=what)


MAIN_NUMBERS = {"surviving": _surviving, "instability": _instability, "predictions_changed": _changed}
