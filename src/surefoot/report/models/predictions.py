"""Predictions of a model for some rows, and their uncertainty where the model gives one."""

import inspect
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from scipy.special import entr
from scipy.stats import norm

from surefoot._exceptions import DataError
from surefoot.report.inputs.target import BINARY, Target


@dataclass(frozen=True)
class RowRecord:
    """Every field is an array whose first axis is the rows, or None."""

    def __getitem__(self, rows: Any) -> Self:
        """The record of some of the rows."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self)(**{key: None if each is None else each[rows] for key, each in parts.items()})

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """The records one after the other; a field that is None in one part is None in the result."""
        columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(cls)}
        return cls(
            **{
                key: None if any(each is None for each in values) else np.concatenate(values)
                for key, values in columns.items()
            }
        )


@dataclass(frozen=True)
class ModelPredictions(RowRecord):
    """Predictions for some rows; None for everything that the model does not predict.

    Attributes
    ----------
    values : array of shape (n_rows,)
        Labels, or numbers.
    probabilities : array of shape (n_rows, n_classes) or None
        In the order of the target's classes.
    scores : array of shape (n_rows,) or None
        For two classes: numbers that increase with the probability of the second.
    std : array of shape (n_rows,) or None
        Standard deviation of the predicted distribution of a number.
    below, up_to : arrays of shape (n_rows,) or None
        Predicted probabilities of less than the true number, and of at most the true number. They differ for counts.
    total, knowledge : arrays of shape (n_rows,) or None
        Uncertainty of the prediction. Knowledge uncertainty is the disagreement between the members of an ensemble.
    freedom : array of shape (n_rows,) or None
        Degrees of freedom of the predicted distribution, if it is a Student t; infinite otherwise.
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
        """Whether the model predicts probabilities, or a distribution of the number."""
        return self.probabilities is not None or self.std is not None


def predictions_of(
    model: Any, X: Any, target: Target, truth: np.ndarray | None = None, name: str | None = None
) -> ModelPredictions:
    """Predictions of a fitted model.

    Parameters
    ----------
    truth : array of numbers, default=None
        The true values, for ``below`` and ``up_to``.
    name : str, default=None
        The name of a user's own model in errors.
    """
    values = np.asarray(model.predict(X))
    if name is not None:
        values = target.read_predictions(values, len(values), name)
    total, knowledge = _uncertainty_of(model, X)
    if target.is_classes:
        probabilities = probabilities_of(model, X, target)
        if total is None and probabilities is not None:
            total = entr(np.clip(probabilities, 0.0, 1.0)).sum(axis=1)
        scores = _scores_of(model, X, target, probabilities)
        return ModelPredictions(
            values=values, probabilities=probabilities, scores=scores, total=total, knowledge=knowledge
        )
    distribution = _distribution_of(model, X)
    if distribution is None:
        return ModelPredictions(values=values)
    std = np.asarray(distribution.std, dtype=np.float64)
    below, up_to = (None, None) if truth is None else _probabilities_below(distribution, truth)
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
        raise DataError(
            "predict_proba of the model returns values that are not finite: correct the model or its input.",
            argument="model",
        )
    probabilities = np.zeros((len(given), len(classes)))  # a class that is not in the training rows has probability 0
    probabilities[:, [classes.index(label) for label in known]] = given
    return probabilities


def _scores_of(model: Any, X: Any, target: Target, probabilities: np.ndarray | None) -> np.ndarray | None:
    """Numbers by which a classifier of two classes ranks rows; None if it gives none."""
    if target.task != BINARY:
        return None
    if probabilities is not None:
        return probabilities[:, 1]
    return np.asarray(model.decision_function(X)) if hasattr(model, "decision_function") else None


def _uncertainty_of(model: Any, X: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Total and knowledge uncertainty of an ensemble."""
    if not hasattr(model, "predict_uncertainty"):
        return None, None
    uncertainty = model.predict_uncertainty(X)
    total = None if uncertainty.total is None else np.asarray(uncertainty.total, dtype=np.float64)
    return total, np.asarray(uncertainty.knowledge, dtype=np.float64)


def _distribution_of(model: Any, X: Any) -> Any:
    """The result of ``predict_distribution``, or a normal distribution from ``predict(return_std=True)``, or None."""
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


def _probabilities_below(distribution: Any, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predicted probabilities of a value below the truth, and of at most the truth."""
    up_to = np.asarray(distribution.cdf(truth), dtype=np.float64)
    if not getattr(distribution, "is_discrete", False):
        return up_to, up_to
    return np.asarray(distribution.cdf(np.ceil(truth) - 1), dtype=np.float64), up_to
