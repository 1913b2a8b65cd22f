"""Each kernel of V-matrix boosting against its twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import vmatrix_kernels as twin

from surefoot._jit import kernel
from surefoot.shift import dominance_gram, gram, leafwise_kernels, product_gram, step_gram
from surefoot.shift.leafwise_kernels import CATEGORY_SHRINKAGE, COUNT, CROSS, SLOPE, WEIGHT

flush_lanes = kernel(dominance_gram.flush_lanes, allocates=True)
lay_out_cells = kernel(step_gram.lay_out_cells, allocates=True)
sum_strips = kernel(step_gram.sum_strips, allocates=True)
sum_unordered_cells = kernel(step_gram.sum_unordered_cells, allocates=True)

seeds = st.integers(0, 10**6)
often = settings(max_examples=25, deadline=None)


class Example:
    """A table of codes with missing values, a leaf of some of its rows, and the ranks in the leaf."""

    def __init__(self, seed, n=23, weighted=True, categorical=True):
        self.rng = rng = np.random.default_rng(seed)
        n_codes = rng.integers(1, 14, 4)
        self.codes = np.stack([rng.integers(0, k + 1, n) for k in n_codes]).astype(np.uint8)
        self.missing = n_codes.astype(np.int64)
        self.is_categorical = np.array([False, categorical, False, False])
        self.codes[2] = np.minimum(self.codes[2], self.missing[2] - 1)  # one column without missing values
        self.n, self.rows = n, np.flatnonzero(rng.random(n) < 0.7)
        if not len(self.rows):
            self.rows = np.arange(3)
        self.weights = rng.integers(1, 6, n) / 2 if weighted else np.ones(n)
        self.slopes = rng.normal(size=n)
        self.ranks = np.zeros((4, 256), dtype=np.uint16)
        self.starts = np.zeros(5, dtype=np.int64)
        leafwise_kernels.rank_codes(
            self.codes, self.missing, self.is_categorical, self.rows, self.weights[self.rows], self.slopes[self.rows],
            self.ranks, self.starts,
        )  # fmt: skip

    @property
    def order(self):
        return gram.LeafOrder.from_ranks(self.codes, self.ranks, self.rows, self.weights, self.starts)

    @property
    def places(self):
        """The last inputs of the kernels that compute energies."""
        return self.order.order, self.starts, self.order.ends

    def energies(self, V, features=(0, 1, 2, 3)):
        return twin.prefix_energies(V, self.codes, features, self.ranks, self.rows, self.weights, self.starts)


def positive_definite(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T / n


@often
@given(seed=seeds)
def test_rank_codes(seed):
    e = Example(seed)
    ranks, starts = twin.rank_codes(
        e.codes, e.missing, e.is_categorical, e.rows, e.weights[e.rows], e.slopes[e.rows], CATEGORY_SHRINKAGE
    )
    np.testing.assert_array_equal(e.starts, starts)
    for f in range(4):
        np.testing.assert_array_equal(e.ranks[f, : e.missing[f] + 1], ranks[f, : e.missing[f] + 1])


@often
@given(seed=seeds)
def test_order_rows(seed):
    e = Example(seed)
    for f in range(4):
        ranks = e.ranks[f, e.codes[f, e.rows]]
        np.testing.assert_array_equal(e.order.order[f], np.argsort(ranks, kind="stable"))
        up_to = [(ranks <= r).sum() for r in range(e.starts[f + 1] - e.starts[f])]
        np.testing.assert_array_equal(e.order.ends[e.starts[f] : e.starts[f + 1]], up_to)


@often
@given(seed=seeds, n_sweeps=st.sampled_from([1, 2]))
def test_sweep_columns(seed, n_sweeps):
    e = Example(seed)
    values, features = e.rng.normal(size=(len(e.rows), 3)), np.array([0, 1, 3])
    sums = np.full((n_sweeps, e.starts[-1], 6), np.nan)
    leafwise_kernels.sweep_columns(e.codes, features, e.ranks, e.rows, values, e.starts, 2, sums)
    expected = twin.sweep_columns(e.codes, features, e.ranks, e.rows, values, e.starts, n_sweeps)
    np.testing.assert_allclose(sums[:, :, 2:5], expected, atol=1e-12)
    assert np.isnan(sums[:, :, [0, 1, 5]]).all()


@often
@given(seed=seeds, l2=st.sampled_from([0.0, 0.3, 5.0]), least_rows=st.integers(1, 4))
def test_find_best_split(seed, l2, least_rows):
    e = Example(seed, n=18)
    V, v_factor, squares_factor = positive_definite(e.rng, e.n), 0.7, 0.4
    others = np.array([i for i in range(e.n) if i not in set(e.rows.tolist())], dtype=int)
    leaves = [part for part in (others[::2], e.rows, others[1::2]) if len(part)]
    number = next(k for k, leaf in enumerate(leaves) if leaf is e.rows)
    K = 2 * (v_factor * V * e.weights[:, None] * e.weights + squares_factor * np.diag(e.weights))
    inside = np.stack([np.isin(np.arange(e.n), leaf) for leaf in leaves]).astype(float)
    inverse = np.linalg.inv(inside @ K @ inside.T + l2 * np.eye(len(leaves)))
    values = inverse @ inside @ (e.weights * e.slopes)
    columns = [np.ones(e.n), e.weights, e.weights * e.slopes, *(inside @ K)]
    assert (COUNT, WEIGHT, SLOPE, CROSS) == (0, 1, 2, 3)
    sums = twin.sweep_columns(e.codes, range(4), e.ranks, e.rows, np.stack(columns, axis=1)[e.rows], e.starts, 2)
    sides, energies = [], np.zeros(sums.shape[:2])
    for sweep in range(2):
        for f in range(4):
            rank, last = e.ranks[f, e.codes[f, e.rows]], e.starts[f + 1] - e.starts[f] - 1
            for r in range(last + 1):
                left = e.rows[(rank <= r) | ((rank == last) & (sweep == 1))].tolist()
                w = e.weights[left]
                energies[sweep, e.starts[f] + r] = w @ V[np.ix_(left, left)] @ w
                if r < last and least_rows <= len(left) <= len(rank) - least_rows:
                    sides.append(((sweep, f, r), left))
    best = np.empty(4)
    places = leafwise_kernels.LeafCandidates(starts=e.starts, sums=sums, energies=energies)
    system = leafwise_kernels.LeafSystem(
        n_leaves=len(leaves), inverse=inverse, values=values, v_factor=v_factor, squares_factor=squares_factor, l2=l2
    )
    leafwise_kernels.find_best_split(places, system, number, least_rows, best)
    parts = [leaf.tolist() for leaf in leaves]
    gains = twin.gains_of_splits(
        v_factor * V, squares_factor, e.weights, e.slopes, parts, number, l2, [left for _, left in sides]
    ).round(11)  # fmt: skip
    if not len(gains) or gains.max() <= 0:
        assert best[0] == pytest.approx(0.0, abs=1e-9)
    else:
        assert best[0] == pytest.approx(gains.max(), abs=1e-8)
        chosen = [gain for (place, _), gain in zip(sides, gains, strict=True) if place == tuple(best[1:].astype(int))]
        assert chosen[0] == pytest.approx(gains.max(), abs=1e-8)


def test_a_candidate_that_is_a_mix_of_the_leaves_gains_nothing():
    """Without l2 and squares, rows that have no part in the loss add no new unknown."""
    sums, energies = np.zeros((1, 3, CROSS + 1)), np.zeros((1, 3))
    sums[0, :, COUNT] = [1, 2, 3]
    best = np.full(4, np.nan)
    places = leafwise_kernels.LeafCandidates(starts=np.array([0, 3]), sums=sums, energies=energies)
    system = leafwise_kernels.LeafSystem(
        n_leaves=1, inverse=np.ones((1, 1)), values=np.ones(1), v_factor=1.0, squares_factor=0.0, l2=0.0
    )
    leafwise_kernels.find_best_split(places, system, 0, 1, best)
    np.testing.assert_array_equal(best, [0.0, -1.0, -1.0, -1.0])


@often
@given(seed=seeds)
def test_split_rows_of_leaf(seed):
    rng = np.random.default_rng(seed)
    column, goes_right = rng.integers(0, 9, 30).astype(np.uint8), rng.integers(0, 2, 256).astype(np.uint8)
    rows = np.flatnonzero(rng.random(30) < 0.5)
    left, right = np.empty_like(rows), np.empty_like(rows)
    n_left = leafwise_kernels.split_rows_of_leaf(column, goes_right, rows, left, right)
    assert left[:n_left].tolist() == [i for i in rows.tolist() if not goes_right[column[i]]]
    assert right[: len(rows) - n_left].tolist() == [i for i in rows.tolist() if goes_right[column[i]]]


@often
@given(seed=seeds, features=st.sampled_from([(0, 1, 2, 3), (1,), (3, 0)]))
def test_sum_submatrix_energies(seed, features):
    e = Example(seed)
    V, out = positive_definite(e.rng, e.n), np.full(e.starts[-1], np.nan)
    piece = np.ascontiguousarray(V[np.ix_(e.rows, e.rows)])
    gram.sum_submatrix_energies(piece, e.weights[e.rows], np.array(features), *e.places, out)
    np.testing.assert_allclose(out, e.energies(V, features), atol=1e-9)


def random_cells(rng, n):
    n_cells = rng.integers(1, 12, 3)
    starts = np.concatenate([[0], np.cumsum(n_cells)]).astype(np.int64)
    cell = np.stack([rng.integers(0, k, n) for k in n_cells]).astype(np.int32)
    return cell, starts, rng.random(starts[-1]), np.array([True, False, True])


@often
@given(seed=seeds, features=st.sampled_from([(0, 1, 2, 3), (2,)]))
def test_sum_cell_energies(seed, features):
    e = Example(seed)
    cells = random_cells(e.rng, e.n)
    out = np.full(e.starts[-1], np.nan)
    step_gram.sum_cell_energies(step_gram.CellArrays(*cells), e.rows, e.weights, np.array(features), *e.places, out)
    np.testing.assert_allclose(out, e.energies(twin.cells_matrix(*cells), features), atol=1e-9)


@often
@given(seed=seeds, n_cells=st.sampled_from([1, 5, 31, 32, 33, 100]))
def test_cells_in_strips(seed, n_cells):
    rng = np.random.default_rng(seed)
    mass, weights = rng.random(n_cells), rng.random(n_cells)
    shape = (-(-n_cells // step_gram.STRIPS), step_gram.STRIPS)
    places, masses, filled = np.empty(n_cells, dtype=np.uint32), np.full(shape, np.nan), np.zeros(shape)
    lay_out_cells(mass, places, masses)
    assert len(set(places.tolist())) == n_cells
    np.testing.assert_array_equal(masses.ravel()[places], mass)
    assert masses.sum() == pytest.approx(mass.sum())
    filled.ravel()[places] = weights
    running, squares = np.empty(step_gram.STRIPS), np.empty(step_gram.STRIPS)
    energy = sum_strips(filled, filled.sum(axis=0), masses, running, squares)
    assert energy == pytest.approx((mass * weights.cumsum() ** 2).sum())
    assert sum_unordered_cells(filled, masses) == pytest.approx((mass * weights**2).sum())


@often
@given(seed=seeds)
def test_products_and_pairs_of_cells(seed):
    rng = np.random.default_rng(seed)
    cell, starts, mass, ordered = random_cells(rng, 15)
    V, values, before = twin.cells_matrix(cell, starts, mass, ordered), rng.normal(size=15), rng.normal(size=15)
    out = before.copy()
    step_gram.multiply_cells(cell, starts, mass, ordered, values, out)
    np.testing.assert_allclose(out, before + V @ values, atol=1e-10)
    reached = np.array([twin.cells_matrix(cell[b : b + 1], np.array([0, starts[b + 1] - starts[b]]),
                        mass[starts[b] :], ordered[b : b + 1]).diagonal() for b in range(3)])  # fmt: skip
    pairs = np.ones((15, 15))
    step_gram.add_cell_pairs(cell, reached, ordered, pairs)
    np.testing.assert_allclose(pairs, 1 + V, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_bytes", [1, 3, 8])
def test_sum_bit_energies(weighted, n_bytes):
    for seed in range(5):
        e = Example(seed, weighted=weighted)
        bits, out = e.rng.integers(0, 256, (e.n, n_bytes)).astype(np.uint8), np.full(e.starts[-1], np.nan)
        features, Z = np.array([0, 1, 3]), twin.bits_of(bits)
        dominance = dominance_gram.Dominance(bits, dominance_gram.SPREAD, dominance_gram.UNPACKED, 1 / 7)
        dominance_gram.sum_bit_energies(dominance, e.rows, e.weights, not weighted, features, *e.places, out)
        np.testing.assert_allclose(out, e.energies(Z @ Z.T / 7, features), atol=1e-9)


@pytest.mark.parametrize("n", [255, 256, 510, 700])
def test_energies_of_more_rows_than_a_byte_can_count(n):
    """All bits set in all rows of one code: a lane of a byte would overflow."""
    bits, out = np.full((n, 2), 255, dtype=np.uint8), np.empty(2)
    order = np.arange(n, dtype=np.uint32)[np.newaxis]
    dominance = dominance_gram.Dominance(bits, dominance_gram.SPREAD, dominance_gram.UNPACKED, 1.0)
    places = order, np.array([0, 2]), np.array([n - 5, n])
    dominance_gram.sum_bit_energies(dominance, np.arange(n), np.ones(n), True, np.array([0]), *places, out)
    np.testing.assert_array_equal(out, [16 * (n - 5) ** 2, 16 * n**2])


@pytest.mark.parametrize("n_bytes", [1, 4, 7])
def test_products_with_bits(n_bytes):
    rng = np.random.default_rng(n_bytes)
    bits, values = rng.integers(0, 256, (20, n_bytes)).astype(np.uint8), rng.normal(size=20)
    values[3] = 0.0
    Z, sums = twin.bits_of(bits), np.ones(8 * n_bytes)
    dominance_gram.add_dominated(bits, dominance_gram.UNPACKED, values, 2, 17, sums)
    np.testing.assert_allclose(sums, 1 + values[2:17] @ Z[2:17], atol=1e-12)
    table, out = np.empty((n_bytes, 256)), np.full(20, np.nan)
    dominance_gram.sum_by_byte(dominance_gram.UNPACKED, sums, table)
    each_byte = twin.bits_of(np.arange(256, dtype=np.uint8)[:, np.newaxis])
    np.testing.assert_allclose(table, [each_byte @ sums[8 * k : 8 * k + 8] for k in range(n_bytes)], atol=1e-12)
    dominance_gram.sum_dominating(bits, table, 4, 19, out)
    np.testing.assert_allclose(out[4:19], Z[4:19] @ sums, atol=1e-12)
    assert np.isnan(out[:4]).all()
    assert np.isnan(out[19:]).all()


def test_flush_lanes():
    lane_bytes, counts = np.random.default_rng(0).integers(0, 256, (3, 8)).astype(np.uint8), np.ones(24)
    lanes = np.array([sum(int(byte) << (8 * k) for k, byte in enumerate(row)) for row in lane_bytes], dtype=np.uint64)
    flush_lanes(lanes, counts)
    np.testing.assert_array_equal(counts, 1.0 + lane_bytes.ravel())
    assert not lanes.any()


@often
@given(seed=seeds)
def test_products_over_features(seed):
    rng = np.random.default_rng(seed)
    chances, kinds = rng.random((3, 12)), np.stack([np.zeros(12), rng.integers(-1, 3, 12), np.zeros(12)]).astype(float)
    V, values = twin.products_matrix(chances, kinds, 0.5), rng.normal(size=12)
    out, pairs = np.ones(12), np.ones((12, 12))
    product_gram.multiply_rows(chances, kinds, values, 3, 10, 0.5, out)
    np.testing.assert_allclose(out[3:10], 1 + (V @ values)[3:10], atol=1e-12)
    np.testing.assert_array_equal(out[[0, 1, 2, 10, 11]], 1.0)
    product_gram.add_pair_products(chances, kinds, 0.5, 0, 5, pairs)
    product_gram.add_pair_products(chances, kinds, 0.5, 5, 12, pairs)
    np.testing.assert_allclose(pairs, 1 + V, atol=1e-12)
