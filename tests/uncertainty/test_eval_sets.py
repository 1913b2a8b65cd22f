"""Named sets of rows are measured after each round, and change nothing else."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
from contract.registry import learned
from lightgbm import Dataset
from reference.gradient_boosters import CLASSIFIERS, ENSEMBLES, GRADIENT_BOOSTERS, REGRESSORS, SINGLE, problem, small

from surefoot import DataError, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError, load, save
from surefoot.data.stored_table import StoredTable
from surefoot.metrics import nll

each_single = pytest.mark.parametrize("estimator", SINGLE)
each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)


def sets(estimator, n_classes=2):
    """Two sets of new rows, the second with weights."""
    first, second = problem(estimator, 50, n_classes=n_classes, seed=1), problem(estimator, 30, seed=2)
    return {"other town": first, "next year": (*second, np.arange(30) % 4)}


def losses_of_truncated(model, name, given):
    """The losses of the models after each number of rounds, from the closed form of a likelihood."""
    X, y, *weight = given[name]
    weight = weight[0] if weight else None
    member = model._members[0]
    n_rounds = member.trees.forest.n_trees
    for raw in model._member_raw(X, range(1, n_rounds + 1)):
        if hasattr(model, "predict_distribution"):
            yield nll(y, model.family_.distribution(raw), sample_weight=weight)
        else:
            yield nll(y, model.family_.probabilities(raw), labels=model.classes_, sample_weight=weight)


def last_loss(model, X, y, weight=None):
    if isinstance(model, REGRESSORS):
        return nll(y, model.predict_distribution(X), sample_weight=weight)
    return nll(y, model.predict_proba(X), labels=model.classes_, sample_weight=weight)


SETTINGS = {
    "all rounds": {"early_stopping": False},
    "trial models": {"n_estimators": 40, "n_iter_no_change": 5},
    "scale": {"early_stopping": "scale", "n_estimators": 12},
    "langevin": {"langevin": True, "n_estimators": 30, "n_iter_no_change": 5},
    "rows drawn": {"subsample": 0.5, "grow_policy": "depthwise"},
}


@each_single
@pytest.mark.parametrize("name", SETTINGS)
def test_losses_are_those_of_the_model_after_each_round(estimator, name):
    X, y = problem(estimator, 150)
    given = sets(estimator)
    model = small(estimator, **SETTINGS[name]).fit(X, y, eval_sets=given)
    assert list(model.validation_losses_) == ["other town", "next year"]
    for name_of_set, losses in model.validation_losses_.items():
        expected = list(losses_of_truncated(model, name_of_set, given))
        np.testing.assert_allclose(losses, expected, rtol=1e-12)
        assert losses[-1] == pytest.approx(last_loss(model, *given[name_of_set]), rel=1e-12)
        assert len(losses) == model.n_iter_


@pytest.mark.parametrize("distribution", ["lognormal", "student_t", "poisson", "gamma"])
def test_losses_are_in_the_units_of_the_target(distribution):
    X, y = problem(GradientBoostingRegressor, 150)
    given = {name: (table, np.round(target), *rest) for name, (table, target, *rest) in sets(REGRESSORS[0]).items()}
    settings = {"n_estimators": 20, "distribution": distribution}
    model = small(GradientBoostingRegressor, **settings).fit(X, np.round(y), eval_sets=given)
    for name, losses in model.validation_losses_.items():
        np.testing.assert_allclose(losses, list(losses_of_truncated(model, name, given)), rtol=1e-12)


def test_three_classes():
    X, y = problem(GradientBoostingClassifier, 150, n_classes=3)
    given = {"new": problem(GradientBoostingClassifier, 50, n_classes=3, seed=1)}
    model = small(GradientBoostingClassifier).fit(X, y.astype(str), eval_sets={"new": (X, y.astype(str))})
    assert model.validation_losses_["new"][-1] == pytest.approx(last_loss(model, X, y.astype(str)), rel=1e-12)
    with pytest.raises(DataError, match=r"y of eval_sets\['new'\] has labels that y does not have"):
        model.fit(X, y, eval_sets={"new": (given["new"][0], given["new"][1] + 1)})


@each_estimator
@pytest.mark.parametrize("settings", [{}, {"warm_start": True}])
def test_sets_do_not_change_the_model(estimator, settings):
    X, y = problem(estimator)
    plain = small(estimator, **settings).fit(X, y)
    measured = small(estimator, **settings).fit(X, y, eval_sets=sets(estimator))
    assert learned(plain) == learned(measured)
    assert plain.validation_losses_ == {}
    assert measured.fit(X, y).validation_losses_ == {}


@each_single
def test_rounds_after_the_chosen_one_are_measured_too(estimator):
    X, y = problem(estimator, 150)
    given = sets(estimator)
    X_val, y_val = problem(estimator, 60, seed=3)
    settings = {"n_estimators": 100, "n_iter_no_change": 6, "max_depth": 4, "langevin": True}
    model = small(estimator, **settings).fit(X, y, X_val=X_val, y_val=y_val, eval_sets=given)
    assert model.n_iter_ < len(model.validation_loss_)
    for name, losses in model.validation_losses_.items():
        assert len(losses) == len(model.validation_loss_)
        np.testing.assert_allclose(losses[: model.n_iter_], list(losses_of_truncated(model, name, given)), rtol=1e-12)
        steps = np.abs(np.diff(losses))
        assert steps[model.n_iter_ - 1] <= 5 * steps[: model.n_iter_].max()  # no jump at the chosen round
    if estimator is GradientBoostingClassifier:  # whose scale no held-out rows correct
        model.fit(X, y, X_val=X_val, y_val=y_val, eval_sets={"the same": (X_val, y_val)})
        np.testing.assert_allclose(model.validation_losses_["the same"], model.validation_loss_, rtol=1e-10)


@pytest.mark.parametrize("estimator", ENSEMBLES)
@pytest.mark.parametrize("with_validation", [False, True])
def test_each_member_of_an_ensemble_is_measured(estimator, with_validation):
    X, y = problem(estimator, 150)
    given = sets(estimator)
    X_val, y_val = problem(estimator, 60, seed=3)
    validation = {"X_val": X_val, "y_val": y_val} if with_validation else {}
    model = small(estimator, n_estimators=200, n_iter_no_change=4, max_depth=4, n_jobs=2).fit(
        X, y, eval_sets=given, **validation
    )
    lengths = [len(member.validation_losses_["next year"]) for member in model.estimators_]
    assert (len(set(lengths)) > 1) == with_validation  # each member stops in its own round
    for name, mean in model.validation_losses_.items():
        for member in model.estimators_:
            own = member.validation_losses_[name][: member.n_iter_]
            np.testing.assert_allclose(own, list(losses_of_truncated(member, name, given)), rtol=1e-12)
        parts = [member.validation_losses_[name][: min(lengths)] for member in model.estimators_]
        np.testing.assert_allclose(mean, np.mean(parts, axis=0), rtol=1e-12)


def test_names_and_values_are_those_of_another_library():
    """LightGBM records a set of rows under the name that the user gives it."""
    X, y = problem(GradientBoostingClassifier, 300)
    given = {"first": problem(GradientBoostingClassifier, 60, seed=1), "second": (X, y)}
    train, recorded = Dataset(X, y), {}
    lightgbm.train(
        {"objective": "binary", "max_depth": 3, "min_data_in_leaf": 5, "verbose": -1},
        train,
        num_boost_round=5,
        valid_sets=[train.create_valid(*rows) for rows in given.values()],
        valid_names=list(given),
        callbacks=[lightgbm.record_evaluation(recorded)],
    )
    settings = {"early_stopping": False, "learning_rate": 0.1, "grow_policy": "depthwise", "l2_regularization": 0.1}
    ours = small(GradientBoostingClassifier, **settings).fit(X, y, eval_sets=given).validation_losses_
    theirs = {name: np.array(losses["binary_logloss"]) for name, losses in recorded.items()}
    assert list(ours) == list(theirs)
    for name, losses in theirs.items():
        assert ours[name].shape == losses.shape
        assert (np.diff(ours[name]) < 0).all()
        assert (np.diff(losses) < 0).all()
        np.testing.assert_allclose(ours[name], losses, atol=0.15)


@each_single
def test_a_resumed_model_is_measured_from_its_first_round(estimator):
    X, y = problem(estimator)
    given = sets(estimator)
    settings = {"warm_start": True, "early_stopping": False}
    model = small(estimator, n_estimators=4, **settings).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y, eval_sets=given)
    whole = small(estimator, n_estimators=9, early_stopping=False).fit(X, y, eval_sets=given)
    for name, losses in whole.validation_losses_.items():
        np.testing.assert_allclose(model.validation_losses_[name], losses, rtol=1e-9)


def test_frames_with_categories_and_tables_in_files(tmp_path):
    X, y = problem(GradientBoostingRegressor, 120)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=pd.Categorical(np.where(X[:, 0] > 0, "high", "low")))
    given = {"new": (frame[:30], y[:30])}
    model = small(GradientBoostingRegressor).fit(frame, y, eval_sets=given)
    assert model.validation_losses_["new"][-1] == pytest.approx(last_loss(model, *given["new"]), rel=1e-12)
    frame.assign(kind=frame["kind"].astype(str), y=y).to_parquet(tmp_path / "table.parquet")
    for table in (tmp_path / "table.parquet", str(tmp_path / "table.parquet")):
        model = small(GradientBoostingRegressor).fit(table, "y", eval_sets=given)
        assert model.validation_losses_["new"][-1] == pytest.approx(last_loss(model, *given["new"]), rel=1e-12)
    with pytest.raises(DataError, match=r"eval_sets\['new'\] must be a table in memory, got StoredTable"):
        model.fit(frame, y, eval_sets={"new": (StoredTable.read(table, target="y"), None)})


@each_single
def test_losses_are_not_in_model_files(estimator, tmp_path):
    X, y = problem(estimator)
    save(small(estimator).fit(X, y, eval_sets=sets(estimator)), tmp_path / "model")
    assert load(tmp_path / "model").validation_losses_ == {}


X, Y = problem(GradientBoostingRegressor)
WRONG = {
    "a list": ([(X, Y)], "eval_sets must be a dict"),
    "a number as name": ({1: (X, Y)}, "eval_sets must be a dict with a name"),
    "no target": ({"new": (X,)}, r"eval_sets\['new'\] must be a tuple"),
    "a table alone": ({"new": X}, r"eval_sets\['new'\] must be a tuple"),
    "a path": ({"new": ("table.parquet", "y")}, r"eval_sets\['new'\] must be a table in memory, got str"),
    "other columns": ({"new": (X[:, :2], Y)}, r"eval_sets\['new'\]: X .*has 2 features"),
    "other rows": ({"new": (X[:9], Y)}, r"eval_sets\['new'\] has 9 rows, but 80 targets"),
    "text": ({"new": (X, Y.astype(str).astype(object) + "?")}, r"y of eval_sets\['new'\] must be numbers"),
    "weights": ({"new": (X, Y, -Y)}, r"sample_weight of eval_sets\['new'\]"),
    "no weight": ({"new": (X, Y, 0 * Y)}, r"sample_weight of eval_sets\['new'\]"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_and_the_model_stays(name):
    given, message = WRONG[name]
    model = small(GradientBoostingRegressor, n_estimators=2).fit(X, Y)
    before = learned(model)
    with pytest.raises((DataError, ParameterError), match=message) as error:
        model.fit(X, Y, eval_sets=given)
    assert "eval_sets" in (error.value.argument or "eval_sets")
    assert learned(model) == before


def test_a_target_that_the_distribution_does_not_allow():
    with pytest.raises(DataError, match=r"y of eval_sets\['new'\] has values"):
        small(GradientBoostingRegressor, distribution="gamma").fit(X, Y + 5, eval_sets={"new": (X, -Y)})


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_a_row_that_is_impossible_has_an_infinite_loss(estimator, monkeypatch):
    """Nothing is clipped, as in ``metrics.nll``; rows of weight 0 are not read."""
    from surefoot.uncertainty.eval_sets import EvalSet

    class Sure:
        def probabilities(self, raw):
            return np.array([[1.0, 0.0], [0.5, 0.5]])

    one = EvalSet(name="", columns=None, y=np.array([1, 0]), weights=np.array([1.0, 1.0]))
    assert one.loss(Sure(), np.empty((1, 2))) == np.inf
    other = EvalSet(name="", columns=None, y=np.array([1, 0]), weights=np.array([0.0, 2.0]))
    assert other.loss(Sure(), np.empty((1, 2))) == pytest.approx(np.log(2))
