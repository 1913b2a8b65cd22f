"""The comparison of columns, checked with scipy's tests and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefoot.shift.column_shift import chi_square_cells, compare_columns, few_cells, holm, permutation_p_value
from surefoot.shift.shift_report_tables import ColumnPair

NAN = float("nan")


def compare(values, target, is_category=False):
    pair = ColumnPair("x", is_category, np.array(values, dtype=float), np.array(target, dtype=float))
    return compare_columns([pair])[0]


def stability(expected, actual):
    """The textbook's index of two lists of counts, half a row added to each."""
    first, second = np.array(expected) + 0.5, np.array(actual) + 0.5
    p, q = first / first.sum(), second / second.sum()
    return sum((b - a) * np.log(b / a) for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize("digits", [1, 8])
@pytest.mark.parametrize("sizes", [(30, 40), (500, 300), (12_000, 50)])
def test_numbers_are_compared_as_scipy_does(sizes, digits):
    generator = np.random.default_rng(sizes[0])
    values, target = (generator.normal(size=size).round(digits) for size in sizes)
    column = compare(values, target + 0.3)
    expected = stats.ks_2samp(values, target + 0.3)
    assert column.test == "Kolmogorov-Smirnov"
    assert (column.distance, column.distance_p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert column.p_value == column.distance_p_value  # one column, nothing missing: nothing to correct
    assert column.shifted == (expected.pvalue < 0.05 and expected.statistic >= 0.1)


def test_categories_are_compared_as_scipy_does():
    counts = np.array([[30, 50, 20], [40, 20, 10]])
    values, target = (np.repeat([0, 1, 2], row) for row in counts)
    column = compare(values, target, is_category=True)
    assert column.test == "chi-square"
    assert column.distance_p_value == pytest.approx(stats.chi2_contingency(counts).pvalue, rel=1e-12)
    assert column.distance == pytest.approx((abs(0.3 - 4 / 7) + abs(0.5 - 2 / 7) + abs(0.2 - 1 / 7)) / 2)
    assert column.stability_index == pytest.approx(stability(*counts))


@pytest.mark.parametrize("is_category", [False, True])
def test_two_values_are_compared_by_fishers_exact_test(is_category):
    counts = np.array([[97, 3], [80, 20]])
    values, target = (np.repeat([0, 1], row) for row in counts)
    column = compare(values, target, is_category)
    assert column.test == "Fisher"
    assert column.distance == pytest.approx(0.17)
    assert column.distance == pytest.approx(stats.ks_2samp(values, target).statistic)
    assert column.distance_p_value == stats.fisher_exact(counts)[1]
    assert column.stability_index == pytest.approx(stability(*counts))


def test_missing_values_are_tested_too_with_a_correction():
    generator = np.random.default_rng(0)
    values, target = generator.normal(size=100), generator.normal(size=80)
    expected = stats.ks_2samp(values[:90], target[:50])
    values[90:], target[50:] = NAN, NAN
    column = compare(values, target)
    assert (column.missing, column.missing_target) == (0.1, 0.375)
    assert column.missing_p_value == stats.fisher_exact([[90, 10], [50, 30]])[1]
    assert (column.distance, column.distance_p_value) == (expected.statistic, expected.pvalue)
    assert column.p_value == 2 * min(column.missing_p_value, column.distance_p_value)
    assert column.shifted


def test_the_index_has_ten_bins_that_are_equally_full_in_the_first_table():
    generator = np.random.default_rng(0)
    values, target = generator.permutation(1000), generator.normal(400, 200, size=500).round()
    edges = np.array([-np.inf, *np.arange(99.5, 999, 100), np.inf])
    expected = stability(np.histogram(values, edges)[0], np.histogram(target, edges)[0])
    assert len(edges) == 11
    assert compare(values, target).stability_index == pytest.approx(expected)


def test_missing_values_are_a_bin_of_the_index():
    column = compare([0, 0, 1, 2, NAN], [0, 1, NAN, NAN, NAN, NAN])
    assert column.stability_index == pytest.approx(stability([2, 1, 1, 1], [1, 1, 0, 4]))


def test_unseen_is_a_fraction_of_the_targets_rows():
    assert compare([1, 2, 3, NAN], [0.5, 1, 3, 3.5, NAN]).unseen == pytest.approx(2 / 5)
    assert compare([0, 0, 2], [1, 1, 2, NAN], is_category=True).unseen == pytest.approx(2 / 4)
    assert compare([NAN, NAN], [1, NAN]).unseen == pytest.approx(1 / 2)


@settings(deadline=None, max_examples=200)
@given(counts=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=40))
def test_cells_are_large_enough_and_keep_every_row(counts):
    table = np.array(counts, dtype=float).T
    table[:, 0] += 1  # no side is empty
    table = table[:, table.any(axis=0)]
    cells = chi_square_cells(table)
    np.testing.assert_array_equal(cells.sum(axis=1), table.sum(axis=1))
    if cells.shape[1] > 1:
        assert stats.contingency.expected_freq(cells).min() >= 5 - 1e-9
    frequent = stats.contingency.expected_freq(table).min(axis=0) >= 5 + 1e-9
    assert cells.shape[1] >= max(1, frequent.sum())


def test_rare_categories_are_pooled_with_their_neighbours():
    counts = np.array([[50, 3, 3, 50, 3, 3, 1], [50, 3, 3, 50, 3, 3, 1]])
    np.testing.assert_array_equal(chi_square_cells(counts), [[50, 50, 6, 7], [50, 50, 6, 7]])


@pytest.mark.parametrize("n_categories", [2, 5, 40, 2000])
def test_the_false_positive_rate_for_categories(n_categories):
    generator = np.random.default_rng(n_categories)
    shares = generator.dirichlet(np.ones(n_categories))
    draws = [[generator.choice(n_categories, size, p=shares) for size in (300, 150)] for _ in range(400)]
    wrong = np.mean([compare(*draw, is_category=True).p_value < 0.05 for draw in draws])
    assert wrong <= stats.binom.ppf(0.9999, 400, 0.05) / 400


@pytest.mark.parametrize("n_categories", [4, 60, 2000])
@pytest.mark.parametrize("n_target", [2, 9])
def test_the_false_positive_rate_for_small_targets(n_categories, n_target):
    generator = np.random.default_rng(n_categories)
    shares = generator.dirichlet(np.ones(n_categories))
    draws = [[generator.choice(n_categories, size, p=shares) for size in (200, n_target)] for _ in range(150)]
    columns = [compare(*draw, is_category=True) for draw in draws]
    assert {"permutation"} <= {column.test for column in columns} <= {"permutation", "Fisher", "none"}
    assert sum(column.shifted for column in columns) <= stats.binom.ppf(0.9999, 150, 0.05)


def test_shuffles_agree_with_the_exact_p_value():
    two = np.array([[40, 3], [8, 4]])
    odds = stats.hypergeom(55, 7, 12)
    counts = np.arange(8)
    as_unlikely = np.abs(counts - odds.mean()) >= abs(4 - odds.mean()) - 1e-9  # chi-square orders tables by it
    assert permutation_p_value(two) == pytest.approx(odds.pmf(counts)[as_unlikely].sum(), abs=0.004)
    large = np.array([[300, 200, 150, 90], [250, 220, 170, 110]])
    assert permutation_p_value(large) == pytest.approx(stats.chi2_contingency(large).pvalue, abs=0.02)
    assert permutation_p_value(large) == permutation_p_value(large)


@pytest.mark.parametrize(
    ("values", "target", "outcome"),
    [
        (np.arange(2000) % 5, [5] * 10, "shifted"),
        ([5] * 10, np.arange(2000) % 5, "shifted"),
        (np.arange(2000) % 500, [1000] * 10, "shifted"),
        (np.arange(500), 1000 + np.arange(10), "shifted"),
        ([0] * 1940 + [*range(1, 31)] * 2, [0] * 88 + [40] * 12, "shifted"),
        ([0] * 1940 + [*range(1, 31)] * 2, [0] * 91 + [40] * 9, "differs slightly"),
    ],
)
def test_a_few_rows_with_new_categories_are_detected(values, target, outcome):
    assert chi_square_cells(np.stack([np.bincount(side, minlength=1010) for side in (values, target)])).shape[1] == 1
    column = compare(values, target, is_category=True)
    assert (column.test, column.p_value < 0.05, column.outcome) == ("permutation", True, outcome)
    assert column.stability_index > (0.08 if outcome == "shifted" else 0.07)


@settings(deadline=None)
@given(counts=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), min_size=3, max_size=60), most=st.integers(0))
def test_there_are_at_least_two_cells(counts, most):
    table = np.array(counts).T
    table[1, most % len(counts)] += 10_000
    cells = few_cells(table)
    assert 2 <= cells.shape[1] <= 10
    np.testing.assert_array_equal(cells.sum(axis=1), table.sum(axis=1))
    assert cells.any(axis=0).all()
    if len(counts) <= 10:
        np.testing.assert_array_equal(cells, table)


