"""Selections and sets of labels from bags on a cluster equal those of the local classes."""

import time

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from dask import delayed
from problems import NUMBERS, TARGET, collection, cut, frame, kill_a_worker_after
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import surefoot
from surefoot import DataError, ParameterError
from surefoot.dask import StableClassifier, StableSelector
from surefoot.dask.cluster_tasks import bring_together
from surefoot.selection import (
    FunctionSelector,
    GraphicalLassoSelector,
    LassoSelector,
    LogisticLassoSelector,
    TreeSelector,
)

X, Y = frame(120)


def most_extreme(X, y):
    return int(np.abs(X.T @ (y - y.mean())).argmax())


SELECTORS = {
    "lasso": (LassoSelector(alpha=0.2), NUMBERS, TARGET),
    "lasso with cross-validation": (LassoSelector(alpha="cv"), NUMBERS, TARGET),
    "logistic lasso": (LogisticLassoSelector(C=0.1), NUMBERS, pd.Series(Y)),
    "graph": (GraphicalLassoSelector(alpha=0.1), NUMBERS, None),
    "trees": (TreeSelector(max_depth=1), NUMBERS, TARGET),
    "function": (FunctionSelector(most_extreme), NUMBERS.to_numpy(), TARGET.to_numpy()),
}


def learned(model):
    weights = [*map(list, model.weights_.items())]
    return (weights, model.models_, model.bag_models_.tolist(), model.selected_, model.expression_, model.delta_)


@pytest.mark.parametrize("name", SELECTORS)
def test_the_selection_equals_the_local_one(name, client):
    selector, table, target = SELECTORS[name]
    settings = {"n_bags": 300, "random_state": 0, "epsilon": 0.2}
    local = surefoot.StableSelector(selector, **settings).fit(table, target)
    ours = StableSelector(selector, client=client, **settings).fit(table, target)
    assert learned(ours) == learned(local) == learned(ours.to_local())
    assert type(ours.to_local()) is surefoot.StableSelector
    one, other = ours.leave_one_out(), local.leave_one_out()
    assert one.instability == other.instability
    np.testing.assert_array_equal(one.set_sizes, other.set_sizes)


def test_a_collection_is_brought_together(client):
    settings = {"n_bags": 200, "random_state": 0, "epsilon": 0.2}
    local = surefoot.StableSelector(LassoSelector(alpha=0.2), **settings).fit(NUMBERS, TARGET)
    table = collection(NUMBERS)
    ours = StableSelector(LassoSelector(alpha=0.2), client=client, **settings).fit(table, collection(TARGET))
    assert learned(ours) == learned(local)
    pd.testing.assert_frame_equal(ours.transform(table).compute(), local.transform(NUMBERS))
    pieces = ours.transform(cut(NUMBERS, [60, 60]))
    pd.testing.assert_frame_equal(pd.concat([piece.compute() for piece in pieces]), local.transform(NUMBERS))
    with pytest.raises(DataError, match="X does not have the columns of the fit"):
        ours.transform(table[["a", "c", "b"]])
    with pytest.raises(DataError, match="X does not have the columns of the fit"):
        ours.transform(da.zeros((4, 2)))


JOINED = {
    "frames": [X[:50], X[50:50], X[50:]],
    "frames of polars": [pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [3]})],
    "series": [pd.Series([1, 2]), pd.Series([3])],
    "arrays": [np.ones((2, 3)), np.zeros((1, 3))],
    "empty partitions only": [X[:0], X[:0]],
}


@pytest.mark.parametrize("name", JOINED)
def test_rows_are_joined_in_their_order(name, client):
    blocks = JOINED[name]
    together = bring_together(client, [delayed(block) for block in blocks], "X")
    if isinstance(blocks[0], np.ndarray):
        np.testing.assert_array_equal(together, np.concatenate(blocks))
    elif isinstance(blocks[0], pl.DataFrame):
        assert together.equals(pl.concat(blocks))
    else:
        assert together.equals(pd.concat(blocks))


def test_other_categories_stay_categories(client):
    blocks = [pd.DataFrame({"kind": pd.Categorical(labels)}) for labels in (["b"], ["c", "a"])]
    together = bring_together(client, list(map(delayed, blocks)), "X")
    assert together.equals(pd.concat(blocks).astype("category"))
    assert bring_together(client, None, "y") is None


def test_a_stable_classifier_equals_the_local_one(client):
    settings = {"n_bags": 12, "epsilon": 0.5, "random_state": 0}
    local = surefoot.StableClassifier(DecisionTreeClassifier(max_depth=2), **settings).fit(NUMBERS, Y)
    model = StableClassifier(DecisionTreeClassifier(max_depth=2), client=client, **settings)
    ours, table = model.fit(collection(NUMBERS), cut(Y, [60, 60])), collection(NUMBERS)
    for method in ("predict", "predict_proba", "set_sizes"):
        expected = getattr(local, method)(NUMBERS)
        np.testing.assert_array_equal(getattr(ours, method)(NUMBERS), expected)
        np.testing.assert_array_equal(getattr(ours, method)(table).compute(), expected)
    assert ours.predict_set(NUMBERS) == local.predict_set(NUMBERS) == ours.to_local().predict_set(NUMBERS)
    with pytest.raises(DataError, match="predict_set is for tables in memory"):
        ours.predict_set(table)


def test_errors_are_those_of_the_local_classes(client):
    with pytest.raises(ParameterError, match="n_bags must be"):
        StableSelector(LassoSelector(alpha=0.1), client=client, n_bags=0).fit(NUMBERS, TARGET)
    with pytest.raises(DataError, match="X contains NaN"):
        StableSelector(LassoSelector(alpha=0.1), client=client).fit(X[["a", "b"]], TARGET)
    with pytest.raises(ParameterError, match=r"client must be a distributed.Client"):
        StableSelector(LassoSelector(alpha=0.1), client="here").fit(NUMBERS, TARGET)
    assert clone(StableSelector(LassoSelector(alpha=0.1), client=client)).client is client


@pytest.mark.fault(number=28)
def test_a_selection_goes_on_without_a_killed_worker(other_client):
    def sign(seconds):
        return FunctionSelector(lambda X, y: (time.sleep(seconds), int(X[:, 0].sum() > 0))[1])

    settings, table = {"n_bags": 200, "random_state": 0, "epsilon": 0.2}, NUMBERS.to_numpy()
    killer = kill_a_worker_after(other_client, 0.5)
    start = time.monotonic()
    ours = StableSelector(sign(0.01), client=other_client, **settings).fit(table, TARGET.to_numpy())
    assert not killer.is_alive()
    assert time.monotonic() - start < 60
    assert learned(ours) == learned(surefoot.StableSelector(sign(0), **settings).fit(table, TARGET.to_numpy()))
