"""Codes of categories: the position of each value among the categories of its column."""

from collections.abc import Hashable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from surefoot.data.category_matching import UNKNOWN, match_labels, plain_label, warn_if_all_unknown
from surefoot.data.refused_columns import refused_column

# With more categories, codes are sorted by frequency; if codes must fit in a byte, the rarest share the last one.
MAX_CATEGORIES = 255


def few_codes(codes: np.ndarray) -> np.ndarray:
    """Codes that fit in a byte, NaN where the category is missing or unknown."""
    return np.minimum(np.where(codes == UNKNOWN, np.nan, codes), MAX_CATEGORIES - 1)


def is_categorical(series: nw.Series) -> bool:
    """Whether the column is of a categorical dtype."""
    return isinstance(series.dtype, nw.Categorical | nw.Enum)


def value_codes(
    values: np.ndarray, known: tuple[Hashable, ...] | None, weights: np.ndarray | None = None
) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Codes of numbers that are categories: NaN where missing, ``UNKNOWN`` where not in ``known``."""
    values = values.astype(np.float64)
    if known is None:
        used = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
        labels, places = np.unique(values[used], return_inverse=True)
        if len(labels) > MAX_CATEGORIES:
            mass = np.bincount(places, None if weights is None else weights[used])
            labels = labels[np.argsort(-mass, kind="stable")]
        known = tuple(plain_label(label) for label in labels)
    unknown = np.where(np.isnan(values), np.nan, UNKNOWN).astype(np.float32)
    if not known:
        return unknown, known
    labels = np.array(known, dtype=np.float64)
    order = np.argsort(labels)
    place = order[np.minimum(np.searchsorted(labels, values, sorter=order), len(labels) - 1)]
    return np.where(labels[place] == values, place, unknown).astype(np.float32), known


def category_codes(
    series: nw.Series, known: tuple[Hashable, ...] | None, weights: np.ndarray | None, name: str
) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Codes as float32: NaN where missing, ``UNKNOWN`` where not in ``known`` (None: all categories are known)."""
    labels, codes = _dictionary(series)
    is_fitting = known is None
    if known is None:
        present = codes >= 0
        mass = np.bincount(codes[present], None if weights is None else weights[present], minlength=len(labels))
        known = ordered_categories(labels, mass)
    lookup = np.append(match_labels(labels, known), np.float32(np.nan))
    result = lookup[codes]  # a missing value has code -1: the last entry
    if not is_fitting:
        warn_if_all_unknown(f"Column {name!r}", result, known, [labels[code] for code in np.unique(codes[codes >= 0])])
    return result, known


def ordered_categories(labels: Sequence[Hashable], mass: np.ndarray) -> tuple[Hashable, ...]:
    """The labels with weight, in the order of their codes; ``mass`` is the weight of each label."""
    order = np.arange(len(labels)) if (mass > 0).sum() <= MAX_CATEGORIES else np.argsort(-mass, kind="stable")
    return tuple(labels[code] for code in order if mass[code] > 0)


def _values_of_dictionary(native: Any) -> nw.Series:
    """The values of a column that Arrow stores as a dictionary, as numbers or as text."""
    import pyarrow as pa

    array = native if isinstance(native, pa.ChunkedArray) else pa.chunked_array([pa.array(native)])
    kind = array.type.value_type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return nw.from_native(array.cast(kind if is_number else pa.large_string()), series_only=True)


def _dictionary(series: nw.Series) -> tuple[list[Hashable], np.ndarray]:
    """The categories, and the index of each row's category (-1: missing)."""
    native = series.to_native()
    if series.implementation.is_pandas_like() and hasattr(native, "cat"):
        return [plain_label(label) for label in native.cat.categories], native.cat.codes.to_numpy()
    if is_categorical(series) and not series.implementation.is_polars():
        try:
            series = _values_of_dictionary(native)
        except ValueError as error:  # bytes that are no text, or values that Arrow cannot write as text
            raise refused_column(series, series.name) from error
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        codes, known = value_codes(np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64), None)
        return list(known), np.where(np.isnan(codes), -1, codes).astype(np.int64)
    if isinstance(series.dtype, nw.List | nw.Array | nw.Struct):
        raise refused_column(series, series.name)
    text = series.cast(nw.String)
    labels = sorted(text.drop_nulls().unique().to_list())
    if not labels:
        return [], np.full(len(series), -1)
    places = text.replace_strict(labels, list(range(len(labels))), default=None, return_dtype=nw.Float64).to_numpy()
    return labels, np.where(np.isnan(places), -1, places).astype(np.int64)
