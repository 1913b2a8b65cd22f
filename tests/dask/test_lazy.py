"""Answers for Dask collections are those of the local model, and are computed only when they are needed."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import compute, delayed

import surefoot
from surefoot.dask.lazy import lazy_array, lazy_uncertainty

X = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), columns=list("abc"))
Y = np.where(X["a"] + 0.3 * X["b"] > 0, "yes", "no")


@pytest.fixture(scope="module")
def model():
    return surefoot.AdaBoostClassifier(n_estimators=5).fit(X, Y)


def collections():
    frame = dd.from_pandas(X, npartitions=3)
    pieces = [X[:20], X[:0], X[20:]]
    return {
        "frame": frame,
        "delayed": [delayed(piece) for piece in pieces],
        "frame with an empty partition": dd.from_delayed([delayed(piece) for piece in pieces], meta=X[:0]),
    }


@pytest.mark.parametrize("name", collections())
def test_answers_are_those_of_the_local_model(name, model):
    table = collections()[name]
    labels = lazy_array(model, "predict", table, model.classes_.dtype)
    probabilities = lazy_array(model, "predict_proba", table, np.float64, 2)
    assert isinstance(labels, da.Array)
    assert (labels.dtype, probabilities.shape[1]) == (model.classes_.dtype, 2)
    np.testing.assert_array_equal(labels.compute(scheduler="sync"), model.predict(X))
    np.testing.assert_array_equal(probabilities.compute(scheduler="sync"), model.predict_proba(X))


def test_lengths_of_an_array_remain_known():
    array = da.from_array(X.to_numpy(), chunks=(40, 2))
    model = surefoot.AdaBoostClassifier(n_estimators=5).fit(X.to_numpy(), Y)
    labels = lazy_array(model, "predict", array, model.classes_.dtype)
    assert labels.chunks == ((40, 40, 10),)
    np.testing.assert_array_equal(labels.compute(scheduler="sync"), model.predict(X.to_numpy()))


def test_nothing_is_computed_before():
    def fail():
        raise AssertionError("computed")

    lazy_array(None, "predict", [delayed(fail)()], float)


def test_parts_of_an_uncertainty_are_lazy():
    ensemble = surefoot.BoostingEnsembleClassifier(n_estimators=5, n_members=2, random_state=0).fit(X, Y)
    lazy = lazy_uncertainty(ensemble, [delayed(X[:30]), delayed(X[:0]), delayed(X[30:])], "nats")
    assert isinstance(lazy.knowledge, da.Array)
    assert repr(lazy) == "<Uncertainty in nats, not computed yet>"
    computed, expected = compute(lazy, scheduler="sync")[0], ensemble.predict_uncertainty(X)
    for name in ("total", "data", "knowledge"):
        np.testing.assert_array_equal(getattr(computed, name), getattr(expected, name))
    assert repr(computed) == repr(expected)
