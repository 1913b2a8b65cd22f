"""A column that is neither numbers nor categories is refused by one sentence that names it and says what to do."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from surefoot import AdaBoostClassifier, DataError, VMatrixBoostingRegressor
from surefoot.data import Columns

N_ROWS = 60
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k % 7) for k in range(N_ROWS)]
TIMES = [datetime.datetime.combine(day, datetime.time(3)) for day in DAYS]
SPANS = [time - TIMES[0] for time in TIMES]
GROUPS = ["north", "south", None] * 20
TEXTS = [f"a sentence with the number {k}" for k in range(N_ROWS)]
PARTS = r"days since a fixed day\), or parts such as the month"
CATEGORY = r"make it a number, or categorical if its values are groups, for example with "
ENTRIES = "make a column of numbers of each entry"


def arrow(values, dtype=None):
    return pa.table({"c": pa.array(values, type=dtype)})


def pandas_of(values, dtype=None):
    return pd.DataFrame({"c": pd.Series(values, dtype=dtype)})


def polars_of(values, dtype=None):
    return pl.DataFrame({"c": pl.Series(values, dtype=dtype)})


def free_text(n_values=N_ROWS):
    return rf"dtype String, and {n_values} of its {n_values} values are different: free text is not read. .*Tfidf"


REFUSED = {
    "groups, str": (pandas_of(GROUPS, "str"), f"dtype String: {CATEGORY}" + r"X\['c'\].astype\('category'\)"),
    "groups, object": (pandas_of(GROUPS, object), f"dtype String: {CATEGORY}" + r"X\['c'\].astype\('category'\)"),
    "groups, string": (pandas_of(GROUPS, "string[pyarrow]"), f"{CATEGORY}X"),
    "groups, on Arrow": (pandas_of(GROUPS, pd.ArrowDtype(pa.string())), f"{CATEGORY}X"),
    "groups, polars": (polars_of(GROUPS), CATEGORY + r".cast\(pl.Categorical\)"),
    "groups, Arrow": (arrow(GROUPS), CATEGORY + r".dictionary_encode\(\)"),
    "groups, Arrow view": (arrow(GROUPS, pa.string_view()), CATEGORY),
    "free text": (pandas_of(TEXTS), free_text()),
    "free text, object": (pandas_of([None, *TEXTS[1:]], object), free_text(59)),
    "free text, polars": (polars_of(TEXTS), free_text()),
    "free text, Arrow": (arrow(TEXTS, pa.string_view()), free_text()),
    "numbers and text": (
        pandas_of([1, "a"] * 30),
        "values of the types int, str: make all of them numbers, or all|types",
    ),
    "objects of numbers": (pandas_of([1, 2.5] * 30, object), r"types float, int: make it .*X\['c'\].astype\(float\)"),
    "decimals": (pandas_of([decimal.Decimal(1)] * N_ROWS), r"Decimal: make it a number, for example with X\['c'\]"),
    "truth values": (pandas_of([True, None] * 30, object), "bool: make it a number"),
    "bytes": (pandas_of([b"a", b"b"] * 30), "values of the type bytes: make it a number, or a categorical dtype"),
    "lists": (pandas_of([[1], [2]] * 30), f"values of the type list: {ENTRIES}"),
    "arrays": (pandas_of([np.ones(2)] * N_ROWS), f"values of the type ndarray: {ENTRIES}"),
    "dicts": (pandas_of([{"a": 1}] * N_ROWS), f"values of the type dict: {ENTRIES}"),
    "lists, polars": (polars_of([[1]] * N_ROWS), f"List.*: {ENTRIES}"),
    "arrays, polars": (polars_of([[1, 2]] * N_ROWS, pl.Array(pl.Int64, 2)), f"Array.*: {ENTRIES}"),
    "structs, polars": (polars_of([{"a": 1}] * N_ROWS), f"Struct.*: {ENTRIES}"),
    "lists, Arrow": (arrow([[1]] * N_ROWS), f"List.*: {ENTRIES}"),
    "objects, polars": (polars_of([object()] * N_ROWS, pl.Object), "Object with values of the type object"),
    "bytes, Arrow": (arrow([b"a"] * N_ROWS), "Binary: make it a number"),
    "days, object": (pandas_of(DAYS, object), f"values of the type date: .*{PARTS}"),
    "days, Arrow": (arrow(DAYS), f"dtype Date: .*{PARTS}"),
    "days, polars": (polars_of(DAYS), f"dtype Date: .*{PARTS}"),
    "times": (pandas_of(TIMES), f"dtype Datetime.*{PARTS}"),
    "times in a zone": (pd.DataFrame({"c": pd.Series(TIMES).dt.tz_localize("Europe/Paris")}), f"Paris.*{PARTS}"),
    "times on Arrow": (pandas_of(TIMES, pd.ArrowDtype(pa.timestamp("us", tz="UTC"))), f"UTC.*{PARTS}"),
    "times of the day": (polars_of([datetime.time(3)] * N_ROWS), f"dtype Time: .*{PARTS}"),
    "spans": (pandas_of(SPANS), "dtype Duration.*: make it a number, for example of seconds"),
    "spans, polars": (polars_of(SPANS), "dtype Duration.*: make it a number, for example of seconds"),
    "spans, Arrow": (arrow(SPANS), "dtype Duration.*: make it a number, for example of seconds"),
    "periods": (pandas_of(pd.period_range("2024-01", periods=N_ROWS)), r"dtype period\[D\]: make it a number"),
    "intervals": (pandas_of(pd.interval_range(0, N_ROWS)), r"dtype interval\[int64, right\]: make it a number"),
    "complex": (pandas_of(np.ones(N_ROWS) * 1j), "dtype complex128: make it a number"),
    "wide decimals": (
        arrow([decimal.Decimal(1)] * N_ROWS, pa.decimal256(50, 2)),
        r"dtype decimal256\(50, 2\): make it",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_sentence_names_the_column_and_says_what_to_do(name):
    frame, message = REFUSED[name]
    with pytest.raises(DataError, match=f"^Column 'c' of X has .*{message}") as refusal:
        Columns.from_frame(frame)
    assert str(refusal.value).endswith(".")
    assert str(refusal.value).count("Column") == 1


def named(columns):
    return pd.DataFrame(np.random.default_rng(0).normal(size=(N_ROWS, len(columns))), columns=columns)


NAMES = {
    "twice": (named(["a", "a"]), "duplicate column names: rename them"),
    "numbers and text": (
        named(["a", 1]),
        r"names of the types int, str: make all of them text.*X.columns.astype\(str\)",
    ),
    "missing": (named(["a", np.nan]), "names of the types float, str"),
    "levels": (named(pd.MultiIndex.from_product([["a"], ["b", "c"]])), r"several levels \(MultiIndex\): make one name"),
    "levels, twice": (named(pd.MultiIndex.from_tuples([("a", 1), ("a", 1)])), "duplicate column names"),
    "record batch": (pa.record_batch({"a": [1.0] * N_ROWS}), r"record batch: pass .*Table.from_batches\(\[X\]\)"),
    "lazy": (pl.LazyFrame({"a": [1.0] * N_ROWS}), "lazy frame: collect it first"),
    "masked array": (
        np.ma.masked_array(np.ones((N_ROWS, 2)), mask=[[0, 1]] * N_ROWS),
        r"masked array.*X.filled\(np.nan\)",
    ),
    "dates": (
        np.full((N_ROWS, 2), "2024-01-01", dtype="datetime64[D]"),
        r"array of datetime64\[D\]: make dates numbers",
    ),
    "text": (
        np.array([["a", 1.0]] * N_ROWS, dtype=object),
        "array with text .*'a'.*make its columns of text categorical",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_tables_that_are_no_tables_of_columns_are_refused(name):
    X, message = NAMES[name]
    y = np.arange(N_ROWS) % 2
    for model in (AdaBoostClassifier(n_estimators=2), VMatrixBoostingRegressor(n_estimators=2)):
        with pytest.raises(DataError, match=message):
            model.fit(X, y)


def test_a_masked_array_without_masked_cells_is_an_array():
    X = np.ma.masked_array(np.arange(60.0).reshape(30, 2))
    model = AdaBoostClassifier(n_estimators=2).fit(X, np.arange(30) > 14)
    np.testing.assert_array_equal(model.predict(X), model.predict(np.asarray(X)))
