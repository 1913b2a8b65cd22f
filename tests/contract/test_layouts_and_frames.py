"""The same numbers give the same predictions however they are stored."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from contract.registry import assert_close_answers, assert_same_answers, each, each_subject, failing, those

NAMES = ("a", "b", "c")
FEW = {"StableSelector": {"n_bags": 10}}


def few(subject, n_trees=2):
    """Settings of a model that is fitted very often: all columns are read before the first tree."""
    if "langevin" in subject.settings:  # virtual ensembles need several trees
        return {"n_estimators": 6}
    return FEW.get(subject.name, {"n_estimators": n_trees} if "n_estimators" in subject.settings else {})


def whole_numbers(subject, n_rows=120, n_classes=2):
    """A table that every numeric type can hold, and a target."""
    generator = np.random.default_rng(0)
    X = generator.integers(-20, 20, size=(n_rows, 3)).astype(float)
    return X, subject.target(X[:, 0] + 10 * generator.normal(size=n_rows), n_classes)


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


@pytest.mark.fault(number=8)
@each_subject
def test_storage_does_not_matter(subject):
    X, y = whole_numbers(subject)
    plain = subject.make(**few(subject)).fit(X, y)

    def check(store):
        stored = store(X)
        model = subject.make(**few(subject)).fit(stored, y)
        assert_same_answers(plain, model, X, stored)
        importances = [getattr(each, "feature_importances_", 0) for each in (model, plain)]
        np.testing.assert_array_equal(*importances)

    assert failing(STORED, check) == {}


@pytest.mark.fault(number=8)
@each(those(is_classifier=True))
def test_storage_does_not_matter_to_deeper_trees_of_several_classes(subject):
    X, y = whole_numbers(subject, n_classes=3)
    deeper = few(subject) | ({"max_depth": 3} if "max_depth" in subject.make().get_params(deep=False) else {})
    plain = subject.make(**deeper).fit(X, y)

    def check(store):
        stored = store(X)
        assert_same_answers(plain, subject.make(**deeper).fit(stored, y), X, stored)

    assert failing(STORED, check) == {}


TARGETS = {
    "list": list,
    "pandas": pd.Series,
    "polars": pl.Series,
    "float32": np.float32,
    "int16": np.int16,
}


@pytest.mark.fault(number=8)
@each_subject
def test_storage_of_the_target_does_not_matter(subject):
    X, y = subject.problem()
    y = np.round(y)
    plain = subject.make().fit(X, y)

    def check(store):
        assert_close_answers(plain, subject.make().fit(X, store(y)), X, rtol=1e-12)

    assert failing(TARGETS, check) == {}


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


@pytest.mark.fault(number=8)
@each(those(takes_missing=True))
def test_missing_values_of_every_storage_are_alike(subject):
    X, y = whole_numbers(subject)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    for settings in ({}, {"max_depth": 2}) if subject.ignores_weight_scale else ({},):
        settings = few(subject) | settings
        plain = subject.make(**settings).fit(X, y)

        def check(store, settings=settings, plain=plain):
            stored = store(X)
            assert_same_answers(plain, subject.make(**settings).fit(stored, y), X, stored)

        assert failing(WITH_HOLES, check) == {}


BOOLEANS = {
    "array": lambda flags: flags,
    "pandas": lambda flags: pandas_frame(flags, "bool"),
    "pandas nullable": lambda flags: pandas_frame(flags, "boolean"),
    "polars": lambda flags: polars_frame(flags, pl.Boolean),
}


@pytest.mark.fault(number=8)
@each_subject
def test_booleans_are_zeros_and_ones(subject):
    X, y = whole_numbers(subject)
    flags = X > 0
    numbers = flags.astype(float)
    plain = subject.make().fit(numbers, y)

    def check(store):
        stored = store(flags)
        assert_same_answers(plain, subject.make().fit(stored, y), numbers, stored)

    assert failing(BOOLEANS, check) == {}


@pytest.mark.fault(number=8)
@each_subject
def test_the_model_is_the_same_for_rows_far_apart_in_memory(subject):
    for n_classes in (2, 3) if subject.is_classifier else (2,):
        X, y = subject.problem(n_rows=20_000, n_classes=n_classes)  # several blocks of rows
        plain = subject.make(**few(subject)).fit(X, y)
        for stored in (np.asfortranarray(X), strided(X)):
            model = subject.make(**few(subject)).fit(stored, y)
            rows = slice(0, 2_000)
            assert_same_answers(plain, model, X[rows], stored[rows])


NO_NUMBERS = {
    "words": ["x", "y"] * 40,
    "dates": list(pd.date_range("2020-01-01", periods=80)),
    "lists": [[1], [2]] * 40,
}


@pytest.mark.fault(number=8)
@each(those(is_saved=True))
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_that_are_no_numbers_are_refused_by_name(subject, make):
    for column, values in NO_NUMBERS.items():
        with pytest.raises(ValueError, match=f"{column}.* of X"):
            subject.make().fit(make({"a": np.arange(80.0), column: values}), np.arange(80) % 2)


SPARSE = {make.__name__: make for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array)}


@pytest.mark.fault(number=8)
@each(those(takes_sparse=False))
def test_sparse_tables_are_refused_by_name(subject):
    X, y = subject.problem()
    model = subject.make().fit(X, y)

    def check(sparse):
        with pytest.raises(TypeError, match=r"[Ss]parse.*\bX\b"):
            subject.make().fit(sparse(X), y)
        for method in ("predict", "predict_proba", "transform", "predict_distribution", "predict_uncertainty"):
            if hasattr(model, method):
                with pytest.raises(TypeError, match=r"[Ss]parse.*\bX\b"):
                    getattr(model, method)(sparse(X))
        if hasattr(model, "margins"):
            with pytest.raises(TypeError, match=r"[Ss]parse"):
                model.margins(sparse(X), y)

    assert failing(SPARSE, check) == {}
