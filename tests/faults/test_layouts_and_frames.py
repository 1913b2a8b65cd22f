"""The same numbers give the same predictions however they are stored."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reference.models import BOOSTERS, several_classes, small_booster, two_classes

NAMES = ("a", "b", "c")


def whole_numbers(n_rows=120):
    """A table that every numeric type can hold, and labels."""
    generator = np.random.default_rng(0)
    X = generator.integers(-20, 20, size=(n_rows, 3)).astype(float)
    return X, (X[:, 0] + 10 * generator.normal(size=n_rows) > 0).astype(int)


def strided(X):
    roomy = np.full((2 * len(X), 3 * X.shape[1]), 99.0)
    roomy[::2, 1::3] = X
    return roomy[::2, 1::3]


def pandas_frame(X, dtype):
    return pd.DataFrame({name: pd.Series(X[:, j]).astype(dtype) for j, name in enumerate(NAMES)})


def polars_frame(X, dtype):
    return pl.DataFrame({name: pl.Series(X[:, j]).cast(dtype) for j, name in enumerate(NAMES)})


STORED = {
    "columns together": np.asfortranarray,
    "with gaps": strided,
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "big-endian": lambda X: X.astype(">f8"),
    "Fortran int8": lambda X: np.asfortranarray(X.astype(np.int8)),
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "pandas float64": lambda X: pandas_frame(X, "float64"),
    "pandas float32": lambda X: pandas_frame(X, "float32"),
    "pandas int8": lambda X: pandas_frame(X, "int8"),
    "pandas nullable Int8": lambda X: pandas_frame(X, "Int8"),
    "pandas nullable Float64": lambda X: pandas_frame(X, "Float64"),
    "pandas on Arrow": lambda X: pandas_frame(X, "int64[pyarrow]"),
    "pandas, columns of different types": lambda X: pandas_frame(X, "int8").assign(b=X[:, 1], c=X[:, 2].astype("f4")),
    "pandas, numbered columns": pd.DataFrame,
    "pandas, shuffled index": lambda X: pandas_frame(X, "float64").set_index(np.arange(len(X))[::-1]),
    "polars Float64": lambda X: polars_frame(X, pl.Float64),
    "polars Float32": lambda X: polars_frame(X, pl.Float32),
    "polars Int8": lambda X: polars_frame(X, pl.Int8),
    "Arrow": lambda X: pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
}


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("storage", STORED)
def test_storage_does_not_matter(booster, storage):
    X, y = whole_numbers()
    plain = small_booster(booster).fit(X, y)
    stored = STORED[storage](X)
    model = small_booster(booster).fit(stored, y)
    np.testing.assert_array_equal(model.decision_function(stored), plain.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(stored), plain.predict_proba(X))
    np.testing.assert_array_equal(model.feature_importances_, plain.feature_importances_)


@pytest.mark.parametrize("storage", STORED)
def test_storage_does_not_matter_to_deeper_trees_of_several_classes(storage):
    X, _ = whole_numbers()
    y = np.digitize(X[:, 0] + X[:, 1], [-10, 10])
    booster = BOOSTERS[0]
    plain = small_booster(booster, max_depth=3).fit(X, y)
    stored = STORED[storage](X)
    model = small_booster(booster, max_depth=3).fit(stored, y)
    np.testing.assert_array_equal(model.decision_function(stored), plain.decision_function(X))


WITH_HOLES = {
    "float32": lambda X: X.astype(np.float32),
    "pandas float64": lambda X: pandas_frame(X, "float64"),
    "pandas nullable Int8": lambda X: pandas_frame(X, "Int8"),
    "pandas nullable Float64": lambda X: pandas_frame(X, "Float64"),
    "pandas on Arrow": lambda X: pandas_frame(X, "double[pyarrow]"),
    "polars NaN": lambda X: polars_frame(X, pl.Float64),
    "polars null": lambda X: polars_frame(X, pl.Float64).fill_nan(None),
    "polars null Int8": lambda X: polars_frame(X, pl.Float64).fill_nan(None).cast(pl.Int8),
    "Arrow null": lambda X: polars_frame(X, pl.Float64).fill_nan(None).to_arrow(),
}


@pytest.mark.parametrize("storage", WITH_HOLES)
@pytest.mark.parametrize("max_depth", [1, 2])
def test_missing_values_of_every_storage_are_alike(storage, max_depth):
    X, y = whole_numbers()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    booster = BOOSTERS[0]
    plain = small_booster(booster, max_depth=max_depth).fit(X, y)
    stored = WITH_HOLES[storage](X)
    model = small_booster(booster, max_depth=max_depth).fit(stored, y)
    np.testing.assert_array_equal(model.decision_function(stored), plain.decision_function(X))


BOOLEANS = {
    "array": lambda flags: flags,
    "pandas": lambda flags: pandas_frame(flags, "bool"),
    "pandas nullable": lambda flags: pandas_frame(flags, "boolean"),
    "polars": lambda flags: polars_frame(flags, pl.Boolean),
}


@pytest.mark.parametrize("storage", BOOLEANS)
def test_booleans_are_zeros_and_ones(storage):
    X, y = whole_numbers()
    flags = X > 0
    plain = small_booster(BOOSTERS[0]).fit(flags.astype(float), y)
    stored = BOOLEANS[storage](flags)
    model = small_booster(BOOSTERS[0]).fit(stored, y)
    np.testing.assert_array_equal(model.decision_function(stored), plain.decision_function(flags.astype(float)))


@pytest.mark.parametrize("problem", [two_classes, several_classes])
def test_the_model_is_the_same_for_rows_far_apart_in_memory(problem):
    X, y = problem(n_rows=20_000)  # several blocks of rows
    plain = small_booster(BOOSTERS[0]).fit(X, y)
    for stored in (np.asfortranarray(X), strided(X)):
        model = small_booster(BOOSTERS[0]).fit(stored, y)
        np.testing.assert_array_equal(model.decision_function(stored), plain.decision_function(X))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize(
    ("column", "values"),
    [("words", ["x", "y"] * 40), ("dates", list(pd.date_range("2020-01-01", periods=80))), ("lists", [[1], [2]] * 40)],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_that_are_no_numbers_are_refused_by_name(booster, column, values, make):
    with pytest.raises(ValueError, match=f"{column}.* of X"):
        small_booster(booster).fit(make({"a": np.arange(80.0), column: values}), np.arange(80) % 2)
