"""Gradients as whole numbers against exact arithmetic, and the range of their sums."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import gradient_trees as naive
from scipy import stats

from surefoot._jit import kernel
from surefoot.trees.level_kernels import pack_rows, sum_codes, widen_rows
from surefoot.trees.packed_gradients import absolute_sums, field_bits

sum_codes, pack_rows, widen_rows = kernel(sum_codes), kernel(pack_rows), kernel(widen_rows)


def drawn(seed, n_scores, n_rows=20, whole=True):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_scores, n_rows))
    weights = rng.integers(0, 4, size=n_rows) * (1.0 if whole else 0.375)
    rows = rng.permutation(n_rows)[: rng.integers(1, n_rows + 1)].astype(np.uint32)
    return scores, weights, rows


def packed(scores, weights, rows, scales, rounds_randomly, key, count_bits):
    values = np.empty((len(rows), 1), dtype=np.int64)
    pack_rows(scores, weights, rows, np.append(scales, 0.0), rounds_randomly, key, count_bits, values)
    return values[:, 0]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), n_scores=st.integers(1, 4))
def test_absolute_sums(seed, n_scores):
    scores, weights, rows = drawn(seed, n_scores)
    starts, sums = np.array([0, len(rows) // 2, len(rows)]), np.empty((2, n_scores + 1))
    for own_weights in (weights, np.ones(len(weights))):
        is_weighted = own_weights is weights
        absolute_sums(scores, weights if is_weighted else np.empty(0), rows, starts, (0, 2), sums)
        for block in range(2):
            own = rows[starts[block] : starts[block + 1]]
            exact = [float(naive.absolute_sum(score, own_weights, own)) for score in scores]
            np.testing.assert_allclose(sums[block], [*exact, own_weights[own].sum()], rtol=1e-14)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    n_scores=st.integers(1, 2),
    count_bits=st.integers(6, 20),
    rounds_randomly=st.booleans(),
    key=st.integers(0, 2**63 - 1),
)
def test_the_word_of_a_row_is_its_fields_times_its_weight(seed, n_scores, count_bits, rounds_randomly, key):
    scores, weights, rows = drawn(seed, n_scores)
    scales = np.array([2.0**12, 2.0**9][:n_scores])
    words = packed(scores, weights, rows, scales, rounds_randomly, key, count_bits)
    for row, word in zip(rows.tolist(), words, strict=True):
        offsets = naive.dithers(row, key) if rounds_randomly else [0.5, 0.5]
        assert word == naive.pack_row(scores[:, row].tolist(), weights[row], scales, offsets, count_bits)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), count_bits=st.integers(5, 20), full=st.booleans())
def test_fields_of_a_sum_of_words_are_sums_of_fields(seed, count_bits, full):
    """Up to the largest sums that a field can hold, of either sign."""
    rng = np.random.default_rng(seed)
    largest = 2 ** (field_bits(count_bits) - 1) - 1
    n_codes = 8
    steps = largest // n_codes if full else 5
    fields = rng.integers(-steps, steps + 1, size=(n_codes, 2))
    if full:
        fields[:] = rng.choice([-steps, steps], size=2)
    counts = rng.integers(0, (2**count_bits - 1) // n_codes + 1, size=n_codes)
    words = [naive.pack_fields(int(a), int(b), int(c), count_bits) for (a, b), c in zip(fields, counts, strict=True)]
    assert max(map(abs, words)) < 2**63
    units = np.array([1.0, 1.0, 0.25, 2.0])
    sums = np.empty((4, 256))
    sum_codes(np.array(words), 1, count_bits, units, np.empty(256, dtype=np.int64), sums)
    np.testing.assert_array_equal(sums[0, :n_codes], np.cumsum(counts))
    np.testing.assert_array_equal(sums[1, :n_codes], np.cumsum(counts))
    np.testing.assert_array_equal(sums[2, :n_codes], np.cumsum(fields[:, 0]) * 0.25)
    np.testing.assert_array_equal(sums[3, :n_codes], np.cumsum(fields[:, 1]) * 2.0)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), n_scores=st.integers(1, 4), whole=st.booleans())
def test_wide_words_are_rounded_to_the_nearest(seed, n_scores, whole):
    scores, weights, rows = drawn(seed, n_scores, whole=whole)
    scores = np.rint(scores * 2**20) / 2**20  # so that a score times a weight is not rounded
    scales = 2.0 ** np.arange(10, 10 + n_scores)
    values = np.empty((len(rows), 2 + n_scores), dtype=np.int64)
    widen_rows(scores, weights, rows, scales, 2.0**7, values)
    for row, words in zip(rows, values.tolist(), strict=True):
        assert words == naive.widen_row(scores[:, row], weights[row], scales, 2.0**7)


def test_random_rounding_has_no_bias():
    """The mean of many rounded copies of 0.3 is 0.3, within five standard errors; the two scores are independent."""
    n = 20_000
    scores = np.array([np.full(n, 0.3), np.full(n, -0.3)])
    words = packed(scores, np.ones(n), np.arange(n, dtype=np.uint32), np.ones(2), True, 12345, 16)
    second = (words >> 16 << 40) >> 40
    first = ((words >> 16) - second) >> 24
    assert set(first.tolist()) == {0, 1}
    assert set(second.tolist()) == {-1, 0}
    error = np.sqrt(0.3 * 0.7 / n)
    assert abs(first.mean() - 0.3) < 5 * error
    assert abs(second.mean() + 0.3) < 5 * error
    assert stats.pearsonr(first, second).pvalue > 1e-6


@pytest.mark.parametrize("count_bits", [1, 7, 8, 20])
def test_fields_and_count_fit_a_word(count_bits):
    assert 2 * field_bits(count_bits) + count_bits in (63, 64)


def test_a_weight_of_two_is_exactly_two_rows():
    scores, _, rows = drawn(5, 2)
    scales = np.array([2.0**5, 2.0**5])
    once = packed(scores, np.ones(20), rows, scales, False, 0, 10)
    np.testing.assert_array_equal(packed(scores, np.full(20, 2.0), rows, scales, False, 0, 10), once + once)
    assert Fraction(int(once.sum())) % 2**10 == len(rows)
