"""The members of a virtual ensemble equal, to nine digits, models trained with as many trees."""

import numpy as np
import pytest
from reference.gradient_boosters import SINGLE, answers, numbers, problem, small
from scipy.stats import entropy

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor, VirtualEnsemble
from surefoot._exceptions import NoTrainingNoiseWarning

VARIANTS = {
    "langevin": {"langevin": True},
    "warm": {"langevin": True, "temperature": 1.0},
    "large leaves": {"langevin": True, "min_samples_leaf": 5, "grow_policy": "depthwise"},
    "drawn rows": {"subsample": 0.5},
    "both": {"langevin": True, "subsample": 0.5},
    "held-out rows": {"langevin": True, "early_stopping": "scale"},
    "constrained": {"langevin": True, "monotonic_cst": [1, 0, 0, -1]},
}


def settings_of(variant):
    return {"early_stopping": False, **VARIANTS[variant]}


@pytest.mark.parametrize("variant", VARIANTS)
def test_regressors(variant):
    X, y = problem(GradientBoostingRegressor)
    model = small(GradientBoostingRegressor, n_estimators=26, **settings_of(variant)).fit(X, y)
    ensemble = model.virtual_ensemble(n_members=4, method="truncation")
    assert ensemble.members_ == (17, 20, 23, 26)
    members, parts = ensemble.predict_members(X), ensemble.predict_uncertainty(X)
    models = [
        small(GradientBoostingRegressor, n_estimators=n, **settings_of(variant)).fit(X, y) for n in ensemble.members_
    ]
    by_hand = np.array([one.predict(X, return_std=True) for one in models])
    np.testing.assert_allclose(members.means, by_hand[:, 0], rtol=1e-9)
    np.testing.assert_allclose(parts.knowledge, by_hand[:, 0].var(axis=0), rtol=1e-6, atol=1e-12)
    if variant != "held-out rows":  # with held-out rows, each number of trees has its own correction
        np.testing.assert_allclose(members.variances, by_hand[:, 1] ** 2, rtol=1e-9)
        np.testing.assert_allclose(parts.data, (by_hand[:, 1] ** 2).mean(axis=0), rtol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()
    assert parts.unit == "target squared"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers(variant, n_classes):
    if variant == "constrained" and n_classes > 2:
        pytest.skip("constraints are for two classes")
    X, y = problem(GradientBoostingClassifier, n_classes=n_classes)
    model = small(GradientBoostingClassifier, n_estimators=26, **settings_of(variant)).fit(X, y)
    ensemble = model.virtual_ensemble(n_members=4, method="truncation")
    members, parts = ensemble.predict_members(X), ensemble.predict_uncertainty(X)
    models = [
        small(GradientBoostingClassifier, n_estimators=n, **settings_of(variant)).fit(X, y) for n in ensemble.members_
    ]
    by_hand = np.stack([one.predict_proba(X) for one in models])
    np.testing.assert_allclose(members.probabilities, by_hand, rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.total, entropy(by_hand.mean(axis=0), axis=-1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(parts.data, entropy(by_hand, axis=-1).mean(axis=0), rtol=0, atol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()
    assert (parts.knowledge >= 0).all()
    assert parts.unit == "nats"


@pytest.mark.parametrize("distribution", ["lognormal", "laplace", "student_t", "poisson", "gamma"])
def test_every_distribution(distribution):
    X, y = numbers()
    y = np.round(np.exp(y / 10)) + 1
    settings = {"langevin": True, "early_stopping": False, "distribution": distribution}
    members = (
        small(GradientBoostingRegressor, n_estimators=12, **settings)
        .fit(X, y)
        .virtual_ensemble(2, method="truncation")
        .predict_members(X)
    )
    by_hand = [small(GradientBoostingRegressor, n_estimators=n, **settings).fit(X, y) for n in (9, 12)]
    np.testing.assert_allclose(members.means, [one.predict(X) for one in by_hand], rtol=1e-9)
    np.testing.assert_allclose(members.variances, [one.predict_distribution(X).var for one in by_hand], rtol=1e-9)


@pytest.mark.parametrize("estimator", SINGLE)
@pytest.mark.parametrize("settings", [{"langevin": True}, {"subsample": 0.5}, {}], ids=str)
def test_stages_are_the_models_with_as_many_trees(estimator, settings):
    X, y = problem(estimator)
    model = small(estimator, early_stopping=False, **settings).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_ == 5
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    for n in (1, 3, 5):
        shorter = small(estimator, n_estimators=n, early_stopping=False, **settings).fit(X, y)
        np.testing.assert_allclose(stages[n - 1], shorter.predict(X), rtol=1e-9)


@pytest.mark.parametrize("settings", [{"langevin": True}, {"subsample": 0.5}, {}], ids=str)
@pytest.mark.parametrize("distribution", ["normal", "gamma"])
def test_stages_have_the_scale_of_the_models_with_as_many_trees(settings, distribution):
    """Also at its bound: half of the rows have much less noise than the others."""
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, size=(300, 2))
    y = np.exp(X[:, 0] + np.where(X[:, 1] > 0, 1.0, 0.02) * generator.normal(size=300) / 2)
    settings = {"early_stopping": False, "learning_rate": 0.3, "distribution": distribution, **settings}
    model = small(GradientBoostingRegressor, n_estimators=40, **settings).fit(X, y)
    stages = list(model._stages(X))
    assert (stages[-1][-1] == model._members[0].trees.bounds[-1, 0 if distribution == "normal" else 1]).sum() > 30
    np.testing.assert_array_equal(stages[-1], model._raw(X)[0])
    for n in (1, 17, 40):
        shorter = small(GradientBoostingRegressor, n_estimators=n, **settings).fit(X, y)
        np.testing.assert_allclose(stages[n - 1], shorter._raw(X)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimator", SINGLE)
def test_stages_of_a_model_that_stopped_end_at_its_best_round(estimator):
    X, y = problem(estimator)
    model = small(estimator, n_estimators=100, n_iter_no_change=3).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_
    np.testing.assert_array_equal(stages[-1], model.predict(X))


@pytest.mark.parametrize("estimator", SINGLE)
def test_the_full_model_is_the_last_member_and_is_not_changed(estimator):
    X, y = problem(estimator)
    model = small(estimator, langevin=True, n_estimators=20).fit(X, y)
    before = answers(model, X)
    members = VirtualEnsemble(model, 3, method="truncation").predict_members(X)
    last = members.means[-1] if estimator is GradientBoostingRegressor else members.probabilities[-1]
    full = model.predict(X) if estimator is GradientBoostingRegressor else model.predict_proba(X)
    np.testing.assert_allclose(last, full, rtol=1e-12)
    assert all(before[name].tobytes() == array.tobytes() for name, array in answers(model, X).items())


@pytest.mark.parametrize("estimator", SINGLE)
def test_a_model_without_noise_warns(estimator):
    X, y = problem(estimator)
    with pytest.warns(NoTrainingNoiseWarning, match="Refit it with langevin=True"):
        small(estimator, n_estimators=20, early_stopping=False).fit(X, y).virtual_ensemble(3)


def test_a_member_of_an_ensemble_has_a_virtual_ensemble():
    from surefoot import BoostingEnsembleRegressor

    X, y = numbers()
    ensemble = small(BoostingEnsembleRegressor, n_estimators=20).fit(X, y)
    parts = ensemble.estimators_[1].virtual_ensemble(3).predict_uncertainty(X)
    assert (parts.knowledge > 0).all()
