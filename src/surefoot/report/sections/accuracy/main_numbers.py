"""The main numbers of question 1."""

from surefoot.report.models.scoring import ERROR_RATE, LOG_LOSS, RANKING_ERROR, RMSE
from surefoot.report.sections.accuracy.findings import AccuracyFindings, ModelScore
from surefoot.report.sections.main_numbers import HIGHER, MainNumber
from surefoot.report.statistics import Estimate


def _audited(findings: AccuracyFindings) -> ModelScore | None:
    return next((model for model in findings.models if model.chosen), None)


def _loss(findings: AccuracyFindings, measure: str) -> Estimate | None:
    model = _audited(findings)
    if model is None:
        return None
    if measure == ERROR_RATE and findings.measure != ERROR_RATE:
        return model.error_rate
    return model.loss if findings.measure == measure else None


def _rmse(findings: AccuracyFindings) -> MainNumber:
    return MainNumber(RMSE, _loss(findings, RMSE))


def _error_rate(findings: AccuracyFindings) -> MainNumber:
    return MainNumber(ERROR_RATE, _loss(findings, ERROR_RATE), is_rate=True)


def _ranking_error(findings: AccuracyFindings) -> MainNumber:
    return MainNumber(RANKING_ERROR, _loss(findings, RANKING_ERROR), is_rate=True)


def _log_loss(findings: AccuracyFindings) -> MainNumber:
    model = _audited(findings)
    return MainNumber(LOG_LOSS, None if model is None else model.log_loss)


def _auc(findings: AccuracyFindings) -> MainNumber:
    model = _audited(findings)
    return MainNumber("AUC", None if model is None else model.auc, HIGHER)


def _gain(findings: AccuracyFindings) -> MainNumber:
    return MainNumber("loss removed, compared with a constant", findings.gain, HIGHER, is_rate=True)


def _behind(findings: AccuracyFindings) -> MainNumber:
    return MainNumber("loss above the best other model's", findings.behind, is_rate=True)


MAIN_NUMBERS = {
    "rmse": _rmse,
    "error_rate": _error_rate,
    "ranking_error": _ranking_error,
    "log_loss": _log_loss,
    "auc": _auc,
    "gain": _gain,
    "behind": _behind,
}
