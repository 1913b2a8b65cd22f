"""What is promised, on many small tables: in all rows, in each group, and for deployment rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import surefoot
from surefoot import ConformalClassifier, ConformalRegressor, InfiniteIntervalWarning
from surefoot.conformal.calibration import CalibrationScores
from surefoot.conformal.guarantee import guaranteed_coverage


class Zero(RegressorMixin, BaseEstimator):
    """Predicts 0, fitted or not."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(("n_rows", "level"), [(9, 0.9), (25, 0.9), (40, 0.8)])
def test_the_mean_coverage_is_that_of_the_order_statistic(n_rows, level):
    """With uniform errors, an interval's half-width is its coverage; its mean is rank / (n + 1)."""
    generator, X = np.random.default_rng(0), np.zeros((n_rows, 1))
    widths = []
    for _ in range(400):
        model = ConformalRegressor(Zero(), cv="prefit", confidence_level=level).fit(X, generator.random(n_rows))
        widths.append(model.predict_interval(X[:1])[1][0])
    expected = np.ceil((n_rows + 1) * level) / (n_rows + 1)
    error = np.sqrt(expected * (1 - expected) / (n_rows + 2) / 400)
    assert np.mean(widths) == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize("cv", ["split", 4])
def test_coverage_of_a_wrong_model(cv):
    generator, hits = np.random.default_rng(0), []
    for seed in range(60):
        X = generator.normal(size=(120, 2))
        y = X[:, 0] ** 3 + generator.standard_t(3, size=120)
        model = ConformalRegressor(LinearRegression(), cv=cv, confidence_level=0.8, random_state=seed)
        low, high = model.fit(X[:60], y[:60]).predict_interval(X[60:])
        hits.append(np.mean((low <= y[60:]) & (y[60:] <= high)))
    assert np.mean(hits) > 0.8 - 2 * np.std(hits) / 60**0.5
    assert np.mean(hits) < 0.92


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_coverage_of_label_sets(score):
    generator, hits, sizes = np.random.default_rng(0), [], []
    for seed in range(60):
        X = generator.normal(size=(160, 2))
        y = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] + generator.normal(size=160), [-0.7, 0.7])]
        model = ConformalClassifier(GaussianNB(), conformity_score=score, random_state=seed)
        sets = model.fit(X[:80], y[:80]).predict_set(X[80:])
        assert model.set_sizes(X[80:]).tolist() == list(map(len, sets))
        hits.append(np.mean([label in each for label, each in zip(y[80:], sets, strict=True)]))
        sizes.append(np.mean(model.set_sizes(X[80:])))
    assert np.mean(hits) > 0.9 - 2 * np.std(hits) / 60**0.5
    assert np.mean(sizes) < 2.6


def groups_of(n_rows):
    return np.where(np.arange(n_rows) % 4 == 0, "few", "many")


def test_each_group_has_its_own_coverage():
    generator, hits = np.random.default_rng(0), {"few": [], "many": []}
    groups = groups_of(160)
    for seed in range(50):
        X = generator.normal(size=(160, 2))
        y = X[:, 0] + np.where(groups == "few", 5.0, 1.0) * generator.normal(size=160)
        model = ConformalRegressor(
            LinearRegression(), random_state=seed, calibration_fraction=0.5, confidence_level=0.8
        )
        low, high = model.fit(X, y, groups=groups).predict_interval(X, groups)
        new = X[:, 0] + np.where(groups == "few", 5.0, 1.0) * generator.normal(size=160)
        for name in hits:
            hits[name].append(np.mean(((low <= new) & (new <= high))[groups == name]))
    for name in hits:
        assert 0.8 - 2 * np.std(hits[name]) / 50**0.5 < np.mean(hits[name]) < 0.88


def test_groups_that_are_unknown_or_too_small_have_no_finite_interval():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(60, 2)), generator.normal(size=60)
    groups = np.repeat(["large", "small"], [52, 8])
    with pytest.warns(InfiniteIntervalWarning, match="in the group 'small' are too few.* at least 9: intervals are"):
        model = ConformalRegressor(LinearRegression(), cv=3, random_state=0).fit(X, y, groups=groups)
    low, high = model.predict_interval(X[:3], ["large", "small", "new"])
    assert np.isinf(low).tolist() == np.isinf(high).tolist() == [False, True, True]
    alone = ConformalRegressor(LinearRegression(), cv=3, random_state=0)
    with pytest.warns(InfiniteIntervalWarning):
        classifier = ConformalClassifier(GaussianNB(), cv=3, random_state=0).fit(X, y > 0, groups=groups)
    assert classifier.set_sizes(X[:3], ["small", "new", "new"]).tolist() == [2, 2, 2]
    with pytest.warns(InfiniteIntervalWarning, match="calibration rows are too few.* at least 99"):
        alone.set_params(confidence_level=0.99).fit(X, y)
    assert np.isinf(alone.predict_interval(X)).all()


def test_a_group_without_calibration_rows_is_named():
    X, y = np.zeros((61, 1)), np.random.default_rng(0).normal(size=61)
    groups = ["alone", *np.repeat(["a", "b"], 30)]
    with pytest.warns(InfiniteIntervalWarning, match="in the group 'alone' are too few"):
        model = ConformalRegressor(Zero(), calibration_fraction=0.5, random_state=0).fit(X, y, groups=groups)
    assert np.isinf(model.predict_interval(X[:2], groups[:2])[0]).tolist() == [True, False]
    folds = ConformalRegressor(Zero(), cv=3, random_state=0).fit(X[1:], y[1:], groups=groups[1:])._calibration.models
    assert [np.bincount(folds[:30]).tolist(), np.bincount(folds[30:]).tolist()] == [[10, 10, 10]] * 2


