"""The quality of predictions, and how well their uncertainties detect errors and out-of-domain rows."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from surefoot import Uncertainty, metrics
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers
from surefoot_experiments.uncertainty.problem import Problem

MIN_PROBABILITY = np.finfo(np.float64).eps  # a forest may predict 0 for the true class; log_loss uses the same bound
NAN = float("nan")

Predictor: TypeAlias = Callable[[Any], Members]


def measure(problem: Problem, predict: Predictor) -> dict[str, float]:
    """All measures of a line of results, by name."""
    members = predict(problem.X_test)
    inside = members.uncertainty()
    several = _count(members) > 1
    values = {"nll": mean_nll(members, problem.y_test), **_errors(members, problem.y_test, inside, several)}
    for name, rows in zip(("auc", "auc2"), problem.out_of_domain, strict=True):
        outside = predict(rows).uncertainty()
        values[f"{name}_total"] = _auc(inside.total, outside.total)
        values[f"{name}_knowledge"] = _auc(inside.knowledge, outside.knowledge) if several else NAN
    return values


def mean_nll(members: Members, y: np.ndarray) -> float:
    """The mean negative log of the members' mean likelihood; NaN for members without a predicted variance."""
    if isinstance(members, ClassificationMembers):
        probabilities = np.maximum(members.probabilities.mean(axis=0), MIN_PROBABILITY)
        return metrics.nll(y, probabilities / probabilities.sum(axis=1, keepdims=True), labels=members.classes)
    if members.variances is None:
        return NAN
    densities = norm.logpdf(y, members.means, np.sqrt(members.variances))
    return float(np.mean(np.log(len(densities)) - logsumexp(densities, axis=0)))


def _errors(members: Members, y: np.ndarray, inside: Uncertainty, several: bool) -> dict[str, float]:
    """The RMSE or the fraction of wrong labels, and how well the uncertainties detect the errors."""
    if isinstance(members, RegressionMembers):
        predicted, loss = members.means.mean(axis=0), "squared_error"
        error = float(np.sqrt(np.mean((predicted - y) ** 2)))
    else:
        predicted, loss = members.classes[members.probabilities.mean(axis=0).argmax(axis=1)], "zero_one"
        error = float(np.mean(predicted != y))

    def ratio(uncertainty: np.ndarray | None) -> float:
        if uncertainty is None:
            return NAN
        curve = metrics.rejection_curve(y, predicted, uncertainty, loss=loss)
        return NAN if curve.ratio is None else curve.ratio

    return {
        "error": error,
        "prr_total": ratio(inside.total),
        "prr_knowledge": ratio(inside.knowledge) if several else NAN,
    }


def _auc(inside: np.ndarray | None, outside: np.ndarray | None) -> float:
    return NAN if inside is None or outside is None else metrics.ood_auc(inside, outside)


def _count(members: Members) -> int:
    return len(members.means if isinstance(members, RegressionMembers) else members.probabilities)
