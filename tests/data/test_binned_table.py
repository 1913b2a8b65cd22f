"""The binned table against NumPy's search and naive loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.bins import code_of
from reference.models import make_frame

from surefoot._random import random_bits, stream_key
from surefoot.data import BinEdges, BinnedTable, Columns
from surefoot.data.binner import BATCH, EDGE_SAMPLE, edge_sample, find_bins

numbers = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(allow_infinity=False),
    st.just(float("nan")),
    st.sampled_from([1e308, -0.0]),
)


def binned(X, **options):
    return BinnedTable.from_columns(Columns.from_array(X), **options)


@settings(deadline=None, max_examples=60)
@given(X=arrays(float, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=numbers), max_bins=st.integers(2, 9))
def test_codes_against_plain_loops(X, max_bins):
    table = binned(X, max_bins=max_bins)
    assert table.codes.dtype == np.uint8
    assert table.codes.shape == X.T.shape
    for j in range(X.shape[1]):
        edges = BinEdges.from_values(X[:, j], max_bins)
        assert table.missing[j] == len(edges) <= max_bins
        expected = [code_of(float(value), edges.thresholds, len(edges)) for value in X[:, j]]
        assert table.codes[j].tolist() == expected


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_find_bins_against_search_sorted(data):
    n_columns = data.draw(st.integers(1, 3))
    n_rows = data.draw(st.sampled_from([1, 5, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH + 3]))
    first_row = data.draw(st.integers(0, 4))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    cuts = [np.unique(generator.integers(-9, 9, size=generator.integers(0, 12)) / 2) for _ in range(n_columns)]
    values = generator.integers(-20, 20, size=(n_columns, n_rows)) / 4
    values[generator.random(values.shape) < 0.1] = np.nan
    padded = [np.append(cut, np.full((1 << len(cut).bit_length()) - len(cut), np.inf)) for cut in cuts]
    starts = np.append(0, np.cumsum([len(table) for table in padded]))
    missing = np.array([len(cut) + 1 for cut in cuts])
    codes = np.full((n_columns, first_row + n_rows + 2), 99, dtype=np.uint8)
    find_bins(values, np.concatenate(padded), starts, missing, first_row, codes)
    for j in range(n_columns):
        expected = np.where(np.isnan(values[j]), missing[j], np.searchsorted(cuts[j], values[j], side="left"))
        np.testing.assert_array_equal(codes[j, first_row : first_row + n_rows], expected)
    assert (codes[:, :first_row] == 99).all()
    assert (codes[:, first_row + n_rows :] == 99).all()


def test_more_bins_than_a_byte_holds():
    X = np.random.default_rng(0).permutation(1000).astype(float)[:, np.newaxis]
    table = binned(X, max_bins=None)
    assert table.codes.dtype == np.uint32
    np.testing.assert_array_equal(table.codes[0], X[:, 0])
    assert binned(X, max_bins=255).codes.dtype == np.uint8


@pytest.mark.parametrize("n_distinct", [254, 255, 256])
def test_codes_near_the_largest_byte(n_distinct):
    X = np.append(np.arange(n_distinct, dtype=float), np.nan)[:, np.newaxis]
    table = binned(X, max_bins=None)
    np.testing.assert_array_equal(table.codes[0], np.arange(n_distinct + 1))


def test_offsets_count_all_codes_of_every_column():
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[:, 1], X[:, 2] = np.nan, 1.0
    table = binned(X)
    assert table.missing.tolist() == [255, 0, 1, 255]
    assert table.offsets[0] == 0
    np.testing.assert_array_equal(np.diff(table.offsets), table.missing + 1)
    assert (np.diff(table.offsets) >= table.missing + 1).all()


def test_columns_of_categories_keep_their_codes():
    frame = make_frame("pandas", {"a": [1.0, 2.0, np.nan, 4.0]}, {"b": ["y", None, "x", "y"]})
    table = BinnedTable.from_columns(Columns.from_frame(frame))
    assert table.is_categorical.tolist() == [False, True]
    assert table.codes.tolist() == [[0, 1, 3, 2], [1, 2, 0, 1]]
    assert table.missing.tolist() == [3, 2]
    assert table.edges[1] is None


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_write_the_same_codes(n_jobs):
    X = np.random.default_rng(0).normal(size=(40_000, 30))
    X[::9, 4] = np.nan
    one, several = binned(X, n_jobs=1), binned(X, n_jobs=n_jobs)
    assert one.codes.tobytes() == several.codes.tobytes()
    for ours, theirs in zip(one.edges, several.edges, strict=True):
        assert ours.low.tobytes() == theirs.low.tobytes()


def test_edges_of_small_tables_come_from_all_rows():
    assert np.arange(EDGE_SAMPLE)[edge_sample(EDGE_SAMPLE)].size == EDGE_SAMPLE


@pytest.mark.parametrize("n_rows", [EDGE_SAMPLE + 1, 300_000, 2 * EDGE_SAMPLE, 1_234_567])
def test_edges_of_large_tables_come_from_a_fixed_sample(n_rows):
    rows = edge_sample(n_rows)
    np.testing.assert_array_equal(rows, edge_sample(n_rows))
    assert len(rows) == len(np.unique(rows)) == EDGE_SAMPLE
    assert rows.min() >= 0
    assert rows.max() < n_rows
    tenths = np.histogram(rows, bins=10, range=(0, n_rows))[0]
    np.testing.assert_allclose(tenths, EDGE_SAMPLE / 10, rtol=0.03)


@pytest.mark.parametrize("n_rows", [EDGE_SAMPLE + 1, 300_000, 3_000_001])
def test_the_sample_has_the_rows_with_the_lowest_ranks(n_rows):
    ranks = np.array(random_bits(stream_key(0, n_rows), n_rows))
    np.testing.assert_array_equal(edge_sample(n_rows), np.sort(np.argsort(ranks)[:EDGE_SAMPLE]))


@pytest.mark.parametrize("n_rows", [EDGE_SAMPLE + 7, 300_000, 390_000])
def test_every_row_of_a_large_table_may_be_in_the_sample(n_rows):
    """The sample does not follow a regular pattern of the rows."""
    rows = edge_sample(n_rows)
    for period in (2, 3):
        fractions = np.bincount(rows % period, minlength=period) / len(rows)
        np.testing.assert_allclose(fractions, 1 / period, atol=0.02)


def test_bins_of_a_large_table_are_reproducible_and_of_equal_size():
    X = np.random.default_rng(0).random((EDGE_SAMPLE + 50_000, 1))
    one, other = binned(X), binned(X)
    assert one.codes.tobytes() == other.codes.tobytes()
    counts = np.bincount(one.codes[0], minlength=255)
    assert len(counts) == 255
    np.testing.assert_allclose(counts, len(X) / 255, rtol=0.2)


def test_reordering_moves_rows():
    X = np.random.default_rng(0).normal(size=(50, 3))
    table, original = binned(X), binned(X)
    order = np.random.default_rng(1).permutation(50)[:30].astype(np.int32)
    table.reorder(order)
    np.testing.assert_array_equal(table.codes[:, :30], original.codes[:, order])


def test_thresholds_between_bins():
    X = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, np.nan]])
    table = binned(X)
    features, below, above = np.array([0, 0, 1, 1, -1]), np.array([0, 0, 0, 1, 0]), np.array([1, 2, 1, 2, 0])
    thresholds = table.thresholds_between(features, below, above)
    assert thresholds[:4].tolist() == [1.5, 2.5, 15.0, np.inf]  # above the last bin are only missing values
    assert np.isnan(thresholds[4])


def test_bins_are_weighted_quantiles():
    X = np.arange(1000.0)[:, np.newaxis]
    weights = np.where(X[:, 0] < 500, 0.0, 1.0)
    table = binned(X, max_bins=10, weights=weights)
    assert table.edges[0].low[0] == 500.0
    counts = np.bincount(table.codes[0][500:], minlength=10)
    np.testing.assert_array_equal(counts, np.full(10, 50))
