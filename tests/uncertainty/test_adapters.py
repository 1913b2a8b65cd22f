"""Truncated models of scikit-learn against models fitted with fewer trees; and the models that are refused."""

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_regression
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from surefoot import AdaBoostClassifier as OwnAdaBoost
from surefoot._exceptions import NoTrainingNoiseWarning, ParameterError
from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble

FLOWERS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
X, Y = make_regression(n_samples=120, n_features=5, noise=5.0, random_state=0)

HISTOGRAM = {"min_samples_leaf": 5, "max_features": 0.5, "early_stopping": False, "random_state": 0}
STAGED_CLASSIFIERS = [
    (GradientBoostingClassifier(subsample=0.5, random_state=0, max_depth=2), "n_estimators"),
    (HistGradientBoostingClassifier(**HISTOGRAM), "max_iter"),
]
STAGED_REGRESSORS = [
    (GradientBoostingRegressor(subsample=0.5, random_state=0), "n_estimators"),
    (GradientBoostingRegressor(subsample=0.5, random_state=0, loss="huber"), "n_estimators"),
    (HistGradientBoostingRegressor(**HISTOGRAM), "max_iter"),
    (HistGradientBoostingRegressor(**HISTOGRAM, loss="quantile", quantile=0.8), "max_iter"),
]


@pytest.fixture(autouse=True)
def one_thread():
    """For tiny tables, the threads of the histogram boosters wait for each other longer than they work."""
    with threadpool_limits(1):
        yield


def shorter(model, size_name, size):
    return clone(model).set_params(**{size_name: size})


@pytest.mark.parametrize(("model", "size_name"), STAGED_CLASSIFIERS)
@pytest.mark.parametrize("labels", [NAMES, SPECIES > 0], ids=["three", "two"])
def test_boosted_classifier_equals_classifiers_fitted_with_fewer_trees(model, size_name, labels):
    ensemble = VirtualEnsemble(shorter(model, size_name, 25).fit(FLOWERS, labels), n_members=4, method="truncation")
    members, parts = ensemble.predict_members(FLOWERS), ensemble.predict_uncertainty(FLOWERS)
    assert ensemble.members_ == (16, 19, 22, 25)
    by_hand = np.stack(
        [shorter(model, size_name, size).fit(FLOWERS, labels).predict_proba(FLOWERS) for size in (16, 19, 22, 25)]
    )
    np.testing.assert_allclose(members.probabilities, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(members.classes, np.unique(labels))
    np.testing.assert_allclose(parts.total, entropy(by_hand.mean(axis=0), axis=-1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.data, entropy(by_hand, axis=-1).mean(axis=0), rtol=0, atol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()
    assert parts.knowledge.max() > 0


def test_exponential_loss_has_its_own_probabilities():
    model = GradientBoostingClassifier(loss="exponential", subsample=0.5, random_state=0, n_estimators=20)
    members = VirtualEnsemble(model.fit(FLOWERS, SPECIES > 1), n_members=2, method="truncation").predict_members(
        FLOWERS
    )
    np.testing.assert_allclose(members.probabilities[-1], model.predict_proba(FLOWERS), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("model", "size_name"), STAGED_REGRESSORS)
def test_boosted_regressor_equals_regressors_fitted_with_fewer_trees(model, size_name):
    ensemble = VirtualEnsemble(shorter(model, size_name, 25).fit(X, Y), n_members=4, method="truncation")
    members, parts = ensemble.predict_members(X), ensemble.predict_uncertainty(X)
    by_hand = np.stack([shorter(model, size_name, size).fit(X, Y).predict(X) for size in (16, 19, 22, 25)])
    np.testing.assert_allclose(members.means, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.knowledge, by_hand.var(axis=0), rtol=1e-9)
    assert members.variances is None
    assert parts.total is None
    assert parts.data is None
    assert parts.unit == "target squared"


def test_after_early_stopping_only_the_trees_of_the_model_are_used():
    model = GradientBoostingRegressor(n_estimators=500, subsample=0.5, n_iter_no_change=3, random_state=0).fit(X, Y)
    assert 20 <= model.n_estimators_ < 500
    ensemble = VirtualEnsemble(model, method="truncation")
    assert ensemble.members_[-1] == model.n_estimators_
    np.testing.assert_allclose(ensemble.predict_members(X).means[-1], model.predict(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_forest_of_classifiers_equals_the_means_of_its_trees(kind):
    forest = kind(n_estimators=23, max_depth=3, random_state=0).fit(FLOWERS, NAMES)
    ensemble = VirtualEnsemble(forest, n_members=4)
    assert ensemble.members_ == (6, 6, 6, 5)
    members, parts = ensemble.predict_members(FLOWERS), ensemble.predict_uncertainty(FLOWERS)
    trees = np.stack([tree.predict_proba(FLOWERS) for tree in forest.estimators_])
    by_hand = np.stack([trees[:6].mean(0), trees[6:12].mean(0), trees[12:18].mean(0), trees[18:].mean(0)])
    np.testing.assert_allclose(members.probabilities, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.total, entropy(by_hand.mean(axis=0), axis=-1), rtol=0, atol=1e-9)
    assert list(members.classes) == ["setosa", "versicolor", "virginica"]
    assert len(forest.estimators_) == 23


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_forest_of_regressors_equals_the_means_of_its_trees(kind):
    forest = kind(n_estimators=20, max_depth=4, random_state=0).fit(X, Y)
    parts = VirtualEnsemble(forest).predict_uncertainty(X)
    trees = np.stack([tree.predict(X) for tree in forest.estimators_])
    np.testing.assert_allclose(parts.knowledge, trees.reshape(10, 2, -1).mean(axis=1).var(axis=0), rtol=1e-9)
    assert parts.total is None
    assert parts.data is None


def test_a_forest_needs_at_least_one_tree_for_each_part():
    forest = RandomForestRegressor(n_estimators=10, random_state=0).fit(X, Y)
    assert VirtualEnsemble(forest, n_members=10).members_ == (1,) * 10
    with pytest.raises(ParameterError, match="at least 11 trees, this RandomForestRegressor uses 10 trees: ask for at"):
        VirtualEnsemble(forest, n_members=11)


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        (GradientBoostingRegressor(n_estimators=20), "subsample=0.5"),
        (HistGradientBoostingRegressor(max_iter=20), "max_features=0.5"),
        (RandomForestRegressor(n_estimators=20, bootstrap=False), "bootstrap=True"),
    ],
)
def test_a_model_grown_without_noise_warns_and_the_advice_removes_the_warning(model, advice):
    with pytest.warns(NoTrainingNoiseWarning, match=f"grown without noise.*{advice}"):
        VirtualEnsemble(clone(model).fit(X, Y))
    name, value = advice.split("=")
    VirtualEnsemble(clone(model).set_params(**{name: eval(value)}).fit(X, Y))  # warnings are errors


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=20, max_features=2),
        RandomForestRegressor(n_estimators=20, bootstrap=False, max_features=0.5),
        ExtraTreesRegressor(n_estimators=20, bootstrap=False),
    ],
)
def test_any_source_of_randomness_counts_as_noise(model):
    VirtualEnsemble(model.fit(X, Y))


