"""The main numbers of the subgroups. Names are part of their kind: the worst group may be another in another audit."""

from surefoot.report.models.scoring import ERROR_RATE
from surefoot.report.sections.main_numbers import LOWER, MainNumber
from surefoot.report.sections.subgroups.findings import SubgroupFindings


def _error(findings: SubgroupFindings) -> MainNumber:
    group, label = findings.worst_group, f"{findings.measure} of the worst subgroup"
    if group is None:
        return MainNumber(label, None)
    return MainNumber(label, group.interval, LOWER, is_rate=findings.measure == ERROR_RATE, kind=group.name)


def _ratio(findings: SubgroupFindings) -> MainNumber:
    group, label = findings.worst_group, "error of the worst subgroup, as a multiple of that of the other rows"
    return MainNumber(label, None) if group is None else MainNumber(label, group.ratio, LOWER, kind=group.name)


MAIN_NUMBERS = {"worst_group.error": _error, "worst_group.ratio": _ratio}
