"""XGBoost's models truncated, against slices of their Booster and models trained with fewer rounds."""

from functools import partial

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import entropy
from sklearn.datasets import load_iris, make_regression
from sklearn.exceptions import NotFittedError

from surefoot._exceptions import NoTrainingNoiseWarning, ParameterError
from surefoot.uncertainty import virtual_ensemble

xgb = pytest.importorskip("xgboost")

VirtualEnsemble = partial(virtual_ensemble.VirtualEnsemble, method="truncation")

FLOWERS, SPECIES = load_iris(return_X_y=True)
X, Y = make_regression(n_samples=200, n_features=5, noise=5.0, random_state=0)
SIZES = (16, 19, 22, 25)
QUIET = {"n_estimators": 25, "n_jobs": 1, "random_state": 0, "max_depth": 3}
NOISY = {**QUIET, "subsample": 0.5}


def sliced_probabilities(booster, size):
    """The probabilities of the first trees: margins of XGBoost's own slice, converted by scipy."""
    margin = booster[:size].predict(xgb.DMatrix(FLOWERS), output_margin=True).astype(np.float64)
    return softmax(margin, axis=1) if margin.ndim == 2 else np.column_stack([1 - expit(margin), expit(margin)])


@pytest.mark.parametrize("labels", [SPECIES, SPECIES > 0], ids=["three", "two"])
def test_classifier_equals_slices(labels):
    model = xgb.XGBClassifier(**NOISY).fit(FLOWERS, labels)
    ensemble = VirtualEnsemble(model, n_members=4)
    members, parts = ensemble.predict_members(FLOWERS), ensemble.predict_uncertainty(FLOWERS)
    assert ensemble.members_ == SIZES
    by_hand = np.stack([sliced_probabilities(model.get_booster(), size) for size in SIZES])
    np.testing.assert_allclose(members.probabilities, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_allclose(members.probabilities[-1], model.predict_proba(FLOWERS), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(members.classes, np.unique(labels))
    np.testing.assert_allclose(parts.total, entropy(by_hand.mean(axis=0), axis=-1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.data, entropy(by_hand, axis=-1).mean(axis=0), rtol=0, atol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()


@pytest.mark.parametrize("objective", ["reg:squarederror", "count:poisson", "reg:absoluteerror"])
def test_regressor_equals_regressors_trained_with_fewer_rounds(objective):
    target = np.abs(Y)
    ensemble = VirtualEnsemble(xgb.XGBRegressor(**NOISY, objective=objective).fit(X, target), n_members=4)
    shorter = [xgb.XGBRegressor(**{**NOISY, "n_estimators": size}, objective=objective) for size in SIZES]
    by_hand = np.stack([model.fit(X, target).predict(X) for model in shorter]).astype(np.float64)
    np.testing.assert_allclose(ensemble.predict_members(X).means, by_hand, rtol=1e-9)
    parts = ensemble.predict_uncertainty(X)
    np.testing.assert_allclose(parts.knowledge, by_hand.var(axis=0), rtol=1e-9)
    assert parts.total is None
    assert parts.data is None


@pytest.mark.parametrize("objective", ["binary:logistic", "binary:logitraw", "multi:softprob", "multi:softmax"])
@pytest.mark.parametrize("as_table", [True, False])
def test_booster_equals_slices_on_a_table_and_on_its_own_matrix(objective, as_table):
    settings = {"objective": objective, "nthread": 1, "subsample": 0.5, "max_depth": 3}
    if objective.startswith("multi"):
        settings["num_class"] = 3
    labels = SPECIES if "num_class" in settings else SPECIES > 0
    booster = xgb.train(settings, xgb.DMatrix(FLOWERS, labels), num_boost_round=25)
    members = VirtualEnsemble(booster, n_members=4).predict_members(FLOWERS if as_table else xgb.DMatrix(FLOWERS))
    by_hand = np.stack([sliced_probabilities(booster, size) for size in SIZES])
    np.testing.assert_allclose(members.probabilities, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(members.classes, np.arange(by_hand.shape[-1]))


def test_booster_for_regression_on_a_table_and_on_its_own_matrix():
    booster = xgb.train({"nthread": 1, "subsample": 0.5}, xgb.DMatrix(X, Y), num_boost_round=25)
    ensemble = VirtualEnsemble(booster, n_members=4)
    by_hand = np.stack([booster[:size].predict(xgb.DMatrix(X)) for size in SIZES])
    np.testing.assert_allclose(ensemble.predict_members(X).means, by_hand, rtol=1e-9)
    np.testing.assert_allclose(ensemble.predict_members(xgb.DMatrix(X)).means, by_hand, rtol=1e-9)


def test_early_stopping_leaves_the_trees_that_predict_uses():
    model = xgb.XGBRegressor(**{**NOISY, "n_estimators": 500}, early_stopping_rounds=5)
    model.fit(X[:100], Y[:100], eval_set=[(X[100:], Y[100:])], verbose=False)
    booster = model.get_booster()
    assert model.best_iteration + 1 < booster.num_boosted_rounds()
    ensemble = VirtualEnsemble(model, n_members=3)
    assert ensemble.members_[-1] == model.best_iteration + 1
    np.testing.assert_allclose(ensemble.predict_members(X).means[-1], model.predict(X), rtol=1e-9)
    bare = VirtualEnsemble(booster, n_members=3)  # predict of a Booster uses all trees
    assert bare.members_[-1] == booster.num_boosted_rounds()
    np.testing.assert_allclose(bare.predict_members(X).means[-1], booster.predict(xgb.DMatrix(X)), rtol=1e-9)


def test_probabilities_of_sure_predictions_are_not_rounded_to_single_precision():
    model = xgb.XGBClassifier(**{**NOISY, "n_estimators": 400, "subsample": 0.8}, reg_lambda=0, min_child_weight=0)
    members = VirtualEnsemble(model.fit(FLOWERS, SPECIES == 0)).predict_members(FLOWERS)
    margin = model.predict(FLOWERS, output_margin=True).astype(np.float64)
    assert margin.max() > 5
    np.testing.assert_allclose(members.probabilities[-1, :, 0], expit(-margin), rtol=1e-12)


@pytest.mark.parametrize(
    "settings", [{"subsample": 0.5}, {"colsample_bytree": 0.5}, {"colsample_bylevel": 0.5}, {"colsample_bynode": 0.5}]
)
def test_any_source_of_randomness_counts_as_noise(settings):
    VirtualEnsemble(xgb.XGBRegressor(**QUIET, **settings).fit(X, Y))  # warnings are errors


def test_a_model_grown_without_noise_warns():
    with pytest.warns(NoTrainingNoiseWarning, match="Refit it with subsample=0.5"):
        VirtualEnsemble(xgb.XGBRegressor(**QUIET).fit(X, Y))


def refused_models():
    two_targets = np.column_stack([Y, Y])
    yield xgb.XGBRegressor(**NOISY, booster="dart"), Y, "XGBRegressor with booster='dart' rescales earlier trees"
    yield xgb.XGBRegressor(**NOISY), two_targets, r"XGBRegressor has several targets\. Pass one model for each"
    yield xgb.XGBRFRegressor(**QUIET), Y, "XGBRFRegressor grows several trees in a round"
    yield (
        xgb.XGBClassifier(**NOISY, objective="binary:hinge"),
        Y > 0,
        "objective='binary:hinge', which surefoot knows neither",
    )


@pytest.mark.parametrize(("model", "target", "message"), list(refused_models()))
def test_models_that_cannot_be_truncated_are_refused_with_a_reason(model, target, message):
    with pytest.raises(ParameterError, match=message):
        VirtualEnsemble(model.fit(X, target))


def test_a_linear_model_is_refused():
    settings = {"booster": "gblinear", "nthread": 1, "updater": "coord_descent"}
    booster = xgb.train(settings, xgb.DMatrix(X, Y), num_boost_round=25)
    with pytest.raises(ParameterError, match=r"'gblinear' is a linear model, it has no trees.*booster='gbtree'"):
        VirtualEnsemble(booster)


def test_a_classifier_with_an_objective_of_its_own_is_refused():
    def squared_error(target, prediction):
        return prediction - target, np.ones_like(prediction)

    model = xgb.XGBClassifier(**NOISY, objective=squared_error).fit(FLOWERS, SPECIES > 0)
    with pytest.raises(ParameterError, match="has an objective of your own, which may not give probabilities"):
        VirtualEnsemble(model)


def test_too_few_rounds():
    with pytest.raises(ParameterError, match="this XGBClassifier uses 25 trees: ask for at most 12 members"):
        VirtualEnsemble(xgb.XGBClassifier(**NOISY).fit(FLOWERS, SPECIES), n_members=13)


@pytest.mark.parametrize("model", [xgb.XGBRegressor(), xgb.Booster()])
def test_an_unfitted_model(model):
    with pytest.raises(NotFittedError, match=f"model is not fitted: .* this {type(model).__name__}"):
        VirtualEnsemble(model)