@pytest.mark.parametrize(
    ("values", "target", "is_category"),
    [
        ([1.0], [2.0], False),
        ([1.0], [2.0], True),
        ([1, 2, 3], [4, 5, 6], False),  # 2 of 20 orders are as extreme
        ([1, 2, 3], [4, 5, 6], True),
        (range(30), [100], False),  # 2 of 31
        (np.arange(500), [600], True),  # one of ten bins
        ([0, 1] * 100, [1], True),
        ([0, 1] * 5, [NAN], True),
        ([NAN] * 9, [1.0], False),
        ([NAN] * 30, [NAN] * 30, False),
    ],
)
def test_differences_that_cannot_be_significant_are_not_tested(values, target, is_category):
    column = compare(values, target, is_category)
    assert (column.test, column.outcome, column.shifted) == ("none", "not tested", False)
    assert np.isnan(column.distance_p_value)


@pytest.mark.parametrize(
    ("values", "target", "is_category", "p_value"),
    [
        ([5.0] * 30, [7.0], True, 1 / 31),
        (range(50), [100], False, 2 / 51),
        (range(12_000), [-1], False, 2 / 12_001),  # by the asymptotic formula it would be 0
        ([1, 2, 3, 4], [5, 6, 7, 8], False, 2 / 70),
    ],
)
def test_few_rows_are_tested_if_possible(values, target, is_category, p_value):
    column = compare(values, target, is_category)
    assert column.shifted
    assert column.p_value == pytest.approx(p_value)


