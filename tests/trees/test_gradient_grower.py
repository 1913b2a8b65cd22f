"""Grown trees: every split is the best of all columns, thresholds and directions, by exact arithmetic."""

from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive
from scipy.stats import norm
from sklearn.tree import DecisionTreeRegressor

from surefoot._parallel import RowThreads
from surefoot.data import BinnedTable, Columns
from surefoot.trees import gradient_grower, packed_gradients, row_blocks
from surefoot.trees.gradient_grower import GradientTreeGrower, GrowthRules
from surefoot.trees.packed_codes import PackedCodes
from surefoot.trees.row_blocks import BlockRows

ONE_THREAD = RowThreads(1)
KEY = np.uint64(7)
SPLITS = ("features", "codes", "missing_left", "gains", "tables", "kept")
seeds = st.integers(0, 10_000)


def grow(table, rules, *, weights=None, rows=None, scores=None, threads=ONE_THREAD, key=KEY, noise=0.0):
    scores = table.scores if scores is None else scores
    grower = GradientTreeGrower(table.words(), len(scores), rules, weights, threads)
    n_rows = table.codes.shape[1]
    rows = BlockRows.of(np.arange(n_rows) if rows is None else np.sort(rows), n_rows)
    return deepcopy(grower.grow(scores, rows, key, noise))  # the next tree overwrites the grower's own


class Audit:
    """Follows the splits of a tree with plain lists of rows, and compares each with every other possible split.

    ``allowed`` says which columns may be split at below a set of other columns.
    """

    def __init__(self, table, tree, rules, rows=None, weights=None, allowed=None):
        self.table, self.tree, self.rules = table, tree, rules
        self.used, self.allowed = [frozenset()], allowed or (lambda used: range(len(table.codes)))
        n_rows = table.codes.shape[1]
        self.weights = np.ones(n_rows) if weights is None else weights
        self.nodes = [list(range(n_rows) if rows is None else rows)]
        self.has_missing = table.words().has_missing
        none = np.zeros(len(table.codes), dtype=np.int64)
        self.constraints = none if rules.constraints is None else rules.constraints
        self.l2 = Fraction(max(rules.l2, 1e-9))

    def run(self):
        for level in range(self.tree.depth):
            first = level if self.tree.symmetric else (1 << level) - 1
            if self.tree.symmetric:
                self.check_split(first, self.nodes, self.used[0])
            else:
                for place, (node, used) in enumerate(zip(self.nodes, self.used, strict=True)):
                    self.check_split(first + place, [node], used)
            self.partition(level, first)
        for leaf, rows in enumerate(self.nodes):
            assert (self.tree.leaves[rows] == leaf).all()

    def sums(self, column, nodes):
        table = self.table
        n_codes, codes = table.n_codes[column], table.codes[column]
        nodes = [rows for rows in nodes if rows] or [[]]
        return [naive.sums_by_code(codes, n_codes, rows, table.scores, self.weights) for rows in nodes]

    def column_gains(self, column, nodes):
        """The exact gain of every split of a column: thresholds, or prefixes of the order of categories."""
        sums, min_rows = self.sums(column, nodes), self.rules.min_samples_leaf
        if self.table.is_categorical[column]:
            sets = [part for k in range(len(self.table.scores)) for part in naive.category_sets(sums, k)]
            return {tuple(part): naive.set_gain(sums, part, self.l2, min_rows) for part in sets}
        return naive.number_gains(sums, self.has_missing[column], self.l2, min_rows, self.constraints[column])

    def check_split(self, split, nodes, used):
        tree, allowed = self.tree, self.allowed(used)
        if not any(nodes):
            assert tree.features[split] == -1
            return
        columns = range(len(self.table.codes))
        every = [self.column_gains(column, nodes) if column in allowed else {} for column in columns]
        best = max((gain for gains in every for gain in gains.values()), default=Fraction(0))
        worths = [naive.worth(naive.total_of(sums, len(sums[0])), self.l2) for sums in self.sums(0, nodes)]
        noise = Fraction(1e-12) * (sum(worths) + sum(self.table.scores.ravel() ** 2))
        feature = int(tree.features[split])
        if feature < 0:
            assert best <= noise
            return
        if self.table.is_categorical[feature]:
            gain = self.check_categories(split, feature, nodes)
        else:
            gain = self.check_threshold(split, every[feature])
        assert gain >= best - noise
        assert gain > 0
        assert tree.gains[split] == pytest.approx(float(gain), abs=float(noise))
        assert all(
            max(gains.values(), default=gain - 1) < gain for gains in every[:feature]
        )  # the first if columns tie

    def check_threshold(self, split, gains):
        """The threshold is in the middle of the run of thresholds with the same gain."""
        tree = self.tree
        code, feature = int(tree.codes[split]), tree.features[split]
        side = int(tree.missing_left[split]) if self.has_missing[feature] else 0
        run = [code]
        while gains.get((run[0] - 1, side)) == gains[code, side]:
            run.insert(0, run[0] - 1)
        while gains.get((run[-1] + 1, side)) == gains[code, side]:
            run.append(run[-1] + 1)
        assert code == run[0] + len(run) // 2
        return gains[code, side]

    def check_categories(self, split, feature, nodes):
        sums = self.sums(feature, nodes)
        n_codes = self.table.n_codes[feature]
        left = [code for code in range(n_codes) if self.tree.tables[split, code] == 0]
        assert any(naive.is_first_part(left, sums, k) for k in range(len(self.table.scores)))
        assert naive.are_absent_with_the_larger_side(left, sums)
        return naive.set_gain(sums, left, self.l2, self.rules.min_samples_leaf)

    def partition(self, level, first):
        table, tree = self.table, self.tree
        children = []
        for place, rows in enumerate(self.nodes):
            split = first if tree.symmetric else first + place
            rule = None
            if tree.features[split] >= 0:
                rule = lambda row, split=split: naive.goes_right(  # noqa: E731
                    tree, split, table.codes[:, row], table.n_codes, table.is_categorical
                )
            left, right, kept = naive.partition_rows(rows, rule, self.weights, self.rules.min_samples_leaf)
            assert tree.kept[(1 << level) - 1 + place] == kept
            children += [left, right]
        self.nodes = children
        if tree.symmetric:
            self.used = [used | {int(tree.features[first])} for used in self.used]
        else:
            splits = enumerate(self.used, first)
            below = [used | ({int(tree.features[k])} if tree.features[k] >= 0 else set()) for k, used in splits]
            self.used = [used for used in below for _ in range(2)]


