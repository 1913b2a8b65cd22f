"""Edges of bins against naive loops."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.bins import code_of, masses, masses_by_bin

from surefoot.data import BinEdges
from surefoot.data.bin_edges import midpoints

finite = st.floats(allow_nan=False, allow_infinity=False)
some_values = st.one_of(
    st.lists(st.one_of(st.integers(-5, 5).map(float), st.just(float("nan"))), max_size=60),
    st.lists(st.one_of(finite, st.just(float("nan"))), max_size=60),
).map(lambda numbers: np.array(numbers, dtype=float))
some_bins = st.integers(2, 12)


@settings(deadline=None)
@given(values=some_values)
def test_every_distinct_value_has_its_own_bin_if_there_are_enough_bins(values):
    distinct = list(masses(values))
    for max_bins in (None, max(2, len(distinct))):
        edges = BinEdges.from_values(values, max_bins)
        assert edges.low.tolist() == edges.high.tolist() == distinct
        assert len(edges) == len(distinct)


@settings(deadline=None)
@given(values=some_values, max_bins=some_bins)
def test_bins_cover_the_values_in_order(values, max_bins):
    edges = BinEdges.from_values(values, max_bins)
    distinct = list(masses(values))
    assert len(edges) <= max_bins
    assert len(edges) == len(edges.low) == len(edges.high)
    assert (edges.low <= edges.high).all()
    assert (edges.high[:-1] < edges.low[1:]).all()
    assert set(edges.low) | set(edges.high) <= set(distinct)
    for value in distinct:  # in exactly one bin
        assert ((edges.low <= value) & (value <= edges.high)).sum() == 1
    if distinct:
        assert edges.low[0] == distinct[0]
        assert edges.high[-1] == distinct[-1]


@settings(deadline=None)
@given(values=some_values, max_bins=some_bins)
def test_thresholds_are_midway_and_separate_the_bins(values, max_bins):
    edges = BinEdges.from_values(values, max_bins)
    for k, threshold in enumerate(edges.thresholds):
        below, above = float(edges.high[k]), float(edges.low[k + 1])
        assert below <= threshold < above
        middle = below / 2 + above / 2
        if below < middle < above:
            assert threshold == middle
    for value in masses(values):
        code = code_of(value, edges.thresholds, None)
        assert edges.low[code] <= value <= edges.high[code]


@settings(deadline=None)
@given(below=finite, above=finite)
def test_midpoints_separate_two_values(below, above):
    below, above = min(below, above), max(below, above)
    if below == above:
        return
    middle = midpoints(np.array([below]), np.array([above]))[0]
    assert below <= middle < above
    assert np.isfinite(middle)


@settings(deadline=None)
@given(data=st.data(), max_bins=some_bins)
def test_a_weight_of_k_is_equivalent_to_k_copies(data, max_bins):
    values = data.draw(some_values)
    weights = data.draw(arrays(np.int64, len(values), elements=st.integers(0, 4)))
    weighted = BinEdges.from_values(values, max_bins, weights.astype(float))
    copied = BinEdges.from_values(np.repeat(values, weights), max_bins)
    np.testing.assert_array_equal(weighted.low, copied.low)
    np.testing.assert_array_equal(weighted.high, copied.high)


@pytest.mark.parametrize("factor", [1e6, 1e-6, 1 / 3, 1e300, 1e-300])
def test_edges_depend_on_the_ratios_of_weights_only(factor):
    differing = []
    for seed in range(30):
        generator = np.random.default_rng(seed)
        values = generator.normal(size=700)
        weights = generator.integers(0, 4, size=700).astype(float)
        plain = BinEdges.from_values(values, 255, weights)
        scaled = BinEdges.from_values(values, 255, weights * factor)
        if not (np.array_equal(plain.low, scaled.low) and np.array_equal(plain.high, scaled.high)):
            differing.append(seed)
    assert differing == []


@settings(deadline=None)
@given(
    light=st.lists(finite, min_size=20, max_size=80, unique=True),
    heavy=st.lists(finite, min_size=1, max_size=3, unique=True),
    max_bins=st.integers(6, 16),
)
def test_heavy_values_use_one_bin_each(light, heavy, max_bins):
    values = np.array(light + heavy * 100)
    edges = BinEdges.from_values(values, max_bins)
    assert len(edges) >= max_bins - 2 * len(set(heavy))  # plain quantiles would leave a bin or two


@settings(deadline=None)
@given(values=some_values, max_bins=some_bins)
def test_bins_of_several_values_have_at_most_twice_the_mean_weight(values, max_bins):
    edges = BinEdges.from_values(values, max_bins)
    mean_weight = sum(masses(values).values()) / max_bins
    for members in masses_by_bin(values, edges.thresholds):
        if len(members) > 1:  # a heavy value counts as one bin
            assert sum(min(mass, mean_weight) for mass in members.values()) <= 2 * mean_weight


def test_bins_of_many_equally_frequent_values_have_equal_size():
    values = np.random.default_rng(0).permutation(25_500).astype(float)
    edges = BinEdges.from_values(values, 255)
    assert len(edges) == 255
    np.testing.assert_array_equal(edges.high - edges.low, np.full(255, 99.0))


@settings(deadline=None)
@given(n=st.integers(1, 5000), max_bins=st.sampled_from([2, 3, 7, 63, 64, 255, 256]))
@example(n=200_000, max_bins=255)
@example(n=255 * 8, max_bins=255)
def test_bins_of_distinct_values_are_those_of_values_with_equal_weights(n, max_bins):
    values = np.random.default_rng(n).permutation(n) + 0.5
    edges, expected = (BinEdges.from_values(values, max_bins, weights) for weights in (None, np.ones(n)))
    assert edges.low.tolist() == expected.low.tolist()
    assert edges.high.tolist() == expected.high.tolist()


def test_zeros_of_both_signs_are_one_value():
    edges = BinEdges.from_values(np.array([-0.0, 0.0, 1.0]), 255)
    assert edges.low.tolist() == [0.0, 1.0]


def test_values_without_weight_make_no_bins():
    edges = BinEdges.from_values(np.array([1.0, 2.0, 3.0]), 255, np.array([1.0, 0.0, 2.0]))
    assert edges.low.tolist() == [1.0, 3.0]
    assert edges.thresholds.tolist() == [2.0]


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_no_values_make_no_bins(values):
    edges = BinEdges.from_values(np.array(values, dtype=float), 255)
    assert len(edges) == 0
    assert len(edges.thresholds) == 0


def test_the_values_are_not_modified():
    values = np.array([3.0, np.nan, -0.0, 1.0])
    before = values.tobytes()
    BinEdges.from_values(values, 2, np.ones(4))
    BinEdges.from_values(values, 2)
    assert values.tobytes() == before
