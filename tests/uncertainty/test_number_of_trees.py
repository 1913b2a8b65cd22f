"""The number of trees: in small tables, several trial models choose it, each with other held-out rows."""

import numpy as np
import pytest

from surefoot import BoostingEnsembleClassifier, BoostingEnsembleRegressor
from surefoot._parallel import RowThreads
from surefoot.data import held_out
from surefoot.uncertainty import training
from surefoot.uncertainty.training_table import SharedTable


def weak_table(n_rows=400, seed=0):
    """One column of six is weakly related to the class."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 6))
    return X, (generator.random(n_rows) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)


@pytest.fixture
def specs(monkeypatch):
    """The specs of fits before and after their trial models."""
    calls = []
    before = training.with_trial_results

    def monitored(spec, table, n_members):
        result = before(spec, table, n_members)
        calls.append((spec, result))
        return result

    monkeypatch.setattr(training, "with_trial_results", monitored)
    return calls


def curves(spec, members, n_trees):
    """Held-out likelihoods of trial models, each trained separately and to the end."""
    table, losses = SharedTable.of(spec), []
    with RowThreads(1) as threads:
        for member in members:
            loop, _ = training.start_loop(spec, table, member, threads)
            losses.append([])
            for _ in range(n_trees):
                loop.step()
                losses[-1].append(loop.measure_held_out()[0])
    return np.array(losses)


def test_the_number_of_trees_is_best_on_average_over_the_trials(specs):
    X, y = weak_table()
    model = BoostingEnsembleClassifier(method="sgb", n_members=2, random_state=0, n_estimators=60).fit(X, y)
    ((spec, result),) = specs
    members = [training.FIRST_TRIAL - k for k in range(5)]
    mean = curves(spec, members, 60).mean(axis=0)
    assert result.config.n_estimators == mean.argmin() + 1
    assert [one.n_iter_ for one in model.estimators_] == [mean.argmin() + 1] * 2
    assert result.hold_out == 0
    held_out = [set(training.split_rows(spec, member)[1].tolist()) for member in members]
    assert len(set.union(*held_out)) == sum(map(len, held_out)) == 200  # each holds out other rows


@pytest.mark.parametrize(("n_rows", "n_trials"), [(300, 5), (1200, 4), (6000, 1)])
@pytest.mark.parametrize("estimator", [BoostingEnsembleClassifier, BoostingEnsembleRegressor])
def test_trials_hold_out_enough_rows_together(estimator, n_rows, n_trials, monkeypatch):
    """Trial models of an ensemble of regressors have twins, which show how wide a mixture is."""
    started = []
    start = training.start_loop
    monkeypatch.setattr(
        training,
        "start_loop",
        lambda spec, table, member, threads: started.append(member) or start(spec, table, member, threads),
    )
    estimator(method="sgb", n_members=2, random_state=0, n_estimators=3).fit(*weak_table(n_rows))
    twice = 2 if estimator is BoostingEnsembleRegressor else 1
    assert len({member for member in started if member < 0}) == n_trials * twice
    assert sorted(member for member in started if member >= 0) == [0, 1]


def test_trials_of_regression_choose_the_scale_too(specs):
    X, y = weak_table()
    BoostingEnsembleRegressor(method="sgb", n_members=2, random_state=0, n_estimators=20).fit(X, X[:, 0] + y)
    inflation_schedule = specs[0][1].inflation_schedule
    assert 0 < len(inflation_schedule.residual_inflations) <= specs[0][1].config.n_estimators
    assert 0 <= inflation_schedule.recalibration.slope <= 1


def test_several_trials_are_better_than_one_if_the_signal_is_weak(monkeypatch):
    """Mean likelihood of new rows over several tables, against that with a single trial."""

    def loss(seed):
        (X, y), (X_new, y_new) = weak_table(400, seed), weak_table(2000, 1000 + seed)
        model = BoostingEnsembleClassifier(method="sgb", n_members=4, random_state=seed).fit(X, y)
        return -np.log(model.predict_proba(X_new)[np.arange(2000), y_new]).mean()

    several = [loss(seed) for seed in range(6)]
    monkeypatch.setattr(held_out, "MAX_TRIALS", 1)
    one = [loss(seed) for seed in range(6)]
    assert np.mean(several) < np.mean(one)
    assert np.max(several) < np.max(one)
