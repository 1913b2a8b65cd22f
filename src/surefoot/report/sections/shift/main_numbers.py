"""The main numbers of question 4."""

from surefoot.report.models.scoring import RATES
from surefoot.report.sections.main_numbers import GOAL, MainNumber
from surefoot.report.sections.shift.findings import ShiftFindings


def _deployment_loss(findings: ShiftFindings) -> MainNumber:
    label = f"{findings.measure or 'loss'} on the deployment data"
    is_rate = findings.measure in RATES
    return MainNumber(label, findings.loss_there, is_rate=is_rate, kind=findings.measure)


def _rise(findings: ShiftFindings) -> MainNumber:
    rise = findings.losses[0].rise if findings.losses else None
    return MainNumber("rise of the loss on the deployment data", rise, is_rate=True, kind=findings.measure)


def _bias(findings: ShiftFindings) -> MainNumber:
    bias = findings.losses[0].bias if findings.losses else None
    return MainNumber("bias on the deployment data", bias, GOAL, 0.0)


def _expected_rise(findings: ShiftFindings) -> MainNumber:
    rise = None if findings.weighted is None else findings.weighted.rise
    return MainNumber("expected rise of the loss", rise, is_rate=True, kind=findings.measure)


def _auc(findings: ShiftFindings) -> MainNumber:
    return MainNumber("AUC of a classifier of the two tables", findings.auc)


def _outside(findings: ShiftFindings) -> MainNumber:
    fraction = None if findings.outside is None else findings.outside.fraction
    return MainNumber("deployment rows outside the range", fraction, is_rate=True)


def _uncertain(findings: ShiftFindings) -> MainNumber:
    share = None if findings.new is None else findings.new.share
    return MainNumber("deployment rows with a high uncertainty", share, is_rate=True)


MAIN_NUMBERS = {
    "deployment_loss": _deployment_loss,
    "loss_rise": _rise,
    "bias": _bias,
    "expected_rise": _expected_rise,
    "shift_auc": _auc,
    "outside_range": _outside,
    "uncertain_rows": _uncertain,
}
