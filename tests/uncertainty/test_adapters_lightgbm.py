"""LightGBM's models truncated, against models trained with fewer rounds and models loaded from a shorter text."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.datasets import load_iris, make_regression
from sklearn.exceptions import NotFittedError

from surefoot._exceptions import NoTrainingNoiseWarning, ParameterError
from surefoot.uncertainty import virtual_ensemble

lgb = pytest.importorskip("lightgbm")

VirtualEnsemble = partial(virtual_ensemble.VirtualEnsemble, method="truncation")

FLOWERS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
X, Y = make_regression(n_samples=200, n_features=5, noise=5.0, random_state=0)
SIZES = (16, 19, 22, 25)
QUIET = {"n_estimators": 25, "n_jobs": 1, "verbose": -1, "random_state": 0, "min_child_samples": 5, "num_leaves": 7}
NOISY = {**QUIET, "subsample": 0.5, "subsample_freq": 1}


@pytest.mark.parametrize("labels", [NAMES, SPECIES > 0], ids=["three", "two"])
def test_classifier_equals_classifiers_trained_with_fewer_rounds(labels):
    ensemble = VirtualEnsemble(lgb.LGBMClassifier(**NOISY).fit(FLOWERS, labels), n_members=4)
    members, parts = ensemble.predict_members(FLOWERS), ensemble.predict_uncertainty(FLOWERS)
    assert ensemble.members_ == SIZES
    shorter = [lgb.LGBMClassifier(**{**NOISY, "n_estimators": size}).fit(FLOWERS, labels) for size in SIZES]
    by_hand = np.stack([model.predict_proba(FLOWERS) for model in shorter])
    np.testing.assert_allclose(members.probabilities, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(members.classes, np.unique(labels))
    np.testing.assert_allclose(parts.total, entropy(by_hand.mean(axis=0), axis=-1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.data, entropy(by_hand, axis=-1).mean(axis=0), rtol=0, atol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()


@pytest.mark.parametrize("objective", ["regression", "poisson", "quantile"])
def test_regressor_equals_regressors_trained_with_fewer_rounds(objective):
    target = np.abs(Y)
    model = lgb.LGBMRegressor(**NOISY, objective=objective).fit(X, target)
    ensemble = VirtualEnsemble(model, n_members=4)
    shorter = [lgb.LGBMRegressor(**{**NOISY, "n_estimators": size}, objective=objective) for size in SIZES]
    by_hand = np.stack([short.fit(X, target).predict(X) for short in shorter])
    np.testing.assert_allclose(ensemble.predict_members(X).means, by_hand, rtol=1e-9)
    parts = ensemble.predict_uncertainty(X)
    np.testing.assert_allclose(parts.knowledge, by_hand.var(axis=0), rtol=1e-9)
    assert parts.total is None
    assert parts.data is None


@pytest.mark.parametrize(
    ("objective", "labels"), [("binary", SPECIES > 0), ("multiclass", SPECIES), ("multiclassova", SPECIES)]
)
def test_booster_equals_boosters_loaded_from_a_shorter_text(objective, labels):
    settings = {"objective": objective, "num_threads": 1, "verbose": -1, "bagging_fraction": 0.5, "bagging_freq": 1}
    if objective != "binary":
        settings["num_class"] = 3
    booster = lgb.train(settings, lgb.Dataset(FLOWERS, labels.astype(float)), num_boost_round=25)
    members = VirtualEnsemble(booster, n_members=4).predict_members(FLOWERS)
    texts = [booster.model_to_string(num_iteration=size) for size in SIZES]
    by_hand = np.stack([lgb.Booster(model_str=text).predict(FLOWERS) for text in texts])
    if objective == "binary":
        by_hand = np.stack([1 - by_hand, by_hand], axis=-1)
    by_hand = by_hand / by_hand.sum(axis=-1, keepdims=True)  # one versus all does not add up to 1
    np.testing.assert_allclose(members.probabilities, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(members.classes, np.arange(by_hand.shape[-1]))


def early_stopped(**kwargs):
    settings = {"objective": "l2", "num_threads": 1, "verbose": -1, "bagging_fraction": 0.5, "bagging_freq": 1}
    train = lgb.Dataset(X[:100], Y[:100], free_raw_data=False)
    return lgb.train(
        settings, train, 500, valid_sets=[lgb.Dataset(X[100:], Y[100:], reference=train)],
        callbacks=[lgb.early_stopping(5, verbose=False)], **kwargs,
    )  # fmt: skip


@pytest.mark.parametrize("keep_all_trees", [True, False])
def test_early_stopping_leaves_the_trees_that_predict_uses(keep_all_trees):
    booster = early_stopped(keep_training_booster=keep_all_trees)
    ensemble = VirtualEnsemble(booster, n_members=5)
    assert ensemble.members_[-1] == booster.best_iteration
    assert (booster.best_iteration < booster.current_iteration()) == keep_all_trees
    np.testing.assert_allclose(ensemble.predict_members(X).means[-1], booster.predict(X), rtol=0, atol=1e-9)


def test_a_regressor_with_an_objective_of_its_own():
    def squared_error(target, prediction):
        return prediction - target, np.ones_like(prediction)

    model = lgb.LGBMRegressor(**NOISY, objective=squared_error).fit(X, Y)
    members = VirtualEnsemble(model, n_members=4).predict_members(X)
    np.testing.assert_allclose(members.means[-1], model.predict(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {"subsample": 0.5, "subsample_freq": 1},
        {"colsample_bytree": 0.5},
        {"data_sample_strategy": "goss"},
        {"extra_trees": True},
    ],
)
def test_any_source_of_randomness_counts_as_noise(settings):
    VirtualEnsemble(lgb.LGBMRegressor(**QUIET, **settings).fit(X, Y))  # warnings are errors


@pytest.mark.parametrize("settings", [{}, {"subsample": 0.5}], ids=["none", "rows never drawn again"])
def test_a_model_grown_without_noise_warns(settings):
    model = lgb.LGBMRegressor(**QUIET, **settings).fit(X, Y)
    with pytest.warns(NoTrainingNoiseWarning, match="subsample=0.5, subsample_freq=1"):
        VirtualEnsemble(model)


def test_a_model_loaded_from_a_file_keeps_its_noise(tmp_path):
    lgb.LGBMRegressor(**NOISY).fit(X, Y).booster_.save_model(tmp_path / "model.txt")
    VirtualEnsemble(lgb.Booster(model_file=tmp_path / "model.txt"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"boosting_type": "dart"}, "LGBMRegressor with boosting='dart' rescales earlier trees"),
        ({"boosting_type": "rf"}, "LGBMRegressor with boosting='rf' averages its trees"),
        ({"objective": "cross_entropy"}, "trained for objective='cross_entropy'.*Pass one trained for one of binary"),
    ],
)
def test_models_that_cannot_be_truncated_are_refused_with_a_reason(settings, message):
    model = lgb.LGBMRegressor(**{**NOISY, **settings}).fit(X, Y > 0)
    with pytest.raises(ParameterError, match=message):
        VirtualEnsemble(model)


def test_a_ranker_is_refused():
    model = lgb.LGBMRanker(**NOISY).fit(X, (Y > 0).astype(int), group=[100, 100])
    with pytest.raises(ParameterError, match="objective='lambdarank', which surefoot knows neither"):
        VirtualEnsemble(model)


def test_too_few_rounds():
    with pytest.raises(ParameterError, match="this LGBMClassifier uses 25 trees: ask for at most 12 members"):
        VirtualEnsemble(lgb.LGBMClassifier(**NOISY).fit(FLOWERS, NAMES), n_members=13)


def test_an_unfitted_model():
    with pytest.raises(NotFittedError, match="call fit on this LGBMRegressor"):
        VirtualEnsemble(lgb.LGBMRegressor())
