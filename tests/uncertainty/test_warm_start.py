"""With warm_start, fit adds trees to those of the last fit, on the same rows and with the same parameters."""

import pickle

import joblib
import numpy as np
import pytest
from contract.registry import learned
from reference.gradient_boosters import (
    ENSEMBLES,
    SINGLE,
    answers,
    assert_close_answers,
    assert_same_answers,
    bits,
    forests,
    problem,
    small,
)
from sklearn.base import clone

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor
from surefoot.uncertainty.boosting_loop import STRETCH_ROWS

each_single = pytest.mark.parametrize("estimator", SINGLE)
SETTINGS = {
    "plain": {"early_stopping": False},
    "langevin": {"langevin": True},
    "hot": {"langevin": True, "temperature": 1.0, "early_stopping": False},
    "subsample": {"subsample": 0.5, "early_stopping": False},
    "stopping": {"early_stopping": True, "n_iter_no_change": 50},
    "constraints": {"monotonic_cst": [1, 0, 0, 0], "early_stopping": False},
    "categories": {"categorical_features": [3], "early_stopping": False},
    "weights of classes": {"early_stopping": False},
}


def table(estimator, n_classes=2):
    X, y = problem(estimator, n_classes=n_classes)
    X[:, 3] = np.round(X[:, 3])
    return X, y


@each_single
@pytest.mark.parametrize("name", SETTINGS)
def test_two_fits_equal_one_longer_fit(estimator, name):
    X, y = table(estimator)
    settings = SETTINGS[name]
    if name == "weights of classes":
        if estimator is GradientBoostingRegressor:
            pytest.skip("no classes")
        settings = settings | {"class_weight": "balanced"}
    full = small(estimator, n_estimators=12, warm_start=True, **settings).fit(X, y)
    model = small(estimator, n_estimators=5, warm_start=True, **settings).fit(X, y)
    if settings.get("early_stopping", "auto") is False:  # otherwise it would be trained on all rows
        assert_same_answers(model, small(estimator, n_estimators=5, **settings).fit(X, y), X)
    model.set_params(n_estimators=9).fit(X, y).set_params(n_estimators=12).fit(X, y)
    assert model.n_iter_ == full.n_iter_
    assert learned(model) == learned(full)
    if settings.get("early_stopping", "auto") is False:
        cold = small(estimator, n_estimators=12, **settings).fit(X, y)
        assert learned(model.set_params(warm_start=False)) == learned(cold)


@each_single
def test_large_tables_and_pickles_between_fits(estimator):
    """The stretch of the rows of large tables is computed anew only every few rounds."""
    X, y = problem(estimator, STRETCH_ROWS + 10)
    settings = {"early_stopping": False, "subsample": 0.7, "max_depth": 2}
    full = small(estimator, n_estimators=11, **settings).fit(X, y)
    model = small(estimator, n_estimators=3, warm_start=True, **settings).fit(X, y)
    model = pickle.loads(pickle.dumps(model)).set_params(n_estimators=9, n_jobs=2).fit(X, y)
    model.set_params(n_estimators=11, n_jobs=None).fit(X, y)
    assert learned(model.set_params(warm_start=False)) == learned(full)


@each_single
def test_trees_of_the_last_fit_are_not_changed(estimator):
    X, y = table(estimator)
    # without a seed, a fit from scratch would draw other rows for the first trees
    settings = {"early_stopping": False, "subsample": 0.5, "random_state": None}
    model = small(estimator, n_estimators=5, warm_start=True, **settings).fit(X, y)
    first = forests(model)[0].leaves.tobytes()
    model.set_params(n_estimators=12).fit(X, y)
    assert model.n_iter_ == 12
    assert forests(model)[0].leaves[:5].tobytes() == first


@each_single
def test_a_resumed_model_stops_in_the_same_round_as_one_longer_fit(estimator):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(150, 4))
    y = X[:, 0] + 2 * generator.normal(size=150)
    y = y if estimator is GradientBoostingRegressor else (y > 0).astype(int)
    settings = {"n_iter_no_change": 10, "max_depth": 4}
    full = small(estimator, n_estimators=200, warm_start=True, **settings).fit(X, y)
    assert len(full.validation_loss_) < 200
    model = small(estimator, n_estimators=3, warm_start=True, **settings).fit(X, y)
    for n_estimators in (8, 200, 200, 300):
        model.set_params(n_estimators=n_estimators).fit(X, y)
    assert model.n_iter_ == full.n_iter_
    assert_close_answers(full, model, X, rtol=1e-9)


