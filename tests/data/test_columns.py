"""Reading arrays and frames as columns of numbers."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reference.models import FRAMES, make_frame

from surefoot._exceptions import DataError
from surefoot.data import Columns, Schema
from surefoot.data.category_codes import MAX_CATEGORIES
from surefoot.data.columns import is_frame


def values_of(columns):
    return columns.block(0, columns.n_rows)


def test_a_block_of_an_array_is_contiguous():
    X = np.arange(12, dtype=np.int8).reshape(4, 3)
    for stored in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        block = Columns.from_array(stored).block(1, 3)
        assert block.dtype == np.float64
        assert block.flags.c_contiguous
        np.testing.assert_array_equal(block, X[1:3].T)


def test_columns_and_rows_of_an_array():
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    columns = Columns.from_array(X)
    assert (columns.n_rows, columns.n_columns) == (4, 3)
    assert columns.column(1).dtype == np.float64
    np.testing.assert_array_equal(columns.column(1), X[:, 1])
    np.testing.assert_array_equal(columns.column(2, np.array([3, 0])), X[[3, 0], 2])
    np.testing.assert_array_equal(columns.matrix(np.array([2, 1])), X[[2, 1]])


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_and_rows_of_a_frame(kind):
    columns = Columns.from_frame(make_frame(kind, {"a": [1.0, np.nan, 3.0]}, {"b": ["y", "x", None]}))
    expected = np.array([[1.0, np.nan, 3.0], [1.0, 0.0, np.nan]])
    np.testing.assert_array_equal(values_of(columns), expected)
    np.testing.assert_array_equal(columns.column(1, np.array([2, 0])), [np.nan, 1.0])
    np.testing.assert_array_equal(columns.matrix(np.array([2, 0])), expected.T[[2, 0]])
    np.testing.assert_array_equal(columns.block(1, 2), expected[:, 1:2])
    assert columns.schema == Schema(2, {1: ("x", "y")}, ranges={0: (1.0, 3.0)})
    assert set(columns.schema.categories) == {1}


def test_ranges_are_those_of_rows_with_weight():
    X = np.array([[1, 7.0, np.nan], [2, np.nan, np.nan], [9, -3.0, 5.0]])
    assert Columns.from_array(X).schema.ranges == {0: (1.0, 9.0), 1: (-3.0, 7.0), 2: (5.0, 5.0)}
    weights = np.array([1.0, 0.5, 0.0])
    assert Columns.from_array(X, weights=weights).schema.ranges == {0: (1.0, 2.0), 1: (7.0, 7.0)}
    assert Columns.from_array(X, categorical=[0], weights=weights).schema.ranges == {1: (7.0, 7.0)}
    frame = pd.DataFrame({"a": [True, False, False], "b": pd.array([3, None, 4], dtype="Int64")})
    assert Columns.from_frame(frame).schema.ranges == {0: (0.0, 1.0), 1: (3.0, 4.0)}
    assert Columns.from_frame(frame, weights=weights).schema.ranges == {0: (0.0, 1.0), 1: (3.0, 3.0)}


NUMBERS = {
    "pandas nullable": pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
    "pandas floats": pd.DataFrame({"a": [1.0, np.nan, 3.0]}),
    "pandas on Arrow": pd.DataFrame({"a": pd.array([1, None, 3], dtype="int8[pyarrow]")}),
    "polars null": pl.DataFrame({"a": [1, None, 3]}),
    "polars NaN": pl.DataFrame({"a": [1.0, float("nan"), 3.0]}),
    "polars decimal": pl.DataFrame({"a": [decimal.Decimal("1.0"), None, decimal.Decimal("3.0")]}),
    "Arrow": pa.table({"a": [1, None, 3]}),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_missing_numbers_become_nan(name):
    np.testing.assert_array_equal(values_of(Columns.from_frame(NUMBERS[name])), [[1.0, np.nan, 3.0]])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [True, False]}),
        pd.DataFrame({"a": pd.array([True, False], dtype="boolean")}),
        pl.DataFrame({"a": [True, False]}),
    ],
)
def test_booleans_become_zero_and_one(frame):
    np.testing.assert_array_equal(values_of(Columns.from_frame(frame)), [[1.0, 0.0]])


def test_nullable_booleans_with_missing_values():
    frame = pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")})
    np.testing.assert_array_equal(values_of(Columns.from_frame(frame)), [[1.0, np.nan, 0.0]])
    nulls = pl.DataFrame({"a": [True, None, False]})
    np.testing.assert_array_equal(values_of(Columns.from_frame(nulls)), [[1.0, np.nan, 0.0]])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    "values", [["x", "y"], [datetime.datetime(2020, 1, 1)] * 2, [datetime.timedelta(1)] * 2, [[1], [2]]], ids=str
)
def test_non_numeric_columns_are_refused_by_name(make, values):
    with pytest.raises(DataError, match="'odd' of X has dtype"):
        Columns.from_frame(make({"fine": [1, 2], "odd": values}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_is_refused_by_name(make, infinity):
    with pytest.raises(DataError, match="'b' of X contains infinity"):
        Columns.from_frame(make({"a": [1.0, 2.0], "b": [1.0, infinity]}))


@pytest.mark.parametrize("kind", FRAMES)
def test_known_categories_keep_their_codes(kind):
    schema = Columns.from_frame(make_frame(kind, categories={"a": ["x", "y", "z", "y"]})).schema
    later = make_frame(kind, categories={"a": ["z", "new", None, "x"]})
    np.testing.assert_array_equal(values_of(Columns.from_frame(later, schema)), [[2.0, np.nan, np.nan, 0.0]])


def test_categories_without_rows_have_no_code():
    frame = pd.DataFrame({"a": pd.Categorical(["z", "x"], categories=["y", "x", "w", "z"])})
    columns = Columns.from_frame(frame)
    assert columns.schema.categories == {0: ("x", "z")}
    np.testing.assert_array_equal(values_of(columns), [[1.0, 0.0]])


@pytest.mark.parametrize("kind", FRAMES)
def test_the_rarest_of_too_many_categories_share_the_last_code(kind):
    labels = [f"{k:03d}" for k in range(300)]
    rows = [label for k, label in enumerate(labels) for _ in range(3 if k % 2 else 1)]
    columns = Columns.from_frame(make_frame(kind, categories={"a": rows}))
    codes = dict(zip(rows, values_of(columns)[0].tolist(), strict=True))
    assert set(codes.values()) == set(range(MAX_CATEGORIES))
    common = [codes[label] for k, label in enumerate(labels) if k % 2]
    assert len(set(common)) == 150
    assert MAX_CATEGORIES - 1 not in common
    assert sum(code == MAX_CATEGORIES - 1 for code in codes.values()) == 300 - (MAX_CATEGORIES - 1)


def test_a_number_and_its_text_are_different_categories_of_one_column():
    frame = pd.DataFrame({"a": pd.Categorical([1, "1", 1, "1"], categories=[1, "1"])})
    codes = values_of(Columns.from_frame(frame))[0]
    assert codes[0] == codes[2]
    assert codes[0] != codes[1]


@pytest.mark.parametrize("kind", FRAMES)
def test_a_change_between_numbers_and_categories_is_refused(kind):
    words = make_frame(kind, categories={"a": ["x", "y"]})
    plain = make_frame(kind, {"a": [1.0, 2.0]})
    with pytest.raises(DataError, match="'a' of X was categorical"):
        Columns.from_frame(plain, Columns.from_frame(words).schema)
    with pytest.raises(DataError, match="'a' of X is categorical"):
        Columns.from_frame(words, Columns.from_frame(plain).schema)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (pd.DataFrame({"a": [1]}), True),
        (pl.DataFrame({"a": [1]}), True),
        (pa.table({"a": [1]}), True),
        (np.ones((2, 2)), False),
        ([[1.0]], False),
        (pd.Series([1]), False),
        (pl.Series([1]), False),
        (None, False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_is_frame(table, expected):
    assert is_frame(table) is expected


def test_numbers_of_a_frame_are_not_copied():
    values = np.arange(1000.0)
    frame = pl.DataFrame({"a": values})
    part = Columns.from_frame(frame)._parts[0]
    assert np.shares_memory(part, frame["a"].to_numpy())
