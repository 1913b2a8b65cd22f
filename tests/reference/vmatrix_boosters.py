"""The two V-matrix boosters in a small size, tables for them, and a naive twin of the rounds."""

import numpy as np

from reference.vmatrix_trees import grow
from surefoot import VMatrixBoostingClassifier, VMatrixBoostingRegressor

VMATRIX_BOOSTERS = (VMatrixBoostingRegressor, VMatrixBoostingClassifier)


def small(estimator=VMatrixBoostingRegressor, **parameters):
    """Few rounds, all of them kept, and a fixed seed; ``parameters`` go on top."""
    settings = {"n_estimators": 6, "max_leaf_nodes": 5, "early_stopping": False, "random_state": 0}
    return estimator(**(settings | parameters))


def problem(estimator=VMatrixBoostingRegressor, n_rows=80, n_columns=3, n_classes=2, seed=0):
    """A table, its target, and a table of where the model will be used: larger in every column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = 3.0 * X[:, 0] + np.sin(2.0 * X[:, -1]) + 0.5 * rng.normal(size=n_rows) + 10.0
    if estimator is VMatrixBoostingClassifier:
        y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    return X, y, rng.normal(size=(n_rows // 2, n_columns)) + 0.7


def answers(model, X):
    """What a fitted model says of some rows, as one array with a row for each."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, np.newaxis]


def naive_boosting(X, y, V, n_rounds, rate, max_leaves, l2, least_rows):
    """Fitted values after each round on a written-out matrix, each tree grown by trying everything."""
    start = V.sum(axis=0) @ y / V.sum()
    fitted, all_fitted = np.full(len(y), start), []
    for _ in range(n_rounds):
        leaves, values, _ = grow(X, V, y - fitted, max_leaves, l2, least_rows)
        for leaf, value in zip(leaves, values, strict=True):
            fitted[leaf] += rate * value
        all_fitted.append(fitted.copy())
    return all_fitted
