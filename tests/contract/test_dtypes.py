"""Numbers, truth values and categories of every dtype give the model of the plain array or frame of the same values."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot
from contract.registry import assert_same_answers, assert_same_model, each, failing, those
from surefoot import AdaBoostClassifier, DataError, GradientBoostingClassifier, GradientBoostingRegressor

SMALL = {
    "AdaBoost": {"n_estimators": 3},
    "GradientClassifier": {"n_estimators": 3},
    "VMatrixClassifier": {"n_estimators": 3},
    "StableSelector": {"n_bags": 10},
}
each_question = each(tuple(subject for subject in those() if subject.name in SMALL))
GENERATOR = np.random.default_rng(0)
N_ROWS = 70
HALVES = GENERATOR.integers(-30, 30, N_ROWS) / 2.0  # every type can hold them
WHOLE = GENERATOR.integers(0, 12, N_ROWS)
PLACES = np.array(["north", "south", "west"])[WHOLE % 3]
MISSING = GENERATOR.random(N_ROWS) < 0.1
DAY = datetime.datetime(2024, 1, 1)


def optional(values, convert=lambda value: value, missing=MISSING):
    return [None if gone else convert(value) for gone, value in zip(missing, values, strict=True)]


def on_arrow(values, dtype, missing=MISSING):
    return pd.array(optional(values, missing=missing), dtype=pd.ArrowDtype(dtype))


def decimals(values):
    return [decimal.Decimal(str(value)) for value in values]


def pandas_of(column):
    return pd.DataFrame({"a": HALVES[::-1], "b": column})


def polars_of(column, dtype=None):
    return pl.DataFrame({"a": HALVES[::-1], "b": pl.Series(column, dtype=dtype)})


def arrow_of(column, dtype=None):
    return pa.table({"a": HALVES[::-1], "b": pa.array(column, type=dtype)})


NUMBERS = {
    "pandas Float32": lambda m: pandas_of(pd.array(optional(HALVES, missing=m), dtype="Float32")),
    "pandas on Arrow": lambda m: pandas_of(on_arrow(HALVES, pa.float32(), m)),
    "pandas on Arrow, half": lambda m: pandas_of(on_arrow(np.float16(HALVES), pa.float16(), m)),
    "pandas on Arrow, decimal": lambda m: pandas_of(on_arrow(decimals(HALVES), pa.decimal128(9, 2), m)),
    "pandas sparse": lambda m: pandas_of(pd.arrays.SparseArray(np.where(m, np.nan, HALVES))),
    "polars decimal": lambda m: polars_of(optional(decimals(HALVES), missing=m), pl.Decimal(9, 2)),
    "polars Float32": lambda m: polars_of(optional(HALVES, missing=m), pl.Float32),
    "Arrow": lambda m: arrow_of(optional(HALVES, missing=m)),
    "Arrow half": lambda m: arrow_of(optional(np.float16(HALVES), missing=m), pa.float16()),
    "Arrow decimal": lambda m: arrow_of(optional(decimals(HALVES), missing=m), pa.decimal128(9, 2)),
    "Arrow chunks": lambda m: pa.concat_tables(
        [arrow_of(optional(HALVES, missing=m))[k : k + 30] for k in (0, 30, 60)]
    ),
}
INTEGERS = {
    "pandas Int64": lambda m: pandas_of(pd.array(optional(WHOLE, missing=m), dtype="Int64")),
    "pandas on Arrow": lambda m: pandas_of(on_arrow(WHOLE, pa.uint8(), m)),
    "polars Int128": lambda m: polars_of(optional(WHOLE, missing=m), pl.Int128),
    "Arrow": lambda m: arrow_of(optional(WHOLE, missing=m), pa.int16()),
}
TRUTH = {
    "pandas boolean": lambda m: pandas_of(pd.array(optional(WHOLE > 5, bool, m), dtype="boolean")),
    "pandas on Arrow": lambda m: pandas_of(on_arrow(WHOLE > 5, pa.bool_(), m)),
    "polars": lambda m: polars_of(optional(WHOLE > 5, bool, m)),
    "Arrow": lambda m: arrow_of(optional(WHOLE > 5, bool, m)),
}
SETTINGS = ((NUMBERS, HALVES), (INTEGERS, WHOLE), (TRUTH, WHOLE > 5))


@pytest.mark.fault(number=8)
@pytest.mark.parametrize(
    ("subject", "has_missing"),
    [(one, gaps) for one in those() if one.name in SMALL for gaps in (False, True) if one.takes_missing or not gaps],
    ids=str,
)
def test_numbers_of_every_dtype_are_those_of_the_array(subject, has_missing):
    y = subject.target(HALVES[::-1] + WHOLE)
    missing = MISSING & has_missing
    for tables, values in SETTINGS:
        X = np.column_stack([HALVES[::-1], np.where(missing, np.nan, values)])
        plain = subject.make(**SMALL[subject.name]).fit(pd.DataFrame(X, columns=["a", "b"]), y)

        def check(make, X=X, plain=plain):
            model = subject.make(**SMALL[subject.name]).fit(make(missing), y)
            assert_same_model(plain, model)
            assert_same_answers(plain, model, pd.DataFrame(X, columns=["a", "b"]), make(missing))

        assert failing(tables, check) == {}


def text(m):
    return optional(PLACES, str, m)


CATEGORIES = {
    "pandas string": lambda m: pandas_of(pd.Series(text(m), dtype="string").astype("category")),
    "pandas on Arrow": lambda m: pandas_of(pd.Series(on_arrow(PLACES, pa.string(), m)).astype("category")),
    "pandas Arrow dictionary": lambda m: pandas_of(
        pd.Series(
            pd.array(pa.array(text(m)).dictionary_encode(), dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))
        )
    ),
    "polars Categorical": lambda m: polars_of(text(m), pl.Categorical),
    "polars Enum": lambda m: polars_of(text(m), pl.Enum(["west", "south", "north", "east"])),
    "Arrow dictionary": lambda m: arrow_of(pa.array(text(m)).dictionary_encode()),
}


@pytest.mark.fault(number=8)
@each_question
def test_categories_of_every_dtype_are_those_of_pandas(subject):
    y = subject.target(HALVES[::-1] + 10.0 * (PLACES == "north"))
    missing = MISSING & subject.takes_missing
    known = pandas_of(pd.Categorical(text(missing), categories=["north", "south", "west"]))
    plain = subject.make(**SMALL[subject.name]).fit(known, y)

    def check(make):
        model = subject.make(**SMALL[subject.name]).fit(make(missing), y)
        assert_same_model(plain, model)
        assert_same_answers(plain, model, known, make(missing))

    assert failing(CATEGORIES, check) == {}


def test_categories_that_are_numbers():
    y = WHOLE % 4 == 1
    plain = GradientBoostingClassifier(n_estimators=3, categorical_features=[1])
    X = np.column_stack([HALVES[::-1], np.where(MISSING, np.nan, WHOLE)])
    expected = plain.fit(X, y).predict_proba(X)
    arrow = pa.array(optional(WHOLE, int)).dictionary_encode()
    dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.int64()))
    tables = {
        "pandas": pandas_of(pd.Categorical(optional(WHOLE, int))),
        "pandas Int64": pandas_of(pd.Series(optional(WHOLE), dtype="Int64").astype("category")),
        "pandas Arrow dictionary": pandas_of(pd.Series(pd.array(arrow, dtype=dictionary))),
        "Arrow dictionary": arrow_of(arrow),
    }
    for table in tables.values():
        model = GradientBoostingClassifier(n_estimators=3).fit(table, y)
        np.testing.assert_array_equal(model.predict_proba(table), expected)
        assert model._schema.categories == {1: tuple(sorted(set(WHOLE[~MISSING].tolist())))}


LABELS = {
    "Int64": pd.Series(WHOLE % 3, dtype="Int64"),
    "UInt8 array": pd.array(WHOLE % 3, dtype="UInt8"),
    "boolean": pd.Series(WHOLE % 3 > 1, dtype="boolean"),
    "Arrow in pandas": pd.Series(WHOLE % 3, dtype="int16[pyarrow]"),
    "Arrow truth in pandas": pd.Series(WHOLE % 3 > 1, dtype="bool[pyarrow]"),
    "string": pd.Series(PLACES, dtype="string"),
    "category": pd.Series(PLACES, dtype="category"),
    "category of Int64": pd.Series(WHOLE % 3, dtype="Int64").astype("category"),
    "polars": pl.Series(WHOLE % 3),
    "polars Enum": pl.Series(PLACES.tolist(), dtype=pl.Enum(["south", "north", "west"])),
    "Arrow": pa.chunked_array([WHOLE[:30] % 3, WHOLE[30:] % 3]),
    "Arrow dictionary": pa.array(PLACES).dictionary_encode(),
}


KINDS = {"i": "whole", "u": "whole", "b": "truth", "O": "text", "U": "text"}


@pytest.mark.parametrize("name", LABELS)
def test_labels_keep_their_values_and_their_type(name):
    X, y = np.column_stack([HALVES, WHOLE]), LABELS[name]
    values = WHOLE % 3 > 1 if name in ("boolean", "Arrow truth in pandas") else WHOLE % 3
    values = PLACES if "north" in np.asarray(y).tolist() else values
    for estimator in (AdaBoostClassifier, GradientBoostingClassifier, surefoot.VMatrixBoostingClassifier):
        model, plain = (estimator(n_estimators=2, random_state=0).fit(X, labels) for labels in (y, values))
        assert model.classes_.tolist() == plain.classes_.tolist()
        assert KINDS[model.classes_.dtype.kind] == KINDS[plain.classes_.dtype.kind]
        assert model.predict(X).tolist() == plain.predict(X).tolist()


AMOUNTS = {
    "Int64": pd.Series(WHOLE + 1, dtype="Int64"),
    "Arrow decimals in pandas": pd.Series(decimals(WHOLE + 1), dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
    "decimals": pd.Series(decimals(WHOLE + 1)),
    "sparse": pd.Series(pd.arrays.SparseArray(WHOLE + 1)),
    "category": pd.Series(WHOLE + 1).astype("category"),
    "polars decimals": pl.Series(decimals(WHOLE + 1)),
    "Arrow": pa.array(WHOLE + 1),
    "Arrow chunks": pa.chunked_array([pa.array(decimals(WHOLE[:9] + 1)), pa.array(decimals(WHOLE[9:] + 1))]),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_targets_and_weights_of_every_dtype_are_those_of_the_array(name):
    X, amounts = HALVES[:, np.newaxis], AMOUNTS[name]
    model, plain = (GradientBoostingRegressor(n_estimators=2, random_state=0).fit(X, y) for y in (amounts, WHOLE + 1.0))
    assert_same_model(plain, model)
    for estimator in (AdaBoostClassifier, GradientBoostingClassifier):
        model, plain = (
            estimator(n_estimators=2, random_state=0).fit(X, WHOLE > 5, weights) for weights in (amounts, WHOLE + 1.0)
        )
        assert_same_model(plain, model)


NO_WEIGHTS = {
    "NA": (pd.Series([None] + [1] * (N_ROWS - 1), dtype="Int64"), "sample_weight contains NaN"),
    "null": (pl.Series([None] + [1] * (N_ROWS - 1)), "sample_weight contains NaN"),
    "text": (pd.Series(PLACES, dtype="string"), "sample_weight must be numbers"),
    "dates": (pd.Series([DAY] * N_ROWS), "sample_weight must be numbers, got datetime64"),
    "array of dates": (
        np.array([DAY] * N_ROWS, dtype="datetime64[s]"),
        "sample_weight must be numbers, got datetime64",
    ),
}


@pytest.mark.parametrize("name", NO_WEIGHTS)
def test_what_is_no_weight_is_refused(name):
    weights, message = NO_WEIGHTS[name]
    for estimator in (AdaBoostClassifier, GradientBoostingClassifier):
        with pytest.raises(ValueError, match=message):
            estimator().fit(HALVES[:, np.newaxis], WHOLE > 5, weights)


NO_LABELS = {
    "NA": pd.Series([None] + [1, 2] * 34 + [1], dtype="Int64"),
    "boolean NA": pd.Series([None] + [True, False] * 34 + [True], dtype="boolean"),
    "Arrow null": pd.Series([None] + [1, 2] * 34 + [1], dtype="int64[pyarrow]"),
    "category NaN": pd.Series([None] + ["a", "b"] * 34 + ["a"], dtype="category"),
    "polars null": pl.Series([None] + ["a", "b"] * 34 + ["a"]),
}


@pytest.mark.parametrize("name", NO_LABELS)
def test_missing_labels_are_refused(name):
    with pytest.raises(DataError, match="Input y contains NaN: every row needs a label"):
        GradientBoostingClassifier().fit(HALVES[:, np.newaxis], NO_LABELS[name])


def test_labels_that_are_neither_numbers_nor_text_are_refused():
    with pytest.raises(DataError, match="y has labels of the type Decimal: make them numbers or text"):
        AdaBoostClassifier().fit(HALVES[:, np.newaxis], decimals(WHOLE % 2))


UNTYPED = {
    "pandas": lambda: pandas_of(pd.Series([None] * N_ROWS, dtype=object)),
    "pandas on Arrow": lambda: pandas_of(pd.array([None] * N_ROWS, dtype=pd.ArrowDtype(pa.null()))),
    "polars": lambda: polars_of([None] * N_ROWS),
    "Arrow": lambda: arrow_of([None] * N_ROWS),
}


@pytest.mark.parametrize("name", UNTYPED)
def test_a_column_that_is_missing_in_all_new_rows_needs_no_dtype(name):
    y = WHOLE > 5
    for column in (WHOLE.astype(float), pd.Categorical(text(MISSING))):
        model = GradientBoostingClassifier(n_estimators=3).fit(pandas_of(column), y)
        missing = pandas_of(pd.Series(column).where(np.zeros(N_ROWS, dtype=bool)))
        np.testing.assert_array_equal(model.predict_proba(UNTYPED[name]()), model.predict_proba(missing))
    with pytest.raises(DataError, match=r"Column 'b' of X has dtype .* and no values: leave it out"):
        GradientBoostingClassifier(n_estimators=3).fit(UNTYPED[name](), y)
