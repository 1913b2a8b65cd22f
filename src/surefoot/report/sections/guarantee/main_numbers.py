"""The main numbers of conformal intervals or label sets."""

from surefoot.report.sections.guarantee.findings import GuaranteeFindings
from surefoot.report.sections.main_numbers import GOAL, HIGHER, LOWER, MainNumber


def _coverage(findings: GuaranteeFindings) -> MainNumber:
    what = "label sets" if findings.of_labels else "intervals"
    label = f"targets in conformal {findings.level:.0%} {what}"
    return MainNumber(label, findings.observed, GOAL, findings.level, is_rate=True, kind=findings.unit)


def _guaranteed(findings: GuaranteeFindings) -> MainNumber:
    return MainNumber("guaranteed fraction of targets", findings.guaranteed, HIGHER, is_rate=True, kind=findings.unit)


def _size(findings: GuaranteeFindings) -> MainNumber:
    label = "mean size of conformal label sets" if findings.of_labels else "mean width of conformal intervals"
    return MainNumber(label, findings.size, LOWER)


MAIN_NUMBERS = {"conformal.coverage": _coverage, "conformal.guaranteed": _guaranteed, "conformal.size": _size}
