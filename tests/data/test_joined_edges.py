"""Edges of many columns in two arrays are the same bins as an object for each column."""

import numpy as np
import pytest

from surefoot.data import BinEdges, Binner
from surefoot.data.joined_edges import JoinedEdges


def columns(n_columns, seed):
    """The edges of some columns, None for a categorical one, and their numbers of codes."""
    generator = np.random.default_rng(seed)
    edges, n_codes = [], []
    for _ in range(n_columns):
        n = int(generator.choice([0, 1, 2, 3, 4, 5, 17, 255]))
        is_categorical = generator.random() < 0.3
        values = np.sort(generator.normal(size=2 * n) * 10.0 ** generator.integers(-300, 300))
        edges.append(None if is_categorical else BinEdges(values[::2], values[1::2]))
        n_codes.append(n)
    return edges, np.array(n_codes, dtype=np.int64)


def joined(edges, n_codes):
    numeric = [edge for edge in edges if edge is not None]
    parts = (np.concatenate([np.empty(0), *(getattr(edge, name) for edge in numeric)]) for name in ("low", "high"))
    return JoinedEdges(np.array([edge is None for edge in edges], dtype=np.bool_), n_codes, *parts)


@pytest.mark.parametrize("n_columns", [1, 2, 50])
@pytest.mark.parametrize("block", [1, 7, 4096])
def test_codes_are_the_same(n_columns, block, monkeypatch):
    monkeypatch.setattr("surefoot.data.joined_edges.COLUMN_BLOCK", block)
    edges, n_codes = columns(n_columns, seed=n_columns)
    one, other = Binner(edges, n_codes), Binner(joined(edges, n_codes), n_codes)
    np.testing.assert_array_equal(one._thresholds, other._thresholds)
    np.testing.assert_array_equal(one._starts, other._starts)
    values = np.random.default_rng(0).normal(size=(n_columns, 40))
    values[:, 0] = np.nan
    np.testing.assert_array_equal(one.codes_of(values), other.codes_of(values))


def test_edges_of_each_column():
    edges, n_codes = columns(20, seed=0)
    read = joined(edges, n_codes)
    assert len(read) == 20
    for one, other in zip(edges, read, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one.low, other.low)
            np.testing.assert_array_equal(one.high, other.high)
    assert [edge is None for edge in read[3:8]] == [edge is None for edge in edges[3:8]]
    assert (read[-1] is None) == (edges[-1] is None)
    with pytest.raises(IndexError):
        read[20]
