"""Tables for the tests of this folder, in memory and as Dask collections."""

import os
import signal
import threading

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed

import surefoot


def frame(n_rows=400, seed=0):
    """Numbers, missing values, a categorical column, and labels of two classes that depend on all of them."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    X.loc[generator.random(n_rows) < 0.1, "b"] = np.nan
    X["kind"] = pd.Categorical(generator.choice(["x", "y", "z"], n_rows))
    score = X["a"] + X["b"].fillna(0) + (X["kind"] == "y") + generator.normal(size=n_rows)
    return X, np.where(score > 0.3, "yes", "no")


X, Y = frame()
NUMBERS = frame(120)[0][["a", "b", "c"]].fillna(0.0)
TARGET = (NUMBERS["a"] + NUMBERS["b"] + np.random.default_rng(1).normal(size=120)).rename("target")


def cut(values, lengths):
    """The rows as a list of delayed pieces of these lengths."""
    ends = np.cumsum(lengths)
    assert ends[-1] == len(values)
    return [delayed(values[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def collection(X, n_partitions=4):
    return dd.from_pandas(X, npartitions=n_partitions)


def file_of(model, folder):
    """The bytes of a model file."""
    local = model.to_local() if hasattr(model, "to_local") else model
    surefoot.save(local, folder / "model")
    return (folder / "model").read_bytes()


def kill_a_worker_after(client, seconds):
    """Kill the process of a worker in some time; the timer is alive until then."""
    process = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(seconds, os.kill, (process, signal.SIGKILL))
    killer.start()
    return killer
