"""Codes packed into words of eight."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.gradient_trees import draw_table

from surefoot._exceptions import DataError
from surefoot._parallel import ROW_BLOCK, THREADED_CELLS
from surefoot.data import BinnedTable, Columns, Schema
from surefoot.trees.packed_codes import PackedCodes, mixed_rows, weight_of_identical_rows


def code_in(words, column, row):
    return int(words[column // 8, row]) // 256 ** (column % 8) % 256


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), n_columns=st.integers(1, 25), n_rows=st.integers(1, 30))
def test_each_byte_of_a_word_is_the_code_of_a_column(seed, n_columns, n_rows):
    table = draw_table(seed, n_rows, [256] * n_columns, missing=0.1)
    words = table.words()
    assert words.n_groups == (n_columns + 7) // 8
    assert words.words.dtype == np.uint64
    for column in range(n_columns):
        for row in range(n_rows):
            assert code_in(words.words, column, row) == table.codes[column, row]


def test_bytes_without_a_column_are_zero():
    words = PackedCodes(np.full((9, 3), 255, dtype=np.uint8), np.full(9, 255), np.zeros(9, dtype=bool)).words
    assert words[1].tolist() == [255, 255, 255]


def test_blocks_of_rows_meet():
    table = draw_table(0, ROW_BLOCK + 3, [200, 7, 256])
    words = table.words()
    for column in range(3):
        np.testing.assert_array_equal(words.words[0] >> np.uint64(8 * column) & np.uint64(255), table.codes[column])


def test_bins_of_all_columns_are_concatenated_with_one_for_missing_values():
    table = BinnedTable.from_columns(
        Columns(
            [np.array([1.0, 2.0, np.nan]), np.full(3, np.nan), np.array([5.0, 5.0, 5.0]), np.array([0.0, 1.0, 1.0])],
            Schema(4, {3: ("a", "b", "c")}),
            3,
        )
    )
    words = PackedCodes.from_table(table)
    assert words.n_codes.tolist() == [3, 1, 2, 4]
    assert words.offsets.tolist() == [0, 3, 4, 6, 10]
    assert words.n_bins == 10
    assert words.has_missing.tolist() == [True, True, False, False]
    assert words.is_categorical.tolist() == [False, False, False, True]
    assert (words.n_columns, words.n_rows, words.n_groups) == (4, 3, 1)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), n_columns=st.integers(1, 17))
def test_identical_rows_have_the_same_code_in_every_column(seed, n_columns):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size=(n_columns, 40)).astype(np.uint8)
    codes[:-1] = codes[0]  # rows differ only in the first or the last column
    rows, weights = np.flatnonzero(rng.random(40) < 0.8), rng.gamma(1.0, size=40)
    table = PackedCodes(codes, np.full(n_columns, 5), np.zeros(n_columns, dtype=bool))
    expected = [sum(weights[j] for j in rows if (codes[:, i] == codes[:, j]).all()) for i in range(40)]
    found = weight_of_identical_rows(mixed_rows(table.words), weights, rows.astype(np.uint32))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_without_rows_no_column_has_missing_values():
    words = PackedCodes(np.empty((2, 0), dtype=np.uint8), np.array([3, 0]), np.zeros(2, dtype=bool))
    assert words.words.shape == (1, 0)
    assert not words.has_missing.any()


def test_wider_codes_are_refused_with_advice():
    with pytest.raises(DataError, match="max_bins"):
        PackedCodes(np.zeros((1, 2), dtype=np.uint32), np.array([300]), np.zeros(1, dtype=bool))


def test_small_tables_have_their_rows_sorted():
    codes = np.random.default_rng(0).integers(0, 6, size=(5, 300)).astype(np.uint8)
    table = PackedCodes(codes, np.full(5, 6), np.zeros(5, dtype=bool))
    assert table.is_sorted
    for column, rows, sorted_codes in zip(codes, table.sorted_rows, table.sorted_codes, strict=True):
        np.testing.assert_array_equal(np.sort(rows), np.arange(300))
        np.testing.assert_array_equal(column[rows], np.sort(column))
        np.testing.assert_array_equal(sorted_codes, np.sort(column))


@pytest.mark.parametrize(
    ("n_columns", "n_rows", "categorical"), [(1, 8193, False), (500, THREADED_CELLS // 500, False), (2, 10, True)]
)
def test_large_tables_and_categories_are_not_sorted(n_columns, n_rows, categorical):
    codes = np.zeros((n_columns, n_rows), dtype=np.uint8)
    assert not PackedCodes(codes, np.full(n_columns, 1), np.full(n_columns, categorical)).is_sorted