@settings(deadline=None, max_examples=60)
@given(
    seed=seeds,
    symmetric=st.booleans(),
    n_scores=st.integers(1, 3),
    missing=st.sampled_from([0.0, 0.2]),
    min_rows=st.sampled_from([1, 3]),
    l2=st.sampled_from([0.0, 0.5, 3.0]),
)
def test_every_split_has_the_highest_gain(seed, symmetric, n_scores, missing, min_rows, l2):
    table = naive.draw_table(seed, 40, [7, 30, 2, 5], n_scores=n_scores, missing=missing)
    rules = GrowthRules(3, symmetric, min_rows, l2)
    Audit(table, grow(table, rules), rules).run()


@settings(deadline=None, max_examples=15)
@given(seed=seeds, n_scores=st.integers(1, 2), missing=st.sampled_from([0.0, 0.2]), l2=st.sampled_from([0.0, 3.0]))
def test_every_split_from_sorted_rows_has_the_highest_gain(seed, n_scores, missing, l2):
    table = naive.draw_table(seed, 40, [120, 90, 2, 5], n_scores=n_scores, missing=missing, heaviest=3)
    rules = GrowthRules(4, True, 1, l2)
    assert GradientTreeGrower(table.words(), n_scores, rules, table.weights, ONE_THREAD)._sorted_level == 1
    Audit(table, grow(table, rules, weights=table.weights), rules, weights=table.weights).run()


@settings(deadline=None, max_examples=40)
@given(seed=seeds, symmetric=st.booleans(), n_scores=st.integers(2, 3), missing=st.sampled_from([0.0, 0.2]))
def test_every_split_with_categories_has_the_highest_gain(seed, symmetric, n_scores, missing):
    table = naive.draw_table(seed, 40, [7, 9], n_scores=n_scores, missing=missing, categorical=(1,))
    rules = GrowthRules(3, symmetric, 2, 1.0)
    Audit(table, grow(table, rules), rules).run()


