"""CatBoost's models truncated, against models trained with fewer trees and CatBoost's own virtual ensembles."""

from functools import partial

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import entropy
from sklearn.datasets import load_iris, make_regression
from sklearn.exceptions import NotFittedError

from surefoot._exceptions import NoTrainingNoiseWarning, ParameterError
from surefoot.uncertainty import virtual_ensemble

cb = pytest.importorskip("catboost")

VirtualEnsemble = partial(virtual_ensemble.VirtualEnsemble, method="truncation")

FLOWERS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
X, Y = make_regression(n_samples=200, n_features=5, noise=5.0, bias=100.0, random_state=0)
SIZES = (16, 19, 22, 25)
SETTINGS = {
    "iterations": 25, "learning_rate": 0.1, "depth": 3, "random_seed": 1, "thread_count": 1, "verbose": 0,
    "allow_writing_files": False,
}  # fmt: skip
NO_NOISE = {"bootstrap_type": "No", "random_strength": 0}
SHRINKAGES = [
    {},
    {"posterior_sampling": True},
    {"posterior_sampling": True, "leaf_estimation_method": "Gradient", **NO_NOISE},
    {"langevin": True, "model_shrink_rate": 0.2},
    {"model_shrink_rate": 0.5, "model_shrink_mode": "Decreasing"},
]


def shorter(kind, size, **settings):
    return kind(**{**SETTINGS, **settings, "iterations": size})


