"""The search for splits against the exact gain of every split."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive

from surefoot._jit import kernel
from surefoot.trees import level_kernels
from surefoot.trees.gradient_grower import packed_table
from surefoot.trees.level_kernels import (
    ColumnSplits,
    LevelRows,
    NodeSums,
    SplitNoise,
    SplitRules,
    SumFormat,
    TreeSplits,
    make_search_buffers,
    search_histograms,
)

add_gains = kernel(level_kernels.add_gains)
add_packed_gains = kernel(level_kernels.add_packed_gains)
add_sparse_gains = kernel(level_kernels.add_sparse_gains)
choose_place = kernel(level_kernels.choose_place)
choose_splits = kernel(level_kernels.choose_splits)
highest = kernel(level_kernels.highest)
middle_place = kernel(level_kernels.middle_place)
noisy_place = kernel(level_kernels.noisy_place)
order_categories = kernel(level_kernels.order_categories)
reorder_codes = kernel(level_kernels.reorder_codes)
search_sorted_rows = kernel(level_kernels.search_sorted_rows)
sort_codes = kernel(level_kernels.sort_codes)
sum_codes = kernel(level_kernels.sum_codes)

COUNT_BITS = 12
L2 = (0.5, 3.0)
NONE = np.empty(0)  # no noise
seeds = st.integers(0, 10_000)


class Level:
    """Nodes with random rows of a table, and their histograms, packed or wide."""

    def __init__(self, seed, n_nodes, n_codes, *, n_scores=2, packed=True, missing=0.2, categorical=(), n_rows=40):
        self.table = naive.draw_table(
            seed, n_rows, n_codes, n_scores=n_scores, missing=missing, categorical=categorical, heaviest=3
        )
        node_of = np.random.default_rng(seed).integers(0, n_nodes, size=n_rows)
        self.rows = [np.flatnonzero(node_of == node) for node in range(n_nodes)]
        self.n_nodes, self.n_scores = n_nodes, n_scores
        self.n_words = 1 if packed else 2 + n_scores
        self.units = np.array([1.0] * (4 if packed else 2 + n_scores))
        self.form = SumFormat(n_words=self.n_words, n_scores=n_scores, count_bits=COUNT_BITS, units=self.units)
        self.packed = packed_table(self.table.words())
        self.has_missing = self.packed.has_missing
        self.counts = np.array([len(rows) for rows in self.rows])
        self.histograms = np.array([self.histogram(node) for node in range(n_nodes)], dtype=np.int64)

    def nodes(self, column):
        """The sums of each node, code by code."""
        n_codes, table = self.table.n_codes[column], self.table
        return [
            naive.sums_by_code(table.codes[column], n_codes, rows, table.scores, table.weights) for rows in self.rows
        ]

    def histogram(self, node):
        by_code = [sums for column in range(len(self.table.n_codes)) for sums in self.nodes(column)[node]]
        if self.n_words > 1:
            return [word for sums in by_code for word in sums]
        fields = [(*sums[2:], 0)[:2] for sums in by_code]
        return [naive.pack_fields(*pair, sums[0], COUNT_BITS) for pair, sums in zip(fields, by_code, strict=True)]

    def buffers(self):
        """Buffers for running, sums, total, work and gains."""
        n_sums = 4 if self.n_words == 1 else 2 + self.n_scores
        return make_search_buffers(self.form._replace(n_scores=n_sums - 2), self.n_nodes)

    def order(self, column, score, noise=NONE, nodes=slice(None)):
        """The codes of a categorical column by their mean score."""
        buffers = self.buffers()
        n_codes = order_categories(self.histograms[nodes], column, self.packed, self.form, score, noise, buffers)
        return buffers.orders[0, :n_codes]

    def search(self, symmetric, constraints, l2, min_rows, noise=NONE):
        n_columns = len(self.table.n_codes)
        best = column_splits(1 if symmetric else self.n_nodes, n_columns)
        rules = SplitRules(symmetric=symmetric, l2=l2, min_rows=min_rows, constraints=constraints)
        noise = SplitNoise(numbers=noise, windows=np.zeros(n_columns, dtype=np.int64))
        buffers = make_search_buffers(self.form, self.n_nodes)
        buffers.counts[:] = self.counts
        search_histograms(self.histograms, (0, n_columns), self.packed, rules, self.form, noise, buffers, best)
        return best

    def choose(self, symmetric, best):
        n_splits = 1 if symmetric else self.n_nodes
        splits = TreeSplits(
            features=np.empty(n_splits, dtype=np.int64),
            codes=np.zeros(n_splits, dtype=np.int64),
            missing_left=np.zeros(n_splits, dtype=np.bool_),
            gains=np.empty(n_splits),
            tables=np.empty((n_splits, 256), dtype=np.uint8),
            kept=np.zeros(self.n_nodes, dtype=np.bool_),
        )
        rules = rules_of(1, symmetric=symmetric)
        choose_splits(self.packed.is_categorical, self.histograms, self.packed, rules, self.form, best, splits)
        return splits

    def search_sorted(self, l2, noise=NONE):
        """As ``search`` of a shared split, from sorted rows; the last node is for rows of no node."""
        n_columns, weights = len(self.table.n_codes), self.table.weights
        best = column_splits(1, n_columns)
        nodes = np.full(len(weights), self.n_nodes, dtype=np.uint16)
        parts = np.zeros((len(weights), 3))
        for node, rows in enumerate(self.rows):
            nodes[rows] = node
            parts[rows, : self.n_scores] = (self.table.scores[:, rows] * weights[rows]).T
            parts[rows, 2] = weights[rows]
        level = LevelRows(
            rows=np.concatenate(self.rows).astype(np.uint32),
            values=np.zeros((len(weights), 1), dtype=np.int64),
            bounds=np.concatenate([[0], np.cumsum(self.counts)]),
        )
        totals, left = np.zeros((self.n_nodes + 1, 4)), np.zeros((self.n_nodes + 1, 4))
        sums = NodeSums(nodes=nodes, parts=parts, totals=totals, left=left)
        noise = SplitNoise(numbers=noise, windows=np.zeros(n_columns, dtype=np.int64))
        search_sorted_rows(self.packed, level, rules_of(n_columns, l2=l2), noise, self.buffers(), sums, best)
        return best


def rules_of(n_columns, *, symmetric=True, l2=1.0, min_rows=1, constraint=0):
    """The same constraint for all columns."""
    constraints = np.full(n_columns, constraint, dtype=np.int64)
    return SplitRules(symmetric=symmetric, l2=l2, min_rows=min_rows, constraints=constraints)


def column_splits(n_splits, n_columns):
    shape = n_splits, n_columns
    values, gains = np.empty(shape), np.empty(shape)
    places, sides = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    return ColumnSplits(values=values, gains=gains, places=places, sides=sides, orders=no_orders(shape))


def no_orders(shape):
    return np.zeros((*shape, 256), dtype=np.uint8)


def tolerance(nodes, l2):
    """Much more than rounding, much less than a gain from scores that are whole numbers."""
    squares = sum(sum(Fraction(score) ** 2 for score in sums[2:]) for node in nodes for sums in node)
    return 1e-11 * float(squares / Fraction(l2) + 1)


@settings(deadline=None, max_examples=30)
@given(seed=seeds, n_scores=st.integers(1, 3), packed=st.booleans())
def test_running_sums_of_codes(seed, n_scores, packed):
    level = Level(seed, 1, [9], n_scores=min(n_scores, 2) if packed else n_scores, packed=packed)
    running, sums, *_ = level.buffers()
    level.units[2:] = 0.25
    sum_codes(level.histograms[0], level.n_words, COUNT_BITS, level.units, running, sums)
    node = level.nodes(0)[0]
    for code in range(9):
        expected = naive.total_of(node[: code + 1], len(node[0]))
        assert sums[:2, code].tolist() == expected[:2]
        assert (sums[2 : 2 + level.n_scores, code] * 4).tolist() == expected[2:]


@settings(deadline=None, max_examples=60)
@given(
    seed=seeds,
    n_scores=st.integers(1, 3),
    l2=st.sampled_from(L2),
    min_rows=st.sampled_from([1.0, 2.0, 5.0]),
    constraint=st.sampled_from([-1, 0, 1]),
)
def test_gains_are_exact_but_for_rounding_and_are_added(seed, n_scores, l2, min_rows, constraint):
    level = Level(seed, 1, [9], n_scores=n_scores, packed=False, n_rows=12)
    node = level.nodes(0)[0]
    running, sums, total, work, gains, *_ = level.buffers()
    sum_codes(level.histograms[0], level.n_words, COUNT_BITS, level.units, running, sums)
    total[:] = sums[:, 8]
    gains[0, :9] = 7.0
    worth = add_gains(sums, total, 8, l2, min_rows, constraint, work, gains[0])
    whole = naive.total_of(node, len(node[0]))
    assert worth == pytest.approx(float(naive.worth(whole, l2)))
    for place in range(8):
        left = naive.total_of(node[: place + 1], len(node[0]))
        expected = naive.split_gain(left, whole, l2, min_rows, constraint)
        assert gains[0, place] == pytest.approx(7.0 + float(expected), abs=tolerance([node], l2))
    assert gains[0, 8] == 7.0


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n_scores=st.integers(1, 2), l2=st.sampled_from(L2))
def test_packed_gains_in_one_pass_are_the_same(seed, n_scores, l2):
    level = Level(seed, 1, [9], n_scores=n_scores, missing=0.0)
    running, sums, total, work, gains, *_ = level.buffers()
    sum_codes(level.histograms[0], 1, COUNT_BITS, level.units, running, sums)
    total[:] = sums[:, 8]
    gains[:, :9] = 7.0
    worth = add_gains(sums, total, 8, l2, 1.0, 0, work, gains[0])
    assert add_packed_gains(level.histograms[0], COUNT_BITS, level.units, 8, l2, running, gains[1]) == worth
    np.testing.assert_array_equal(gains[1, :9], gains[0, :9])


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n_scores=st.integers(1, 2), l2=st.sampled_from(L2))
def test_sparse_gains_change_only_at_codes_with_rows(seed, n_scores, l2):
    level = Level(seed, 1, [40], n_scores=n_scores, missing=0.0, n_rows=6)
    node = level.nodes(0)[0]
    jumps = np.full(40, 7.0)
    worth = add_sparse_gains(level.histograms[0], COUNT_BITS, level.units, 38, l2, jumps)
    whole = naive.total_of(node, len(node[0]))
    assert worth == pytest.approx(float(naive.worth(whole, l2)))
    gains = np.cumsum(jumps[:38] - 7.0)
    for place in range(38):
        left = naive.total_of(node[: place + 1], len(node[0]))
        assert gains[place] == pytest.approx(float(naive.split_gain(left, whole, l2)), abs=tolerance([node], l2))
        assert node[place][0] > 0 or jumps[place] == 7.0
    assert (jumps[38:] == 7.0).all()


@settings(deadline=None, max_examples=100)
@given(
    gains=st.lists(st.sampled_from([-0.5, 0.0, 1.0, 2.0 - 1e-9, 2.0]), min_size=1, max_size=12),
    tie=st.sampled_from([0.0, 1e-6]),
)
def test_the_chosen_place_is_in_the_middle_of_the_first_run_of_highest_gains(gains, tie):
    array = np.array([*gains, 99.0])
    best = highest(array, len(gains))
    assert (best, middle_place(array, len(gains), best - tie)) == naive.middle_place(gains, tie)


@settings(deadline=None, max_examples=60)
@given(seed=seeds, scale=st.sampled_from([0.0, 1e-9, 1.0]))
def test_noise_chooses_among_places_with_a_gain(seed, scale):
    rng = np.random.default_rng(seed)
    gains, noise = rng.choice([0.0, 0.1, 2.0, 2.0], size=12), rng.normal(size=12)
    gains[3] = 2.0
    buffer = np.empty(12)
    assert noisy_place(gains, 12, 0.1, scale, noise, buffer) == naive.noisy_place(gains, 0.1, scale, noise)
    value, gain, place = choose_place(gains, 12, 7.0, scale * noise, buffer)  # worth 7 and a gain of 2
    assert place == naive.noisy_place(gains, 7e-12, 3.0 * scale, noise)
    assert gain == gains[place] > 0.0
    assert value == pytest.approx(gain + 3.0 * scale * noise[-1])  # the noise of the column, not of the place


@pytest.mark.parametrize("noise", [NONE, np.full(2, 9.0)])
def test_without_a_place_there_is_no_gain(noise):
    buffer = np.empty(2)
    assert highest(np.array([5.0, 5.0]), 0) == -np.inf
    assert choose_place(np.array([5.0, 5.0]), 0, 1.0, noise, buffer) == (-np.inf, 0.0, 0)
    assert choose_place(np.array([1e-13, 0.0]), 2, 1.0, noise, buffer) == (
        -np.inf,
        0.0,
        0,
    )  # rounding


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n_scores=st.integers(1, 3), packed=st.booleans(), n_nodes=st.integers(1, 3))
def test_categories_are_sorted_by_their_mean_score(seed, n_scores, packed, n_nodes):
    n_scores = min(n_scores, 2) if packed else n_scores
    level = Level(seed, n_nodes, [4, 9], n_scores=n_scores, packed=packed, categorical=(1,))
    for score in range(n_scores):
        order = level.order(1, score)
        assert sorted(order.tolist()) == list(range(9))
        means = naive.category_means(level.nodes(1), score)
        in_order = [means[code] for code in order]
        assert in_order == sorted(in_order)


@pytest.mark.parametrize("packed", [True, False])
def test_noise_moves_rare_categories_most(packed):
    """The mean of each category is moved by its own noise, in standard errors."""
    level = Level(0, 2, [9], packed=packed, categorical=(0,))
    noise = np.random.default_rng(0).normal(size=256)
    order = level.order(0, 0, noise)
    counts = np.array([sum(node[code][1] for node in level.nodes(0)) for code in range(9)], dtype=float)
    means = np.array([float(mean) for mean in naive.category_means(level.nodes(0), 0)])
    moved = means + noise[254 - np.arange(9)] / np.sqrt(counts + 10.0)
    np.testing.assert_array_equal(order, np.argsort(moved))
    assert order.tolist() != np.argsort(means).tolist()


@pytest.mark.parametrize("n_words", [1, 3])
def test_codes_in_another_order(n_words):
    histogram = np.arange(5 * n_words)
    order = np.array([3, 0, 4, 1, 2])
    out = np.empty(5 * n_words, dtype=np.int64)
    reorder_codes(histogram, order, n_words, out)
    np.testing.assert_array_equal(out.reshape(5, n_words), histogram.reshape(5, n_words)[order])


@pytest.mark.parametrize("n_codes", [1, 2, 15, 16, 17, 255])
def test_codes_are_sorted_as_by_a_stable_sort_of_numpy(n_codes):
    means = np.random.default_rng(n_codes).integers(-9, 9, n_codes) / 4.0
    orders = np.empty((2, 256), dtype=np.int64)
    sort_codes(means, orders)
    np.testing.assert_array_equal(orders[0, :n_codes], np.argsort(means, kind="stable"))


@settings(deadline=None, max_examples=30)
@given(seed=seeds, symmetric=st.booleans(), noise=st.sampled_from([0.0, 0.1]))
def test_without_conditions_every_search_is_plain(seed, symmetric, noise):
    level = Level(seed, 3, [2, 3, 8, 70], missing=0.0)
    numbers = np.random.default_rng(seed).normal(size=4096 + 256) * noise if noise > 0.0 else NONE
    plain = level.search(symmetric, None, 3.0, 1, numbers)
    for ours, general in zip(plain, level.search(symmetric, np.zeros(4, dtype=np.int64), 3.0, 1, numbers), strict=True):
        np.testing.assert_array_equal(ours, general)


@settings(deadline=None, max_examples=60)
@given(
    seed=seeds,
    n_nodes=st.integers(1, 3),
    n_codes=st.sampled_from([8, 8, 70]),
    packed=st.booleans(),
    missing=st.sampled_from([0.0, 0.2]),
    l2=st.sampled_from(L2),
    min_rows=st.sampled_from([1, 4]),
    constraint=st.sampled_from([-1, 0, 1]),
)
def test_the_best_threshold_has_the_highest_gain(seed, n_nodes, n_codes, packed, missing, l2, min_rows, constraint):
    level = Level(seed, n_nodes, [n_codes], packed=packed, missing=missing)
    has_missing = bool(level.has_missing[0])
    value, gain, place, side = [of[0, 0] for of in level.search(True, np.array([constraint]), l2, min_rows)[:4]]
    nodes = level.nodes(0)
    gains = naive.number_gains(nodes, has_missing, l2, min_rows, constraint)
    assert value == gain or (value, gain) == (-np.inf, 0.0)
    assert_best_gain(gain, gains, (place, side), tolerance(nodes, l2))


def assert_best_gain(gain, gains, where, noise):
    """If any split has a gain, no other split gains more than the chosen one."""
    best = float(max(gains.values(), default=-1))
    assert gain <= noise or gain == pytest.approx(float(gains[where]), abs=noise)
    assert gain == pytest.approx(best, abs=noise) if best > noise else gain <= noise


def assert_best_categories(result, n_scores, nodes, l2, min_rows):
    """The chosen set is a prefix of an order by mean score, and no such prefix gains more."""
    gain, place, score = result[1:]
    parts = [part for k in range(n_scores) for part in naive.category_sets(nodes, k)]
    most = max((float(naive.set_gain(nodes, part, l2, min_rows)) for part in parts), default=-1.0)
    assert gain >= most - tolerance(nodes, l2) or most < tolerance(nodes, l2)
    assert 0 <= score < n_scores
    assert 0 <= place < len(nodes[0]) - 1


@settings(deadline=None, max_examples=40)
@given(
    seed=seeds,
    n_nodes=st.integers(1, 3),
    n_scores=st.integers(1, 3),
    packed=st.booleans(),
    l2=st.sampled_from(L2),
    min_rows=st.sampled_from([1, 4]),
)
def test_the_best_set_of_categories_is_the_best_first_part(seed, n_nodes, n_scores, packed, l2, min_rows):
    n_scores = 2 if packed else n_scores
    level = Level(seed, n_nodes, [7], n_scores=n_scores, packed=packed, categorical=(0,))
    result = [of[0, 0] for of in level.search(True, np.array([0]), l2, min_rows)[:4]]
    assert_best_categories(result, n_scores, level.nodes(0), l2, min_rows)


@settings(deadline=None, max_examples=40)
@given(
    seed=seeds,
    symmetric=st.booleans(),
    packed=st.booleans(),
    missing=st.sampled_from([0.0, 0.2]),
    min_rows=st.sampled_from([1, 4]),
)
def test_the_best_split_of_each_column_for_all_nodes_or_for_each(seed, symmetric, packed, missing, min_rows):
    level = Level(seed, 3, [1, 2, 3, 6, 6], packed=packed, missing=missing, categorical=(4,))
    constraints = np.array([0, 0, 1, -1, 0])
    values, gains, places, sides, _ = level.search(symmetric, constraints, 3.0, min_rows)
    for column in range(5):
        nodes = level.nodes(column)
        for row, of_row in enumerate([nodes] if symmetric else [[node] for node in nodes]):
            result = values[row, column], gains[row, column], places[row, column], sides[row, column]
            if column == 4:
                assert_best_categories(result, level.n_scores, of_row, 3.0, min_rows)
                continue
            every = naive.number_gains(of_row, level.has_missing[column], 3.0, min_rows, constraints[column])
            assert_best_gain(result[1], every, result[2:], tolerance(of_row, 3.0))


@settings(deadline=None, max_examples=60)
@given(
    seed=seeds,
    n_scores=st.integers(1, 2),
    missing=st.sampled_from([0.0, 0.2]),
    l2=st.sampled_from(L2),
    left_out=st.booleans(),
)
def test_the_best_split_of_each_column_from_sorted_rows(seed, n_scores, missing, l2, left_out):
    level = Level(seed, 4, [1, 2, 3, 6, 40], n_scores=n_scores, missing=missing)
    if left_out:  # rows of the table that the tree is not grown on
        level.rows[-1], level.counts[-1] = level.rows[-1][:0], 0
    values, gains, places, sides, _ = level.search_sorted(l2)
    for column in range(5):
        nodes = level.nodes(column)
        assert values[0, column] == (gains[0, column] if gains[0, column] > 0 else -np.inf)
        every = naive.number_gains(nodes, level.has_missing[column], l2, 1.0, 0)
        assert_best_gain(gains[0, column], every, (places[0, column], sides[0, column]), tolerance(nodes, l2))


@settings(deadline=None, max_examples=40)
@given(
    seed=seeds,
    symmetric=st.booleans(),
    packed=st.booleans(),
    missing=st.sampled_from([0.0, 0.2]),
    noisy=st.booleans(),
)
def test_the_column_with_the_highest_gain_is_chosen_and_codes_are_sent_accordingly(
    seed, symmetric, packed, missing, noisy
):
    level = Level(seed, 3, [6, 5, 7], packed=packed, missing=missing, categorical=(2,))
    rng = np.random.default_rng(seed)
    shape = (1 if symmetric else 3, 3)
    gains = rng.choice([-1.0, 0.0, 1.0, 2.0, 2.0], size=shape)
    places = rng.integers(0, 3, size=shape)
    sides = rng.integers(0, 2, size=shape)
    values = np.where(gains > 0, gains + noisy * rng.normal(size=shape), -np.inf)
    best = ColumnSplits(values=values, gains=gains, places=places, sides=sides, orders=no_orders(shape))
    for row in range(shape[0]):
        best.orders[row, 2, :7] = level.order(2, sides[row, 2], nodes=slice(None) if symmetric else slice(row, row + 1))
    features, codes, missing_left, split_gains, tables, _ = level.choose(symmetric, best)
    for row in range(shape[0]):
        if gains[row].max() <= 0:
            assert (features[row], split_gains[row], tables[row].any()) == (-1, 0.0, False)
            continue
        column = int(np.argmax(values[row]))  # the first if columns tie
        assert (features[row], codes[row], split_gains[row]) == (column, places[row, column], gains[row, column])
        n_codes = level.table.n_codes[column]
        nodes = level.nodes(column) if symmetric else [level.nodes(column)[row]]
        left = [code for code in range(n_codes) if tables[row, code] == 0]
        assert missing_left[row] == (n_codes - 1 in left)
        if column == 2:
            min_codes, max_codes = naive.fewest_and_most_with_rows(places[row, column] + 1, nodes, sides[row, column])
            assert min_codes <= sum(naive.rows_of_code(code, nodes) > 0 for code in left) <= max_codes
            assert naive.is_first_part(left, nodes, sides[row, column])
            assert naive.are_absent_with_the_larger_side(left, nodes)
            continue
        assert [code for code in left if code < n_codes - 1] == list(range(places[row, column] + 1))
        if any(node[-1][0] for node in nodes):
            assert missing_left[row] == (sides[row, column] == 1)
        elif not level.has_missing[column]:
            sizes = [
                sum(node[code][0] for node in nodes for code in side)
                for side in (left, set(range(n_codes)) - set(left))
            ]
            assert missing_left[row] == (sizes[0] >= sizes[1])


def test_categories_are_sorted_by_at_most_eight_scores():
    gains, sides = [], []
    for informative in (7, 8):  # the only score that differs between the categories
        level = Level(0, 1, [5], n_scores=9, packed=False, categorical=(0,), missing=0.0, n_rows=60)
        level.table.scores[:] = 0
        level.table.scores[informative] = np.array([3, -3, -3, 3, 0])[level.table.codes[0]]
        level.histograms = np.array([level.histogram(0)])
        result = level.search(False, np.zeros(1, dtype=np.int64), 1.0, 1)
        gains.append(result[1][0, 0])
        sides.append(result[3][0, 0])
    assert gains[0] > gains[1]
    assert sides[0] == 7


@settings(deadline=None, max_examples=40)
@given(seed=seeds, symmetric=st.booleans())
def test_one_score_sorts_categories_in_the_same_way_packed_or_wide(seed, symmetric):
    results = []
    for packed in (True, False):
        level = Level(seed, 3, [7], n_scores=1, packed=packed, categorical=(0,))
        results.append(level.search(symmetric, np.zeros(1, dtype=np.int64), 0.5, 1))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)
