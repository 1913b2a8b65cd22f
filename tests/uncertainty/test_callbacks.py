"""Callbacks of fit see every round in order, can stop training, and change nothing else."""

import threading
from dataclasses import FrozenInstanceError
from itertools import pairwise

import joblib
import numpy as np
import pytest
from contract.registry import learned
from reference.gradient_boosters import ENSEMBLES, GRADIENT_BOOSTERS, SINGLE, problem, small

from surefoot import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError, RoundReport

each_single = pytest.mark.parametrize("estimator", SINGLE)
each_ensemble = pytest.mark.parametrize("estimator", ENSEMBLES)
each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
NO_STOPPING = {"early_stopping": False}


def reports_of(model, *args, **options):
    seen = []
    model.fit(*args, callbacks=seen.append, **options)
    return seen


@each_single
def test_every_round_is_reported_in_order(estimator):
    X, y = problem(estimator)
    model = small(estimator, **NO_STOPPING)
    seen = reports_of(model, X, y, eval_sets={"new": (X, y)})
    assert [(report.round, report.n_rounds, report.member, report.is_trial) for report in seen] == [
        (k, 5, 0, False) for k in range(1, 6)
    ]
    assert all(one.seconds <= next_one.seconds for one, next_one in pairwise(seen))
    np.testing.assert_allclose([report.losses["new"] for report in seen], model.validation_losses_["new"], rtol=1e-10)
    assert {report.validation_loss for report in seen} == {None}
    with pytest.raises(FrozenInstanceError):
        seen[0].round = 3


@each_single
def test_trial_models_come_first_and_have_the_losses_that_decide(estimator):
    X, y = problem(estimator, 150)
    model = small(estimator, n_estimators=60, n_iter_no_change=5)
    seen = reports_of(model, X, y, eval_sets={"new": (X, y)})
    n_trial_rounds = len(model.validation_loss_)
    trials, members = seen[:n_trial_rounds], seen[n_trial_rounds:]
    assert all(report.is_trial and report.member is None and report.losses == {} for report in trials)
    assert [report.validation_loss for report in trials] == model.validation_loss_.tolist()
    assert [(report.round, report.n_rounds, report.is_trial) for report in members] == [
        (k + 1, model.n_iter_, False) for k in range(model.n_iter_)
    ]
    np.testing.assert_allclose([r.losses["new"] for r in members], model.validation_losses_["new"], rtol=1e-10)


@pytest.mark.parametrize(
    "settings",
    [
        {"early_stopping": False, "distribution": "poisson"},
        {"n_estimators": 40, "n_iter_no_change": 5, "distribution": "poisson"},
        {"langevin": True, "n_estimators": 30, "early_stopping": False},
        {"subsample": 0.5, "grow_policy": "depthwise", "n_estimators": 20, "distribution": "gamma"},
        {"categorical_features": [3], "early_stopping": False},
    ],
)
def test_losses_of_reports_are_those_that_are_recorded(settings):
    X, y = problem(GradientBoostingRegressor, 150)
    X[:, 3], y = np.round(X[:, 3]), np.round(y)
    model = small(GradientBoostingRegressor, **settings)
    seen = [report for report in reports_of(model, X, y, eval_sets={"new": (X[:40], y[:40])}) if not report.is_trial]
    np.testing.assert_allclose([r.losses["new"] for r in seen], model.validation_losses_["new"], rtol=1e-9)


def test_losses_of_reports_follow_a_scale_that_is_frozen():
    """With X_val, the scale goes back to its best round before that round is reported."""
    X, y = problem(GradientBoostingRegressor, 150)
    X_val, y_val = problem(GradientBoostingRegressor, 60, seed=3)
    model = small(GradientBoostingRegressor, n_estimators=200, n_iter_no_change=6, max_depth=4)
    seen = reports_of(model, X, y, X_val=X_val, y_val=y_val, eval_sets={"val": (X_val, y_val)})
    offset = model.family_.nll_offset(y_val)[0]
    ours = np.array([report.losses["val"] for report in seen])
    assert model._members[0].trees.forest.leaves[-1, :, -1].std() == 0  # it was frozen
    differs = ~np.isclose(ours, model.validation_loss_ + offset, rtol=1e-9)
    assert differs.sum() == 1
    assert (ours < model.validation_loss_ + offset)[differs]
    assert [report.validation_loss for report in seen] == model.validation_loss_.tolist()


@each_estimator
@pytest.mark.parametrize("settings", [{}, {"warm_start": True}, {"n_estimators": 40, "n_iter_no_change": 3}])
def test_a_callback_that_does_nothing_changes_nothing(estimator, settings):
    X, y = problem(estimator)
    plain = small(estimator, **settings).fit(X, y)
    given = {"callbacks": [lambda report: None, lambda report: False], "eval_sets": {"new": (X, y)}}
    assert learned(small(estimator, **settings).fit(X, y, **given)) == learned(plain)


@each_single
@pytest.mark.parametrize("langevin", [False, True])
def test_a_model_that_is_stopped_is_that_of_fewer_rounds(estimator, langevin):
    X, y = problem(estimator)
    settings = NO_STOPPING | {"langevin": langevin}
    model = small(estimator, n_estimators=30, **settings).fit(X, y, callbacks=lambda report: report.round == 4)
    shorter = small(estimator, n_estimators=4, **settings).fit(X, y)
    assert model.n_iter_ == 4
    assert learned(model.set_params(n_estimators=4)) == learned(shorter)


