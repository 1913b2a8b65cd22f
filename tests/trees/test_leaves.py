"""Sums over the rows of a leaf, and values added to the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive

from surefoot.trees import row_blocks
from surefoot.trees.leaves import (
    RowOutputs,
    RowsInBlocks,
    add_tree,
    bound_leaves,
    inherit_leaves,
    weighted_sums,
)
from surefoot.trees.level_kernels import LeafInputs, LeafSums, sum_leaves
from surefoot.trees.row_blocks import BlockRows

N_ROWS, N_LEAVES = 25, 4
seeds = st.integers(0, 10_000)


def drawn(seed):
    """Some rows in some order, and a leaf for every row of the table; some leaves may have no rows."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(N_ROWS)[: rng.integers(1, N_ROWS + 1)].astype(np.uint32)
    return rng, rows, rng.integers(0, N_LEAVES, size=N_ROWS).astype(np.uint16)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n_outputs=st.integers(1, 3), with_information=st.booleans())
def test_sums_of_leaves(seed, n_outputs, with_information):
    rng, rows, leaves = drawn(seed)
    steps, information = rng.normal(size=(n_outputs, N_ROWS)), rng.gamma(1.0, size=(n_outputs, N_ROWS))
    weights = rng.gamma(1.0, size=N_ROWS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_ROWS", int(rng.integers(4, 30)))
        blocks = BlockRows.of(np.sort(rows), N_ROWS)
    shape = blocks.n_blocks, N_LEAVES, n_outputs
    by_block = LeafSums.empty(*shape)
    inputs = LeafInputs(
        steps=steps,
        information=information if with_information else np.empty((0, 0)),
        weights=weights,
        rows=blocks.rows,
        starts=blocks.starts,
        sums=by_block,
    )
    for block in range(blocks.n_blocks):
        sum_leaves(inputs, (block, block + 1), leaves)
    sums, totals, counts, squares = (part.sum(axis=0) for part in by_block)
    if n_outputs == 2 and not with_information:
        assert squares == pytest.approx(float(weights[rows] @ steps[0, rows] ** 2), rel=1e-12)
    for leaf in range(N_LEAVES):
        in_leaf = [row for row in rows if leaves[row] == leaf]
        weight = float(naive.leaf_sum(np.ones(N_ROWS), weights, in_leaf))
        assert counts[leaf] == pytest.approx(weight, rel=1e-13)
        for k in range(n_outputs):
            assert sums[leaf, k] == pytest.approx(
                float(naive.leaf_sum(steps[k], weights, in_leaf)), rel=1e-12, abs=1e-13
            )
            known = float(naive.leaf_sum(information[k], weights, in_leaf)) if with_information else weight
            assert totals[leaf, k] == pytest.approx(known, rel=1e-13)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n_outputs=st.integers(1, 3), has_scale=st.booleans())
