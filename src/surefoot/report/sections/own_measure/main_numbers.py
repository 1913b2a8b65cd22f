"""The main numbers of the user's own measure."""

from surefoot.report.sections.main_numbers import HIGHER, LOWER, MainNumber
from surefoot.report.sections.own_measure.findings import OwnMeasureFindings


def _metric(findings: OwnMeasureFindings) -> MainNumber:
    metric = findings.metric
    if metric is None:
        return MainNumber("your metric", None)
    return MainNumber(metric.name, metric.audited, HIGHER if metric.larger_is_better else LOWER, kind=metric.name)


def _cost(findings: OwnMeasureFindings) -> MainNumber:
    cost = findings.cost
    if cost is None:
        return MainNumber("cost", None)
    kind = f"{cost.positive}: {cost.false_positive:g} and {cost.false_negative:g}"
    return MainNumber("mean cost at the threshold", cost.at_threshold, LOWER, kind=kind)


MAIN_NUMBERS = {"metric": _metric, "cost": _cost}
