"""The residuals of first models: those of a row never depend on later rows."""

from dataclasses import replace

import numpy as np
import pytest
from reference.gradient_boosters import small, target_of
from reference.models import make_frame

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot.uncertainty import training
from surefoot.uncertainty.training import CombinationSearch

SINGLE = (GradientBoostingRegressor, GradientBoostingClassifier)


def make_table(n_rows=2400, seed=0):
    generator = np.random.default_rng(seed)
    codes = [generator.integers(0, n, n_rows) for n in (70, 4)]
    number = generator.normal(size=n_rows)
    names = {name: [f"c{code}" for code in column] for name, column in zip(("many", "few"), codes, strict=True)}
    return make_frame("pandas", {"a": number}, names), number + np.sin(codes[0]) + generator.normal(size=n_rows)


def arguments_of_fit(monkeypatch, estimator, weights=None, **settings):
    """FitSpec, table and order that a fit passes to the first models, and the result."""
    calls = []
    train = CombinationSearch.train

    def spy(spec, table, order):
        calls.append((spec, table, order, train(spec, table, order)))
        return calls[-1][3]

    monkeypatch.setattr(CombinationSearch, "train", spy)
    frame, values = make_table()
    small(estimator, **settings).fit(frame, target_of(estimator, values), weights)
    monkeypatch.setattr(CombinationSearch, "train", train)
    return calls[0]


@pytest.mark.parametrize("estimator", SINGLE)
@pytest.mark.parametrize("early_stopping", [True, False])
def test_later_targets_do_not_matter(monkeypatch, estimator, early_stopping):
    spec, table, order, first = arguments_of_fit(monkeypatch, estimator, early_stopping=early_stopping)
    for kept in (3 * len(order) // 4, len(order) // 4 + 1):
        y = spec.y.copy()
        y[order[kept:]] = y[order[kept:]][::-1]
        again = CombinationSearch.train(replace(spec, y=y), table, order)
        np.testing.assert_array_equal(again.residuals[:, order[:kept]], first.residuals[:, order[:kept]])
        assert (again.residuals[:, order[kept:]] != first.residuals[:, order[kept:]]).any()


@pytest.mark.parametrize("estimator", SINGLE)
def test_first_rows_and_rows_not_trained_on_have_no_weight(monkeypatch, estimator):
    weights = np.random.default_rng(1).integers(1, 3, size=2400).astype(float)
    spec, _, order, first = arguments_of_fit(monkeypatch, estimator, weights, early_stopping=False)
    start = -(-len(order) // training.FIRST_PART)
    assert (first.weights[order[:start]] == 0).all()
    np.testing.assert_array_equal(first.weights[order[start:]], spec.weights[order[start:]])
    assert (first.residuals[:, order[:start]] == 0).all()
    assert first.residuals[:, order[start:]].std() < 0.95 * np.std(
        spec.y[order[start:]]
    )  # the models explain a part of the targets
    np.testing.assert_allclose(first.importances.sum(), 1.0)


@pytest.mark.parametrize("estimator", SINGLE)
def test_rate_and_number_of_trees_do_not_matter(monkeypatch, estimator):
    first, again = (
        arguments_of_fit(monkeypatch, estimator, early_stopping=False, **settings)[3].residuals
        for settings in ({}, {"n_estimators": 3, "learning_rate": 0.9, "langevin": True, "temperature": 0.5})
    )
    np.testing.assert_array_equal(first, again)


def test_small_tables_have_no_first_models(monkeypatch):
    monkeypatch.setattr(training, "MIN_ROWS", 2401)
    with pytest.raises(IndexError):  # there are no calls
        arguments_of_fit(monkeypatch, GradientBoostingRegressor, early_stopping=False)
