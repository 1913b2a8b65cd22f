"""Importance weights against a ratio that is known."""

import numpy as np
import pytest

from surefoot_experiments.shift.methods import effective_size, importance_weights


def test_weights_of_two_normal_distributions():
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(4000, 2)), rng.normal([0.8, 0.0], size=(4000, 2))
    weights = importance_weights(X, X_target)
    known = 0.8 * X[:, 0] - 0.8**2 / 2  # the logarithm of the ratio of densities
    slope, level = np.polyfit(known, np.log(weights), 1)
    assert slope == pytest.approx(1, abs=0.1)
    assert level == pytest.approx(0, abs=0.1)
    assert weights.mean() == pytest.approx(1)
    assert effective_size(weights) == pytest.approx(4000 / np.exp(0.8**2), rel=0.15)


def test_columns_may_have_any_unit_and_be_constant():
    rng = np.random.default_rng(1)
    X, X_target = rng.normal(size=(200, 2)), rng.normal(0.5, size=(100, 2))
    weights = importance_weights(X, X_target)

    def wider(table):
        return np.column_stack([1e6 * table[:, 0] + 3, table[:, 1], np.full(len(table), 4.0)])

    assert importance_weights(wider(X), wider(X_target)) == pytest.approx(weights, rel=1e-3)


def test_effective_sizes():
    assert effective_size(np.full(10, 3.0)) == pytest.approx(10)
    assert effective_size(np.array([1.0, 0.0, 0.0])) == pytest.approx(1)
    assert effective_size(np.array([2.0, 1.0])) == pytest.approx(9 / 5)
