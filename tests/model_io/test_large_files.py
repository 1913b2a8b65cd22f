"""Large files take no more memory than their size warrants, neither when they are loaded nor when they predict."""

import json
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from crafting import npy, pack, parts_of, read

MEGABYTE = 1 << 20
VOTES = "model.committees.0"


@contextmanager
def memory_below(size):
    """Fail if the code inside allocates more than ``size`` bytes at any time."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size, f"{peak / MEGABYTE:.0f} MB"


def plain_columns(state, arrays, n_columns):
    """The same model for a table of so many columns of numbers without names."""
    state["model"]["columns"] |= {"n_columns": n_columns, "names": None, "categories": [], "listed": []}
    for name in arrays:
        if name.endswith(("features.npy", "limits.npy")):
            arrays[name] = np.zeros_like(arrays[name])


def stumps(n_stumps, features, thresholds, sets):
    """A file of stumps."""
    state, arrays = parts_of("stumps")
    parts = {
        "features": features.astype(np.int32),
        "thresholds": thresholds,
        "missing_right": np.zeros(n_stumps, dtype=np.bool_),
        "gains": np.ones(n_stumps),
    }
    arrays |= {f"{VOTES}.forest.{name}.npy": part[:, np.newaxis] for name, part in parts.items()}
    arrays[f"{VOTES}.forest.sets.npy"] = sets
    arrays[f"{VOTES}.forest.labels.npy"] = np.tile(np.array([0, 1], dtype=np.int32), (n_stumps, 1))
    arrays |= {f"{VOTES}.vote_weights.npy": np.ones(n_stumps), f"{VOTES}.errors.npy": np.full(n_stumps, 0.1)}
    return state, arrays


@pytest.mark.fault(number=23)
@pytest.mark.parametrize(("name", "bins"), [("vmatrix", "model.binner"), ("normal", "model.encodings.binner")])
def test_very_many_columns(name, bins):
    state, arrays = parts_of(name)
    n_columns = 300_000
    plain_columns(state, arrays, n_columns)
    arrays[f"{bins}.missing.npy"] = np.full(n_columns, 2)
    arrays[f"{bins}.categorical.npy"] = np.zeros(n_columns, dtype=np.bool_)
    arrays[f"{bins}.low.npy"] = arrays[f"{bins}.high.npy"] = np.tile([0.0, 1.0], n_columns)
    state["version"] = 2
    state["model"]["columns"] |= {"ranges": "array", "dates": None}
    arrays["model.columns.ranges.npy"] = np.tile([0.0, 1.0], (n_columns, 1))
    data = pack(state, arrays)
    with memory_below(2 * len(data) + 2 * MEGABYTE):
        model = read(data)
    assert model._schema.ranges[n_columns - 1] == (0.0, 1.0)
    assert n_columns not in model._schema.ranges
    X = np.zeros((4, n_columns))
    X[1] = np.nan
    model.predict(X[:1])  # its kernels are compiled
    with memory_below(2 * X.nbytes):
        predicted = model.predict(X)
    assert predicted[0] == predicted[2]


@pytest.mark.fault(number=23)
def test_very_long_labels():
    state, arrays = parts_of("bagged")
    labels = np.array([letter * 200_000 for letter in "abc"])
    arrays["model.classes.npy"] = labels
    data = pack(state, arrays)
    model = read(data)
    X = np.zeros((1000, 2))
    model.predict(X)
    with memory_below(len(data) + MEGABYTE):
        predicted = model.predict(X)
    assert predicted[0] in labels.tolist()
    assert model.classes_.tolist() == labels.tolist()


@pytest.mark.fault(number=23)
def test_short_labels_are_an_array_of_text():
    state, arrays = parts_of("majority")
    assert read(pack(state, arrays)).classes_.dtype == arrays["model.classes.npy"].dtype == np.dtype("<U3")


@pytest.mark.fault(number=23)
def test_very_many_classes():
    n_classes = 200_000
    state, arrays = parts_of("bagged")
    arrays["model.classes.npy"] = np.arange(n_classes)
    for committee in state["model"]["committees"]:
        committee["n_classes"] = n_classes
    model, X = read(pack(state, arrays)), np.zeros((300, 2))
    model.predict(X[:1])
    with memory_below(X.shape[0] * n_classes * 8 / 2):  # half of the votes of all rows
        assert model.predict(X).shape == (300,)


@pytest.mark.fault(number=23)
def test_sets_of_categories_of_very_many_columns():
    """The sum of stumps as one function of each column has up to 256 steps for each class."""
    n_columns, n_classes = 2000, 64
    features, no_thresholds = np.arange(n_columns), np.full(n_columns, np.nan)
    state, arrays = stumps(n_columns, features, no_thresholds, np.full((n_columns, 1, 4), 0xAAAA << 40, np.uint64))
    categories = [{"position": j, "labels": []} for j in range(n_columns)]
    state["model"]["columns"] |= {"n_columns": n_columns, "names": None, "categories": categories, "listed": []}
    state["model"]["committees"][0]["n_classes"] = n_classes
    arrays["model.classes.npy"] = np.arange(n_classes)
    model, X = read(pack(state, arrays)), np.zeros((5, n_columns))
    model.predict(X[:1])
    del model._committee.__dict__["_has_steps"]
    with memory_below(5 * MEGABYTE):
        assert (model.predict(X) == 0).all()


@pytest.mark.fault(number=23)
def test_very_many_thresholds_of_one_column():
    n_stumps = 20_000
    thresholds = np.linspace(-1.0, 1.0, n_stumps)
    state, arrays = stumps(n_stumps, np.zeros(n_stumps), thresholds, np.zeros((n_stumps, 1, 4), np.uint64))
    state["model"]["columns"] |= {"n_columns": 1, "names": None, "categories": [], "listed": []}
    X = np.linspace(-2.0, 2.0, 9)[:, np.newaxis]
    data = pack(state, arrays)
    for n in (n_stumps, 2000):  # without step functions, and with them
        model = read(data)
        forest = model._committee.forest
        kept = np.linspace(0, n_stumps - 1, n).astype(int)
        smaller = type(forest)(*(getattr(forest, name)[kept] for name in forest.__dataclass_fields__))
        model._committee = type(model._committee)(smaller, np.ones(n), np.full(n, 0.1), 2)
        with memory_below(5 * MEGABYTE):
            votes = model.decision_function(X)
        expected = 2 * np.array([2 * np.mean(thresholds[kept] < x) - 1 for x in X[:, 0]])
        np.testing.assert_allclose(votes, expected, atol=1e-9)
        assert model._committee._has_steps == (n == 2000)


@pytest.mark.fault(number=23)
def test_very_many_members():
    state, arrays = parts_of("classifiers")
    n_members, X = 300, np.zeros((20_000, 2))
    state["model"]["members"] *= n_members // 2
    for name in [name for name in arrays if name.startswith("model.members.0.")]:
        for k in range(2, n_members):
            arrays[name.replace("members.0.", f"members.{k}.")] = arrays[name]
    model = read(pack(state, arrays))
    model.predict(X[:1])
    with memory_below(n_members * len(X) * 8 / 2):  # half of the outputs of all members for all rows
        assert len(model.predict(X)) == len(X)


@pytest.mark.fault(number=23)
def test_an_array_is_read_into_its_place():
    state, arrays = parts_of("trees")
    arrays["model.classes.npy"] = np.arange(2_000_000)
    state["model"]["committees"][0]["n_classes"] = len(arrays["model.classes.npy"])
    data = pack(json.dumps(state), arrays)
    with memory_below(1.2 * len(npy(arrays["model.classes.npy"])) + 4 * MEGABYTE):
        read(data)