def test_categories_are_split_as_well_as_by_any_set():
    """With one score and equally many rows for each category, no set gains more than the best prefix of the order."""
    rng = np.random.default_rng(0)
    codes = np.tile(np.arange(6, dtype=np.uint8), 30)[np.newaxis]
    for _ in range(10):
        scores = rng.integers(-9, 10, size=(1, 180)).astype(float)
        table = naive.CodedTable(codes, np.array([7]), scores, np.array([True]))
        rules = GrowthRules(1, False, 1, 1e-9)
        tree = grow(table, rules)
        sums = Audit(table, tree, rules).sums(0, [range(180)])
        sets = [[code for code in range(6) if number >> code & 1] for number in range(1, 63)]
        assert tree.gains[0] == pytest.approx(float(max(naive.set_gain(sums, part, 1e-9) for part in sets)), rel=1e-9)


@settings(deadline=None, max_examples=30)
@given(seed=seeds, symmetric=st.booleans(), n_scores=st.integers(1, 3), min_rows=st.sampled_from([1, 4]))
def test_every_split_under_monotone_constraints_has_the_highest_gain(seed, symmetric, n_scores, min_rows):
    table = naive.draw_table(seed, 40, [7, 30, 5], n_scores=n_scores, missing=0.1)
    rules = GrowthRules(3, symmetric, min_rows, 1.0, constraints=(1, -1, 0))
    Audit(table, grow(table, rules), rules).run()


@pytest.mark.parametrize("rise", [1, -1])
def test_a_constraint_forbids_splits_in_the_other_direction(rise):
    codes = np.arange(10, dtype=np.uint8)[np.newaxis]
    table = naive.CodedTable(codes, np.array([11]), np.arange(-4.5, 5.0)[np.newaxis], np.zeros(1, dtype=bool))
    tree = grow(table, GrowthRules(1, False, 1, 1.0, constraints=(rise,)))
    assert (tree.features[0] == 0) == (rise == 1)


@pytest.mark.parametrize("depth", range(1, 11))
@pytest.mark.parametrize("symmetric", [True, False])
def test_trees_of_any_depth(depth, symmetric):
    table = naive.draw_table(depth, 30, [6, 20], n_scores=2, missing=0.1)
    rules = GrowthRules(depth, symmetric, 1, 0.5)
    tree = grow(table, rules)
    assert len(tree.features) == (depth if symmetric else 2**depth - 1)
    Audit(table, tree, rules).run()


@pytest.mark.parametrize("n_columns", [1, 8, 9, 17])
@pytest.mark.parametrize("symmetric", [True, False])
def test_tables_of_any_width(n_columns, symmetric):
    table = naive.draw_table(n_columns, 40, [4] * n_columns, missing=0.1)
    table.scores[0] += 5.0 * (table.codes[-1] > 1)  # the last column is informative
    rules = GrowthRules(3, symmetric, 1, 1.0)
    tree = grow(table, rules)
    assert n_columns - 1 in tree.features
    Audit(table, tree, rules).run()


@pytest.mark.parametrize("symmetric", [True, False])
def test_columns_with_one_value_with_none_and_with_the_largest_number_of_values(symmetric):
    """One value; one value and missing ones; only missing values; 255 values and missing ones."""
    table = naive.draw_table(0, 600, [2, 2, 1, 256], n_scores=2)
    table.codes[1, ::3] = 1
    table.codes[3, ::7] = 255
    table.codes[3, 1:600:7][:85] = np.arange(170, 255)
    rules = GrowthRules(2, symmetric, 1, 1.0)
    tree = grow(table, rules)
    assert 3 in tree.features
    Audit(table, tree, rules).run()


@settings(deadline=None, max_examples=30)
@given(seed=seeds, symmetric=st.booleans(), n_scores=st.integers(1, 3))
def test_a_subset_of_the_rows_grows_the_tree_of_that_subset(seed, symmetric, n_scores):
    table = naive.draw_table(seed, 60, [9, 30], n_scores=n_scores, missing=0.1)
    rows = np.random.default_rng(seed).permutation(60)[:35]
    rules = GrowthRules(3, symmetric, 2, 1.0)
    tree = grow(table, rules, rows=rows)
    Audit(table, tree, rules, rows=rows).run()
    alone = grow(table.take(rows), rules)
    np.testing.assert_array_equal(tree.features, alone.features)
    np.testing.assert_array_equal(tree.gains, alone.gains)
    np.testing.assert_array_equal(tree.leaves[rows], alone.leaves)