def test_a_tree_is_added_to_the_rows(seed, n_outputs, has_scale):
    rng, rows, leaves = drawn(seed)
    values, gains = rng.normal(size=(N_LEAVES, n_outputs)), rng.random(N_LEAVES)
    outputs = RowOutputs(rng.normal(size=(n_outputs, N_ROWS)), np.zeros(N_ROWS), 3 * rng.random(N_ROWS))
    raw, max_leverage, block_rows = outputs.raw.copy(), outputs.max_leverage, int(rng.integers(4, 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_ROWS", block_rows)
        drawn_rows, train = (
            BlockRows.of(np.sort(rows), N_ROWS),
            BlockRows.of(np.arange(N_ROWS, dtype=np.uint32), N_ROWS),
        )
    fractions, sums = rng.random(N_ROWS), np.zeros(train.n_blocks)
    given_rows = [RowsInBlocks(part.rows, part.starts) for part in (drawn_rows, train)]
    known = gains if has_scale else None
    for _ in range(3):
        for block in range(train.n_blocks):
            add_tree(leaves, values, known, *given_rows, fractions, block_rows, (block, block + 1), outputs, sums)
    for row in range(N_ROWS):
        np.testing.assert_allclose(outputs.raw[:, row], raw[:, row] + 3 * values[leaves[row]], rtol=1e-13, atol=1e-14)
        learned = min(3 * gains[leaves[row]], max_leverage[row]) if row in rows and has_scale else 0.0
        assert outputs.leverage[row] == pytest.approx(
            min(3 * gains[leaves[row]], max_leverage[row]) if learned else 0.0
        )
    for block in range(train.n_blocks):
        own = slice(train.starts[block], train.starts[block + 1])
        expected = float(outputs.raw[-1, own] @ fractions[own]) if has_scale else 0.0
        assert sums[block] == pytest.approx(expected, abs=1e-13)


@settings(deadline=None, max_examples=20)
@given(seed=seeds)
def test_weighted_sums_of_blocks(seed):
    rng, rows, _ = drawn(seed)
    values, fractions = rng.normal(size=N_ROWS), rng.random(len(rows))
    starts = np.array([0, len(rows) // 2, len(rows)])
    sums = np.empty(2)
    weighted_sums(values, fractions, rows, starts, sums)
    for block in range(2):
        own = slice(starts[block], starts[block + 1])
        assert sums[block] == pytest.approx(float(values[rows[own]] @ fractions[own]), abs=1e-13)


def constrained_tree(seed, depth):
    """Columns of the nodes (-1: no split), constraints of three columns, and sums and weights of the leaves."""
    rng = np.random.default_rng(seed)
    features = rng.integers(-1, 3, size=2**depth - 1)
    constraints = np.array([1, -1, 0])
    sums, totals = rng.normal(size=2**depth) * 5, rng.integers(1, 9, size=2**depth).astype(float)
    return rng, features, constraints, sums, totals


@settings(deadline=None, max_examples=60)
@given(seed=seeds, depth=st.integers(1, 5), l2=st.sampled_from([0.0, 3.0]))
def test_bounded_leaves_are_between_the_means_of_their_neighbours(seed, depth, l2):
    _, features, constraints, sums, totals = constrained_tree(seed, depth)
    values = sums / (totals + l2)
    expected = [
        float(naive.bound_leaf(leaf, value, features, constraints, sums, totals, l2))
        for leaf, value in enumerate(values)
    ]
    bound_leaves(features, constraints, sums, totals, l2, values)
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-13)


@settings(deadline=None, max_examples=60)
@given(seed=seeds, depth=st.integers(1, 5), symmetric=st.booleans(), l2=st.sampled_from([0.0, 1e-9, 3.0]))
def test_bounded_leaves_never_fall_along_a_rising_column(seed, depth, symmetric, l2):
    """Nor rise along a falling column, for any thresholds, also if a side has no rows."""
    rng, features, constraints, sums, totals = constrained_tree(seed, depth)
    thresholds = rng.integers(0, 4, size=2**depth - 1)
    if symmetric:
        level = 2 ** np.floor(np.log2(np.arange(1, 2**depth))).astype(int) - 1
        features, thresholds = features[level], thresholds[level]
    is_empty = rng.random(2**depth) < 0.3
    sums[is_empty], totals[is_empty] = 0.0, 0.0
    values = sums / np.maximum(totals + l2, 1e-300)
    bound_leaves(features, constraints, sums, totals, l2, values)
    assert np.isfinite(values).all()
    for point in rng.integers(0, 5, size=(20, 3)):
        for column in (0, 1):
            rows = np.repeat(point[np.newaxis], 5, axis=0)
            rows[:, column] = range(5)
            along = [values[walk(features, thresholds, row)] for row in rows]
            assert (np.diff(along) * constraints[column] >= 0).all()


def walk(features, thresholds, row):
    node = 0
    while node < len(features):
        node = 2 * node + 1 + (features[node] >= 0 and row[features[node]] > thresholds[node])
    return node - len(features)


@pytest.mark.parametrize(("rise", "empty"), [(1, 0), (1, 1), (-1, 0), (-1, 1)])
@pytest.mark.parametrize("total", [4.0, -4.0])
def test_a_side_without_rows_bounds_no_leaf_with_rows(rise, empty, total):
    """In a symmetric tree many sides have no rows: the mean of such a side is not known."""
    sums, totals = np.full(2, total), np.full(2, 2.0)
    sums[empty], totals[empty] = 0.0, 0.0
    values = sums / (totals + 1.0)
    bound_leaves(np.array([0]), np.array([rise]), sums, totals, 1.0, values)
    assert values[1 - empty] == total / 3.0
    assert (values[1] - values[0]) * rise >= 0


@pytest.mark.parametrize("seed", range(20))
def test_leaves_without_rows_inherit_the_step_of_their_sibling(seed):
    rng = np.random.default_rng(seed)
    n_leaves = 1 << int(rng.integers(1, 6))
    counts = rng.integers(1, 5, n_leaves) * (rng.random(n_leaves) < rng.choice([0.1, 0.5, 0.9]))
    steps, before = rng.normal(size=(n_leaves, 2)), rng.normal(size=(n_leaves, 2))
    values = before.copy()
    inherit_leaves(steps, counts.astype(np.float64), values)
    for leaf in range(n_leaves):
        sibling = leaf + 1 if leaf % 2 == 0 else leaf - 1
        inherits = counts[leaf] == 0 and counts[sibling] > 0
        np.testing.assert_array_equal(values[leaf], before[leaf] + (steps[sibling] if inherits else 0.0))
