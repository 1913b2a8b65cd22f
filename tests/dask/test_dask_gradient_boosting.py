"""Gradient boosting on a cluster: the model file equals that of the local estimator, byte for byte."""

import os
import signal
import threading
import time
from itertools import count

import numpy as np
import pandas as pd
import pytest
from dask import delayed
from problems import cut, file_of

import surefoot
from surefoot import ClusterError, DataError, ParameterError
from surefoot import dask as on_cluster
from surefoot.uncertainty.boosting_loop import BoostingLoop

SETTINGS = {"n_estimators": 4, "max_depth": 3, "random_state": 0}
LENGTHS = (9_000, 0, 21_000, 17, 9_983)  # several blocks of rows; a partition without rows
NAMES = [
    "GradientBoostingRegressor",
    "GradientBoostingClassifier",
    "BoostingEnsembleRegressor",
    "BoostingEnsembleClassifier",
]


def table(n_rows=40_000, n_categories=4):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(n_rows, 9)), columns=list("abcdefghi"))
    X.loc[::7, "c"] = np.nan
    X["rare"] = (np.arange(n_rows) == n_rows - 2) * 1.0
    X["kind"] = pd.Categorical(generator.integers(0, n_categories, n_rows).astype(str))
    y = X["a"] + generator.normal(size=n_rows) * (1 + X["b"].abs())
    return X, y, pd.Series(generator.integers(0, 3, n_rows))


def targets(name, y):
    return y.to_numpy() if name.endswith("Regressor") else np.where(y > 0, "high", "low").astype(object)


def settings_of(name, **settings):
    members = {"n_members": 3} if "Ensemble" in name else {}
    return {**SETTINGS, **members, **settings}


def assert_same_files(tmp_path, client, name, X, y, weights=None, lengths=LENGTHS, **settings):
    settings = settings_of(name, **settings)
    local = getattr(surefoot, name)(**settings).fit(X, y, weights)
    parts = cut(X, lengths), cut(y, lengths), None if weights is None else cut(weights, lengths)
    found = getattr(on_cluster, name)(client=client, **settings).fit(*parts)
    assert file_of(found, tmp_path) == file_of(local, tmp_path)
    return local, found


@pytest.mark.fault(number=29)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_file(client, tmp_path, name):
    X, y, weights = table()
    is_weighted = "Ensemble" not in name
    assert_same_files(tmp_path, client, name, X, targets(name, y), weights if is_weighted else None)


@pytest.mark.parametrize(
    "settings",
    [
        {"subsample": 0.5, "early_stopping": False, "grow_policy": "depthwise"},
        {"langevin": True, "temperature": 1.0, "max_bins": 20},
        {"monotonic_cst": {"a": 1}, "min_samples_leaf": 50, "distribution": "laplace"},
        {"interaction_cst": [{"a", "b"}], "max_features": 0.7, "split_noise": 0.5, "early_stopping": False},
        {"grow_policy": "leafwise", "max_leaf_nodes": 5, "monotonic_cst": {"a": 1}, "early_stopping": False},
    ],
)
def test_settings(client, tmp_path, settings):
    X, y, _ = table()
    assert_same_files(tmp_path, client, NAMES[0], X, y.to_numpy(), **settings)


@pytest.mark.parametrize("name", NAMES[::3])
def test_callbacks_and_named_sets(client, tmp_path, name):
    X, y, _ = table(10_000)
    y = targets(name, y)
    given, seen = {"new": (X[:500], y[:500])}, []
    local = getattr(surefoot, name)(**settings_of(name)).fit(X, y, eval_sets=given)
    model = getattr(on_cluster, name)(client=client, **settings_of(name))
    parts = cut(X, (5_000, 5_000)), cut(y, (5_000, 5_000))
    model.fit(*parts, eval_sets=given, callbacks=seen.append)
    assert file_of(model, tmp_path) == file_of(local, tmp_path)
    np.testing.assert_array_equal(model.validation_losses_["new"], local.validation_losses_["new"])
    assert {report.is_trial for report in seen} == {False, True}
    model.fit(*parts, callbacks=lambda report: report.round == 2)
    assert {member.trees.forest.n_trees for member in model._members} == {2}
    with pytest.raises(DataError, match="must be a table in memory, got list"):
        model.fit(*parts, eval_sets={"new": parts})


def test_class_weights_decide_the_bins_too(client, tmp_path):
    X, y, weights = table()
    labels = np.where(y > 2, "rare", "common").astype(object)
    for given in (None, weights):
        settings = {"class_weight": "balanced", "max_bins": 20, "early_stopping": False}
        assert_same_files(tmp_path, client, NAMES[1], X, labels, given, **settings)


def test_columns_of_many_categories(client, tmp_path):
    X, y, _ = table(n_categories=200)
    assert_same_files(tmp_path, client, NAMES[2], X, y.to_numpy(), early_stopping=False)


