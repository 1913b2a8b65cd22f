"""Bins of columns: the concatenated edges of all columns."""

from typing import Any

import numpy as np

from surefoot.data import Binner
from surefoot.data.binner import MAX_BINS
from surefoot.data.joined_edges import JoinedEdges
from surefoot.model_io.fields import Array, Record
from surefoot.model_io.model_json import require

MAX_CODES = 1 << 22  # of all categorical columns together; each takes only a few bytes in the file


def are_categorical(binner: Binner) -> np.ndarray:
    """Whether each column is categorical."""
    edges = binner.edges
    if isinstance(edges, JoinedEdges):
        return edges.categorical
    return np.array([edge is None for edge in edges], dtype=np.bool_)


def _take(binner: Binner) -> dict[str, Any]:
    edges = [edge for edge in binner.edges if edge is not None]
    return {
        "missing": binner.missing,
        "categorical": are_categorical(binner),
        "low": np.concatenate([np.empty(0), *(edge.low for edge in edges)]),
        "high": np.concatenate([np.empty(0), *(edge.high for edge in edges)]),
    }


def _make(missing: np.ndarray, categorical: np.ndarray, low: np.ndarray, high: np.ndarray) -> Binner:
    require(missing.shape == categorical.shape, "bins and columns differ in number")
    require(((missing >= 0) & (missing <= MAX_BINS)).all(), f"a column does not have 0 to {MAX_BINS} bins")
    require(missing[categorical].sum() <= MAX_CODES, "there are more categories than any table has")
    edges = JoinedEdges(categorical, missing, low, high)
    require(len(low) == len(high) == edges.starts[-1], "edges and bins differ in number")
    rises = high[:-1] < low[1:]
    starts = edges.starts[(edges.starts > 0) & (edges.starts < len(low))]
    rises[starts - 1] = True  # the next column may start anywhere
    require((low <= high).all() and rises.all(), "edges of bins do not increase")
    return Binner(edges, missing)


BINNER = Record(
    {
        "missing": Array(np.int64, 1),  # the code of missing values: the number of other codes
        "categorical": Array(np.bool_, 1),
        "low": Array(np.float64, 1, finite=True),
        "high": Array(np.float64, 1, finite=True),
    },
    make=_make,
    take=_take,
)
