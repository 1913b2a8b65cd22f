"""Naive twins of the boosting kernels, in plain loops and floating point."""

from itertools import combinations, pairwise

import numpy as np


def gini_drop(left, right):
    def impurity(side):
        weight = side.sum()
        return weight - (side**2).sum() / weight if weight > 0 else 0.0

    return impurity(left + right) - impurity(left) - impurity(right)


def error_drop(left, right):
    return left.max() + right.max()


def class_weights(y, weights, rows, n_classes=2):
    return np.array([weights[rows & (y == c)].sum() for c in range(n_classes)])


def every_split(X, y, weights, drop, categorical=()):
    """(gain, feature, rows that go right) of every split: thresholds, NaN either way, sets of categories."""
    for j in range(X.shape[1]):
        column = X[:, j]
        missing = np.isnan(column)
        values = np.unique(column[~missing & (weights > 0)])
        if j in categorical:
            groups = [*values, np.nan] if missing[weights > 0].any() else list(values)
            for size in range(1, len(groups)):
                for chosen in combinations(range(len(groups)), size):
                    inside = np.zeros(len(X), dtype=bool)
                    for k in chosen:
                        inside |= missing if np.isnan(groups[k]) else column == groups[k]
                    yield _gain(y, weights, inside, drop), j, inside
            continue
        for value in values:
            for missing_right in (True, False) if missing[weights > 0].any() else (True,):
                right = np.where(missing, missing_right, column > value)
                yield _gain(y, weights, right, drop), j, right


def _gain(y, weights, right, drop):
    left_side, right_side = class_weights(y, weights, ~right), class_weights(y, weights, right)
    return drop(left_side, right_side) if left_side.sum() > 0 and right_side.sum() > 0 else -1.0


def adaboost(X, y, weights, n_rounds, learning_rate=1.0, categorical=()):
    """Stump AdaBoost on two classes: (best gain, error, vote, answers) of each round."""
    weights = weights / weights.sum()
    rounds = []
    for _ in range(n_rounds):
        candidates = list(every_split(X, y, weights, gini_drop, categorical))
        gain, _, right = max(candidates, key=lambda candidate: candidate[0])
        ties = sum(abs(other - gain) <= 1e-10 for other, _, _ in candidates)
        answers = np.empty(len(y), dtype=int)
        for side in (right, ~right):
            answers[side] = class_weights(y, weights, side).argmax()
        error = weights[answers != y].sum()
        if error <= 0 or error >= 0.5:
            break
        vote = learning_rate * np.log((1 - error) / error)
        rounds.append((gain, error, vote, answers, ties))
        weights = np.where(answers != y, weights * np.exp(vote), weights)
        weights /= weights.sum()
    return rounds


def subsample_list(rows, stash=()):
    """SUBSAMPLE as the paper writes it: the list of all sub-samples, the remainder spread over S1, S2, S3."""
    if len(rows) < 4:
        return [sorted([*rows, *stash])]
    quarter = len(rows) // 4
    cuts = [quarter + k * (len(rows) - quarter) // 3 for k in range(4)]
    pieces = [rows[a:b] for a, b in pairwise(cuts)]
    found = []
    for left_out in range(3):
        others = [row for k, piece in enumerate(pieces) if k != left_out for row in piece]
        found += subsample_list(rows[:quarter], [*stash, *others])
    return found
