"""Importance weights: how much more likely a row is in the target than among the training rows."""

import numpy as np


def importance_weights(X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """The odds of the target by a logistic regression on standardised columns, brought to a mean of 1."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    both = StandardScaler().fit_transform(np.concatenate([X, X_target]))
    is_target = np.repeat([0, 1], [len(X), len(X_target)])
    log_odds = LogisticRegression(max_iter=1000).fit(both, is_target).decision_function(both[: len(X)])
    weights = np.exp(log_odds - log_odds.max())
    return weights / weights.mean()


def effective_size(weights: np.ndarray) -> float:
    """The number of evenly weighted rows that tell a mean as precisely (Kish)."""
    return float(weights.sum() ** 2 / np.square(weights).sum())