@pytest.mark.parametrize("shrinkage", SHRINKAGES)
@pytest.mark.parametrize("labels", [NAMES, SPECIES > 0], ids=["three", "two"])
def test_classifier_equals_classifiers_trained_with_fewer_trees(labels, shrinkage):
    ensemble = VirtualEnsemble(cb.CatBoostClassifier(**SETTINGS, **shrinkage).fit(FLOWERS, labels), n_members=4)
    members, parts = ensemble.predict_members(FLOWERS), ensemble.predict_uncertainty(FLOWERS)
    assert ensemble.members_ == SIZES
    models = [shorter(cb.CatBoostClassifier, size, **shrinkage).fit(FLOWERS, labels) for size in SIZES]
    by_hand = np.stack([model.predict_proba(FLOWERS) for model in models])
    np.testing.assert_allclose(members.probabilities, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(members.classes, models[0].classes_)
    np.testing.assert_allclose(parts.total, entropy(by_hand.mean(axis=0), axis=-1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.data, entropy(by_hand, axis=-1).mean(axis=0), rtol=0, atol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()


@pytest.mark.parametrize("shrinkage", SHRINKAGES)
def test_regressor_with_a_variance_equals_regressors_trained_with_fewer_trees(shrinkage):
    settings = {"loss_function": "RMSEWithUncertainty", **shrinkage}
    ensemble = VirtualEnsemble(cb.CatBoostRegressor(**SETTINGS, **settings).fit(X, Y), n_members=4)
    members, parts = ensemble.predict_members(X), ensemble.predict_uncertainty(X)
    models = [shorter(cb.CatBoostRegressor, size, **settings).fit(X, Y) for size in SIZES]
    by_hand = np.stack([model.predict(X, prediction_type="RMSEWithUncertainty") for model in models])
    np.testing.assert_allclose(members.means, by_hand[..., 0], rtol=1e-9)
    np.testing.assert_allclose(members.variances, by_hand[..., 1], rtol=1e-9)
    np.testing.assert_allclose(parts.data, by_hand[..., 1].mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(parts.knowledge, by_hand[..., 0].var(axis=0), rtol=1e-9, atol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()


@pytest.mark.parametrize("shrinkage", SHRINKAGES)
@pytest.mark.parametrize("loss", ["RMSE", "Poisson", "Tweedie:variance_power=1.5", "Quantile:alpha=0.8"])
def test_regressor_equals_regressors_trained_with_fewer_trees(loss, shrinkage):
    settings = {"loss_function": loss, **shrinkage}
    target = np.abs(Y) / 100  # with larger counts, CatBoost's gradient leaves become infinite
    ensemble = VirtualEnsemble(cb.CatBoostRegressor(**SETTINGS, **settings).fit(X, target), n_members=4)
    models = [shorter(cb.CatBoostRegressor, size, **settings).fit(X, target) for size in SIZES]
    by_hand = np.stack([model.predict(X) for model in models])
    np.testing.assert_allclose(ensemble.predict_members(X).means, by_hand, rtol=1e-9)
    parts = ensemble.predict_uncertainty(X)
    assert parts.total is None
    assert parts.data is None


@pytest.mark.parametrize("shrinkage", SHRINKAGES[:4])  # with "Decreasing" CatBoost's own does not undo the shrinkage
def test_members_are_those_of_catboost_itself(shrinkage):
    model = cb.CatBoostRegressor(**SETTINGS, loss_function="RMSEWithUncertainty", **shrinkage).fit(X, Y)
    members = VirtualEnsemble(model, n_members=4).predict_members(X)
    own = model.virtual_ensembles_predict(X, prediction_type="VirtEnsembles", virtual_ensembles_count=4)
    np.testing.assert_allclose(members.means, own[..., 0].T, rtol=1e-5)  # CatBoost shrinks in single precision
    np.testing.assert_allclose(members.variances, own[..., 1].T, rtol=1e-5)


@pytest.mark.parametrize("shrinkage", SHRINKAGES[:4])
def test_parts_are_those_of_catboost_itself(shrinkage):
    model = cb.CatBoostRegressor(**SETTINGS, loss_function="RMSEWithUncertainty", **shrinkage).fit(X, Y)
    parts = VirtualEnsemble(model, n_members=4).predict_uncertainty(X)
    own = model.virtual_ensembles_predict(X, prediction_type="TotalUncertainty", virtual_ensembles_count=4)
    np.testing.assert_allclose(parts.knowledge, own[:, 1], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(parts.data, own[:, 2], rtol=1e-5)


def test_entropies_are_those_of_catboost_itself():
    model = cb.CatBoostClassifier(**SETTINGS, posterior_sampling=True).fit(FLOWERS, SPECIES > 1)
    parts = VirtualEnsemble(model, n_members=4).predict_uncertainty(FLOWERS)
    own = model.virtual_ensembles_predict(FLOWERS, prediction_type="TotalUncertainty", virtual_ensembles_count=4)
    np.testing.assert_allclose(parts.data, own[:, 0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(parts.total, own[:, 1], rtol=0, atol=1e-6)


def test_the_shrinkage_is_corrected():
    model = cb.CatBoostRegressor(**SETTINGS, langevin=True, model_shrink_rate=0.2).fit(X, Y)
    members = VirtualEnsemble(model, n_members=4).predict_members(X)
    as_stored = model.predict(X, ntree_end=SIZES[0])
    assert np.abs(members.means[0] / as_stored - (1 - 0.2 * 0.1) ** (16 - 25)).max() < 1e-6


def test_one_versus_all_probabilities_are_scaled_to_add_up_to_1():
    settings = {**SETTINGS, "loss_function": "MultiClassOneVsAll"}
    model = cb.CatBoostClassifier(**settings).fit(FLOWERS, NAMES)
    members = VirtualEnsemble(model, n_members=4).predict_members(FLOWERS)
    each = expit(model.predict(FLOWERS, prediction_type="RawFormulaVal"))
    np.testing.assert_allclose(members.probabilities[-1], each / each.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)


def test_a_pool_and_a_plain_catboost_are_supported():
    model = cb.CatBoost({**SETTINGS, "loss_function": "Logloss"}).fit(FLOWERS, (SPECIES > 0).astype(int))
    ensemble = VirtualEnsemble(model, n_members=4)
    of_pool, of_table = ensemble.predict_members(cb.Pool(FLOWERS)), ensemble.predict_members(FLOWERS)
    np.testing.assert_array_equal(of_pool.probabilities, of_table.probabilities)
    np.testing.assert_allclose(
        of_pool.probabilities[-1], model.predict(FLOWERS, prediction_type="Probability"), rtol=0, atol=1e-9
    )


def test_a_model_loaded_from_a_file(tmp_path):
    model = cb.CatBoostRegressor(**SETTINGS, posterior_sampling=True).fit(X, Y)
    model.save_model(tmp_path / "model.cbm")
    read = cb.CatBoostRegressor().load_model(tmp_path / "model.cbm")
    means = VirtualEnsemble(model, 4).predict_members(X).means
    np.testing.assert_allclose(VirtualEnsemble(read, 4).predict_members(X).means, means, rtol=1e-12)


def test_early_stopping_leaves_the_trees_that_predict_uses():
    model = shorter(cb.CatBoostRegressor, 500, learning_rate=0.5)
    model.fit(X[:100], Y[:100], eval_set=(X[100:], Y[100:]), early_stopping_rounds=5)
    assert model.tree_count_ == model.best_iteration_ + 1 < 500
    ensemble = VirtualEnsemble(model, n_members=3)
    assert ensemble.members_[-1] == model.tree_count_
    np.testing.assert_allclose(ensemble.predict_members(X).means[-1], model.predict(X), rtol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {**NO_NOISE, "random_strength": 1},
        {**NO_NOISE, "rsm": 0.5},
        {**NO_NOISE, "bootstrap_type": "Bernoulli", "subsample": 0.5},
        {**NO_NOISE, "bootstrap_type": "Bayesian"},
        {**NO_NOISE, "posterior_sampling": True, "leaf_estimation_method": "Gradient"},
    ],
)
def test_any_source_of_randomness_counts_as_noise(settings):
    models = [cb.CatBoostRegressor(**{**SETTINGS, **settings, "random_seed": seed}).fit(X, Y) for seed in (0, 1)]
    assert (models[0].predict(X) != models[1].predict(X)).any()  # the setting does add noise
    VirtualEnsemble(models[0])  # warnings are errors


@pytest.mark.parametrize(
    "settings",
    [
        NO_NOISE,
        {**NO_NOISE, "bootstrap_type": "Bayesian", "bagging_temperature": 0},
        {**NO_NOISE, "posterior_sampling": True, "leaf_estimation_method": "Newton"},
    ],
)
def test_a_model_grown_without_noise_warns(settings):
    models = [cb.CatBoostRegressor(**{**SETTINGS, **settings, "random_seed": seed}).fit(X, Y) for seed in (0, 1)]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))  # the setting adds no noise
    with pytest.warns(NoTrainingNoiseWarning, match="posterior_sampling=True and leaf_estimation_method='Gradient'"):
        VirtualEnsemble(models[0])


@pytest.mark.parametrize("loss", ["MultiRMSE", "MultiQuantile:alpha=0.1,0.9"])
def test_losses_without_one_number_or_classes_are_refused(loss):
    target = np.column_stack([Y, Y]) if loss == "MultiRMSE" else Y
    model = cb.CatBoostRegressor(**SETTINGS, loss_function=loss).fit(X, target)
    with pytest.raises(ParameterError, match=f"loss_function='{loss.split(':')[0]}', which surefoot knows neither"):
        VirtualEnsemble(model)


def test_too_few_trees():
    with pytest.raises(ParameterError, match="this CatBoostClassifier uses 25 trees: ask for at most 12 members"):
        VirtualEnsemble(cb.CatBoostClassifier(**SETTINGS).fit(FLOWERS, NAMES), n_members=13)


def test_an_unfitted_model_and_a_pool():
    with pytest.raises(NotFittedError, match="call fit on this CatBoostRegressor"):
        VirtualEnsemble(cb.CatBoostRegressor())
    with pytest.raises(ParameterError, match="Pool has no predict"):
        VirtualEnsemble(cb.Pool(X))