def test_true_weights_restore_the_coverage():
    """The errors are a function of x, so limits need the right distribution of x."""
    generator, hits = np.random.default_rng(0), {"weighted": [], "plain": []}
    for _ in range(200):
        x, new = generator.random(100), np.sqrt(generator.random(50))  # the density of new rows is 2x
        for name, weights, next_weights in (("weighted", 2 * x, 2 * new), ("plain", None, np.ones(50))):
            limits = CalibrationScores(x, np.zeros(100, dtype=int), weights).limits(0.8, next_weights)
            hits[name].append(np.mean(new <= limits))
    assert np.mean(hits["weighted"]) > 0.8 - 2 * np.std(hits["weighted"]) / 200**0.5
    assert np.mean(hits["weighted"]) < 0.83
    assert np.mean(hits["plain"]) < 0.7


@pytest.mark.parametrize("cv", ["split", 3])
def test_estimated_weights_widen_intervals_where_deployment_rows_are_noisier(cv):
    generator = np.random.default_rng(0)
    X, Z = generator.normal(size=(1000, 2)), generator.normal([0.8, 0.0], size=(1000, 2))
    y, truth = (np.exp(each[:, 0]) * generator.normal(size=1000) for each in (X, Z))
    covered = {}
    for name, target in (("plain", None), ("weighted", Z[:500])):
        model = ConformalRegressor(LinearRegression(), cv=cv, random_state=0).fit(X, y, X_target=target)
        low, high = model.predict_interval(Z[500:])
        covered[name] = np.mean((low <= truth[500:]) & (truth[500:] <= high))
    assert covered["plain"] < 0.8 < 0.85 < covered["weighted"]
    assert model.effective_calibration_ < model.n_calibration_ / 1.5
    far = np.column_stack([Z[:, 0] + 3.0, Z[:, 1]])  # hardly any training row is like these
    assert np.isinf(model.fit(X, y, X_target=far).predict_interval(far)).mean() > 0.8
    assert ("estimated weights are right" if cv == "split" else "Nothing is guaranteed") in model.guarantee_


def test_frames_with_categories_and_a_target_table():
    pd = pytest.importorskip("pandas")
    generator = np.random.default_rng(0)

    def draw(n, p):
        city = generator.choice(["a", "b"], size=n, p=[p, 1 - p])
        return pd.DataFrame({"city": pd.Categorical(city), "x": generator.normal(size=n)})

    X, Z = draw(600, 0.8), draw(300, 0.2)
    y = np.where(X["city"] == "a", 1.0, 4.0) * generator.normal(size=600)
    model = ConformalRegressor(surefoot.GradientBoostingRegressor(n_estimators=5), conformity_score="absolute")
    widths = []
    for target in (None, Z):
        low, high = model.set_params(random_state=0).fit(X, y, X_target=target).predict_interval(Z)
        widths.append(np.median(high - low))
    assert widths[1] > 1.3 * widths[0]


class Labels(ClassifierMixin, BaseEstimator):
    """Predicts the sign of the first column, without probabilities."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0).astype(int)


def test_a_classifier_without_probabilities():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 1))
    y = np.where(generator.random(400) < 0.05, X[:, 0] < 0, X[:, 0] > 0).astype(int)
    model = ConformalClassifier(Labels(), random_state=0).fit(X, y)
    assert set(map(len, model.predict_set(X))) == {1}  # right in more than 90% of the rows
    assert set(map(len, model.predict_set(X, confidence_level=0.99))) == {2}


def test_classes_that_a_fold_or_a_fitted_model_has_not_seen():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(60, 1)), np.where(np.arange(60) == 0, 7, np.arange(60) % 2)
    assert ConformalClassifier(GaussianNB(), cv=60, random_state=0).fit(X, y).classes_.tolist() == [0, 1, 7]
    fitted = GaussianNB().fit(X, y)
    model = ConformalClassifier(fitted, cv="prefit").fit(X[1:], y[1:])
    assert model.classes_.tolist() == [0, 1, 7]
    np.testing.assert_allclose(model.predict_proba(X), fitted.predict_proba(X))


def test_other_levels_than_that_of_the_fit():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(200, 1)), generator.normal(size=200)
    model = ConformalRegressor(Zero(), random_state=0)
    other = model.fit(X, y).predict_interval(X, confidence_level=0.6)
    np.testing.assert_array_equal(other, model.set_params(confidence_level=0.6).fit(X, y).predict_interval(X))


@pytest.mark.parametrize(
    ("n_rows", "n_folds", "lost"), [(100, 5, 1.6 / 21), (1000, 5, 1.6 / 201), (100, 50, 0.5 / 51), (100, 100, 0.0)]
)
def test_models_of_folds_are_guaranteed_what_theorem_4_says(n_rows, n_folds, lost):
    assert guaranteed_coverage(0.9, n_rows, n_folds) == pytest.approx(0.8 - lost)
    assert guaranteed_coverage(0.9, n_rows, 1) == 0.9


def test_the_guarantee_in_words():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(100, 1)), generator.normal(size=100)
    model = ConformalRegressor(Zero(), cv=5, random_state=0).fit(X, y)
    assert model.guaranteed_coverage_ == pytest.approx(0.8 - 1.6 / 21)
    assert model.guarantee_.startswith("At least 72% of new rows have their target in these intervals")
    assert "About 90% are usual." in model.guarantee_
    split = model.set_params(cv="split").fit(X, y, groups=np.repeat(["a", "b"], 50)).guarantee_
    assert split.startswith("At least 90% of rows of each group")
    assert "usual" not in split