@pytest.mark.parametrize("n_scores", [1, 2])
@pytest.mark.parametrize("categorical", [(), (2,)])
@settings(deadline=None, max_examples=15)
@given(seed=seeds, symmetric=st.booleans(), missing=st.sampled_from([0.0, 0.2]), min_rows=st.sampled_from([1, 4]))
def test_packed_and_wide_sums_grow_the_same_tree(n_scores, categorical, seed, symmetric, missing, min_rows):
    table = naive.draw_table(seed, 80, [9, 200, 6], n_scores=n_scores, missing=missing, categorical=categorical)
    rules = GrowthRules(4, symmetric, min_rows, 1.0)
    packed = grow(table, rules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_gradients, "MAX_PACKED", 0)
        wide = grow(table, rules)
    for name in ("features", "codes", "missing_left", "tables", "kept", "leaves"):
        np.testing.assert_array_equal(getattr(packed, name), getattr(wide, name), err_msg=name)
    np.testing.assert_allclose(
        packed.gains, wide.gains, rtol=1e-9
    )  # packed, nodes with few rows are searched otherwise


def test_only_whole_weights_and_one_or_two_scores_are_packed():
    words = naive.draw_table(0, 10, [4]).words()
    for n_scores, weights, packed in [(2, None, True), (1, np.full(10, 3.0), True), (3, None, False)]:
        assert GradientTreeGrower(words, n_scores, GrowthRules(2), weights, ONE_THREAD).format.packed == packed
    assert not GradientTreeGrower(words, 1, GrowthRules(2), np.full(10, 0.5), ONE_THREAD).format.packed
    assert not GradientTreeGrower(words, 1, GrowthRules(2), np.full(10, 2.0**18), ONE_THREAD).format.packed


@settings(deadline=None, max_examples=30)
@given(seed=seeds, symmetric=st.booleans(), n_scores=st.integers(1, 2))
def test_half_of_all_weights_and_of_l2_is_half_the_gain(seed, symmetric, n_scores):
    table = naive.draw_table(seed, 60, [9, 30], n_scores=n_scores, missing=0.1)
    whole = grow(table, GrowthRules(3, symmetric, 3, 1.0))
    half = grow(table, GrowthRules(3, symmetric, 3, 0.5), weights=np.full(60, 0.5))
    for name in ("features", "codes", "missing_left", "leaves"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(half, name), err_msg=name)
    np.testing.assert_allclose(half.gains, whole.gains / 2, rtol=1e-9)


def weighted_and_copied(seed, symmetric, n_scores, min_rows, missing):
    """A tree on rows with weights 0 to 3, a tree on as many copies of each row, and the row of each copy."""
    categorical = (2,) if n_scores > 1 else ()
    table = naive.draw_table(seed, 60, [9, 60, 6], n_scores=n_scores, missing=missing, categorical=categorical)
    weights = np.random.default_rng(seed).integers(0, 4, size=60).astype(float)
    rules = GrowthRules(4, symmetric, min_rows, 1.0)
    rows = np.repeat(np.arange(60), weights.astype(int))
    return grow(table, rules, weights=weights), grow(table.take(rows), rules), rows


@pytest.mark.parametrize("n_scores", [1, 2, 3])
@pytest.mark.parametrize("min_rows", [1, 5])
@settings(deadline=None, max_examples=10)
@given(seed=seeds, symmetric=st.booleans(), missing=st.sampled_from([0.0, 0.2]))
def test_a_weight_of_k_is_k_rows_and_of_zero_none(seed, symmetric, n_scores, min_rows, missing):
    weighted, copied, rows = weighted_and_copied(seed, symmetric, n_scores, min_rows, missing)
    np.testing.assert_array_equal(weighted.features, copied.features)
    np.testing.assert_array_equal(weighted.codes, copied.codes)
    np.testing.assert_array_equal(weighted.leaves[rows], copied.leaves)
    np.testing.assert_allclose(weighted.gains, copied.gains, rtol=1e-9)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, symmetric=st.booleans(), n_scores=st.integers(1, 3), missing=st.sampled_from([0.0, 0.02]))