class Unknown:
    def predict(self, table):
        return np.zeros(len(table))


REFUSED = [
    (LinearRegression(), "LinearRegression is none of the boosters and forests.*Pass a fitted gradient booster"),
    (MLPClassifier(), "MLPClassifier is none of the boosters"),
    (IsolationForest(), "IsolationForest is none of the boosters"),
    (BaggingRegressor(), "BaggingRegressor is none of the boosters"),
    (make_pipeline(StandardScaler(), LinearRegression()), r"Pipeline has steps\. Pass its last step, model\[-1\]"),
    (AdaBoostClassifier(), "AdaBoostClassifier takes a vote"),
    (AdaBoostRegressor(), "AdaBoostRegressor takes a vote"),
    (CalibratedClassifierCV(), "CalibratedClassifierCV wraps other models"),
    (OwnAdaBoost(), "AdaBoostClassifier does not grow one sequence of trees. Pass surefoot's GradientBoosting"),
    ("a name", r"str has no predict\. Pass a fitted gradient booster"),
    (None, "NoneType has no predict"),
    (StandardScaler(), "StandardScaler has no predict"),
    (Unknown(), "Unknown is not a tree model that surefoot supports"),
    (GradientBoostingRegressor, "got the class GradientBoostingRegressor: make one and fit it"),
]


@pytest.mark.parametrize(("model", "message"), REFUSED)
def test_models_that_cannot_be_truncated_are_refused_with_a_reason(model, message):
    with pytest.raises(ParameterError, match=message):
        VirtualEnsemble(model)


def test_a_search_is_refused_and_its_best_model_is_not():
    model = GradientBoostingRegressor(n_estimators=20, subsample=0.5)
    search = GridSearchCV(model, {"max_depth": [1, 2]}, cv=2).fit(X, Y)
    with pytest.raises(ParameterError, match=r"GridSearchCV is a search. Pass its best model, model\.best_estimator_"):
        VirtualEnsemble(search)
    assert len(VirtualEnsemble(search.best_estimator_).members_) == 10


def test_the_last_step_of_a_pipeline_works_as_advised():
    model = make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=20, subsample=0.5)).fit(X, Y)
    members = VirtualEnsemble(model[-1]).predict_members(model[:-1].transform(X))
    np.testing.assert_allclose(members.means.mean(axis=0), model.predict(X), rtol=0, atol=1e-9)


def test_a_forest_with_several_targets_is_refused():
    forest = RandomForestRegressor(n_estimators=20).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ParameterError, match=r"has 2 targets\. Pass one model for each target"):
        VirtualEnsemble(forest)


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, HistGradientBoostingClassifier, RandomForestClassifier])
def test_an_unfitted_model(kind):
    with pytest.raises(NotFittedError, match=f"call fit on this {kind.__name__}"):
        VirtualEnsemble(kind())


def test_a_subclass_of_a_supported_class_is_supported():
    class Mine(GradientBoostingRegressor):
        pass

    model = Mine(n_estimators=20, subsample=0.5).fit(X, Y)
    assert repr(VirtualEnsemble(model, n_members=2)) == "VirtualEnsemble(Mine, n_members=2, method='increments')"


def test_no_other_library_is_imported(fresh_process):
    script = (
        "import sys; from sklearn.ensemble import RandomForestRegressor as Forest\n"
        "from surefoot.uncertainty.virtual_ensemble import VirtualEnsemble\n"
        "VirtualEnsemble(Forest(20).fit([[0], [1]], [0, 1])).predict_uncertainty([[0]])\n"
        "print(*({'lightgbm', 'xgboost', 'catboost'} & set(sys.modules)))"
    )
    run = fresh_process(script)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []
