"""Rows sent left and right, and the leaves of rows, against plain lists."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive

from surefoot._jit import kernel
from surefoot.trees.gradient_grower import packed_table
from surefoot.trees.level_kernels import (
    LevelRows,
    SplitRules,
    SumFormat,
    TreeSplits,
    find_leaves,
    mark_children,
    partition_level,
    partition_node,
    write_leaves,
)

mark_children, partition_level, partition_node = map(kernel, (mark_children, partition_level, partition_node))

COUNT_BITS = 10


def random_splits(rng, table, n_splits):
    """Columns (-1: none) and tables with a 1 for codes that go right."""
    features = rng.integers(-1, len(table.codes), size=n_splits)
    return features, rng.integers(0, 2, size=(n_splits, 256)).astype(np.uint8)


def words_of(table, rows, packed, rng):
    """The counts of the rows in the first word, other numbers in the others."""
    counts = table.weights[rows].astype(np.int64)
    if packed:
        return ((rng.integers(-99, 99, size=len(rows)) << COUNT_BITS) + counts)[:, np.newaxis]
    return np.column_stack([counts, rng.integers(-99, 99, size=(len(rows), 2))])


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), packed=st.booleans(), column=st.integers(0, 7))
def test_rows_of_a_node_are_partitioned_and_their_words_with_them(seed, packed, column):
    rng = np.random.default_rng(seed)
    table = naive.draw_table(seed, 40, [256] * 8, missing=0.1)
    rows = rng.permutation(40)[:33].astype(np.uint32)
    values = words_of(table, rows, packed, rng)
    right = rng.integers(0, 2, size=256).astype(np.uint8)
    start, stop = (int(place) for place in np.sort(rng.integers(0, 34, size=2)))
    new_rows, new_values = np.full(33, 999, dtype=np.uint32), np.full_like(values, 999)
    word, shift = table.words().words[0], np.uint64(8 * column)
    middle = partition_node(word, shift, right, rows, values, start, stop, new_rows, new_values)
    left_rows, right_rows, _ = naive.partition_rows(
        rows[start:stop].tolist(), lambda row: right[table.codes[column, row]] == 1, table.weights, 1
    )
    assert middle == start + len(left_rows)
    assert new_rows[start:stop].tolist() == left_rows + right_rows
    words_by_row = dict(zip(rows.tolist(), values.tolist(), strict=True))
    assert new_values[start:stop].tolist() == [words_by_row[row] for row in left_rows + right_rows]
    assert (np.delete(new_rows, np.s_[start:stop]) == 999).all()


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n_columns=st.sampled_from([1, 8, 9, 17]),
    symmetric=st.booleans(),
    packed=st.booleans(),
)
def test_rows_of_each_node_are_partitioned(seed, n_columns, symmetric, packed):
    rng = np.random.default_rng(seed)
    table = naive.draw_table(seed, 40, [256] * n_columns, missing=0.1, heaviest=3)
    rows = rng.permutation(40)[:33].astype(np.uint32)
    values = words_of(table, rows, packed, rng)
    bounds = np.sort(np.concatenate([[0, 33], rng.integers(0, 34, size=3)]))
    features, tables = random_splits(rng, table, 1 if symmetric else 4)
    new_rows, new_values = np.full(33, 999, dtype=np.uint32), np.full_like(values, 999)
    new_bounds, kept = np.empty(9, dtype=np.int64), np.empty(4, dtype=np.bool_)
    n_splits, free = len(features), np.zeros(n_columns, dtype=np.int64)
    for node in range(4):
        kept[node] = features[0 if symmetric else node] < 0 or rng.random() < 0.3
    splits = TreeSplits(
        features=features,
        codes=np.zeros(n_splits, dtype=np.int64),
        missing_left=np.zeros(n_splits, dtype=np.bool_),
        gains=np.zeros(n_splits),
        tables=tables,
        kept=kept,
    )
    rules = SplitRules(symmetric=symmetric, l2=1.0, min_rows=1, constraints=free)
    level = LevelRows(rows=rows, values=values, bounds=bounds)
    children = LevelRows(rows=new_rows, values=new_values, bounds=new_bounds)
    partition_level(packed_table(table.words()), rules, level, splits, children)
    expected_rows, expected_bounds = [], [0]
    for node, (start, stop) in enumerate(pairwise(bounds)):
        split = 0 if symmetric else node
        rule = None
        if not kept[node]:
            codes, right = table.codes[features[split]], tables[split]
            rule = lambda row, codes=codes, right=right: right[codes[row]] == 1  # noqa: E731
        left_rows, right_rows, _ = naive.partition_rows(rows[start:stop].tolist(), rule, table.weights, 1)
        expected_rows += left_rows + right_rows
        expected_bounds += [start + len(left_rows), stop]
    assert new_rows.tolist() == expected_rows
    assert new_bounds.tolist() == expected_bounds
    words_by_row = dict(zip(rows.tolist(), values.tolist(), strict=True))
    assert new_values.tolist() == [words_by_row[row] for row in expected_rows]


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n_columns=st.sampled_from([1, 9]),
    symmetric=st.booleans(),
    packed=st.booleans(),
    min_rows=st.sampled_from([1, 2, 4]),
)
def test_nodes_with_too_small_children_are_kept_and_smaller_children_are_marked(
    seed, n_columns, symmetric, packed, min_rows
):
    rng = np.random.default_rng(seed)
    table = naive.draw_table(seed, 40, [256] * n_columns, missing=0.1, heaviest=3)
    rows = rng.permutation(40)[:33].astype(np.uint32)
    values = words_of(table, rows, packed, rng)
    bounds = np.sort(np.concatenate([[0, 33], rng.integers(0, 34, size=3)]))
    features, tables = random_splits(rng, table, 1 if symmetric else 4)
    histograms = np.zeros((4, table.words().n_bins * values.shape[1]), dtype=np.int64)
    for node, (start, stop) in enumerate(pairwise(bounds)):
        if start < stop:
            histograms[node] = naive.histogram(table.codes, rows[start:stop], values[start:stop], table.n_codes)
    n_splits, free = len(features), np.zeros(n_columns, dtype=np.int64)
    kept, smaller = np.zeros(4, dtype=np.bool_), np.full(4, 9, dtype=np.uint8)
    splits = TreeSplits(
        features=features,
        codes=np.zeros(n_splits, dtype=np.int64),
        missing_left=np.zeros(n_splits, dtype=np.bool_),
        gains=np.zeros(n_splits),
        tables=tables,
        kept=kept,
    )
    rules = SplitRules(symmetric=symmetric, l2=1.0, min_rows=min_rows, constraints=free)
    form = SumFormat(n_words=values.shape[1], n_scores=1, count_bits=COUNT_BITS, units=np.ones(4))
    mark_children(histograms, packed_table(table.words()), rules, form, splits, smaller)
    for node, (start, stop) in enumerate(pairwise(bounds)):
        split = 0 if symmetric else node
        rule = None
        if features[split] >= 0:
            codes, right = table.codes[features[split]], tables[split]
            rule = lambda row, codes=codes, right=right: right[codes[row]] == 1  # noqa: E731
        left_rows, right_rows, is_kept = naive.partition_rows(rows[start:stop].tolist(), rule, table.weights, min_rows)
        assert kept[node] == is_kept
        is_left = not is_kept and table.weights[left_rows].sum() < table.weights[right_rows].sum()
        assert smaller[node] == (0 if is_left else 1)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n_columns=st.sampled_from([1, 8, 9, 17]),
    symmetric=st.booleans(),
    depth=st.integers(1, 5),
)
def test_leaves_are_those_of_a_plain_walk(seed, n_columns, symmetric, depth):
    rng = np.random.default_rng(seed)
    table = naive.draw_table(seed, 30, [256] * n_columns, missing=0.1)
    features, tables = random_splits(rng, table, depth if symmetric else 2**depth - 1)
    tree = SimpleNamespace(depth=depth, symmetric=symmetric, features=features, tables=tables)
    rows = rng.permutation(30)[:20].astype(np.uint32)
    leaves = np.full(30, 999, dtype=np.uint16)
    find_leaves(table.words().words, rows, depth, symmetric, features, tables, leaves)
    by_tables = np.ones(n_columns, dtype=bool)
    expected = np.full(30, 999)
    for row in rows:
        expected[row] = naive.leaf_of(tree, table.codes[:, row], table.n_codes, by_tables)
    np.testing.assert_array_equal(leaves, expected)


def test_leaves_are_written_by_row():
    leaves = np.full(6, 999, dtype=np.uint16)
    write_leaves(np.array([4, 0, 5, 2], dtype=np.uint32), np.array([0, 1, 1, 3, 4]), leaves)
    assert leaves.tolist() == [2, 999, 3, 999, 0, 2]
