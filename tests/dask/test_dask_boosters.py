"""Votes of AdaBoosts that are trained on a cluster: members and whole models are those of the local classes."""

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from distributed import Client
from problems import X, Y, collection, cut, file_of, kill_a_worker_after
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import surefoot
from surefoot import DataError, ParameterError, UnlikePartitionsWarning
from surefoot._random import seed_from
from surefoot.dask import BaggedBoostClassifier, MajorityBoostClassifier
from surefoot.dask.parts import cut_parts, deal_parts

LENGTHS = [90, 0, 110, 120, 80]
SETTINGS = {"n_estimators": 8, "random_state": 3}
EACH = pytest.mark.parametrize("booster", [MajorityBoostClassifier, BaggedBoostClassifier])


def fitted(booster, client, lengths=LENGTHS, weights=None, **parameters):
    model = booster(client=client, **{**SETTINGS, **parameters})
    pieces = None if weights is None else cut(weights, lengths)
    return model.fit(cut(X, lengths), cut(Y, lengths), pieces)


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_member_is_a_local_adaboost_on_the_rows_of_its_part(client, shuffle):
    lengths, seed = [90, 110, 120, 80], seed_from(3)
    model = fitted(MajorityBoostClassifier, client, lengths, n_members=3, shuffle=shuffle)
    parts = deal_parts(lengths, 3) if shuffle else cut_parts(lengths, 3, seed)
    starts = np.cumsum([0, *lengths])
    for member, part in zip(model.estimators_, parts, strict=True):
        rows = np.concatenate([starts[p.partition] + p.rows(lengths[p.partition], seed) for p in part])
        local = surefoot.AdaBoostClassifier(**SETTINGS, calibrate=False).fit(X.iloc[rows], Y[rows])
        np.testing.assert_array_equal(member.decision_function(X), local.decision_function(X))
        np.testing.assert_array_equal(member.estimator_weights_, local.estimator_weights_)


LOCAL = {
    "plain": {},
    "trees": {"max_depth": 2},
    "weights of classes": {"class_weight": "balanced"},
    "given weights of classes": {"class_weight": {"yes": 2, "no": 1}},
    "not calibrated": {"calibrate": False, "voting": "soft"},
}


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("name", LOCAL)
def test_one_member_is_the_local_model(name, is_weighted, client, tmp_path):
    weights = np.random.default_rng(0).integers(1, 4, size=len(X)) / 2 if is_weighted else None
    ours = fitted(MajorityBoostClassifier, client, weights=weights, n_members=1, **LOCAL[name])
    local = surefoot.MajorityBoostClassifier(**SETTINGS, n_members=1, **LOCAL[name]).fit(X, Y, weights)
    assert file_of(ours, tmp_path) == file_of(local, tmp_path)


@pytest.mark.parametrize("max_samples", [1.0, 0.5])
def test_bags_from_one_partition_are_those_of_the_local_model(client, max_samples, tmp_path):
    ours = fitted(BaggedBoostClassifier, client, [400], max_samples=max_samples)
    local = surefoot.BaggedBoostClassifier(**SETTINGS, max_samples=max_samples).fit(X, Y)
    assert len(ours.estimators_) == len(local.estimators_) == 9
    assert file_of(ours, tmp_path) == file_of(local, tmp_path)


def test_rows_without_weight_are_left_out(client, tmp_path):
    weights = np.random.default_rng(1).integers(0, 2, size=len(X)).astype(float)
    weights[:90] = 0  # the whole first partition
    ours = fitted(MajorityBoostClassifier, client, weights=weights, n_members=1)
    local = surefoot.MajorityBoostClassifier(**SETTINGS, n_members=1).fit(X, Y, weights)
    assert file_of(ours, tmp_path) == file_of(local, tmp_path)