def test_missing_values_go_where_they_would_with_copies(seed, symmetric, n_scores, missing):
    """Also if only rows of weight zero have missing values."""
    weighted, copied, _ = weighted_and_copied(seed, symmetric, n_scores, 1, missing)
    np.testing.assert_array_equal(weighted.missing_left, copied.missing_left)


def test_missing_values_go_to_the_larger_side_if_no_row_of_the_tree_has_one():
    """Even if other rows of the table have missing values."""
    codes = np.array([[0, 0, 0, 0, 1, 2]], dtype=np.uint8)
    table = naive.CodedTable(codes, np.array([3]), np.array([[1.0, 1.0, 1.0, 1.0, -4.0, 0.0]]), np.zeros(1, dtype=bool))
    tree = grow(table, GrowthRules(1, False, 1, 1.0), rows=np.arange(5))
    assert tree.features[0] == 0
    assert tree.missing_left[0]


@pytest.mark.parametrize(("n_rows", "weight", "room"), [(2000, 50.0, 2.0**22), (4, 209_000.0, 2.0**21)])
def test_heavy_rows_do_not_overflow_their_sums(n_rows, weight, room):
    """A score is rounded and then multiplied by the weight of its row: the sum must not overflow."""
    score = np.floor(room / (weight * n_rows)) + 0.5
    codes = (np.arange(n_rows) % 2).astype(np.uint8)[np.newaxis]
    table = naive.CodedTable(codes, np.array([3]), np.full((2, n_rows), score), np.zeros(1, dtype=bool))
    tree = grow(table, GrowthRules(1, False, 1, 1.0), weights=np.full(n_rows, weight))
    assert tree.features[0] == -1  # equal scores


@settings(deadline=None, max_examples=60)
@given(seed=seeds, symmetric=st.booleans(), l2=st.sampled_from([0.0, 0.1, 0.3, 1.0, 3.0]))
def test_equal_scores_are_not_split(seed, symmetric, l2):
    """A gain from rounding alone must not lead to a split: new rows would fall into leaves without rows."""
    table = naive.draw_table(seed, 12, [5, 60], n_scores=1)
    table.scores[:] = 1 + seed % 50
    tree = grow(table, GrowthRules(3, symmetric, 1, l2))
    assert (tree.features == -1).all()
    assert (tree.gains == 0.0).all()


@settings(deadline=None, max_examples=60)
@given(seed=seeds, l2=st.sampled_from([0.1, 0.3, 1.0]))
def test_both_sides_of_a_depthwise_split_have_rows(seed, l2):
    table = naive.draw_table(seed, 20, [5, 60], n_scores=2)
    tree = grow(table, GrowthRules(5, False, 1, l2))
    per_node = np.bincount(tree.leaves, minlength=32)
    for level in range(4, -1, -1):
        for place in np.flatnonzero(tree.features[(1 << level) - 1 : (2 << level) - 1] >= 0):
            assert (per_node[2 * place : 2 * place + 2] > 0).all()
        per_node = per_node.reshape(-1, 2).sum(axis=1)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, symmetric=st.booleans(), min_rows=st.integers(2, 12), weighted=st.booleans())
def test_leaves_have_at_least_the_minimum_number_of_rows_or_none(seed, symmetric, min_rows, weighted):
    table = naive.draw_table(seed, 50, [9, 30], n_scores=1, missing=0.1, heaviest=3)
    weights = table.weights if weighted else np.ones(50)
    tree = grow(table, GrowthRules(4, symmetric, min_rows, 0.5), weights=weights)
    sizes = np.bincount(tree.leaves, weights=weights, minlength=16)
    assert ((sizes == 0) | (sizes >= min_rows)).all()