@pytest.mark.parametrize("n_rows", [5, 60, 135, 500, 1000, 2000])
def test_nearly_equal_tables_give_no_warning(n_rows):
    values = np.arange(n_rows)  # scipy's exact p-value is above 1 by rounding for some of these, and too large a number
    for step in (1, 2, 3, n_rows // 4):
        column = compare(values, values + step - 0.5)
        expected = stats.ks_2samp(values, values + step - 0.5, method="asymp")
        assert column.distance_p_value == pytest.approx(expected.pvalue, abs=0.06 if n_rows < 20 else 0.02)


def test_shift_among_many_rare_categories_is_detected():
    generator = np.random.default_rng(0)
    column = compare(generator.integers(0, 5000, 3000), generator.integers(4000, 10_000, 2000), is_category=True)
    assert column.shifted
    assert 0.7 < column.unseen <= 1
    assert np.isfinite(column.stability_index)


def test_holm_by_its_closed_form():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_array_equal(holm(np.array([0.5, 0.6, 0.0])), [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(holm(np.array([NAN, 0.02, NAN, 0.5])), [NAN, 0.04, NAN, 0.5])
    assert len(holm(np.array([]))) == 0


@settings(deadline=None)
@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_the_step_down_rule(p_values):
    p = np.array(p_values)
    corrected = holm(p)
    for level in (0.01, 0.05, 0.3):
        rejected, left = set(), sorted(range(len(p)), key=lambda j: p[j])
        while left and p[left[0]] * len(left) <= level:
            rejected.add(left.pop(0))
        assert {j for j in range(len(p)) if corrected[j] <= level} == rejected


def test_p_values_hold_for_all_columns_together():
    generator = np.random.default_rng(0)
    pairs = [ColumnPair(str(j), False, generator.normal(size=60), generator.normal(size=60)) for j in range(6)]
    alone = np.array([compare(pair.values, pair.target).p_value for pair in pairs])
    together = np.array([column.p_value for column in compare_columns(pairs)])
    np.testing.assert_array_equal(together, holm(alone))
    assert (together >= alone).all()


@pytest.mark.parametrize("is_category", [False, True])
def test_equal_or_empty_columns_have_not_shifted(is_category):
    constant = compare([5.0] * 30, [5.0] * 20, is_category)
    assert (constant.distance, constant.p_value, constant.stability_index, constant.shifted) == (0, 1, 0, False)
    assert constant.outcome == "not shifted"
    empty = compare([NAN] * 30, [NAN] * 20, is_category)
    assert np.isnan(empty.distance)
    assert (empty.test, empty.p_value, empty.stability_index, empty.shifted) == ("none", 1, 0, False)
    assert (empty.missing, empty.missing_target, empty.unseen, empty.size) == (1, 1, 0, 0)


@pytest.mark.parametrize("is_category", [False, True])
def test_a_table_without_values_and_another_constant_have_shifted(is_category):
    gone = compare([1.0, 2.0, 3.0] * 10, [NAN] * 20, is_category)
    assert (gone.shifted, gone.size, gone.unseen) == (True, 1.0, 0.0)
    assert 0 < gone.stability_index < np.inf
    other = compare([5.0] * 30, [7.0] * 20, is_category)
    assert (other.shifted, other.distance, other.unseen) == (True, 1.0, 1.0)
    assert other.stability_index == pytest.approx(stability([30, 0], [0, 20]))


def test_extreme_numbers_work():
    generator = np.random.default_rng(0)
    extremes = np.array([1e308, -1e308, 5e-324, 0.0, -0.0, 1.0])
    column = compare(generator.choice(extremes, 300), generator.choice(extremes, 200))
    assert not column.shifted
    assert np.isfinite([column.distance, column.p_value, column.stability_index]).all()


def test_a_small_distance_is_no_shift_even_if_it_is_significant():
    generator = np.random.default_rng(0)
    column = compare(generator.normal(size=20_000), generator.normal(0.06, size=20_000))
    assert column.p_value < 1e-4
    assert column.distance < 0.1
    assert (column.shifted, column.outcome) == (False, "differs slightly")


def test_missing_values_alone_can_be_a_shift():
    values, target = np.arange(500.0), np.arange(500.0)
    target[::5] = NAN
    assert compare(values, target).outcome == "shifted"
    target = np.arange(500.0)
    target[::20] = NAN
    assert compare(values, target).outcome == "differs slightly"


@pytest.mark.parametrize(("shift", "sizes"), [(0.0, (60, 90)), (0.3, (400, 150)), (1.0, (80, 80))])
def test_the_interval_for_numbers_contains_the_true_distance(shift, sizes):
    truth = 2 * stats.norm.cdf(shift / 2) - 1
    generator = np.random.default_rng(0)
    columns = [compare(generator.normal(size=sizes[0]), generator.normal(shift, size=sizes[1])) for _ in range(300)]
    held = np.mean([column.interval[0] <= truth <= column.interval[1] for column in columns])
    assert held >= stats.binom.ppf(0.001, 300, 0.95) / 300


@pytest.mark.parametrize("n_categories", [3, 40])
def test_the_interval_for_categories_contains_the_true_distance(n_categories):
    generator = np.random.default_rng(n_categories)
    first, second = generator.dirichlet(np.ones(n_categories), size=2)
    truth = np.abs(first - second).sum() / 2
    held = []
    for _ in range(300):
        draws = generator.choice(n_categories, 200, p=first), generator.choice(n_categories, 120, p=second)
        low, high = compare(*draws, is_category=True).interval
        held.append(low <= truth <= high)
    assert np.mean(held) >= stats.binom.ppf(0.001, 300, 0.95) / 300
