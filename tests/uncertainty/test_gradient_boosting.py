"""The single gradient boosters: their accuracy beside scikit-learn's, and their other properties."""

import inspect
from functools import cache

import numpy as np
import pytest
from reference.gradient_boosters import (
    GRADIENT_BOOSTERS,
    SINGLE,
    answers,
    bits,
    forests,
    numbers,
    problem,
    small,
    with_classes,
)
from scipy import stats
from sklearn import config_context, datasets
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import (
    log_loss,
    mean_gamma_deviance,
    mean_poisson_deviance,
    mean_squared_error,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from surefoot.uncertainty import Normal, StudentT

each_policy = pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
each_single = pytest.mark.parametrize("estimator", SINGLE)


@pytest.fixture(autouse=True)
def one_thread():
    """scikit-learn's threads wait for each other by spinning, which takes very long on a busy machine."""
    with threadpool_limits(1):
        yield


def peer(kind, X, y, **parameters):
    """scikit-learn's booster; it takes fewer trees, because each is larger."""
    return kind(max_iter=60, learning_rate=0.1, random_state=0, **parameters).fit(X, y)


@cache
def classes_and_peer(name):
    """Rows to fit and new ones, and scikit-learn's booster, with which each of our models is compared."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    X, X_new, y, y_new = split((X, y), stratify=y[:1200])
    return X, X_new, y, y_new, peer(HistGradientBoostingClassifier, X, y)


def ours(kind, X, y, **parameters):
    settings = {"n_estimators": 200, "max_depth": 5, "random_state": 0, "early_stopping": False}
    return kind(**(settings | parameters)).fit(X, y)


def split(data, **options):
    X, y = data
    return train_test_split(X[:1200], y[:1200], test_size=0.4, random_state=0, **options)


@each_policy
@pytest.mark.parametrize("name", ["friedman", "diabetes"])
def test_numbers_are_predicted_as_well_as_by_scikit_learn(grow_policy, name):
    data = datasets.make_friedman1(800, noise=1.0, random_state=0) if name == "friedman" else None
    X, X_new, y, y_new = split(data or datasets.load_diabetes(return_X_y=True))
    theirs = mean_squared_error(y_new, peer(HistGradientBoostingRegressor, X, y).predict(X_new))
    model = ours(GradientBoostingRegressor, X, y, grow_policy=grow_policy)
    assert mean_squared_error(y_new, model.predict(X_new)) < 1.15 * theirs
    stopped = ours(GradientBoostingRegressor, X, y, grow_policy=grow_policy, early_stopping="auto")
    assert mean_squared_error(y_new, stopped.predict(X_new)) < 1.5 * theirs


@each_policy
@pytest.mark.parametrize("name", ["breast_cancer", "iris", "digits"])
def test_classes_are_predicted_as_well_as_by_scikit_learn(grow_policy, name):
    X, X_new, y, y_new, theirs = classes_and_peer(name)
    for early_stopping in (False, "auto"):
        model = ours(GradientBoostingClassifier, X, y, grow_policy=grow_policy, early_stopping=early_stopping)
        assert model.score(X_new, y_new) > theirs.score(X_new, y_new) - 0.06
        assert log_loss(y_new, model.predict_proba(X_new)) < 1.3 * log_loss(y_new, theirs.predict_proba(X_new)) + 0.05


@each_policy
def test_ranks_are_as_good_as_those_of_scikit_learn(grow_policy):
    X, X_new, y, y_new = split(datasets.make_classification(1000, 10, n_informative=6, flip_y=0.1, random_state=0))
    theirs = roc_auc_score(y_new, peer(HistGradientBoostingClassifier, X, y).predict_proba(X_new)[:, 1])
    model = ours(GradientBoostingClassifier, X, y, grow_policy=grow_policy)
    assert roc_auc_score(y_new, model.predict_proba(X_new)[:, 1]) > theirs - 0.02


@pytest.mark.parametrize(
    ("distribution", "deviance"), [("poisson", mean_poisson_deviance), ("gamma", mean_gamma_deviance)]
)
def test_deviances_are_as_small_as_those_of_scikit_learn(distribution, deviance):
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(1200, 4))
    mean = np.exp(1.0 + X[:, 0] + np.abs(X[:, 1]))
    y = generator.poisson(mean) if distribution == "poisson" else generator.gamma(3.0, mean / 3.0)
    X, X_new, y, y_new = split((X, y))
    theirs = deviance(y_new, peer(HistGradientBoostingRegressor, X, y, loss=distribution).predict(X_new))
    model = ours(GradientBoostingRegressor, X, y, distribution=distribution, max_depth=3)
    assert deviance(y_new, model.predict(X_new)) < 1.1 * theirs


DRAWS = {
    "normal": lambda mean, g: g.normal(mean, 0.5 + np.abs(mean) / 4),
    "laplace": lambda mean, g: g.laplace(mean, 1.0),
    "student_t": lambda mean, g: mean + g.standard_t(5, size=len(mean)),
    "lognormal": lambda mean, g: np.exp(mean / 2 + 0.5 * g.normal(size=len(mean))),
    "gamma": lambda mean, g: g.gamma(4.0, np.exp(mean / 2) / 4.0),
    "poisson": lambda mean, g: g.poisson(np.exp(1.0 + mean / 3)).astype(float),
}


@pytest.mark.parametrize("distribution", DRAWS)
def test_new_targets_look_like_draws_from_the_predicted_distributions(distribution):
    generator = np.random.default_rng(0)
    X = generator.uniform(-2, 2, size=(2000, 3))
    y = DRAWS[distribution](X[:, 0] + X[:, 1], generator)
    model = GradientBoostingRegressor(distribution=distribution, max_depth=3, n_estimators=300, random_state=0)
    predicted = model.fit(X[:1200], y[:1200]).predict_distribution(X[1200:])
    level = predicted.cdf(y[1200:])
    if distribution == "poisson":  # a count has an interval of levels: draw one of them
        level -= generator.random(800) * predicted.pdf(y[1200:])
    assert abs(np.mean((level > 0.1) & (level < 0.9)) - 0.8) < 0.06
    assert abs(level.mean() - 0.5) < 0.04
    start = model.family_.start(model.family_.internal(y[:1200]))
    constant = model.family_.distribution(np.repeat(start[:, np.newaxis], 800, axis=1))
    assert predicted.logpdf(y[1200:]).mean() > constant.logpdf(y[1200:]).mean() + 0.05


def two_noises(n_rows, low_noise):
    """Half of the rows have noise of standard deviation 1, the others ``low_noise``."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(n_rows, 2))
    return X, X[:, 0] + np.where(X[:, 1] > 0, 1.0, low_noise) * generator.normal(size=n_rows)


@pytest.mark.parametrize(("n_rows", "low_noise"), [(1500, 0.5), (12_000, 0.1)])
def test_the_scale_follows_the_noise(n_rows, low_noise):
    X, y = two_noises(n_rows, low_noise)
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    distribution = model.predict_distribution(X)
    assert (mean == distribution.mean).all()
    assert (std == distribution.std).all()
    assert np.median(std[X[:, 1] > 0.1]) == pytest.approx(1.0, rel=0.15)
    assert np.median(std[X[:, 1] < -0.1]) == pytest.approx(low_noise, rel=0.15)
    np.testing.assert_allclose(distribution.quantile(0.975), stats.norm.ppf(0.975, mean, std))


@pytest.mark.parametrize(("n_rows", "factor"), [(300, 1.3), (1000, 1.5), (1500, 1.5 * np.sqrt(1.5))])
@pytest.mark.parametrize("settings", [{}, {"langevin": True}, {"distribution": "laplace"}], ids=str)
def test_among_few_rows_none_is_much_more_precise_than_the_typical_one(n_rows, factor, settings):
    """A few similar rows do not show how far out the next may be. The typical scale is the geometric mean."""
    X, y = two_noises(n_rows, 0.05)
    model = GradientBoostingRegressor(n_estimators=200, early_stopping=False, random_state=0, **settings).fit(X, y)
    trees = model._members[0].trees
    free = np.repeat(trees.start[:, np.newaxis], n_rows, axis=1)  # the sum of the trees before the bound
    trees.forest.add(model._members[0].encoding.codes(model._columns(X), 0, n_rows), 0, model.n_iter_, free)
    scale = np.exp(np.clip(free[1], model.family_.floor, model.family_.cap))
    min_scale = np.exp(free[1].mean()) / factor
    assert (scale < 0.99 * min_scale).mean() > 0.2  # without the bound, scales would be smaller
    unit = np.sqrt(2.0) if settings.get("distribution") == "laplace" else 1.0  # std of a scale of 1
    std = model.predict(X, return_std=True)[1] / model.family_.spread / unit
    np.testing.assert_allclose(std, np.maximum(scale, min_scale), rtol=1e-9)


def test_the_shape_of_a_gamma_distribution_is_bounded_like_a_scale():
    """A shape is one over the squared coefficient of variation: its bound is that of a scale, squared."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(800, 2))
    shape = np.where(X[:, 1] > 0, 1.0, 400.0)
    y = generator.gamma(shape, np.exp(X[:, 0]) / shape)
    model = GradientBoostingRegressor(distribution="gamma", n_estimators=200, early_stopping=False, random_state=0)
    distribution = model.fit(X, y).predict_distribution(X)
    variation = distribution.std / distribution.mean
    trees = model._members[0].trees
    free = np.repeat(trees.start[:, np.newaxis], 800, axis=1)
    trees.forest.add(model._members[0].encoding.codes(model._columns(X), 0, 800), 0, model.n_iter_, free)
    min_variation = np.exp(-free[1].mean() / 2) / (1.5 * np.sqrt(0.8))
    assert (np.exp(-free[1] / 2) < 0.99 * min_variation).mean() > 0.2
    np.testing.assert_allclose(variation, np.maximum(np.exp(-free[1] / 2), min_variation), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6, 1e150])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_unit_of_the_target_does_not_matter(scale, shift):
    X, y = numbers()
    mean, std = small(GradientBoostingRegressor).fit(X, y).predict(X, return_std=True)
    scaled_mean, scaled_std = small(GradientBoostingRegressor).fit(X, (y + shift) * scale).predict(X, return_std=True)
    np.testing.assert_allclose(scaled_mean / scale - shift, mean, rtol=1e-6)
    np.testing.assert_allclose(scaled_std / scale, std, rtol=1e-6)


@each_single
def test_increasing_functions_of_the_columns_do_not_matter(estimator):
    X, y = problem(estimator)
    model, other = small(estimator).fit(X, y), small(estimator).fit(np.exp(X), y)
    assert bits(model.predict(X)) == bits(other.predict(np.exp(X)))


@pytest.mark.parametrize("distribution", [Normal, Normal(), "normal"])
def test_a_distribution_may_be_a_name_a_class_or_a_family(distribution):
    X, y = numbers()
    plain = small(GradientBoostingRegressor).fit(X, y)
    assert bits(small(GradientBoostingRegressor, distribution=distribution).fit(X, y).predict(X)) == bits(
        plain.predict(X)
    )


def test_settings_of_a_family_are_used_and_survive_a_clone():
    X, y = numbers()
    model = small(GradientBoostingRegressor, distribution=StudentT(df=3.0))
    assert clone(model).distribution == StudentT(df=3.0)
    wide, narrow = (
        small(GradientBoostingRegressor, distribution=StudentT(df=df)).fit(X, y).predict_distribution(X)
        for df in (3.0, 100.0)
    )
    tails = [np.mean(d.quantile(0.9999) - d.mean) / np.mean(d.std) for d in (wide, narrow)]
    assert tails[0] > tails[1] + 1


@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
def test_parameters_can_be_read_and_set(estimator):
    model = estimator()
    names = set(inspect.signature(estimator).parameters)
    assert set(model.get_params()) == names
    defaults = {name: p.default for name, p in inspect.signature(estimator).parameters.items()}
    assert model.get_params() == defaults
    assert model.set_params(n_estimators=7, learning_rate=0.3).get_params()["n_estimators"] == 7
    assert clone(model).learning_rate == 0.3
    with pytest.raises(ValueError, match="Invalid parameter 'trees'"):
        model.set_params(trees=3)
    assert "n_estimators=7" in repr(model)


@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
def test_parameters_are_those_of_the_contract(estimator):
    shared = {
        "n_estimators": 3000, "max_depth": 6, "grow_policy": "symmetric", "min_samples_leaf": 1,
        "max_bins": 255, "categorical_features": "from_dtype", "monotonic_cst": None, "early_stopping": "auto",
        "validation_fraction": 0.1, "n_iter_no_change": 50, "random_state": None, "n_jobs": None, "verbose": 0,
    }  # fmt: skip
    parameters = estimator().get_params()
    assert shared.items() <= parameters.items()
    l2 = {BoostingEnsembleClassifier: 0.1, GradientBoostingClassifier: 3.0}.get(estimator, 1.0)
    assert parameters["l2_regularization"] == l2
    rate = {GradientBoostingClassifier: 0.07, BoostingEnsembleRegressor: 0.15}.get(estimator, 0.1)
    assert parameters["learning_rate"] == rate
    regresses = estimator in (GradientBoostingRegressor, BoostingEnsembleRegressor)
    offsets = ["offset", "exposure", "offset_val", "exposure_val"] if regresses else ["offset", "offset_val"]
    assert list(inspect.signature(estimator.fit).parameters) == [
        "self", "X", "y", "sample_weight", "X_val", "y_val", "sample_weight_val",
        *offsets, "eval_sets", "callbacks", "snapshot",
    ]  # fmt: skip


@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
@each_policy
def test_importances_name_the_columns_that_matter(estimator, grow_policy):
    X, y = problem(estimator, n_rows=400)
    model = small(estimator, n_estimators=20, grow_policy=grow_policy).fit(X, y)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert (importances >= 0).all()
    assert importances.argmax() == 0
    assert importances[0] > 0.5


@pytest.mark.parametrize(("estimator", "n_classes"), with_classes(SINGLE, 2, 4))
def test_every_split_has_rows_on_both_sides(estimator, n_classes):
    """A split with a gain from rounding alone sends new rows to a leaf without training rows."""
    X, y = problem(estimator, n_rows=200, n_classes=n_classes)
    model = small(estimator, n_estimators=30, max_depth=6, grow_policy="depthwise", early_stopping=False).fit(X, y)
    forest = forests(model)[0]
    below = [forest.covers]
    while below[0].shape[1] > 1:
        below.insert(0, below[0].reshape(forest.n_trees, -1, 2).sum(axis=2))
    for level in range(forest.depth):
        features = forest.features[:, (1 << level) - 1 : (2 << level) - 1]
        children = below[level + 1].reshape(forest.n_trees, -1, 2)
        assert (children[features >= 0] > 0).all()


@pytest.mark.parametrize("estimator", SINGLE)
@each_policy
@pytest.mark.parametrize("min_samples_leaf", [1, 15])
def test_leaves_have_at_least_min_samples_leaf_rows(estimator, grow_policy, min_samples_leaf):
    X, y = problem(estimator, n_rows=150)
    settings = {"grow_policy": grow_policy, "min_samples_leaf": min_samples_leaf, "early_stopping": False}
    covers = forests(small(estimator, max_depth=5, **settings).fit(X, y))[0].covers
    assert covers[covers > 0].min() >= min_samples_leaf
    assert (covers.sum(axis=1) == 150).all()


@pytest.mark.parametrize("estimator", SINGLE)
@each_policy
@pytest.mark.parametrize("max_depth", [1, 2, 10])
def test_depths(estimator, grow_policy, max_depth):
    X, y = problem(estimator)
    model = small(estimator, max_depth=max_depth, grow_policy=grow_policy, n_estimators=3).fit(X, y)
    assert forests(model)[0].depth == max_depth
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("estimator", SINGLE)
def test_few_bins_lead_to_few_values(estimator):
    X, y = problem(estimator, n_rows=300)
    model = small(estimator, max_bins=2, max_depth=2, n_estimators=4).fit(X, y)
    raw = model._raw(X)[0, 0]
    assert len(np.unique(raw)) <= 2**4


@pytest.mark.parametrize("estimator", SINGLE)
def test_a_model_of_one_split_equals_the_closed_form(estimator):
    """A column of two values: leaves are rate times the sum of gradients over the information and l2."""
    X = (np.arange(60) % 3 == 0).astype(float)[:, np.newaxis]
    rate, l2 = 0.2, 3.0
    settings = {
        "n_estimators": 1, "max_depth": 1, "learning_rate": rate, "early_stopping": False, "l2_regularization": l2
    }  # fmt: skip
    if estimator is GradientBoostingRegressor:
        y = 3.0 * X[:, 0] + np.random.default_rng(0).normal(size=60)
        model = small(estimator, **settings).fit(X, y)
        by_hand = [
            y.mean() + rate * (y[X[:, 0] == v] - y.mean()).sum() / ((X[:, 0] == v).sum() + l2) for v in (0.0, 1.0)
        ]
        np.testing.assert_allclose(model.predict([[0.0], [1.0]]), by_hand, rtol=1e-12)
    else:
        y = ((np.arange(60) % 7 < 3) | (X[:, 0] == 1)).astype(int)
        fraction = y.mean()
        model = small(estimator, **settings).fit(X, y)
        for value in (0.0, 1.0):
            in_leaf = y[X[:, 0] == value]
            step = rate * (in_leaf - fraction).sum() / (len(in_leaf) * fraction * (1 - fraction) + l2)
            odds = np.log(fraction / (1 - fraction)) + step
            np.testing.assert_allclose(model.predict_proba([[value]])[0, 1], 1 / (1 + np.exp(-odds)), rtol=1e-12)


@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
def test_they_fit_into_pipelines_searches_and_cross_validation(estimator):
    X, y = problem(estimator, n_rows=120)
    pipeline = make_pipeline(StandardScaler(), small(estimator)).fit(X, y)
    assert len(pipeline.predict(X)) == 120
    search = GridSearchCV(small(estimator), {"max_depth": [1, 3]}, cv=2).fit(X, y)
    assert search.best_params_["max_depth"] in (1, 3)
    assert search.best_estimator_.n_features_in_ == 4


@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
def test_weights_are_routed(estimator):
    X, y = problem(estimator, n_rows=120)
    weights = np.random.default_rng(0).random(120)
    with config_context(enable_metadata_routing=True):
        routed = small(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        result = cross_validate(routed, X, y, params={"sample_weight": weights}, cv=2, return_estimator=True)
        plain = cross_validate(small(estimator), X, y, cv=2, return_estimator=True)
    predictions = [answers(cv["estimator"][0], X) for cv in (result, plain)]
    assert any(bits(predictions[0][name]) != bits(predictions[1][name]) for name in predictions[0])


@pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
def test_progress_is_printed_only_if_verbose(estimator, capsys):
    X, y = problem(estimator)
    small(estimator).fit(X, y)
    assert capsys.readouterr() == ("", "")
    small(estimator, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert estimator.__name__ in err
    assert "nan" not in err


def test_intervals_of_mapie_follow_the_predicted_scale():
    mapie = pytest.importorskip("mapie.regression")
    scores = pytest.importorskip("mapie.conformity_scores")
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(700, 2))
    y = X[:, 0] + np.where(X[:, 1] > 0, 1.0, 0.2) * generator.normal(size=700)
    wrapped = mapie.CrossConformalRegressor(
        GradientBoostingRegressor(n_estimators=60, max_depth=3, random_state=0), confidence_level=0.9, cv=3,
        conformity_score=scores.StdConformityScore(),
    )  # fmt: skip
    intervals = wrapped.fit_conformalize(X[:500], y[:500]).predict_interval(X[500:])[1][:, :, 0]
    inside = (y[500:] >= intervals[:, 0]) & (y[500:] <= intervals[:, 1])
    widths = intervals[:, 1] - intervals[:, 0]
    assert inside.mean() > 0.84
    assert widths[X[500:, 1] > 0].mean() > 2 * widths[X[500:, 1] < 0].mean()