def test_a_node_that_cannot_be_split_keeps_its_rows_on_the_left():
    """The split of the second level would leave two rows in a leaf, but the minimum is three."""
    codes = np.array([[0] * 8 + [1] * 8, [0] * 2 + [1] * 6 + [0] * 4 + [1] * 4], dtype=np.uint8)
    scores = np.array([[5.0] * 8 + [-9.0] * 4 + [-1.0] * 4])
    table = naive.CodedTable(codes, np.array([3, 3]), scores, np.zeros(2, dtype=bool))
    tree = grow(table, GrowthRules(2, True, 3, 1.0))
    assert tree.features.tolist() == [0, 1]
    assert tree.kept.tolist() == [False, True, False]
    assert tree.leaves.tolist() == [0] * 8 + [2] * 4 + [3] * 4
    values = np.arange(8.0).reshape(4, 2)
    tree.repeat_kept(values)
    assert values.tolist() == [[0, 1], [0, 1], [4, 5], [6, 7]]


@settings(deadline=None, max_examples=40)
@given(seed=seeds, symmetric=st.booleans(), depth=st.integers(1, 5))
def test_rows_assigned_to_leaves_get_the_values_of_the_rows_that_grew_the_tree(seed, symmetric, depth):
    table = naive.draw_table(seed, 60, [9, 30, 5], n_scores=2, missing=0.1, categorical=(2,))
    tree = grow(table, GrowthRules(depth, symmetric, 4, 0.5))
    grown = tree.leaves.copy()
    tree.assign_leaves(table.words().words, np.arange(60, dtype=np.uint32))
    plain = [naive.leaf_of(tree, table.codes[:, i], table.n_codes, table.is_categorical) for i in range(60)]
    np.testing.assert_array_equal(tree.leaves, plain)
    values = np.arange(2.0**depth)[:, np.newaxis]
    tree.repeat_kept(values)
    np.testing.assert_array_equal(values[tree.leaves, 0], values[grown, 0])


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_feature_of_every_node(symmetric):
    table = naive.draw_table(0, 60, [9, 30, 5])
    tree = grow(table, GrowthRules(3, symmetric, 1, 0.5))
    expected = tree.features.tolist()
    if symmetric:
        a, b, c = expected
        expected = [a, b, b, c, c, c, c]
    assert tree.node_features().tolist() == expected


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("n_scores", "noise"), [(2, 0.0), (3, 0.0), (2, 1.0)])
def test_the_same_tree_for_any_number_of_threads(symmetric, n_scores, noise):
    rng = np.random.default_rng(0)
    table = naive.draw_table(0, 3000, [60] * 17, n_scores=n_scores, missing=0.05, categorical=(3, 16))
    table.scores[:] = rng.normal(size=table.scores.shape)
    trees = []
    for n_threads in (1, 2, 3):
        with RowThreads(n_threads) as threads:
            trees.append(grow(table, GrowthRules(6, symmetric, 5, 3.0), threads=threads, noise=noise))
    for tree in trees[1:]:
        for name in (*SPLITS, "leaves"):
            assert getattr(tree, name).tobytes() == getattr(trees[0], name).tobytes(), name


