"""Sparse columns have the bins, codes, ranges and blocks of the array of the same values."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from surefoot import DataError, GradientBoostingRegressor
from surefoot._parallel import RowThreads
from surefoot.data import BinnedTable, Binner, Columns, binner, sparse_columns
from surefoot.data.sparse_columns import SparseColumns

ONE = RowThreads(1)


def numbers(n_rows=500, n_columns=7, density=0.3, seed=0):
    """Counts, numbers, missing values, a column of zeros and one without zeros."""
    generator = np.random.default_rng(seed)
    X = np.where(generator.random((n_rows, n_columns)) < density, generator.normal(size=(n_rows, n_columns)), 0.0)
    X[:, 1] = np.rint(3 * X[:, 1])
    X[generator.random(X.shape) < 0.03] = np.nan
    X[:, 2], X[:, 3], X[:, 4] = 0.0, 1.0 + np.arange(n_rows) % 3, np.nan
    return X


def same_tables(one, other):
    for ours, theirs in zip(one.edges, other.edges, strict=True):
        np.testing.assert_array_equal(ours.low, theirs.low)
        np.testing.assert_array_equal(ours.high, theirs.high)
    np.testing.assert_array_equal(one.missing, other.missing)
    np.testing.assert_array_equal(one.codes, other.codes)
    assert one.codes.dtype == other.codes.dtype


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("max_bins", [3, 255, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_are_those_of_the_array(make, max_bins, weighted):
    X = numbers()
    weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None
    own, plain = SparseColumns.from_sparse(make(X), weights=weights), Columns.from_array(X, weights=weights)
    assert own.schema == plain.schema
    same_tables(*(BinnedTable.from_columns(table, max_bins=max_bins, weights=weights) for table in (own, plain)))


@pytest.mark.parametrize("weighted", [False, True])
def test_edges_are_computed_from_a_sample_of_many_rows(weighted, monkeypatch):
    monkeypatch.setattr(binner, "EDGE_SAMPLE", 200)
    X = numbers(3000)
    X[:, 5] = 0.0
    X[1234, 5] = 7.0  # a rare value that the sample may miss
    weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float) if weighted else None
    own, plain = SparseColumns.from_sparse(sparse.csr_array(X)), Columns.from_array(X)
    same_tables(*(BinnedTable.from_columns(table, max_bins=20, weights=weights) for table in (own, plain)))


def test_rows_and_columns():
    X = numbers()
    own, plain = SparseColumns.from_sparse(sparse.csc_array(X)), Columns.from_array(X)
    rows = np.array([4, 499, 4, 0])
    for j in range(own.n_columns):
        np.testing.assert_array_equal(own.column(j), plain.column(j))
        np.testing.assert_array_equal(own.column(j, rows), plain.column(j, rows))
    np.testing.assert_array_equal(own.block(3, 78), plain.block(3, 78))
    assert own.block(3, 78).flags.c_contiguous
    np.testing.assert_array_equal(own.matrix(rows), plain.matrix(rows))
    np.testing.assert_array_equal(own.take(rows).block(0, 4), plain.take(rows).block(0, 4))
    np.testing.assert_array_equal(own.select([5, 0]).block(0, 9), plain.select([5, 0]).block(0, 9))
    [(places, part)] = own.parts(rows)
    np.testing.assert_array_equal(part.block(0, 4), plain.take(rows).block(0, 4))
    assert places == slice(None)
    assert own.nbytes < 12 * np.count_nonzero(X) + 200


def test_codes_of_other_rows():
    X, Z = numbers(), 2.0 * numbers(seed=5)
    fitted = Binner.from_columns(Columns.from_array(X), 20, None, ONE)
    own, plain = SparseColumns.from_sparse(sparse.csr_array(Z)), Columns.from_array(Z)
    with RowThreads(3) as threads:
        np.testing.assert_array_equal(fitted.codes(own, threads), fitted.codes(plain, ONE))
    np.testing.assert_array_equal(own.block_codes(fitted, 17, 401), plain.block_codes(fitted, 17, 401))


def test_stored_zeros_duplicates_and_unsorted_cells_are_one_table():
    X = np.array([[0.0, 3.0, 1.0], [2.0, 0.0, np.nan]])
    data = np.array([1.0, 2.0, 1.0, 0.0, np.nan, 2.0, -0.0])
    odd = sparse.csr_array((data, np.array([1, 1, 2, 0, 2, 0, 1]), np.array([0, 4, 7])), shape=(2, 3))
    before = [part.copy() for part in (odd.data, odd.indices, odd.indptr)]
    own = SparseColumns.from_sparse(odd)
    np.testing.assert_array_equal(own.block(0, 2), X.T)
    assert own.schema == Columns.from_array(X).schema
    for part, kept in zip((odd.data, odd.indices, odd.indptr), before, strict=True):
        np.testing.assert_array_equal(part, kept)


def test_training_needs_a_byte_for_every_cell():
    n_rows, n_columns = 3000, 1000
    table = sparse.csr_array(sparse.random(n_rows, n_columns, density=0.01, random_state=0))
    tracemalloc.start()
    try:
        BinnedTable.from_columns(SparseColumns.from_sparse(table))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * n_rows * n_columns  # as numbers, they would need eight times as many bytes


def test_wide_tables_are_predicted_in_smaller_blocks(monkeypatch):
    own = SparseColumns.from_sparse(sparse.csr_array(numbers(1000)))
    assert own.row_blocks(400) == [(0, 400), (400, 800), (800, 1000)]
    monkeypatch.setattr(sparse_columns, "BLOCK_CELLS", 7 * 100)
    assert own.row_blocks(400)[:2] == [(0, 100), (100, 200)]
    monkeypatch.setattr(sparse_columns, "BLOCK_CELLS", 1)
    assert own.row_blocks(400)[0] == (0, sparse_columns.MIN_BLOCK)


def test_tables_larger_than_the_machine_are_refused(monkeypatch):
    X, y = sparse.csr_array(([1.0], ([3], [5])), shape=(1000, 2**20)), np.arange(1000.0)
    monkeypatch.setattr(sparse_columns, "machine_memory", lambda: 999 * 2**20)
    with pytest.raises(DataError, match=r"1000 rows and 1048576 columns need at least 1.0 GiB, .* has 1.0 GiB. Leave"):
        GradientBoostingRegressor().fit(X, y)


def test_the_memory_of_a_container_is_its_limit(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(sparse_columns, "CONTAINER_LIMIT", limit)
    machine = sparse_columns.machine_memory()
    limit.write_text("max")
    assert sparse_columns.machine_memory() == machine
    limit.write_text("1000000")
    assert sparse_columns.machine_memory() == 1_000_000