@each_single
def test_fitting_again_without_more_trees_changes_nothing(estimator):
    X, y = table(estimator)
    model = small(estimator, warm_start=True).fit(X, y)
    before = answers(model, X)
    model.fit(X, y)
    assert all(bits(before[name]) == bits(array) for name, array in answers(model, X).items())


CHANGES = {
    "fewer trees": lambda model, X, y: model.set_params(n_estimators=2).fit(X, y),
    "another target": lambda model, X, y: model.fit(X, y[::-1]),
    "another table": lambda model, X, y: model.fit(X + 5.0, y),
    "other columns": lambda model, X, y: model.fit(X[:, [1, 0, 2, 3]], y),
    "fewer columns": lambda model, X, y: model.fit(X[:, :3], y),
    "fewer rows": lambda model, X, y: model.fit(X[:70], y[:70]),
    "weights": lambda model, X, y: model.fit(X, y, sample_weight=np.arange(80) % 3 + 1.0),
    "validation rows": lambda model, X, y: model.fit(X, y, X_val=X, y_val=y),
    "depth": lambda model, X, y: model.set_params(max_depth=5).fit(X, y),
    "rate": lambda model, X, y: model.set_params(learning_rate=0.9).fit(X, y),
    "bins": lambda model, X, y: model.set_params(max_bins=4).fit(X, y),
    "noise": lambda model, X, y: model.set_params(langevin=True).fit(X, y),
    "categories": lambda model, X, y: model.set_params(categorical_features=[3]).fit(X, y),
    "constraints": lambda model, X, y: model.set_params(monotonic_cst=[1, 0, 0, 0]).fit(X, y),
    "stopping": lambda model, X, y: model.set_params(early_stopping=True).fit(X, y),
}


@each_single
@pytest.mark.parametrize("change", CHANGES)
def test_any_other_change_is_refused(estimator, change):
    X, y = table(estimator)
    model = small(estimator, n_estimators=5, warm_start=True, early_stopping=False).fit(X, y)
    before = answers(model, X)
    model.set_params(n_estimators=9)
    with pytest.raises(ValueError, match=r"warm_start"):
        CHANGES[change](model, X, y)
    assert all(bits(before[name]) == bits(array) for name, array in answers(model, X).items())


@pytest.mark.parametrize("change", ["another distribution", "other weights of classes"])
def test_a_change_of_distribution_or_class_weights_is_refused(change):
    if change == "another distribution":
        X, y = table(GradientBoostingRegressor)
        model = small(GradientBoostingRegressor, warm_start=True).fit(X, y)
        model.set_params(n_estimators=20, distribution="student_t")
    else:
        X, y = table(GradientBoostingClassifier)
        model = small(GradientBoostingClassifier, warm_start=True).fit(X, y)
        model.set_params(n_estimators=20, class_weight={0: 1.0, 1: 9.0})
    with pytest.raises(ValueError, match=r"warm_start"):
        model.fit(X, y)


@each_single
def test_without_warm_start_every_fit_starts_again(estimator):
    X, y = table(estimator)
    model = small(estimator, n_estimators=5, warm_start=True).fit(X, y)
    other = -X[:60], y[:60]
    model.set_params(warm_start=False).fit(*other)
    assert_same_answers(model, small(estimator, n_estimators=5).fit(*other), X)


@each_single
def test_a_pickled_model_can_be_resumed_and_a_clone_starts_again(estimator):
    X, y = table(estimator)
    model = small(estimator, n_estimators=5, warm_start=True, subsample=0.5, early_stopping=False).fit(X, y)
    again = pickle.loads(pickle.dumps(model)).set_params(n_estimators=9).fit(X, y)
    assert_same_answers(model.set_params(n_estimators=9).fit(X, y), again, X)
    assert_same_answers(clone(model).fit(-X, y), clone(model).set_params(warm_start=False).fit(-X, y), X)


@each_single
def test_resuming_a_copy_does_not_change_the_original(estimator):
    X, y = table(estimator)
    model = small(estimator, n_estimators=5, warm_start=True, early_stopping=False).fit(X, y)
    before = answers(model, X)
    pickle.loads(pickle.dumps(model)).set_params(n_estimators=30).fit(X, y)
    assert all(bits(before[name]) == bits(array) for name, array in answers(model, X).items())


