"""Leaves without training rows get noise of their own in every member, which training rows never meet."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from surefoot import BoostingEnsembleRegressor, GradientBoostingRegressor

METHODS = {"sgb": {"subsample": 0.5}, "sglb": {"langevin": True}}


def without_noise(monkeypatch):
    monkeypatch.setattr("surefoot.uncertainty.leaf_noise.EMPTY_LEAF_TEMPERATURE", 0.0)


def three_cells(n_each):
    """Three of the four combinations of two columns, and the standardised target."""
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], n_each, axis=0)
    y = X @ [1.0, 2.0] + np.random.default_rng(0).normal(size=len(X))
    return X, (y - y.mean()) / y.std()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("rate", "l2"), [(0.1, 0.0), (0.1, 3.0), (0.02, 3.0)])
def test_empty_leaves_have_the_noise_of_one_row_at_a_temperature_of_one_half(method, rate, l2):
    X, y = three_cells(300)
    model = GradientBoostingRegressor(
        n_estimators=1500, learning_rate=rate, l2_regularization=l2, max_depth=2, early_stopping=False,
        random_state=0, **METHODS[method],
    ).fit(X, y)  # fmt: skip
    trees = model._members[0].trees
    split = np.flatnonzero((trees.forest.covers == 0).sum(axis=1) == 1)  # trees that split on both columns
    split = split[split > 0]
    assert len(split) > 300
    shrunk = trees.shrink ** (1499 - split)
    noise = trees.forest.leaves[split][trees.forest.covers[split] == 0][:, 0] / shrunk
    before = trees.shrink * model._member_raw(X, range(1, 1500))[split - 1, 0]
    left = np.sqrt(((y - before) ** 2).mean(axis=1))
    spread = left * np.sqrt(rate / (1 + l2))
    if method == "sglb":  # plus the Langevin noise
        spread = np.sqrt(spread**2 + 2 * rate / len(y) / max(l2, 1.0))
    assert stats.kstest(noise / spread, "norm").pvalue > 1e-3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weighted", [False, True])
def test_training_rows_never_reach_empty_leaves(method, weighted, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 4))
    y, weights = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=150), rng.integers(0, 3, size=150) if weighted else None
    known = X if weights is None else X[weights > 0]

    def fitted():
        model = GradientBoostingRegressor(n_estimators=60, early_stopping=False, random_state=0, **METHODS[method])
        return model.fit(X, y, sample_weight=weights)

    noisy = fitted()
    without_noise(monkeypatch)
    plain = fitted()
    np.testing.assert_array_equal(noisy.predict(known), plain.predict(known))
    strange = rng.permuted(X, axis=0)
    assert (noisy.predict(strange) != plain.predict(strange)).mean() > 0.2


def test_a_single_model_has_no_noise_in_empty_leaves(monkeypatch):
    X, y = three_cells(20)
    strange = [[1.0, 1.0]]
    predicted = GradientBoostingRegressor(n_estimators=30, early_stopping=False).fit(X, y).predict(strange)
    without_noise(monkeypatch)
    assert GradientBoostingRegressor(n_estimators=30, early_stopping=False).fit(X, y).predict(strange) == predicted


@pytest.mark.parametrize("method", METHODS)
def test_members_disagree_about_combinations_that_training_rows_do_not_have(method, monkeypatch):
    """Correlated columns, which are permuted in the strange rows; the target depends only on the first."""
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

    noisy = auc()
    without_noise(monkeypatch)
    plain = auc()
    assert noisy > 0.95
    assert noisy > plain + 0.05


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("distribution", ["poisson", "gamma"])
def test_log_means_have_no_noise_in_empty_leaves(method, distribution):
    """With rare events, noise of log-means would add up to means of hundreds for new combinations."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 1)) + 0.2 * rng.normal(size=(500, 5))
    mean = np.exp(0.5 * X[:, 0] - 2)
    y = rng.poisson(mean).astype(float) if distribution == "poisson" else rng.gamma(0.2, mean / 0.2) + 1e-9
    model = BoostingEnsembleRegressor(
        method=method, distribution=distribution, n_members=3, n_estimators=300, learning_rate=0.1,
        l2_regularization=3.0, early_stopping=False, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert model.predict(rng.permuted(X, axis=0)).max() < 2 * y.max()
