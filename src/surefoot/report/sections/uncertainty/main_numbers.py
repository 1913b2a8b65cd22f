"""The main numbers of question 2."""

from collections.abc import Callable

from surefoot.report.sections.main_numbers import GOAL, HIGHER, MainNumber
from surefoot.report.sections.uncertainty.findings import UncertaintyFindings


def _coverage(level: float) -> Callable[[UncertaintyFindings], MainNumber]:
    """The fraction of targets inside the intervals of a level."""

    def read(findings: UncertaintyFindings) -> MainNumber:
        levels = () if findings.calibration is None else findings.calibration.coverage
        observed = next((each.observed for each in levels if abs(each.level - level) < 1e-9), None)
        return MainNumber(f"targets inside {level:.0%} intervals", observed, GOAL, level, is_rate=True)

    return read


def _gap(findings: UncertaintyFindings) -> MainNumber:
    gap = None if findings.calibration is None else findings.calibration.gap
    kind = "" if findings.calibration is None else findings.calibration.of_class or ""
    return MainNumber("mean probability minus observed fraction", gap, GOAL, 0.0, is_rate=True, kind=kind)


def _slope(findings: UncertaintyFindings) -> MainNumber:
    slope = None if findings.calibration is None else findings.calibration.slope
    return MainNumber("calibration slope", slope, GOAL, 1.0)


def _rejection(findings: UncertaintyFindings) -> MainNumber:
    ratio = None if findings.by_total is None else findings.by_total.ratio
    return MainNumber("prediction-rejection ratio", ratio, HIGHER)


MAIN_NUMBERS = {
    "coverage": _coverage(0.9),
    "coverage_50": _coverage(0.5),
    "coverage_80": _coverage(0.8),
    "coverage_95": _coverage(0.95),
    "calibration_gap": _gap,
    "calibration_slope": _slope,
    "rejection_ratio": _rejection,
}
