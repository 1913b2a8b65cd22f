"""Histograms of the nodes of a level against sums over the rows of each node."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive

from surefoot._jit import kernel
from surefoot.trees.gradient_grower import packed_table
from surefoot.trees.level_kernels import LevelRows, add_packed_rows, add_wide_rows, build_level, sum_rows

add_packed_rows, add_wide_rows, build_level, sum_rows = map(
    kernel, (add_packed_rows, add_wide_rows, build_level, sum_rows)
)

CODES = (256, 1, 2, 6)


def drawn(seed, n_rows, n_columns, n_words):
    """A table, its words, some of its rows in some order, and whole numbers for these rows."""
    rng = np.random.default_rng(seed)
    table = naive.draw_table(seed, n_rows, [CODES[j % 4] for j in range(n_columns)], missing=0.2)
    rows = rng.permutation(n_rows)[: rng.integers(1, n_rows + 1)].astype(np.uint32)
    values = rng.integers(-(2**40), 2**40, size=(len(rows), n_words))
    return rng, table, table.words(), rows, values


def level_of(rows, values, bounds):
    return LevelRows(rows=rows, values=values, bounds=np.asarray(bounds, dtype=np.int64))


def group_buffer(n_words):
    return np.empty(8 * 256 * n_words, dtype=np.int64)


def node_histograms(table, rows, values, bounds):
    nodes = [
        naive.histogram(table.codes, rows[a:b], values[a:b], table.n_codes) if a < b else None
        for a, b in pairwise(bounds)
    ]
    empty = [0] * int(table.n_codes.sum()) * values.shape[1]
    return np.array([empty if node is None else node for node in nodes])


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), n_columns=st.integers(1, 8), n_words=st.sampled_from([1, 3]))
def test_rows_are_added_to_one_bin_a_column(seed, n_columns, n_words):
    rng, table, words, rows, values = drawn(seed, 30, n_columns, n_words)
    start, stop = sorted(rng.integers(0, len(rows) + 1, size=2))
    before = rng.integers(-9, 9, size=(8, 256, n_words))
    added, written = before.copy(), before.copy()
    add_rows = add_packed_rows if n_words == 1 else add_wide_rows
    add_rows(words.words[0], rows, values, start, stop, n_columns, added.reshape(-1))
    sum_rows(words.words[0], rows, values, start, stop, table.n_codes, written.reshape(-1))
    expected = node_histograms(table, rows, values, [start, stop])[0].reshape(-1, n_words)
    for k, (first, last) in enumerate(pairwise(words.offsets.astype(int))):
        bins = np.s_[k, : last - first]
        np.testing.assert_array_equal(added[bins], before[bins] + expected[first:last])
        np.testing.assert_array_equal(written[bins], expected[first:last])


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), n_columns=st.sampled_from([1, 3, 8, 9, 13, 17]), n_words=st.sampled_from([1, 3]))
def test_the_root_has_the_sums_of_all_rows(seed, n_columns, n_words):
    _, table, words, rows, values = drawn(seed, 30, n_columns, n_words)
    histograms = np.full((2, words.n_bins * n_words), 77)
    for group in range(words.n_groups):  # one group at a time, as threads do
        build_level(
            packed_table(words),
            group,
            group + 1,
            level_of(rows, values, [0, len(rows)]),
            group_buffer(n_words),
            histograms,
        )
    np.testing.assert_array_equal(histograms[:1], node_histograms(table, rows, values, [0, len(rows)]))
    assert (histograms[1] == 77).all()


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), n_columns=st.sampled_from([1, 3, 8, 9, 13, 17]), n_words=st.sampled_from([1, 3]))
def test_children_take_the_place_of_their_parents(seed, n_columns, n_words):
    rng, table, words, rows, values = drawn(seed, 40, n_columns, n_words)
    depth = 4
    histograms = np.empty((1 << depth, words.n_bins * n_words), dtype=np.int64)
    bounds = np.array([0, len(rows)])
    build_level(
        packed_table(words), 0, words.n_groups, level_of(rows, values, bounds), group_buffer(n_words), histograms
    )
    for _ in range(depth):
        middles = [rng.choice([a, b, rng.integers(a, b + 1)]) for a, b in pairwise(bounds)]
        bounds = np.sort(np.concatenate([bounds, middles]))  # some children have no rows
        build_level(
            packed_table(words), 0, words.n_groups, level_of(rows, values, bounds), group_buffer(n_words), histograms
        )
        expected = node_histograms(table, rows, values, bounds)
        np.testing.assert_array_equal(histograms[: len(bounds) - 1], expected)


@pytest.mark.parametrize("n_words", [1, 3])
def test_a_level_touches_only_the_columns_of_its_groups(n_words):
    _, _, words, rows, values = drawn(3, 40, 17, n_words)
    histograms = np.full((2, words.n_bins * n_words), 77)
    build_level(packed_table(words), 1, 2, level_of(rows, values, [0, len(rows)]), group_buffer(n_words), histograms)
    build_level(packed_table(words), 1, 2, level_of(rows, values, [0, 5, len(rows)]), group_buffer(n_words), histograms)
    first, last = int(words.offsets[8]) * n_words, int(words.offsets[16]) * n_words
    untouched = np.delete(histograms, np.s_[first:last], axis=1)
    assert (untouched == 77).all()
    assert (histograms[:, first:last] != 77).all()
