"""The same numbers give the same answers however they are stored, and are left as they were."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from reference.gradient_boosters import (
    GRADIENT_BOOSTERS,
    answers,
    assert_close_answers,
    assert_identical_boosters,
    assert_same_answers,
    problem,
    small,
    target_of,
)
from reference.models import FRAMES, make_frame

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
NAMES = ("a", "b", "c")


def whole_numbers(estimator, n_rows=120):
    """A table that every numeric type can hold, and a target."""
    generator = np.random.default_rng(0)
    X = generator.integers(-20, 20, size=(n_rows, 3)).astype(float)
    return X, target_of(estimator, X[:, 0] + 10 * generator.normal(size=n_rows))


def strided(X):
    roomy = np.full((2 * len(X), 3 * X.shape[1]), 99.0)
    roomy[::2, 1::3] = X
    return roomy[::2, 1::3]


def pandas_frame(X, dtype):
    return pd.DataFrame({name: pd.Series(X[:, j]).astype(dtype) for j, name in enumerate(NAMES)})


STORED = {
    "columns together": np.asfortranarray,
    "with gaps": strided,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "float32": lambda X: X.astype(np.float32),
    "int8": lambda X: X.astype(np.int8),
    "big-endian": lambda X: X.astype(">f8"),
    "lists": lambda X: X.tolist(),
    "pandas float64": lambda X: pandas_frame(X, "float64"),
    "pandas nullable Int8": lambda X: pandas_frame(X, "Int8"),
    "pandas, shuffled index": lambda X: pandas_frame(X, "float64").set_index(np.arange(len(X))[::-1]),
    "polars Float32": lambda X: pl.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)}).cast(pl.Float32),
}


@each_estimator
@pytest.mark.parametrize("storage", STORED)
def test_storage_does_not_matter(estimator, storage):
    X, y = whole_numbers(estimator)
    stored = STORED[storage](X)
    plain = small(estimator).fit(X, y)
    assert_same_answers(plain, small(estimator).fit(stored, y), X, stored)


@each_estimator
@pytest.mark.parametrize("y_storage", [list, pd.Series, pl.Series, np.float32, np.int16], ids=str)
def test_storage_of_the_target_does_not_matter(estimator, y_storage):
    X, y = problem(estimator)
    y = np.round(y)
    assert_close_answers(small(estimator).fit(X, y), small(estimator).fit(X, y_storage(y)), X, rtol=1e-12)


@each_estimator
@pytest.mark.parametrize("sparse", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_sparse_tables_are_refused_by_name(estimator, sparse):
    X, y = problem(estimator)
    with pytest.raises(TypeError, match=r"[Ss]parse.*\bX\b"):
        small(estimator).fit(sparse(X), y)
    model = small(estimator).fit(X, y)
    with pytest.raises(TypeError, match=r"[Ss]parse.*\bX\b"):
        model.predict(sparse(X))


def locked(array):
    array = array.copy(order="K")
    array.setflags(write=False)
    return array


@each_estimator
@pytest.mark.parametrize("order", ["C", "F"])
def test_read_only_input_and_memory_maps(estimator, order, tmp_path):
    X, y = problem(estimator)
    X, weights = np.array(X, order=order), np.arange(80) % 3 + 1.0
    free = small(estimator).fit(X, y, sample_weight=weights)
    assert_identical_boosters(free, small(estimator).fit(locked(X), locked(y), sample_weight=locked(weights)))
    maps = []
    for name, array in {"X": X, "y": y, "weights": weights}.items():
        np.save(tmp_path / f"{name}.npy", array)
        maps.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    model = small(estimator).fit(maps[0], maps[1], sample_weight=maps[2], X_val=maps[0], y_val=maps[1])
    plain = small(estimator).fit(X, y, sample_weight=weights, X_val=X, y_val=y)
    assert_same_answers(plain, model, X, maps[0])


@each_estimator
@pytest.mark.parametrize("order", ["C", "F"])
def test_fitting_and_predicting_leave_the_input_as_it_was(estimator, order):
    X, y = problem(estimator)
    X[3, 1] = np.nan
    X, weights = np.array(X, order=order), np.arange(80) % 3 + 0.0
    parameters = {"monotonic_cst": [1, 0, 0, 0], "categorical_features": [3]}
    X[:, 3] = np.round(X[:, 3])
    before = [array.tobytes() for array in (X, y, weights)]
    model = small(estimator, **parameters)
    given = model.get_params()
    shown = copy.deepcopy(given)
    model.fit(X, y, weights, X_val=X, y_val=y, sample_weight_val=weights)
    answers(model, X)
    assert [array.tobytes() for array in (X, y, weights)] == before
    assert all(model.get_params()[name] is value for name, value in given.items())
    assert model.get_params() == shown


@each_estimator
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_stay_as_they_were(estimator, kind):
    X, y = problem(estimator)
    frame = make_frame(kind, {"a": X[:, 0], "b": X[:, 1]}, {"c": np.where(X[:, 2] > 0, "up", "down")})
    before = copy.deepcopy(frame)
    small(estimator).fit(frame, y).predict(frame)
    assert before.equals(frame)


@each_estimator
@pytest.mark.parametrize("kind", FRAMES)
def test_columns_are_known_by_name(estimator, kind):
    X, y = problem(estimator)

    def frame(names, columns=range(4)):
        return make_frame(kind, {name: X[:, j] for name, j in zip(names, columns, strict=True)})

    model = small(estimator).fit(frame("abcd"), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    for names, columns in (("abcz", range(4)), ("bacd", [1, 0, 2, 3]), ("abc", range(3))):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame(names, columns))
        with pytest.raises(ValueError, match="feature names should match"):
            small(estimator).fit(frame("abcd"), y, X_val=frame(names, columns), y_val=y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        said = model.predict(X)
    assert said.tobytes() == model.predict(frame("abcd")).tobytes()
    model.fit(X[:, :3], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
