"""AdaBoost* maximises the smallest margin, to its precision."""

import numpy as np
import pytest
from reference import boosting as naive
from scipy.optimize import linprog

from surefoot import AdaBoostClassifier


def best_margin(X, signs):
    """The optimal smallest margin over all votes of stumps (and constants), by a linear program."""
    predictions = [np.ones(len(X)), -np.ones(len(X))]
    for column in X.T:
        for value in np.unique(column)[:-1]:
            side = np.where(column > value, 1.0, -1.0)
            predictions += [side, -side]
    H = np.array(predictions).T * signs[:, np.newaxis]  # (rows, hypotheses)
    n = H.shape[1]
    solution = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.hstack([-H, np.ones((len(H), 1))]),
        b_ub=np.zeros(len(H)),
        A_eq=np.append(np.ones(n), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return solution.x[-1]


def separable(seed):
    """Points that a vote of stumps can separate."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(60, 3)).astype(float)
    X = np.unique(X, axis=0)
    score = X @ np.array([1.0, 1.0, 0.5])
    y = score > np.median(score)
    return X, y


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("precision", [0.1, 0.05])
def test_smallest_margin_is_within_the_precision_of_the_best(seed, precision):
    X, y = separable(seed)
    best = best_margin(X, np.where(y, 1.0, -1.0))
    assert best > 0.02  # separable
    rounds = int(np.ceil(2 * np.log(len(X)) / precision**2))
    model = AdaBoostClassifier(variant="adaboost_star", margin_precision=precision, n_estimators=rounds).fit(X, y)
    smallest = model.margins(X, y).min()
    assert best - precision <= smallest <= best + 1e-9


def test_votes_follow_from_the_edges_and_no_stump_has_a_larger_edge():
    X, y = separable(0)
    signs, precision = np.where(y, 1.0, -1.0), 0.1
    model = AdaBoostClassifier(variant="adaboost_star", margin_precision=precision, n_estimators=40).fit(X, y)
    weights, smallest_edge = np.full(len(y), 1 / len(y)), 1.0
    for tree, vote in zip(model.estimators_, model.estimator_weights_, strict=True):
        predictions = np.where(X[:, tree.feature[0]] > tree.threshold[0], tree.labels[1], tree.labels[0]) * 2 - 1
        edge = (weights * signs * predictions).sum()
        splits = naive.every_split(X, y.astype(int), weights, naive.error_drop)
        assert edge == pytest.approx(max(2 * right - 1 for right, _, _ in splits), abs=1e-9)
        smallest_edge = min(smallest_edge, edge)
        rho = smallest_edge - precision
        assert vote == pytest.approx(np.arctanh(edge) - np.arctanh(rho), rel=1e-8)
        weights *= np.exp(-vote * signs * predictions)
        weights /= weights.sum()


def test_a_perfect_stump_is_the_only_one():
    X, y = np.arange(10.0)[:, np.newaxis], np.arange(10) > 4
    model = AdaBoostClassifier(variant="adaboost_star").fit(X, y)
    assert len(model.estimators_) == 1
    assert (model.margins(X, y) == 1).all()