@settings(deadline=None, max_examples=40)
@given(
    seed=seeds,
    symmetric=st.booleans(),
    n_scores=st.integers(1, 3),
    min_rows=st.sampled_from([1, 4]),
    block_rows=st.sampled_from([7, 32, 64]),
    n_threads=st.integers(1, 4),
    n_columns=st.sampled_from([3, 9, 17]),
)
def test_blocks_change_nothing(seed, symmetric, n_scores, min_rows, block_rows, n_threads, n_columns):
    """The same tree from blocks of rows, summed by several threads, as from one block in one call."""
    rng = np.random.default_rng(seed)
    table = naive.draw_table(seed, 100, [9, 60, 6] + [5] * (n_columns - 3), n_scores=n_scores, categorical=(2,))
    table.scores[:] = rng.integers(-9, 10, size=table.scores.shape)  # whole numbers: sums of floats are exact
    rows = np.flatnonzero(rng.random(100) < 0.7)
    rows = rows if len(rows) else np.arange(3)
    weights = table.weights if seed % 2 else None
    rules = GrowthRules(4, symmetric, min_rows, 1.0)
    whole = grow(table, rules, weights=weights, rows=rows, noise=seed % 3)
    with pytest.MonkeyPatch.context() as patch, RowThreads(n_threads) as threads:
        patch.setattr(row_blocks, "BLOCK_ROWS", block_rows)
        patch.setattr(gradient_grower, "MAX_PARTS_WORDS", 1 if seed % 5 == 0 else 1 << 25)
        divided = grow(table, rules, weights=weights, rows=rows, threads=threads, noise=seed % 3)
    for name in SPLITS:
        assert getattr(divided, name).tobytes() == getattr(whole, name).tobytes(), name
    assert divided.leaves[rows].tolist() == whole.leaves[rows].tolist()


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_grower_grows_each_tree_as_if_it_were_the_first(symmetric):
    rng = np.random.default_rng(1)
    table = naive.draw_table(1, 100, [9, 60, 6], n_scores=2, missing=0.1, categorical=(2,))
    rules = GrowthRules(4, symmetric, 3, 1.0)
    grower = GradientTreeGrower(table.words(), 2, rules, None, ONE_THREAD)
    for n_rows in (100, 20, 1, 60):
        table.scores[:] = rng.integers(-9, 10, size=(2, 100))
        rows = np.sort(rng.permutation(100)[:n_rows]).astype(np.uint32)
        again = grower.grow(table.scores, BlockRows.of(rows, 100), KEY)
        fresh = grow(table, rules, rows=rows)
        np.testing.assert_array_equal(again.leaves[rows], fresh.leaves[rows])
        for name in SPLITS:
            np.testing.assert_array_equal(getattr(again, name), getattr(fresh, name), err_msg=name)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_better_column_is_chosen_as_often_as_the_noise_implies(symmetric):
    """The noise of two places differs by ``sqrt(2) * noise`` standard errors of the root of the worth.

    The two columns have nearly the same gain: the better one is chosen as often as the normal distribution implies.
    """
    rng = np.random.default_rng(0)
    n_rows, n_trees = 400, 2000
    codes = np.repeat(np.array([[0, 1]], dtype=np.uint8), n_rows // 2, axis=1)
    codes = np.vstack([codes, codes])
    codes[1, :3] = 1
    scores = np.where(codes[0] == 0, 1.0, -1.0)[np.newaxis] + rng.normal(size=(1, n_rows))
    table = naive.CodedTable(codes, np.full(2, 3), scores, np.zeros(2, dtype=bool))
    rules = GrowthRules(1, symmetric, 1, 0.0)
    worth = scores.sum() ** 2 / n_rows
    halves = [[scores[0, column == side] for side in (0, 1)] for column in codes]
    gains = [sum(half.sum() ** 2 / len(half) for half in pair) - worth for pair in halves]
    assert gains[0] > gains[1]
    spread = np.abs(scores).mean() * np.sqrt(np.pi / 2)
    noise = 0.5
    errors = [noise * spread * np.sqrt(worth + gain) for gain in gains]
    expected = norm.cdf((gains[0] - gains[1]) / np.hypot(*errors))
    taken = [grow(table, rules, key=np.uint64(key), noise=noise) for key in range(n_trees)]
    first = np.mean([tree.features[0] == 0 for tree in taken])
    assert 0.6 < expected < 0.95
    assert first == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / n_trees))
    for tree in taken[:20]:  # the gain is recorded without the noise
        assert tree.gains[0] == pytest.approx(gains[int(tree.features[0])])


def test_noise_chooses_among_columns_and_thresholds_that_tie():
    """Over many trees, every tied split is chosen; without noise always the same."""
    codes = np.array([[0, 0, 9, 9]] * 3, dtype=np.uint8)
    table = naive.CodedTable(codes, np.full(3, 11), np.array([[1.0, 1.0, -1.0, -1.0]]), np.zeros(3, dtype=bool))
    chosen = {noise: set() for noise in (0.0, 1e-6)}
    for key in range(300):
        for noise, splits in chosen.items():
            tree = grow(table, GrowthRules(1, False, 1, 1.0), key=np.uint64(key), noise=noise)
            splits.add((int(tree.features[0]), int(tree.codes[0])))
    assert chosen[0.0] == {(0, 4)}
    assert chosen[1e-6] == {(column, code) for column in range(3) for code in range(9)}