@each_single
def test_stopping_with_validation_rows_keeps_the_best_round_so_far(estimator):
    X, y = problem(estimator, 150)
    X_val, y_val = problem(estimator, 60, seed=3)
    settings = {"n_estimators": 200, "n_iter_no_change": 100, "learning_rate": 0.5}
    seen = []
    model = small(estimator, **settings)
    model.fit(X, y, X_val=X_val, y_val=y_val, callbacks=lambda report: seen.append(report) or report.round == 30)
    assert len(seen) == len(model.validation_loss_) == 30
    if estimator is GradientBoostingClassifier:
        assert model.n_iter_ == 1 + np.argmin(model.validation_loss_) < 30


@each_estimator
def test_stopping_trial_models_limits_the_rounds(estimator):
    X, y = problem(estimator, 150)
    settings = {"n_estimators": 100, "n_iter_no_change": 50}
    stopped = small(estimator, **settings).fit(X, y, callbacks=lambda report: report.is_trial and report.round == 7)
    rounds = {tree.forest.n_trees for tree in (member.trees for member in stopped._members)}
    assert len(rounds) == 1
    assert max(rounds) <= 7
    assert len(stopped._members[0].trees.held_out_nll) == 7


@each_ensemble
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_members_report_in_order_and_stop_one_by_one(estimator, backend):
    X, y = problem(estimator)
    seen, threads = [], set()

    def stop(report):
        seen.append(report)  # of this process: whatever the backend, members are trained here
        threads.add(threading.get_ident())
        return report.member == 1 and report.round == 3

    model = small(estimator, n_members=3, n_jobs=2, **NO_STOPPING)
    with joblib.parallel_config(backend):
        model.fit(X, y, callbacks=stop, eval_sets={"new": (X, y)})
    assert [member.n_iter_ for member in model.estimators_] == [5, 3, 5]
    for k, n_rounds in enumerate([5, 3, 5]):
        assert [report.round for report in seen if report.member == k] == list(range(1, n_rounds + 1))
        own = [report.losses["new"] for report in seen if report.member == k]
        np.testing.assert_allclose(own, model.estimators_[k].validation_losses_["new"], rtol=1e-10)
    assert len(model.validation_losses_["new"]) == 3
    assert threading.get_ident() not in threads


@each_estimator
@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_an_error_is_raised_and_the_model_stays(estimator, error):
    X, y = problem(estimator)
    model = small(estimator).fit(X, y)
    before = learned(model)

    def fail(report):
        if not report.is_trial and report.round == 2:
            raise error

    with pytest.raises(type(error)) as raised:
        model.fit(-X, y, callbacks=fail)
    assert raised.value is error
    assert learned(model) == before


@each_single
def test_a_model_that_is_stopped_can_be_resumed(estimator):
    X, y = problem(estimator)
    model = small(estimator, n_estimators=9, warm_start=True, **NO_STOPPING)
    model.fit(X, y, callbacks=lambda report: report.round == 4)
    assert model.n_iter_ == 4
    seen = reports_of(model, X, y, eval_sets={"new": (X, y)})
    assert [report.round for report in seen] == [5, 6, 7, 8, 9]
    np.testing.assert_allclose([r.losses["new"] for r in seen], model.validation_losses_["new"][4:], rtol=1e-9)
    assert reports_of(model, X, y) == []


def test_all_callbacks_see_the_round_in_which_one_stops():
    X, y = problem(GradientBoostingRegressor)
    seen = []
    model = small(GradientBoostingRegressor, **NO_STOPPING)
    model.fit(X, y, callbacks=(lambda report: np.bool_(report.round == 2), lambda report: seen.append(report.round)))
    assert seen == [1, 2]


@pytest.mark.parametrize("wrong", [3, "print", [print, 3], {"a": print}])
def test_what_is_not_callable_is_refused(wrong):
    X, y = problem(GradientBoostingRegressor)
    with pytest.raises(ParameterError, match="callbacks must be a function of one RoundReport") as error:
        small(GradientBoostingRegressor).fit(X, y, callbacks=wrong)
    assert error.value.argument == "callbacks"


@pytest.mark.parametrize("answer", [1, "stop", 0.5])
def test_other_answers_than_true_and_false_are_refused(answer):
    X, y = problem(GradientBoostingRegressor)
    with pytest.raises(ParameterError, match="callbacks must return True to stop") as error:
        small(GradientBoostingRegressor).fit(X, y, callbacks=lambda report: answer)
    assert error.value.argument == "callbacks"


def test_tables_in_files(tmp_path):
    import pandas as pd

    X, y = problem(GradientBoostingRegressor)
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(tmp_path / "table.parquet")
    seen = []
    model = small(GradientBoostingRegressor, **NO_STOPPING)
    model.fit(tmp_path / "table.parquet", "y", callbacks=lambda report: seen.append(report) or report.round == 3)
    assert [report.round for report in seen] == [1, 2, 3]
    assert isinstance(seen[0], RoundReport)
    assert model.n_iter_ == 3
