"""Bags of rows against a naive draw from the same random numbers, and against their probabilities."""

from collections import Counter
from itertools import combinations, product
from math import comb, factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import bags as naive
from reference.split_mix import split_mix
from scipy.stats import chi2, chisquare

from surefoot._random import stream_key
from surefoot.selection import bagged_selection
from surefoot.selection.bagged_selection import BAGS, BagPool, draw_bags

PATHS = {
    "replace": (10, 7, True),
    "replace, more draws than rows": (6, 15, True),
    "replace, few of many rows": (400, 5, True),
    "direct": (10, 4, False),
    "direct, few of many rows": (400, 5, False),
    "half": (10, 5, False),
    "all but a few": (10, 8, False),
    "all but one": (7, 6, False),
    "one": (7, 1, False),
}
each_path = pytest.mark.parametrize(("n_rows", "size", "replace"), PATHS.values(), ids=PATHS)
MIN_P_VALUE = 1e-3  # seeds are fixed: a fair draw always fails or never


@st.composite
def pools(draw):
    n_rows, replace = draw(st.integers(2, 90)), draw(st.booleans())
    size = draw(st.integers(1, 2 * n_rows if replace else n_rows - 1))
    return BagPool(n_rows, size, replace, draw(st.integers(0, 2**31 - 1)))


def naive_bags(pool, n_bags):
    """The first bags of a pool, from the same random numbers."""
    draws = naive.draws_of(pool.n_rows, pool.size, pool.replace)
    words = split_mix(int(stream_key(pool.seed, BAGS)), n_bags * draws)
    each = [words[b * draws : (b + 1) * draws] for b in range(n_bags)]
    if pool.replace:
        return [naive.bag_with_replacement(bits, pool.n_rows) for bits in each]
    return [naive.bag_without_replacement(bits, pool.n_rows, pool.size) for bits in each]


@settings(deadline=None, max_examples=200)
@given(pool=pools())
def test_bags_equal_a_naive_draw(pool):
    assert pool.bags(0, 6).tolist() == naive_bags(pool, 6)


@settings(deadline=None)
@given(pool=pools(), first=st.integers(0, 30), length=st.integers(0, 10))
def test_a_block_of_bags_is_part_of_any_larger_block(pool, first, length):
    block = pool.bags(first, first + length)
    assert block.dtype == np.int32
    assert block.shape == (length, pool.size)
    np.testing.assert_array_equal(block, pool.bags(0, 45)[first : first + length])


def test_bags_with_large_numbers_do_not_depend_on_the_block():
    pool = BagPool(30, 25, False, 1)
    many = pool.bags(2_000_000_000, 2_000_000_100)  # indices of random numbers beyond 32 bits
    np.testing.assert_array_equal(pool.bags(2_000_000_099, 2_000_000_100), many[99:])
    assert len(np.unique(many, axis=0)) > 95


@settings(deadline=None)
@given(pool=pools())
def test_rows_ascend_and_repeat_only_with_replacement(pool):
    bags = pool.bags(0, 20)
    assert bags.min() >= 0
    assert bags.max() < pool.n_rows
    steps = np.diff(bags.astype(np.int64), axis=1)
    assert (steps >= 0).all()
    assert pool.replace or (steps > 0).all()


def test_seeds_and_bags_differ():
    first, second = (BagPool(40, 20, False, seed).bags(0, 200) for seed in (0, 1))
    assert len(np.unique(np.concatenate([first, second]), axis=0)) == 400


def either_tail(statistic, freedom):
    """The p-value of a chi-square statistic that is too large or too small."""
    return min(chi2.sf(statistic, freedom), chi2.cdf(statistic, freedom))


@each_path
def test_every_row_is_drawn_equally_often(n_rows, size, replace):
    n_bags = 40_000
    bags = BagPool(n_rows, size, replace, 11).bags(0, n_bags)
    counts = np.bincount(bags.ravel(), minlength=n_rows)
    statistic = ((counts - counts.mean()) ** 2).sum() / counts.mean()
    variance_factor = 1.0 if replace else (n_rows - size) / (n_rows - 1)  # distinct rows: less variance
    assert either_tail(statistic / variance_factor, n_rows - 1) > MIN_P_VALUE


