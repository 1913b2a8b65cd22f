"""Which targets are contradicted by models that were not trained on them."""

from collections.abc import Sequence

import numpy as np

from surefoot._formatting import significant
from surefoot.report.models.cross_fitting import CONSTANT, CrossFitted, comparable_loss
from surefoot.report.sections.labels.findings import LabelFindings, SuspectRow
from surefoot.report.sections.labels.noise_fit import NoiseFit, fit_classes, fit_numbers

MAX_MODELS = 4  # that contradict together
MAX_LOSS_RATIO = 1.5  # of a model's mean squared error to the best one's, for its predictions to be averaged
MIN_ROWS = 100
LISTED_FRACTION, MAX_LISTED = 0.05, 200
NO_MODEL = "No model besides a constant was fitted, so nothing contradicts the targets."
FEW_ROWS = f"There are too few rows to say how many targets are wrong: at least {MIN_ROWS} are needed."


def measure_labels(
    fitted: Sequence[CrossFitted], audited: CrossFitted, seed: int, is_unseen_unknown: bool = False
) -> LabelFindings:
    """Fit a model of wrong targets to the held-out predictions of several models.

    If it is not known whether the audited model has seen the rows, it is not one of them.
    """
    models = contradicting_models(fitted, audited)
    models = [each for each in models if each is not audited or not is_unseen_unknown]
    n_rows = len(audited.splits.held_out)
    if not models or n_rows < MIN_ROWS:
        return _without_number(models, audited, FEW_ROWS if models else NO_MODEL)
    fit = fit_of(models, audited, seed)
    order = np.lexsort((fit.plausibility, -fit.wrong))
    losses, weights = _losses(audited)
    is_shown, n_out = fit.n_wrong is not None, 0 if fit.n_wrong is None else round(fit.n_wrong.value)
    classes = [str(each) for each in audited.table.target.classes]
    return LabelFindings(
        models=tuple(each.name for each in models),
        n_rows=n_rows,
        n_wrong=fit.n_wrong,
        rates=tuple(zip(classes, fit.rates.tolist(), strict=True)) if is_shown and len(fit.rates) else (),
        rows=_rows(fit, order[: listed(n_rows)], audited),
        level=fit.level,
        n_contradicted=int((fit.plausibility <= fit.level).sum()),
        n_expected=fit.n_expected,
        loss=_loss(losses, audited, weights),
        loss_of_right=_loss(losses, audited, weights * (1 - fit.wrong)) if is_shown else None,
        loss_without=_loss(losses[order[n_out:]], audited, weights[order[n_out:]]) if is_shown else None,
        note="",
    )


def contradicting_models(fitted: Sequence[CrossFitted], audited: CrossFitted) -> list[CrossFitted]:
    """The audited model and the best others; for classes, only models with probabilities."""
    every = [audited, *(each for each in fitted if each.name != audited.name)]
    known = [each for each in every if each.name != CONSTANT]
    if audited.table.target.is_classes:
        known = [each for each in known if each.predictions.probabilities is not None]
    else:
        best = min((comparable_loss(each.outcome) for each in known), default=0.0)
        known = [each for each in known if comparable_loss(each.outcome) <= MAX_LOSS_RATIO * best]
    others = sorted((each for each in known if each is not audited), key=lambda each: comparable_loss(each.outcome))
    first = [each for each in known if each is audited]
    return (first + others)[:MAX_MODELS]


def fit_of(models: Sequence[CrossFitted], audited: CrossFitted, seed: int) -> NoiseFit:
    """A model of wrong targets, from the held-out predictions of these models."""
    target, splits = audited.table.target, audited.splits
    y, units = target.y[splits.held_out], splits.held_out_units
    if target.is_classes:
        probabilities = [np.asarray(each.predictions.probabilities) for each in models]
        return fit_classes(probabilities, y, units, seed)
    predicted = np.mean([each.predictions.values for each in models], axis=0)
    stds = [each.predictions.std for each in models if each.predictions.std is not None]
    usual = max(float(np.std(y - predicted)), 1e-12 * float(np.std(y)))
    scale = np.full(len(y), usual) if not stds else np.maximum(stds[0], 0.01 * usual)
    return fit_numbers(predicted, scale, y, units, seed)


def listed(n_rows: int) -> int:
    """How many rows are listed."""
    return min(max(1, round(LISTED_FRACTION * n_rows)), MAX_LISTED)


def _rows(fit: NoiseFit, chosen: np.ndarray, audited: CrossFitted) -> tuple[SuspectRow, ...]:
    table, held_out = audited.table, audited.splits.held_out
    predicted = table.target.classes[fit.predicted] if table.target.is_classes else fit.predicted
    return tuple(
        SuspectRow(
            row=str(table.rows[held_out[i]]),
            given=significant(table.target.labels[held_out[i]]),
            predicted=significant(predicted[i]),
            plausibility=float(fit.plausibility[i]),
            probability=float(fit.wrong[i]) if fit.n_wrong is not None else None,
        )
        for i in chosen
    )


def _losses(audited: CrossFitted) -> tuple[np.ndarray, np.ndarray]:
    """The losses of the held-out rows, and their weights. Whether a label is wrong is a matter of the row alone."""
    outcome = audited.outcome
    losses = outcome.losses.astype(np.float64)
    return losses, np.ones(len(losses)) if outcome.weights is None else outcome.weights


def _loss(losses: np.ndarray, audited: CrossFitted, weights: np.ndarray) -> float:
    """Error rate or RMSE."""
    if weights.sum() <= 0:
        return float("nan")
    mean = float(np.average(losses, weights=weights))
    return mean if audited.table.target.is_classes else mean**0.5


def _without_number(models: Sequence[CrossFitted], audited: CrossFitted, note: str) -> LabelFindings:
    losses, weights = _losses(audited)
    return LabelFindings(
        models=tuple(each.name for each in models),
        n_rows=len(losses),
        n_wrong=None,
        rates=(),
        rows=(),
        level=0.0,
        n_contradicted=0,
        n_expected=0.0,
        loss=_loss(losses, audited, weights),
        loss_of_right=None,
        loss_without=None,
        note=note,
    )
