"""Logistic regression with an absolute penalty, in plain NumPy: proximal gradient steps until nothing moves.

Two classes have one line of coefficients, more have one each, as in scikit-learn.
"""

from collections import Counter

import numpy as np
from scipy.special import log_softmax, softmax


def distinct_rows(codes, bag):
    """The bag's distinct rows, how often each is there, and the places of their classes among those in the bag."""
    counts = Counter(int(row) for row in bag)
    classes = sorted({int(codes[row]) for row in counts})
    rows = sorted(counts)
    return rows, [counts[row] for row in rows], [classes.index(codes[row]) for row in rows]


def deal_to_folds(labels, n_folds):
    """The fold of each row: class by class and in turn; none for the only row of a class."""
    folds, turn = [None] * len(labels), 0
    for label in sorted(set(labels)):
        members = [i for i, other in enumerate(labels) if other == label]
        for i in members if len(members) > 1 else []:
            folds[i] = turn % n_folds
            turn += 1
    return folds


def scores(X, coefs, intercepts):
    """One score for each class: with one line of coefficients, the first class has 0."""
    scores = X @ coefs.T + intercepts
    return np.column_stack([np.zeros(len(X)), scores]) if scores.shape[1] == 1 else scores


def log_loss(X, labels, coefs, intercepts):
    return -log_softmax(scores(X, coefs, intercepts), axis=1)[np.arange(len(X)), labels].sum()


def slopes(X, labels, coefs, intercepts):
    """Derivatives of the log-loss by coefficients and intercepts."""
    errors = softmax(scores(X, coefs, intercepts), axis=1)
    errors[np.arange(len(X)), labels] -= 1
    errors = errors[:, 1:] if len(coefs) == 1 else errors
    return errors.T @ X, errors.sum(axis=0)


def violation(X, labels, C, coefs, intercepts):
    """By how much the conditions of the optimum are missed, as a share of the penalty of 1."""
    of_coefs, of_intercepts = (C * part for part in slopes(X, labels, coefs, intercepts))
    off = np.where(coefs != 0, np.abs(of_coefs + np.sign(coefs)), np.maximum(np.abs(of_coefs) - 1, 0))
    return max(off.max(), np.abs(of_intercepts).max())


def proximal_gradient(X, labels, C, tolerance=1e-9, most_steps=200_000):
    """Coefficients and intercepts of the least C * loss + |coefficients|, with Nesterov's momentum and restarts."""
    n_classes = max(labels) + 1
    n_lines = 1 if n_classes == 2 else n_classes
    step = 2 / (C * np.linalg.norm(np.column_stack([X, np.ones(len(X))]), 2) ** 2)
    coefs, intercepts = np.zeros((n_lines, X.shape[1])), np.zeros(n_lines)
    ahead, momentum = (coefs, intercepts), 1.0
    for _ in range(most_steps):
        of_coefs, of_intercepts = slopes(X, labels, *ahead)
        moved = ahead[0] - step * C * of_coefs
        new_coefs = np.sign(moved) * np.maximum(np.abs(moved) - step, 0)
        new_intercepts = ahead[1] - step * C * of_intercepts
        if ((ahead[0] - new_coefs) * (new_coefs - coefs)).sum() > 0:
            momentum = 1.0
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        share = (momentum - 1) / faster
        ahead = new_coefs + share * (new_coefs - coefs), new_intercepts + share * (new_intercepts - intercepts)
        coefs, intercepts, momentum = new_coefs, new_intercepts, faster
        if violation(X, labels, C, coefs, intercepts) < tolerance:
            return coefs, intercepts
    raise AssertionError("the naive twin did not converge")


def quadratic_and_penalty(curvature, slopes, penalties, start, most_steps=20_000):
    """The least sum of a quadratic, given by its slopes at ``start``, and penalties: plain proximal gradient steps."""
    x, step = start.copy(), 1 / np.linalg.norm(curvature, 2)
    for _ in range(most_steps):
        moved = x - step * (slopes + curvature @ (x - start))
        x, before = np.sign(moved) * np.maximum(np.abs(moved) - step * penalties, 0), x
        if np.abs(x - before).max() < 1e-13:
            break
    return x