@pytest.mark.fault(number=29)
@pytest.mark.parametrize("shuffle", [False, True])
@EACH
def test_the_model_does_not_depend_on_the_workers(booster, shuffle, client, tmp_path):
    settings = {**SETTINGS, "shuffle": shuffle}
    expected = file_of(fitted(booster, client, shuffle=shuffle), tmp_path)
    with Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0", set_as_default=False
    ) as one:
        assert file_of(fitted(booster, one, shuffle=shuffle), tmp_path) == expected
    persisted = client.compute(cut(X, LENGTHS)), client.compute(cut(Y, LENGTHS))
    assert file_of(booster(client=client, **settings).fit(*persisted), tmp_path) == expected
    assert file_of(fitted(booster, client, shuffle=shuffle, random_state=4), tmp_path) != expected


@EACH
def test_attributes_and_answers_are_those_of_a_local_model(booster, client):
    model, table = fitted(booster, client), collection(X)
    local = model.to_local()
    assert type(local) is getattr(surefoot, booster.__name__)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == [*"abc", "kind"]
    np.testing.assert_array_equal(model.feature_importances_, local.feature_importances_)
    for method in ("predict", "predict_proba", "decision_function"):
        expected = getattr(local, method)(X)
        np.testing.assert_array_equal(getattr(model, method)(X), expected)
        lazy = getattr(model, method)(table)
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(), expected)
    assert (model.predict(X) == Y).mean() > 0.7


def test_three_classes_and_an_estimator(client):
    labels = np.digitize(X["a"], [-0.5, 0.5])
    numbers = da.from_array(X[["a", "b", "c"]].fillna(0).to_numpy(), chunks=(100, 3))
    settings = {"client": client, "n_members": 2, "n_estimators": 4, "estimator": DecisionTreeClassifier(max_depth=2)}
    model = MajorityBoostClassifier(**settings, random_state=0).fit(numbers, da.from_array(labels, chunks=100))
    assert model.decision_function(numbers).shape == (400, 3)
    assert (model.predict(numbers).compute() == labels).mean() > 0.9


def test_sorted_partitions_are_warned_of_unless_rows_are_shuffled(client):
    order = np.argsort(Y, kind="stable")
    table, labels = collection(X.iloc[order].reset_index(drop=True)), cut(Y[order], [100] * 4)
    with pytest.warns(UnlikePartitionsWarning, match=r"by more than chance in the labels, .*shuffle=True"):
        MajorityBoostClassifier(client=client, n_members=2, **SETTINGS).fit(table, labels)
    shuffled = MajorityBoostClassifier(client=client, shuffle=True, **SETTINGS).fit(table, labels)
    assert (shuffled.predict(X) == Y).mean() > 0.7


def test_a_part_that_lacks_a_class_still_knows_it(client):
    labels = np.where(np.arange(400) < 3, "rare", Y)
    model = MajorityBoostClassifier(client=client, **SETTINGS, n_members=4).fit(
        cut(X, [100] * 4), cut(labels, [100] * 4)
    )
    assert all(member.classes_.tolist() == ["no", "rare", "yes"] for member in model.estimators_)


@pytest.mark.fault(number=29)
def test_categories_of_partitions_may_differ(client, tmp_path):
    pieces = [X[:200], X[200:]]
    own = [
        piece.assign(kind=piece["kind"].astype(str).where(piece["kind"] != kind))
        for piece, kind in zip(pieces, "xz", strict=True)
    ]
    own = [piece.astype({"kind": "category"}) for piece in own]
    ours = MajorityBoostClassifier(client=client, n_members=1, **SETTINGS)
    unknown = dd.from_delayed(list(map(delayed, own)), meta=own[0][:0], verify_meta=False)
    ours.fit(unknown, cut(Y, [200, 200]))
    together = pd.concat(own).astype({"kind": "category"})
    local = surefoot.MajorityBoostClassifier(n_members=1, **SETTINGS).fit(together, Y)
    assert file_of(ours, tmp_path) == file_of(local, tmp_path)