@each_single
def test_an_interrupted_fit_does_not_affect_the_next(estimator, monkeypatch):
    X, y = table(estimator)
    settings = {"warm_start": True, "early_stopping": False}
    model = small(estimator, n_estimators=5, **settings).fit(X, y)
    before = answers(model, X)

    def stop(self):
        raise KeyboardInterrupt

    model.set_params(n_estimators=12)
    with monkeypatch.context() as patch:
        patch.setattr("surefoot.uncertainty.boosting_loop.BoostingLoop._append_bounds", stop)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert all(bits(before[name]) == bits(array) for name, array in answers(model, X).items())
    model.fit(X, y)
    assert_close_answers(small(estimator, n_estimators=12, early_stopping=False).fit(X, y), model, X, rtol=1e-9)


each_ensemble = pytest.mark.parametrize("estimator", ENSEMBLES)
ENSEMBLE_SETTINGS = {
    "sglb": {"early_stopping": False},
    "sgb": {"method": "sgb", "early_stopping": False},
    "hot": {"temperature": 1.0, "early_stopping": False},
    "stopping": {"early_stopping": True, "n_iter_no_change": 3},
    "categories": {"categorical_features": [3], "early_stopping": False},
}


@each_ensemble
@pytest.mark.parametrize("name", ENSEMBLE_SETTINGS)
def test_two_fits_of_an_ensemble_equal_one_longer_fit(estimator, name):
    X, y = table(estimator)
    settings = ENSEMBLE_SETTINGS[name] | {"warm_start": True}
    full = small(estimator, n_estimators=12, **settings).fit(X, y)
    model = small(estimator, n_estimators=5, n_jobs=2, **settings).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y).set_params(n_estimators=12).fit(X, y)
    assert [one.n_iter_ for one in model.estimators_] == [one.n_iter_ for one in full.estimators_]
    assert learned(model.set_params(n_jobs=None)) == learned(full)


@each_ensemble
def test_members_are_resumed_in_this_process(estimator):
    X, y = table(estimator)
    model = small(estimator, n_estimators=5, n_jobs=2, warm_start=True, early_stopping=False)
    with joblib.parallel_config("loky"):
        model.fit(X, y).set_params(n_estimators=8)
        rounds = []
        model.fit(X, y, callbacks=lambda report: rounds.append((report.member, report.round)))
    assert sorted(rounds) == [(member, n) for member in (0, 1) for n in (6, 7, 8)]
    cold = small(estimator, n_estimators=8, early_stopping=False).fit(X, y)
    assert learned(model.set_params(n_jobs=None, warm_start=False)) == learned(cold)


@each_ensemble
def test_a_resumed_ensemble_equals_one_without_warm_start_if_nothing_is_held_out(estimator):
    X, y = table(estimator)
    model = small(estimator, n_estimators=5, warm_start=True, early_stopping=False).fit(X, y)
    first = [forest.leaves.copy() for forest in forests(model)]
    model.set_params(n_estimators=12).fit(X, y)
    cold = small(estimator, n_estimators=12, early_stopping=False).fit(X, y)
    assert_close_answers(cold, model, X, rtol=1e-9)
    assert [forest.n_trees for forest in forests(model)] == [12, 12]
    assert all(len(leaves) == 5 for leaves in first)


ENSEMBLE_CHANGES = CHANGES | {
    "noise": lambda model, X, y: model.set_params(method="sgb").fit(X, y),
    "members": lambda model, X, y: model.set_params(n_members=3).fit(X, y),
}


@each_ensemble
@pytest.mark.parametrize("change", ENSEMBLE_CHANGES)
def test_an_ensemble_refuses_to_resume_with_other_rows_or_settings(estimator, change):
    X, y = table(estimator)
    model = small(estimator, n_estimators=5, warm_start=True, early_stopping=False).fit(X, y)
    before = answers(model, X)
    model.set_params(n_estimators=9)
    with pytest.raises(ValueError, match=r"warm_start"):
        ENSEMBLE_CHANGES[change](model, X, y)
    assert all(bits(before[name]) == bits(array) for name, array in answers(model, X).items())


@each_ensemble
def test_a_pickled_ensemble_can_be_resumed(estimator):
    X, y = table(estimator)
    model = small(estimator, n_estimators=5, warm_start=True, early_stopping=False).fit(X, y)
    again = pickle.loads(pickle.dumps(model)).set_params(n_estimators=9).fit(X, y)
    assert_same_answers(model.set_params(n_estimators=9).fit(X, y), again, X)
