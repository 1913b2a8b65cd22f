"""How good predictions are, and how well their uncertainties find errors and rows from elsewhere."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from surefoot import Uncertainty, metrics
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers
from surefoot_experiments.uncertainty.problem import Problem

MIN_PROBABILITY = np.finfo(np.float64).eps  # a forest may rule out what then happens; so does scikit-learn's log_loss
NAN = float("nan")

Predictor: TypeAlias = Callable[[Any], Members]


def measure(problem: Problem, predict: Predictor) -> dict[str, float]:
    """All measures of a line of results, by name."""
    members = predict(problem.X_test)
    inside = members.uncertainty()
    several = _count(members) > 1
    found = {"nll": likelihood(members, problem.y_test), **_errors(members, problem.y_test, inside, several)}
    for name, rows in zip(("auc", "auc2"), problem.elsewhere, strict=True):
        outside = predict(rows).uncertainty()
        found[f"{name}_total"] = _auc(inside.total, outside.total)
        found[f"{name}_knowledge"] = _auc(inside.knowledge, outside.knowledge) if several else NAN
    return found


def likelihood(members: Members, y: np.ndarray) -> float:
    """Mean of minus the log of the members' mean likelihood; NaN for members that predict a number alone."""
    if isinstance(members, ClassificationMembers):
        probabilities = np.maximum(members.probabilities.mean(axis=0), MIN_PROBABILITY)
        return metrics.nll(y, probabilities / probabilities.sum(axis=1, keepdims=True), labels=members.classes)
    if members.variances is None:
        return NAN
    densities = norm.logpdf(y, members.means, np.sqrt(members.variances))
    return float(np.mean(np.log(len(densities)) - logsumexp(densities, axis=0)))


def _errors(members: Members, y: np.ndarray, inside: Uncertainty, several: bool) -> dict[str, float]:
    """RMSE or share of wrong labels, and how well the uncertainties find the errors."""
    if isinstance(members, RegressionMembers):
        predicted, loss = members.means.mean(axis=0), "squared_error"
        error = float(np.sqrt(np.mean((predicted - y) ** 2)))
    else:
        predicted, loss = members.classes[members.probabilities.mean(axis=0).argmax(axis=1)], "zero_one"
        error = float(np.mean(predicted != y))

    def ratio(uncertainty: np.ndarray | None) -> float:
        if uncertainty is None:
            return NAN
        found = metrics.rejection_curve(y, predicted, uncertainty, loss=loss).ratio
        return NAN if found is None else found

    return {
        "error": error,
        "prr_total": ratio(inside.total),
        "prr_knowledge": ratio(inside.knowledge) if several else NAN,
    }


def _auc(inside: np.ndarray | None, outside: np.ndarray | None) -> float:
    return NAN if inside is None or outside is None else metrics.ood_auc(inside, outside)


def _count(members: Members) -> int:
    return len(members.means if isinstance(members, RegressionMembers) else members.probabilities)