def test_noise_does_not_favour_columns_with_many_places():
    """One column has a single place to split at, the other has nine with the same gain."""
    codes, n_trees = np.array([[0, 0, 1, 1], [0, 0, 9, 9]], dtype=np.uint8), 2000
    table = naive.CodedTable(codes, np.array([3, 11]), np.array([[1.0, 1.0, -1.0, -1.0]]), np.zeros(2, dtype=bool))
    rules = GrowthRules(1, False, 1, 1.0)
    taken = [int(grow(table, rules, key=np.uint64(key), noise=1.0).features[0]) for key in range(n_trees)]
    assert np.mean(taken) == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / n_trees))


@pytest.mark.parametrize("n_scores", [1, 3])
def test_the_order_of_the_rows_does_not_matter(n_scores):
    table = naive.draw_table(2, 200, [9, 60], n_scores=n_scores, missing=0.1)
    table.scores[:] = np.random.default_rng(2).normal(size=table.scores.shape)
    rules = GrowthRules(5, False, 2, 1.0)
    forwards, backwards = grow(table, rules), grow(table, rules, rows=np.arange(200)[::-1])
    for name in (*SPLITS, "leaves"):
        np.testing.assert_array_equal(getattr(forwards, name), getattr(backwards, name), err_msg=name)


@pytest.mark.parametrize("exponent", [-150, -30, 30, 100])
def test_the_unit_of_the_scores_does_not_matter(exponent):
    table = naive.draw_table(3, 100, [9, 60], n_scores=2, missing=0.1)
    rules = GrowthRules(4, True, 2, 1.0)
    plain, scaled = grow(table, rules), grow(table, rules, scores=table.scores * 2.0**exponent)
    for name in ("features", "codes", "missing_left", "leaves"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(scaled, name), err_msg=name)
    np.testing.assert_allclose(scaled.gains, plain.gains * 4.0**exponent, rtol=1e-9)


def test_scores_of_zero_and_no_rows_grow_no_splits():
    table = naive.draw_table(4, 30, [9, 60], n_scores=2, largest=0)
    for symmetric in (True, False):
        rules = GrowthRules(3, symmetric, 1, 0.0)
        assert (grow(table, rules).features == -1).all()
        assert (grow(table, rules, rows=np.arange(0)).features == -1).all()


@pytest.mark.parametrize(("depth", "n_columns"), [(1, 1), (2, 3), (3, 9), (6, 4)])
@pytest.mark.parametrize("min_rows", [1, 5])
def test_the_partition_is_that_of_scikit_learn(depth, n_columns, min_rows):
    """One output, squared error, distinct values: the same leaves, so the same means on the training rows."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.permutation(120) for _ in range(n_columns)]).astype(float)
        y = np.rint(1000 * rng.normal(size=120) + 500 * (X[:, 0] > 60))
        binned = BinnedTable.from_columns(Columns.from_array(X))
        rules = GrowthRules(depth, False, min_rows, 0.0)
        grower = GradientTreeGrower(PackedCodes.from_table(binned), 1, rules, None, ONE_THREAD)
        leaves = grower.grow((y - y.mean())[np.newaxis], BlockRows.of(np.arange(120), 120), KEY).leaves
        means = np.bincount(leaves, weights=y, minlength=2**depth) / np.maximum(
            np.bincount(leaves, minlength=2**depth), 1
        )
        theirs = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=min_rows, random_state=0).fit(X, y)
        np.testing.assert_allclose(means[leaves], theirs.predict(X), rtol=1e-9)


def test_the_partition_is_that_of_scikit_learn_with_weights():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.permutation(100) for _ in range(3)]).astype(float)
        y, weights = np.rint(1000 * rng.normal(size=100)), rng.integers(1, 5, size=100) / 8
        binned = BinnedTable.from_columns(Columns.from_array(X))
        grower = GradientTreeGrower(
            PackedCodes.from_table(binned), 1, GrowthRules(3, False, 1, 0.0), weights, ONE_THREAD
        )
        leaves = grower.grow(y[np.newaxis], BlockRows.of(np.arange(100), 100), KEY).leaves
        totals = np.bincount(leaves, weights=weights, minlength=8)
        means = np.bincount(leaves, weights=y * weights, minlength=8) / np.maximum(totals, 1e-9)
        theirs = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(means[leaves], theirs.predict(X), rtol=1e-9)
