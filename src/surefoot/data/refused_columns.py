"""The errors for columns that are neither numbers nor categories: each says what the column holds and what to do."""

from datetime import date, time
from numbers import Number
from typing import Any

import narwhals.stable.v2 as nw

from surefoot._exceptions import DataError

FREE_TEXT = 0.5  # if more of the values than this are different, the text has no groups
MIN_TEXTS = 20  # of so few values, most may be different although they are groups
MAX_TYPES = 3
EMPTY_DTYPES = ("null", "null[pyarrow]", "object")
NUMBER_OR_GROUPS = "make it a number, or a categorical dtype if its values are groups"
PARTS_OF_DATES = "make it a number (for a date, days since a fixed day), or parts such as the month or the hour"
ENTRIES = "make a column of numbers of each entry, or leave it out"


def refused_column(series: nw.Series, name: Any) -> DataError:
    """The error for a column of a frame; text and Python objects are described by their values."""
    if has_no_type(series):
        return _refusal(name, dtype_of(series), " and no values: leave it out, or make it a number.")
    if series.dtype == nw.String:
        return _refusal(name, series.dtype, _about_text(series, name))
    if series.dtype == nw.Object:
        return _refusal(name, series.dtype, _about_objects(series, name))
    dtype = dtype_of(series) if series.dtype == nw.Unknown else series.dtype
    if dtype == nw.Duration:
        what = "make it a number, for example of seconds"
    elif isinstance(dtype, nw.Date | nw.Datetime | nw.Time):
        what = PARTS_OF_DATES
    elif isinstance(dtype, nw.List | nw.Array | nw.Struct):
        what = ENTRIES
    else:
        what = NUMBER_OR_GROUPS
    return _refusal(name, dtype, f": {what}.")


def infinite(name: Any) -> DataError:
    """The error for a column with infinite values."""
    return DataError(f"Column {name!r} of X contains infinity: replace it by a number or by a missing value.")


def _refusal(name: Any, dtype: Any, rest: str) -> DataError:
    return DataError(f"Column {name!r} of X has dtype {dtype}{rest}")


def dtype_of(series: nw.Series) -> Any:
    """The dtype of a column in its own library."""
    native = series.to_native()
    return native.type if series.implementation.is_pyarrow() else native.dtype


def has_no_type(series: nw.Series) -> bool:
    """Whether all values are missing, and the column has a dtype that says nothing else about them."""
    return str(dtype_of(series)).lower() in EMPTY_DTYPES and series.null_count() == len(series)


def _about_text(series: nw.Series, name: Any) -> str:
    texts = series.cast(nw.String)  # some functions of Arrow do not take every type of text
    known = texts.filter(~series.is_null())  # the cast of some versions of pandas makes a text of None
    n_distinct = known.n_unique()
    if len(known) > MIN_TEXTS and n_distinct > FREE_TEXT * len(known):
        return (
            f", and {n_distinct:,} of its {len(known):,} values are different: free text is not read. Leave the column "
            "out, or turn it into numbers, for example with TfidfVectorizer."
        )
    way = "with .cast(pl.Categorical)" if series.implementation.is_polars() else "with .dictionary_encode()"
    if series.implementation.is_pandas_like():
        way = f"with X[{name!r}].astype('category')"
    return f": make it a number, or categorical if its values are groups, for example {way}."


def _about_objects(series: nw.Series, name: Any) -> str:
    """What to do with a column of Python objects depends on their types."""
    types = {type(value) for value in series.drop_nulls().to_list()}
    names = ", ".join(sorted(one.__name__ for one in types)[:MAX_TYPES])
    kind = f" with values of the type{'s' * (len(types) > 1)} {names}"
    if all(issubclass(one, Number) for one in types):
        return f"{kind}: make it a number, for example with X[{name!r}].astype(float)."
    if all(issubclass(one, date | time) for one in types):
        return f"{kind}: {PARTS_OF_DATES}."
    if any(one.__hash__ is None for one in types):
        return f"{kind}: {ENTRIES}."
    if len(types) > 1:
        return f"{kind}: make all of them numbers, or make all of them text and the column categorical."
    return f"{kind}: {NUMBER_OR_GROUPS}."
