"""Intervals and sets against order statistics, direct loops over all rows, and MAPIE."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression
from sklearn.model_selection import PredefinedSplit

from surefoot import ConformalClassifier, ConformalRegressor, GradientBoostingRegressor
from surefoot.conformal.calibration import CalibrationScores, conformal_rank, rows_for_level
from surefoot.conformal.label_scores import label_scores, row_numbers
from surefoot.conformal.row_scales import RowScales

LEVELS = (0.5, 0.8, 0.9, 0.95)


@pytest.fixture(scope="module")
def rows():
    """Training rows, calibration rows and new rows."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(290, 3))
    return X, X[:, 0] + np.exp(0.5 * X[:, 1]) * generator.normal(size=290)


@pytest.mark.parametrize(
    ("n_rows", "level", "rank"), [(9, 0.9, 9), (8, 0.9, 9), (19, 0.95, 19), (99, 0.9, 90), (100, 0.9, 91), (1, 0.5, 1)]
)
def test_the_rank_of_the_limit(n_rows, level, rank):
    assert conformal_rank(n_rows, level) == rank


def test_ranks_are_exact_for_all_round_levels():
    for n_rows in range(1, 300):
        for percent in range(1, 100):
            assert conformal_rank(n_rows, percent / 100) == max(1, -(-(n_rows + 1) * percent // 100))


@pytest.mark.parametrize(("level", "n_rows"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99), (0.001, 1)])
def test_the_fewest_rows_with_a_limit(level, n_rows):
    assert rows_for_level(level) == n_rows
    scores = np.arange(n_rows, dtype=float)
    for n, is_finite in ((n_rows, True), (n_rows - 1, False)):
        limits = CalibrationScores(scores[:n], np.zeros(n, dtype=int)).limits(level, np.ones(2))
        assert np.isfinite(limits).tolist() == [is_finite] * 2


@pytest.mark.parametrize("level", LEVELS)
def test_a_split_is_an_order_statistic_and_equals_mapie(rows, level):
    regression = pytest.importorskip("mapie.regression")
    (X, y), model = rows, LinearRegression()
    model.fit(X[:100], y[:100])
    wrapped = ConformalRegressor(model, cv="prefit", confidence_level=level).fit(X[100:250], y[100:250])
    low, high = wrapped.predict_interval(X[250:])
    errors = np.sort(np.abs(y[100:250] - model.predict(X[100:250])))
    limit = errors[int(np.ceil(151 * level)) - 1]
    np.testing.assert_allclose(low, model.predict(X[250:]) - limit)
    np.testing.assert_allclose(high, model.predict(X[250:]) + limit)
    mapie = regression.SplitConformalRegressor(model, confidence_level=level, prefit=True)
    theirs = mapie.conformalize(X[100:250], y[100:250]).predict_interval(X[250:])[1][:, :, 0]
    np.testing.assert_allclose(np.column_stack([low, high]), theirs)


@pytest.mark.parametrize("level", LEVELS)
def test_folds_equal_those_of_mapie(rows, level):
    regression = pytest.importorskip("mapie.regression")
    X, y = rows
    wrapped = ConformalRegressor(LinearRegression(), cv=5, confidence_level=level, random_state=0).fit(X[:250], y[:250])
    folds = PredefinedSplit(wrapped._calibration.models)
    mapie = regression.CrossConformalRegressor(LinearRegression(), confidence_level=level, cv=folds, method="plus")
    theirs = mapie.fit_conformalize(X[:250], y[:250]).predict_interval(X[250:])[1][:, :, 0]
    np.testing.assert_allclose(np.column_stack(wrapped.predict_interval(X[250:])), theirs)


@pytest.mark.parametrize("level", LEVELS)
def test_label_sets_equal_those_of_mapie(rows, level):
    classification = pytest.importorskip("mapie.classification")
    X, labels = rows[0], np.digitize(rows[1], [-0.7, 0.7])
    model = LogisticRegression().fit(X[:100], labels[:100])
    sets = ConformalClassifier(model, cv="prefit", confidence_level=level).fit(X[100:250], labels[100:250])
    mapie = classification.SplitConformalClassifier(model, confidence_level=level, prefit=True, conformity_score="lac")
    theirs = mapie.conformalize(X[100:250], labels[100:250]).predict_set(X[250:])[1][:, :, 0]
    theirs[np.arange(40), model.predict(X[250:])] = True  # sets without labels have the most probable one here
    ours = np.array([[label in each for label in range(3)] for each in sets.predict_set(X[250:])])
    np.testing.assert_array_equal(ours, theirs)


def test_units_of_the_models_own(rows):
    X, y = rows
    model = BayesianRidge().fit(X[:100], y[:100])
    wrapped = ConformalRegressor(model, cv="prefit").fit(X[100:250], y[100:250])
    mean, std = model.predict(X, return_std=True)
    limit = np.sort((np.abs(y - mean) / std)[100:250])[135]
    np.testing.assert_allclose(wrapped.predict_interval(X[250:])[1], (mean + limit * std)[250:])
    booster = GradientBoostingRegressor(n_estimators=20, distribution="gamma").fit(X[:100], np.exp(y[:100]))
    wrapped = ConformalRegressor(booster, cv="prefit").fit(X[100:250], np.exp(y[100:250]))
    distribution, truth = booster.predict_distribution(X), np.exp(y)
    median, (low, high) = distribution.quantile(0.5), distribution.interval(0.9)
    units = np.where(truth < median, median - low, high - median)
    limit = np.sort((np.abs(truth - median) / units)[100:250])[135]
    ours = wrapped.predict_interval(X[250:])
    np.testing.assert_allclose(ours[0], (median - limit * (median - low))[250:])
    np.testing.assert_allclose(ours[1], (median + limit * (high - median))[250:])
    assert not np.allclose(ours[1] - median[250:], median[250:] - ours[0])


def weighted_quantile(values, weights, level):
    """The smallest value up to which there is a fraction ``level`` of the weight, by a loop."""
    for value in sorted(values):
        if sum(w for v, w in zip(values, weights, strict=True) if v <= value) >= level * sum(weights) - 1e-9:
            return value
    raise AssertionError


@pytest.mark.parametrize("n_models", [1, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_intervals_against_a_loop(n_models, is_weighted):
    generator = np.random.default_rng(n_models)
    for level in LEVELS:
        scores, models = generator.gamma(2, size=30), generator.integers(n_models, size=30)
        weights = generator.gamma(1, size=30) if is_weighted else None
        next_weights = generator.gamma(1, size=7) if is_weighted else np.ones(7)
        scales = [
            RowScales(*np.vstack([generator.normal(size=7), generator.gamma(3, size=(2, 7))])) for _ in range(n_models)
        ]
        low, high = CalibrationScores(scores, models, weights).intervals(scales, level, next_weights)
        for i in range(7):
            own = [*(np.ones(30) if weights is None else weights), next_weights[i]]
            lower = [scores[j] * scales[k].below[i] - scales[k].centre[i] for j, k in enumerate(models)]
            upper = [scores[j] * scales[k].above[i] + scales[k].centre[i] for j, k in enumerate(models)]
            assert low[i] == pytest.approx(-weighted_quantile([*lower, np.inf], own, level))
            assert high[i] == pytest.approx(weighted_quantile([*upper, np.inf], own, level))


@pytest.mark.parametrize("n_models", [1, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_labels_against_a_loop(n_models, is_weighted):
    generator = np.random.default_rng(n_models)
    for level in LEVELS:
        scores, models = np.round(generator.random(30), 1), generator.integers(n_models, size=30)  # with ties
        weights = generator.gamma(1, size=30) if is_weighted else None
        next_weights = generator.gamma(1, size=7) if is_weighted else np.ones(7)
        of_labels = [np.round(generator.random((7, 4)), 1) for _ in range(n_models)]
        conforms = CalibrationScores(scores, models, weights).conforms(of_labels, level, next_weights)
        own = np.ones(30) if weights is None else weights
        for i in range(7):
            for label in range(4):
                beyond = sum(own[j] for j in range(30) if scores[j] >= of_labels[models[j]][i, label]) + next_weights[i]
                p_value = beyond / (own.sum() + next_weights[i])
                assert conforms[i, label] == (p_value > 1 - level + 1e-9)


def test_blocks_of_rows_change_nothing(rows, monkeypatch):
    X, y = rows
    wrapped = ConformalRegressor(LinearRegression(), cv=3, random_state=0).fit(X[:200], y[:200])
    whole = wrapped.predict_interval(X)
    monkeypatch.setattr("surefoot.conformal.calibration.BLOCK_CELLS", 1000)
    np.testing.assert_array_equal(wrapped.predict_interval(X), whole)


class Certain(RegressorMixin, BaseEstimator):
    """Predicts 0, and expects no error at all in half of the rows."""

    def fit(self, X, y):
        return self

    def predict(self, X, return_std=False):
        return (np.zeros(len(X)), (X[:, 0] > 0) * 1.0) if return_std else np.zeros(len(X))


def test_a_model_that_expects_no_error_and_is_wrong():
    X = np.tile([[-1.0], [1.0]], (20, 1))
    model = ConformalRegressor(Certain(), cv="prefit")
    low, high = model.fit(X, np.ones(40)).predict_interval(X[:2])
    assert np.isinf([low, high]).all()
    low, high = model.fit(X, np.tile([0.0, 1.0], 20)).predict_interval(X[:2])
    assert (low.tolist(), high.tolist()) == ([0.0, -1.0], [0.0, 1.0])


def test_random_numbers_of_rows_are_uniform_and_stay_with_the_row():
    generator = np.random.default_rng(0)
    probabilities = generator.dirichlet([1, 1, 1], size=4000)
    numbers = row_numbers(probabilities)
    assert np.bincount((numbers * 10).astype(int), minlength=10) == pytest.approx(400, abs=90)
    assert abs(np.corrcoef(numbers, probabilities[:, 0])[0, 1]) < 0.06
    order = generator.permutation(4000)
    np.testing.assert_array_equal(row_numbers(probabilities[order]), numbers[order])
    np.testing.assert_array_equal(row_numbers(probabilities * (1 + 1e-15)), numbers)


def test_scores_of_labels():
    probabilities = np.array([[0.2, 0.5, 0.3]])
    np.testing.assert_allclose(label_scores(probabilities, "lac"), [[0.8, 0.5, 0.7]])
    number = row_numbers(probabilities)[0]
    expected = [[0.8 + 0.2 * number, 0.5 * number, 0.5 + 0.3 * number]]
    np.testing.assert_allclose(label_scores(probabilities, "aps"), expected)
