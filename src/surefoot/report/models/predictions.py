"""What a model predicts for some rows, and how sure it is where it says so."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr
from scipy.stats import norm

from surefoot._exceptions import DataError
from surefoot.report.inputs.target import BINARY, Target
from surefoot.report.models.row_record import RowRecord


@dataclass(frozen=True)
class ModelPredictions(RowRecord):
    """Predictions for some rows; what a model does not give is None.

    Attributes
    ----------
    values : array of shape (n_rows,)
        Labels, or numbers.
    probabilities : array of shape (n_rows, n_classes) or None
        In the order of the target's classes.
    scores : array of shape (n_rows,) or None
        Of two classes: they rise with the chance of the second.
    std : array of shape (n_rows,) or None
        Standard deviation of the predicted distribution of a number.
    freedom : array of shape (n_rows,) or None
        Degrees of freedom of that distribution, if it is a Student t; infinite otherwise.
    below, up_to : arrays of shape (n_rows,) or None
        Predicted probabilities of less than the true number, and of at most it. They differ for counts.
    total, knowledge : arrays of shape (n_rows,) or None
        Uncertainty of the prediction. Knowledge is that of an ensemble, whose members disagree.
    """

    values: np.ndarray
    probabilities: np.ndarray | None = None
    scores: np.ndarray | None = None
    std: np.ndarray | None = None
    below: np.ndarray | None = None
    up_to: np.ndarray | None = None
    total: np.ndarray | None = None
    knowledge: np.ndarray | None = None
    freedom: np.ndarray | None = None

    @property
    def has_distribution(self) -> bool:
        """Whether it says how sure it is of every row: probabilities, or a distribution of the number."""
        return self.probabilities is not None or self.std is not None


def predictions_of(
    model: Any, X: Any, target: Target, truth: np.ndarray | None = None, name: str | None = None
) -> ModelPredictions:
    """What a fitted model predicts.

    Parameters
    ----------
    truth : array of numbers, default=None
        The targets, for ``below`` and ``up_to``.
    name : str, default=None
        What a user's own model is called in errors.
    """
    values = np.asarray(model.predict(X))
    if name is not None:
        values = target.read_predictions(values, len(values), name)
    total, knowledge = _uncertainty_of(model, X)
    if target.is_classes:
        chances = probabilities_of(model, X, target)
        if total is None and chances is not None:
            total = entr(np.clip(chances, 0.0, 1.0)).sum(axis=1)
        scores = _scores_of(model, X, target, chances)
        return ModelPredictions(values=values, probabilities=chances, scores=scores, total=total, knowledge=knowledge)
    distribution = _distribution_of(model, X)
    if distribution is None:
        return ModelPredictions(values=values)
    std = np.asarray(distribution.std, dtype=np.float64)
    below, up_to = (None, None) if truth is None else _chances_below(distribution, truth)
    total = std**2 if total is None else total
    return ModelPredictions(
        values=values,
        std=std,
        below=below,
        up_to=up_to,
        total=total,
        knowledge=knowledge,
        freedom=_freedom_of(distribution, len(std)),
    )


def probabilities_of(model: Any, X: Any, target: Target) -> np.ndarray | None:
    """Probabilities of a target's classes, in their order; None if a classifier gives none or has other classes."""
    if not target.is_classes or not hasattr(model, "predict_proba"):
        return None
    known = target.text_of(getattr(model, "classes_", target.classes)).tolist()
    classes = [str(label) for label in target.classes]
    if not set(known) <= set(classes):
        return None
    given = np.asarray(model.predict_proba(X), dtype=np.float64)
    if not np.isfinite(given).all():
        raise DataError("predict_proba of the model gives values that are no numbers: mend the model, or its input.")
    probabilities = np.zeros((len(given), len(classes)))  # a class that training has not seen has none
    probabilities[:, [classes.index(label) for label in known]] = given
    return probabilities


def _scores_of(model: Any, X: Any, target: Target, chances: np.ndarray | None) -> np.ndarray | None:
    """Numbers by which a classifier of two classes ranks rows; None if it gives none."""
    if target.task != BINARY:
        return None
    if chances is not None:
        return chances[:, 1]
    return np.asarray(model.decision_function(X)) if hasattr(model, "decision_function") else None


def _uncertainty_of(model: Any, X: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Total and knowledge uncertainty of an ensemble."""
    if not hasattr(model, "predict_uncertainty"):
        return None, None
    uncertainty = model.predict_uncertainty(X)
    total = None if uncertainty.total is None else np.asarray(uncertainty.total, dtype=np.float64)
    return total, np.asarray(uncertainty.knowledge, dtype=np.float64)


def _distribution_of(model: Any, X: Any) -> Any:
    """One of ours, or a normal one where ``predict`` gives a standard deviation; None if there is neither."""
    if hasattr(model, "predict_distribution"):
        return model.predict_distribution(X)
    try:
        takes_std = "return_std" in inspect.signature(model.predict).parameters
    except (TypeError, ValueError):
        return None
    if not takes_std:
        return None
    mean, std = (np.asarray(each, dtype=np.float64) for each in model.predict(X, return_std=True))
    return _Normal(mean, np.maximum(std, 1e-300))


@dataclass(frozen=True)
class _Normal:
    mean: np.ndarray
    std: np.ndarray

    def cdf(self, y: np.ndarray) -> np.ndarray:
        return norm.cdf(y, self.mean, self.std)


def _freedom_of(distribution: Any, n_rows: int) -> np.ndarray:
    """Degrees of freedom of Student t distributions, or of the members of their mixture; infinite for others."""
    one = getattr(distribution, "components", [distribution])[0]
    return np.broadcast_to(getattr(one, "parameters", {}).get("df", np.inf), n_rows).astype(np.float64)


def _chances_below(distribution: Any, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predicted probabilities of less than the truth, and of at most it."""
    up_to = np.asarray(distribution.cdf(truth), dtype=np.float64)
    if not getattr(distribution, "is_discrete", False):
        return up_to, up_to
    return np.asarray(distribution.cdf(np.ceil(truth) - 1), dtype=np.float64), up_to