@each_path
def test_the_inclusion_probability_of_a_row(n_rows, size, replace):
    pool, n_bags = BagPool(n_rows, size, replace, 5), 40_000
    holds = (pool.bags(0, n_bags) == n_rows // 2).any(axis=1).mean()
    assert abs(holds - pool.inclusion_probability) < 4.5 * np.sqrt(
        pool.inclusion_probability * (1 - pool.inclusion_probability) / n_bags
    )


def test_inclusion_probabilities_in_closed_form():
    assert BagPool(30, 25, False, 0).inclusion_probability == pytest.approx(25 / 30)
    assert BagPool(30, 25, True, 0).inclusion_probability == pytest.approx(1 - (29 / 30) ** 25)


def words_for(places, n_rows, shrinks):
    """Random numbers that draw given places, each from the middle of its range."""
    lefts = [n_rows - i if shrinks else n_rows for i in range(len(places))]
    return [int((place + 0.5) / left * 2**64) for place, left in zip(places, lefts, strict=True)]


@pytest.mark.parametrize(("n_rows", "size"), [(4, 1), (4, 2), (4, 3), (5, 2), (5, 3), (6, 4)])
def test_over_all_draws_each_bag_occurs_equally_often(n_rows, size):
    draws = naive.draws_of(n_rows, size, False)
    every = product(*(range(n_rows - i) for i in range(draws)))
    bits = np.array([words_for(places, n_rows, shrinks=True) for places in every], dtype=np.uint64)
    out = np.empty((len(bits), size), dtype=np.int32)
    draw_bags(bits, n_rows, False, draws != size, out)
    times = Counter(map(tuple, out.tolist()))
    assert set(times) == set(combinations(range(n_rows), size))
    assert set(times.values()) == {len(bits) // comb(n_rows, size)}
    for row in range(n_rows):  # without a row: each bag of the other rows, as often as any other
        others = {bag for bag in times if row not in bag}
        assert others == set(combinations([r for r in range(n_rows) if r != row], size))


@pytest.mark.parametrize(("n_rows", "size"), [(3, 2), (3, 4), (4, 3)])
def test_over_all_draws_with_replacement_each_sequence_counts_once(n_rows, size):
    every = list(product(range(n_rows), repeat=size))
    bits = np.array([words_for(places, n_rows, shrinks=False) for places in every], dtype=np.uint64)
    out = np.empty((len(bits), size), dtype=np.int32)
    draw_bags(bits, n_rows, True, False, out)
    times = Counter(map(tuple, out.tolist()))
    assert times == Counter(tuple(sorted(places)) for places in every)
    for row in range(n_rows):
        others = {bag: count for bag, count in times.items() if row not in bag}
        assert sum(others.values()) == (n_rows - 1) ** size


def probability_of(bag, n_rows, replace):
    """The probability of a bag among all bags of ``n_rows`` rows."""
    if not replace:
        return 1 / comb(n_rows, len(bag))
    orders = factorial(len(bag)) // prod(factorial(times) for times in Counter(bag).values())
    return orders / n_rows ** len(bag)


@pytest.mark.parametrize(("n_rows", "size", "replace"), [(5, 2, False), (6, 4, False), (6, 5, False), (4, 3, True)])
def test_bags_that_do_not_hold_a_row_are_bags_of_the_others(n_rows, size, replace):
    bags = BagPool(n_rows, size, replace, 3).bags(0, 60_000)
    for row in range(n_rows):
        lacking = bags[(bags != row).all(axis=1)]
        others = np.where(lacking > row, lacking - 1, lacking)  # row numbers in the table without this row
        times = Counter(map(tuple, others.tolist()))
        probabilities = {bag: probability_of(bag, n_rows - 1, replace) for bag in times}
        assert sum(probabilities.values()) == pytest.approx(1.0)  # every bag of the other rows occurred
        if len(times) > 1:
            expected = [len(lacking) * probabilities[bag] for bag in times]
            assert chisquare(list(times.values()), expected).pvalue > MIN_P_VALUE / n_rows


@pytest.mark.parametrize("replace", [True, False])
def test_scanning_and_sorting_give_the_same_bags(replace):
    words = np.array(split_mix(7, 50 * 6), dtype=np.uint64).reshape(50, 6)
    n_rows, out = 6 * bagged_selection.SCAN_RATIO + 1, {}
    for n in (n_rows - 1, n_rows):  # on both sides of the limit
        out[n] = np.empty((50, 6), dtype=np.int32)
        draw_bags(words, n, replace, False, out[n])
        if replace:
            expected = [naive.bag_with_replacement(bits, n) for bits in words.tolist()]
        else:
            expected = [naive.bag_without_replacement(bits, n, 6) for bits in words.tolist()]
        assert out[n].tolist() == expected