REFUSED = {
    "one class": ({}, cut(np.full(400, "a"), LENGTHS), DataError, "y has only one class with weight"),
    "numbers and text": (
        {},
        [*cut(Y[:90], [90, 0]), *cut(np.arange(310) % 2, [110, 120, 80])],
        DataError,
        "y has numbers in some partitions",
    ),
    "no target": ({}, None, DataError, "requires y to be passed"),
    "members": ({"n_members": 401}, cut(Y, LENGTHS), ParameterError, "n_members .* must be between 1 and 400"),
    "shuffle": ({"shuffle": 1}, cut(Y, LENGTHS), ParameterError, "shuffle must be True or False"),
    "class_weight": ({"class_weight": "even"}, cut(Y, LENGTHS), ParameterError, "class_weight must be"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_fitted_is_refused(name, client):
    parameters, y, error, message = REFUSED[name]
    model = MajorityBoostClassifier(client=client, **{**SETTINGS, **parameters})
    with pytest.raises(error, match=message):
        model.fit(cut(X, LENGTHS), y)
    assert not hasattr(model, "estimators_")


@EACH
def test_a_copy_is_not_fitted_and_has_the_same_client(booster, client):
    model = booster(client=client, estimator=DecisionTreeClassifier(), max_bins=255)
    copy = clone(model)
    assert copy.client is client
    assert copy.estimator is not model.estimator


def test_two_fits_at_once_give_the_same_models(client, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        models = list(pool.map(lambda seed: fitted(MajorityBoostClassifier, client, random_state=seed), (3, 4)))
    alone = [fitted(MajorityBoostClassifier, client, random_state=seed) for seed in (3, 4)]
    assert [file_of(model, tmp_path) for model in models] == [file_of(model, tmp_path) for model in alone]


def slow(pieces, seconds):
    """The same pieces, which now take some time to load."""
    return [delayed(lambda piece: (time.sleep(seconds), piece)[1])(piece) for piece in pieces]


@pytest.mark.fault(number=28)
@pytest.mark.parametrize("booster", [MajorityBoostClassifier, BaggedBoostClassifier])
def test_a_killed_worker_is_replaced(booster, other_client, client, tmp_path):
    expected = file_of(fitted(booster, client), tmp_path)
    killer = kill_a_worker_after(other_client, 1.0)
    model = booster(client=other_client, **SETTINGS)
    start = time.monotonic()
    model.fit(slow(cut(X, LENGTHS), 0.7), cut(Y, LENGTHS))
    assert not killer.is_alive()
    assert time.monotonic() - start < 60
    assert file_of(model, tmp_path) == expected


@pytest.mark.fault(number=19)
def test_ctrl_c_cancels_the_tasks(client):
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    model = MajorityBoostClassifier(client=client, **SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        model.fit(slow(cut(X, LENGTHS), 2.0), cut(Y, LENGTHS))
    assert not hasattr(model, "estimators_")
    deadline = time.monotonic() + 20
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_only_the_local_model_is_saved(client, tmp_path):
    model = fitted(MajorityBoostClassifier, client)
    with pytest.raises(surefoot.ModelFileError, match=r"save what its to_local\(\) returns"):
        surefoot.save(model, tmp_path / "model")
    copy = pickle.loads(pickle.dumps(model))
    assert copy.client is None
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_rows_on_workers_survive_a_failed_fit(client):
    table, labels = client.persist(collection(X)), da.from_array(np.full(400, np.nan), chunks=100)
    with pytest.raises(DataError, match="y contains NaN"):
        MajorityBoostClassifier(client=client, **SETTINGS).fit(table, labels)
    pd.testing.assert_frame_equal(table.compute(), X)


@pytest.mark.fault(number=28)
def test_a_killed_worker_with_rows_is_replaced(other_client, client, tmp_path):
    expected = file_of(fitted(MajorityBoostClassifier, client), tmp_path)
    table = other_client.compute(slow(cut(X, LENGTHS), 0.3))
    killer = kill_a_worker_after(other_client, 1.0)
    model = MajorityBoostClassifier(client=other_client, **SETTINGS).fit(table, slow(cut(Y, LENGTHS), 0.5))
    assert not killer.is_alive()
    assert file_of(model, tmp_path) == expected
