"""What users pass by mistake: tables, values of rows and parameters of every wrong type, shape and size.

Each function returns two dicts: values that must be refused, and odd ones, which are refused or give a right result.
"""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

DAY = datetime.date(2024, 1, 1)
LONG_INTEGER = 10**400  # no float is as large
LONG_FLOAT = np.longdouble("1e4000") if np.finfo(np.longdouble).max > 1e4000 else np.inf


def nothing_like_rows():
    """Objects that are neither a table nor a column."""
    return {
        "a word": "word",
        "bytes": b"x",
        "an empty list": [],
        "a dict": {"a": 1},
        "a set": {1, 2},
        "an object": object(),
        "a function": len,
        "a class": float,
        "a generator": (value for value in [1, 2]),
    }


def bad_tables(X):
    """Variations of an array of at least three columns of numbers, both dicts."""
    n_rows, n_columns = X.shape
    refused = {**nothing_like_rows(), "a number": 3, "zero dimensions": np.array(1.0), "one dimension": X[:, 0]}
    refused |= {"three dimensions": X[:, :, np.newaxis], "ragged": [*X.tolist()[1:], [1.0]]}
    refused |= {"complex": X + 1j, "complex list": (X + 1j).tolist(), "infinite": _with(X, np.inf)}
    refused |= {"-infinite": _with(X, -np.inf), "no rows": X[:0], "no columns": X[:, :0]}
    refused |= {"masked": np.ma.masked_array(X, mask=np.eye(n_rows, n_columns, dtype=bool))}
    refused |= {"dates": np.full(X.shape, "2024-01-01", "datetime64[D]"), "durations": np.full(X.shape, 3, "m8[s]")}
    refused |= {"text": X.astype(str), "words": np.full(X.shape, "a"), "void": np.zeros(X.shape, "V8")}
    refused |= {"records": np.zeros(n_rows, dtype=[("a", float), ("b", float)])}
    refused |= {"objects": np.full(X.shape, object()), "objects of text": np.full(X.shape, "red", dtype=object)}
    refused |= {"objects of dates": np.full(X.shape, DAY, dtype=object)}
    refused |= {"objects of complex": np.full(X.shape, 1j, dtype=object)}
    refused |= {"long integers": np.full(X.shape, LONG_INTEGER, dtype=object).tolist()}
    refused |= {"long floats": np.full(X.shape, LONG_FLOAT), "no sparse rows": sparse.csr_array((0, n_columns))}
    refused |= {"sparse complex": sparse.csr_array(X + 1j), "sparse infinite": sparse.csr_array(_with(X, np.inf))}
    odd = {"None": None, "NaN": _with(X, np.nan), "huge": _with(X, 1e308), "tiny": _with(X, 5e-324)}
    odd |= {"huge everywhere": np.where(X > 0, 1e308, -1e308), "long double": X.astype(np.longdouble)}
    odd |= {"large integers": [[10**30] * n_columns] * n_rows, "None everywhere": [[None] * n_columns] * n_rows}
    odd |= {"largest unsigned": np.full(X.shape, 2**64 - 1, np.uint64), "objects of numbers": X.astype(object)}
    odd |= {"sparse": sparse.csr_array(X), "sparse DOK": sparse.dok_array(X)}
    refused_frames, odd_frames = bad_frames(X)
    return refused | refused_frames, odd | odd_frames


