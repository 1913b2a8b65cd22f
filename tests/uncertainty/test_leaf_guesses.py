"""Leaves that no training row reaches: every member guesses for itself, and training rows never notice."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from surefoot import BoostingEnsembleRegressor, GradientBoostingRegressor

METHODS = {"sgb": {"subsample": 0.5}, "sglb": {"langevin": True}}


def without_guesses(monkeypatch):
    monkeypatch.setattr("surefoot.uncertainty.leaf_noise.EMPTY_LEAF_TEMPERATURE", 0.0)


def three_cells(n_each):
    """Three of the four combinations of two columns, and the standardised target."""
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], n_each, axis=0)
    y = X @ [1.0, 2.0] + np.random.default_rng(0).normal(size=len(X))
    return X, (y - y.mean()) / y.std()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("rate", "l2"), [(0.1, 0.0), (0.1, 3.0), (0.02, 3.0)])
def test_guesses_are_the_noise_of_one_row_at_a_temperature_of_one_half(method, rate, l2):
    X, y = three_cells(300)
    model = GradientBoostingRegressor(
        n_estimators=1500, learning_rate=rate, l2_regularization=l2, max_depth=2, early_stopping=False,
        random_state=0, **METHODS[method],
    ).fit(X, y)  # fmt: skip
    trees = model._members[0].trees
    parted = np.flatnonzero((trees.forest.covers == 0).sum(axis=1) == 1)  # trees that split on both columns
    parted = parted[parted > 0]
    assert len(parted) > 300
    shrunk = trees.shrink ** (1499 - parted)
    guesses = trees.forest.leaves[parted][trees.forest.covers[parted] == 0][:, 0] / shrunk
    before = trees.shrink * model._member_raw(X, range(1, 1500))[parted - 1, 0]
    left = np.sqrt(((y - before) ** 2).mean(axis=1))
    spread = left * np.sqrt(rate / (1 + l2))
    if method == "sglb":  # its own noise is there too
        spread = np.sqrt(spread**2 + 2 * rate / len(y) / max(l2, 1.0))
    assert stats.kstest(guesses / spread, "norm").pvalue > 1e-3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weighted", [False, True])
def test_training_rows_never_meet_them(method, weighted, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 4))
    y, weights = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=150), rng.integers(0, 3, size=150) if weighted else None
    known = X if weights is None else X[weights > 0]

    def fitted():
        model = GradientBoostingRegressor(n_estimators=60, early_stopping=False, random_state=0, **METHODS[method])
        return model.fit(X, y, sample_weight=weights)

    guessing = fitted()
    without_guesses(monkeypatch)
    silent = fitted()
    np.testing.assert_array_equal(guessing.predict(known), silent.predict(known))
    strange = rng.permuted(X, axis=0)
    assert (guessing.predict(strange) != silent.predict(strange)).mean() > 0.2


def test_a_model_that_is_alone_does_not_guess(monkeypatch):
    X, y = three_cells(20)
    strange = [[1.0, 1.0]]
    alone = GradientBoostingRegressor(n_estimators=30, early_stopping=False).fit(X, y).predict(strange)
    without_guesses(monkeypatch)
    assert GradientBoostingRegressor(n_estimators=30, early_stopping=False).fit(X, y).predict(strange) == alone


@pytest.mark.parametrize("method", METHODS)
def test_members_disagree_about_combinations_that_nobody_has_seen(method, monkeypatch):
    """Columns that go together, but for the rows from elsewhere; the target follows the first alone."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 1)) + 0.3 * rng.normal(size=(500, 5))
    y = X[:, 0] + rng.normal(size=500)
    new = rng.normal(size=(200, 1)) + 0.3 * rng.normal(size=(200, 5))
    strange = rng.permuted(new, axis=0)

    def auc():
        model = BoostingEnsembleRegressor(method=method, n_estimators=100, early_stopping=False, random_state=0)
        model.fit(X, y)
        knowledge = [model.predict_uncertainty(rows).knowledge for rows in (new, strange)]
        return roc_auc_score(np.repeat([0, 1], 200), np.concatenate(knowledge))

    guessing = auc()
    without_guesses(monkeypatch)
    silent = auc()
    assert guessing > 0.95
    assert guessing > silent + 0.05


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("distribution", ["poisson", "gamma"])
def test_where_outputs_are_logs_of_means_nobody_guesses(method, distribution):
    """Rare events: guesses about log-means would add up to hundreds of them for combinations that nobody has seen."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 1)) + 0.2 * rng.normal(size=(500, 5))
    mean = np.exp(0.5 * X[:, 0] - 2)
    y = rng.poisson(mean).astype(float) if distribution == "poisson" else rng.gamma(0.2, mean / 0.2) + 1e-9
    model = BoostingEnsembleRegressor(
        method=method, distribution=distribution, n_members=3, n_estimators=300, learning_rate=0.1,
        l2_regularization=3.0, early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert model.predict(rng.permuted(X, axis=0)).max() < 2 * y.max()