def test_a_small_table(client, tmp_path):
    X, y, _ = table(300)
    assert_same_files(tmp_path, client, NAMES[0], X[["a", "b"]], y.to_numpy(), lengths=(100, 200))


def test_more_rows_than_edges_are_sampled_from(client, tmp_path, monkeypatch):
    X, y, _ = table()
    monkeypatch.setattr("surefoot.data.binner.EDGE_SAMPLE", 10_000)
    assert_same_files(tmp_path, client, NAMES[0], X, y.to_numpy(), early_stopping=False)


def test_predictions_are_lazy_and_equal(client, tmp_path):
    X, y, _ = table(600)
    local, found = assert_same_files(tmp_path, client, NAMES[2], X, y.to_numpy(), lengths=(200, 400))
    parts = cut(X, (200, 400))
    means, deviations = found.predict(parts, return_std=True)
    np.testing.assert_array_equal(means.compute(), local.predict(X))
    np.testing.assert_array_equal(deviations.compute(), local.predict(X, return_std=True)[1])
    uncertainty = found.predict_uncertainty(parts)
    np.testing.assert_array_equal(uncertainty.knowledge.compute(), local.predict_uncertainty(X).knowledge)
    assert uncertainty.unit == local.predict_uncertainty(X).unit
    np.testing.assert_array_equal(found.predict(X), local.predict(X))
    with pytest.raises(surefoot.DataError, match="rows in memory"):
        found.predict_distribution(parts)
    explained = found.shap_knowledge(X)
    np.testing.assert_array_equal(explained.values, local.shap_knowledge(X).values)
    for explain in (found.shap_values, found.shap_knowledge):
        with pytest.raises(surefoot.DataError, match="rows in memory"):
            explain(parts)


def test_two_fits_at_once(client, tmp_path):
    X, y, _ = table()
    expected = surefoot.GradientBoostingRegressor(**SETTINGS).fit(X, y.to_numpy())
    found = [on_cluster.GradientBoostingRegressor(client=client, **SETTINGS) for _ in range(2)]
    parts = cut(X, LENGTHS), cut(y.to_numpy(), LENGTHS)
    threads = [threading.Thread(target=model.fit, args=parts) for model in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model in found:
        assert file_of(model, tmp_path) == file_of(expected, tmp_path)


def kill_in_round(client, monkeypatch, n):
    """Kill one worker before round ``n`` of the first attempt."""
    step, rounds, pid = BoostingLoop.step, count(), next(iter(client.run(os.getpid).values()))

    def step_after_kill(loop):
        if next(rounds) == n:
            os.kill(pid, signal.SIGKILL)
        step(loop)

    monkeypatch.setattr(BoostingLoop, "step", step_after_kill)
    return rounds


@pytest.mark.fault(number=28)
@pytest.mark.parametrize("n", [0, 8])
def test_a_worker_that_is_killed(other_client, tmp_path, monkeypatch, n):
    X, y, _ = table()
    settings = {**SETTINGS, "n_estimators": 12, "early_stopping": False}
    expected = surefoot.GradientBoostingRegressor(**settings).fit(X, y.to_numpy())
    model = on_cluster.GradientBoostingRegressor(client=other_client, **settings)
    rounds, start = kill_in_round(other_client, monkeypatch, n), time.monotonic()
    try:
        model.fit(cut(X, LENGTHS), cut(y.to_numpy(), LENGTHS))
    except ClusterError:
        assert time.monotonic() - start < 60
    else:
        assert file_of(model, tmp_path) == file_of(expected, tmp_path)
    assert next(rounds) > n


def test_nothing_stays_on_the_workers(client):
    X, y, _ = table()
    on_cluster.GradientBoostingRegressor(client=client, **SETTINGS).fit(cut(X, LENGTHS), cut(y.to_numpy(), LENGTHS))

    def what_is_left():
        return [key for keys in client.has_what().values() for key in keys]

    deadline = time.monotonic() + 10
    while what_is_left() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert what_is_left() == []


def test_what_is_refused(client):
    X, y, _ = table(300)
    parts = cut(X, (100, 200)), cut(y.to_numpy(), (100, 200))
    with pytest.raises(ParameterError, match="warm_start is for tables in memory"):
        on_cluster.GradientBoostingRegressor(client=client, warm_start=True).fit(*parts)
    with pytest.raises(surefoot.DataError, match="in memory, use the estimator of the same name"):
        on_cluster.GradientBoostingRegressor(client=client).fit(X, y)
    with pytest.raises(surefoot.DataError, match="NaN"):
        on_cluster.GradientBoostingRegressor(client=client).fit(parts[0], [delayed(y[:100] * np.nan), delayed(y[100:])])