def bad_frames(X):
    """The same as frames of pandas, polars and Arrow, with one strange column or strange names."""
    names = [f"c{j}" for j in range(X.shape[1])]
    frame, n_rows = pd.DataFrame(X, columns=names), len(X)
    times = pd.date_range("2024", periods=n_rows)
    labels = pa.array(["a", "b"] * (n_rows // 2) + ["a"] * (n_rows % 2)).dictionary_encode()

    def pandas_of(values, dtype=None):
        return frame.assign(c1=pd.Series(values, dtype=dtype))

    def polars_of(values, dtype=None):
        return pl.DataFrame(dict(zip(names, X.T, strict=True)) | {"c1": pl.Series("c1", values, dtype=dtype)})

    def arrow_of(values, dtype=None):
        return pa.table(dict(zip(names, X.T, strict=True)) | {"c1": pa.array(values, dtype)})

    refused = {"frame without rows": frame.iloc[:0], "frame without columns": frame[[]], "series": frame["c0"]}
    odd_names = {"mixed": 1, "None": None, "NaN": np.nan, "bytes": b"c0", "tuple": ("a", 1), "duplicate": "c1"}
    for kind, name in odd_names.items():
        renamed = pd.Index([name, *names[1:]], dtype=object, tupleize_cols=False)
        refused[f"{kind} name"] = frame.set_axis(renamed, axis=1)
    refused |= {"levels of names": frame.set_axis(pd.MultiIndex.from_product([["a"], names]), axis=1)}
    columns = {"infinite": [np.inf] * n_rows, "text": ["red"] * n_rows, "lists": [[1]] * n_rows, "dates": list(times)}
    columns |= {"durations": [datetime.timedelta(1)] * n_rows, "times": [datetime.time(1)] * n_rows}
    columns |= {"bytes": [b"a"] * n_rows, "dicts": [{"a": 1}] * n_rows}
    for make, library in ((pandas_of, "pandas"), (polars_of, "polars"), (arrow_of, "Arrow")):
        refused |= {f"{library} {kind}": make(values) for kind, values in columns.items()}
    refused |= {"pandas complex": pandas_of([1j] * n_rows), "pandas mixed": pandas_of(["a", 1] * (n_rows // 2))}
    refused |= {
        "pandas time zone": pandas_of(times.tz_localize("UTC")),
        "pandas period": pandas_of(times.to_period("D")),
    }
    refused |= {
        "pandas interval": pandas_of(pd.interval_range(0, n_rows)),
        "polars lazy": polars_of([1] * n_rows).lazy(),
    }
    refused |= {"pandas on Arrow, time": pandas_of(times, "timestamp[ns][pyarrow]")}
    refused |= {"pandas sparse text": pandas_of(pd.arrays.SparseArray(["a"] * n_rows))}
    refused |= {"Arrow month": arrow_of([(1, 2, 3)] * n_rows, pa.month_day_nano_interval())}
    refused |= {"Arrow batch": pa.record_batch(dict(zip(names, X.T, strict=True)))}
    odd = {
        "Arrow dictionary": arrow_of(labels),
        "pandas on Arrow, dictionary": pandas_of(labels, pd.ArrowDtype(labels.type)),
    }
    odd |= {"Arrow dictionary of dates": arrow_of(pa.array(list(times)).dictionary_encode())}
    odd |= {"Arrow dictionary of bytes": arrow_of(pa.array([b"\xff"] * n_rows).dictionary_encode())}
    odd |= {
        "Arrow dictionary of nothing": arrow_of([None] * n_rows, labels.type),
        "polars null": polars_of([None] * n_rows),
    }
    odd |= {
        "polars categories": polars_of(labels.to_pylist(), pl.Categorical),
        "pandas null": pandas_of([None] * n_rows),
    }
    odd |= {
        "category of dates": pandas_of(pd.Categorical(times)),
        "category of nothing": pandas_of(pd.Categorical([None] * n_rows)),
    }
    odd |= {"category of intervals": pandas_of(pd.Categorical(pd.cut(X[:, 0], 3)))}
    odd |= {
        "nullable": pandas_of([None] + [1] * (n_rows - 1), "Int64"),
        "whole numbers as names": frame.set_axis(range(X.shape[1]), axis=1),
    }
    odd |= {
        "pandas sparse": frame.astype(pd.SparseDtype(float, 0.0)),
        "pandas decimals": pandas_of([decimal.Decimal(1)] * n_rows),
    }
    return refused, odd


def bad_values(good, refuses_text=True):
    """Variations of one number or label for each row, both dicts."""
    n_rows = len(good)
    numbers = np.asarray(good, dtype=np.float64)
    times = pd.date_range("2024", periods=n_rows)
    refused = {**nothing_like_rows(), "two columns": np.stack([numbers, numbers], axis=1), "one too few": numbers[1:]}
    refused |= {
        "one too many": np.append(numbers, 1.0),
        "ragged": [[1], [1, 2]] * (n_rows // 2),
        "lists": [[1, 2]] * n_rows,
    }
    refused |= {"complex": numbers + 1j, "complex list": (numbers + 1j).tolist()}
    refused |= {
        "objects": [object()] * n_rows,
        "void": np.zeros(n_rows, "V8"),
        "records": np.zeros(n_rows, [("a", float)]),
    }
    refused |= {"masked": np.ma.masked_array(good, mask=np.arange(n_rows) == 1), "NaN": _with(numbers, np.nan)}
    refused |= {
        "durations": np.full(n_rows, 3, "m8[s]"),
        "periods": pd.Series(times.to_period("D")),
        "infinite": _with(numbers, np.inf),
    }
    refused |= {
        "dates": times.to_numpy(),
        "time zone": pd.Series(times.tz_localize("UTC")),
        "NaT": np.full(n_rows, "NaT", "M8[s]"),
    }
    refused |= {"intervals": pd.Series(pd.interval_range(0, n_rows)), "long integers": [LONG_INTEGER] * n_rows}
    refused |= {
        "None": [None, *numbers[1:]],
        "NA": pd.Series([None, *numbers[1:]], dtype="Float64"),
        "polars null": pl.Series([None, *numbers[1:]]),
    }
    refused |= {
        "objects of NA": np.array([pd.NA, *numbers[1:]], dtype=object),
        "Arrow null": pa.array([None, *numbers[1:]]),
    }
    refused |= {
        "polars lists": pl.Series([[1]] * n_rows),
        "Arrow lists": pa.array([[1]] * n_rows),
        "long floats": np.full(n_rows, LONG_FLOAT),
    }
    refused |= {
        "mixed": np.array(["a", 1] * (n_rows // 2), dtype=object),
        "sparse": sparse.csr_array(numbers[:, np.newaxis]),
    }
    text = {"words": np.full(n_rows, "heavy"), "objects of words": np.full(n_rows, "heavy", dtype=object)}
    text |= {"polars words": pl.Series(["heavy"] * n_rows), "Arrow words": pa.array(["heavy"] * n_rows)}
    text |= {"categories": pd.Series(["heavy"] * n_rows, dtype="category"), "bytes words": np.full(n_rows, b"heavy")}
    odd = {"None at all": None, "a number": 3, "zero dimensions": np.array(1.0), "one column": numbers[:, np.newaxis]}
    odd |= {
        "huge": _with(numbers, 1e308),
        "-huge": _with(numbers, -1e308),
        "times 1e154": numbers * 1e154,
        "text of numbers": numbers.astype(str),
    }
    odd |= {
        "large integers": [10**30] * n_rows,
        "largest unsigned": np.full(n_rows, 2**64 - 1, np.uint64),
        "negative": -1.0 - np.abs(numbers),
    }
    odd |= {
        "zeros": np.zeros(n_rows),
        "frame": pd.DataFrame({"y": numbers}),
        "decimals": [decimal.Decimal(1)] * n_rows,
        "truth": numbers > 0,
    }
    return (refused | text, odd) if refuses_text else (refused, odd | text)


def bad_parameters():
    """Values of parameters: none is right or wrong for every parameter."""
    whole = {"0": 0, "1": 1, "-1": -1, "2**63": 2**63, "10**30": 10**30, "long integer": LONG_INTEGER}
    floats = {
        "NaN": np.nan,
        "infinity": np.inf,
        "1/2": 0.5,
        "3/2": 1.5,
        "tiny": 1e-320,
        "huge": 1e308,
        "long": LONG_FLOAT,
    }
    other = {"None": None, "word": "word", "empty text": "", "text of a number": "3", "bytes": b"3", "True": True}
    other |= {"complex": 1j, "complex of NumPy": np.complex128(1j), "duration": np.timedelta64(3, "s"), "date": DAY}
    other |= {"empty list": [], "list": [1, 2], "list of text": ["a"], "list of None": [None], "ragged": [[1], [1, 2]]}
    other |= {
        "dict": {"a": 1},
        "set": {1},
        "tuple": (),
        "array": np.array([1.0, 2.0]),
        "zero dimensions": np.array(0.5),
    }
    other |= {"object": object(), "function": len, "class": int, "missing": pd.NA, "NaT": np.datetime64("NaT")}
    other |= {
        "decimal": decimal.Decimal("0.5"),
        "fraction": fractions.Fraction(1, 2),
        "frame": pd.DataFrame({"a": [1.0]}),
    }
    other |= {"series": pd.Series([1.0]), "polars series": pl.Series([1.0])}
    return {}, whole | floats | other


def _with(array, value):
    """A copy with one other value."""
    changed = array.copy()
    changed.flat[5] = value
    return changed
