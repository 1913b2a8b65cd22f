"""Statistics of the target by category: against plain loops and against scikit-learn's TargetEncoder."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.target_statistics import category, earlier_mean, full, ordered
from sklearn.preprocessing import TargetEncoder

from surefoot._exceptions import DataError, ParameterError
from surefoot._random import random_permutation, stream_key
from surefoot.data import target_statistics
from surefoot.data.target_statistics import TargetStatistics, describe_in_order, earlier_means

KEY = stream_key(3)
PAIRS = np.array([[0, 1]])


@st.composite
def problems(draw, least_weight=0):
    """Codes of two columns, two targets, whole weights (at least one above 0)."""
    n_rows = draw(st.integers(1, 20))
    codes = draw(arrays(np.int32, (2, n_rows), elements=st.integers(-1, 2)))
    targets = draw(arrays(np.float64, (2, n_rows), elements=st.integers(-4, 4).map(float)))
    weights = draw(arrays(np.float64, n_rows, elements=st.integers(least_weight, 3).map(float)))
    weights[draw(st.integers(0, n_rows - 1))] = 2.0
    return codes, targets, weights


def order_of(weights, key=KEY):
    """Rows with weight, as ``fit`` orders them."""
    counted = np.flatnonzero(weights > 0)
    return counted[random_permutation(key, len(counted))].tolist()


def make_table(n_rows=400, n_categories=12, seed=0):
    generator = np.random.default_rng(seed)
    codes = generator.integers(-1, n_categories, size=(2, n_rows)).astype(np.int32)
    return codes, (generator.random((1, n_rows)) < 0.3).astype(float)


@settings(deadline=None)
@given(problem=problems(), smoothing=st.sampled_from([0.5, 5.0]))
def test_full_statistics_against_plain_loops(problem, smoothing):
    codes, targets, weights = problem
    statistics, _ = TargetStatistics.fit(codes, targets, weights, KEY, pairs=PAIRS, smoothing=smoothing)
    columns = statistics.transform(codes)
    assert columns.shape == (9, codes.shape[1])
    for group, members in enumerate([(0,), (1,), (0, 1)]):
        known, priors = full(codes, targets, weights, members, smoothing)
        for i in range(codes.shape[1]):
            means, mass = known.get(category(codes, members, i), (priors, 0.0))
            np.testing.assert_allclose(columns[3 * group : 3 * group + 3, i], [*means, mass], rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(problem=problems(), smoothing=st.sampled_from([0.5, 5.0]))
def test_ordered_statistics_against_plain_loops(problem, smoothing):
    codes, targets, weights = problem
    statistics, columns = TargetStatistics.fit(codes, targets, weights, KEY, pairs=PAIRS, smoothing=smoothing)
    as_new = statistics.transform(codes)
    for group, members in enumerate([(0,), (1,), (0, 1)]):
        known = ordered(codes, targets, weights, members, smoothing, order_of(weights))
        for i in range(codes.shape[1]):
            means = known.get(i, as_new[3 * group : 3 * group + 2, i])  # a row without weight is like a new one
            np.testing.assert_allclose(columns[3 * group : 3 * group + 2, i], means, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(columns[3 * group + 2], as_new[3 * group + 2])


@settings(deadline=None)
@given(problem=problems(least_weight=1))
def test_the_mean_of_earlier_rows_against_plain_loops(problem):
    _, targets, weights = problem
    order = random_permutation(KEY, len(weights))
    means = earlier_means(targets, weights, order)
    for k, target in enumerate(targets):
        for place in range(len(order)):
            expected = earlier_mean(order.tolist(), place, target, weights)
            assert means[k, place.bit_length()] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(means[:, -1], np.average(targets, axis=1, weights=weights), rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(data=st.data(), problem=problems(least_weight=1))
def test_a_target_is_seen_by_later_rows_only(data, problem):
    codes, targets, weights = problem
    order = order_of(weights)
    place = data.draw(st.integers(0, len(order) - 1))
    changed = targets.copy()
    changed[:, order[place]] += 1.0
    _, before = TargetStatistics.fit(codes, targets, weights, KEY, pairs=PAIRS)
    _, after = TargetStatistics.fit(codes, changed, weights, KEY, pairs=PAIRS)
    np.testing.assert_array_equal(before[:, order[: place + 1]], after[:, order[: place + 1]])


def test_later_rows_do_see_a_target():
    codes, targets = np.zeros((1, 50), dtype=np.int32), np.zeros((1, 50))
    order = order_of(np.ones(50))
    _, before = TargetStatistics.fit(codes, targets, None, KEY)
    targets[0, order[10]] = 1.0
    _, after = TargetStatistics.fit(codes, targets, None, KEY)
    assert (after[0, order[11:]] > before[0, order[11:]]).all()


def test_noise_is_not_learned_from_the_training_rows():
    # a category for every two rows: its full mean holds the row's own target and follows it; the ordered one must not
    generator = np.random.default_rng(0)
    codes = generator.permutation(np.repeat(np.arange(2000), 2))[np.newaxis].astype(np.int32)
    target = generator.integers(0, 2, size=(1, 4000)).astype(float)
    statistics, columns = TargetStatistics.fit(codes, target, None, KEY, smoothing=1.0)
    assert np.corrcoef(statistics.transform(codes)[0], target[0])[0, 1] > 0.6
    assert abs(np.corrcoef(columns[0], target[0])[0, 1]) < 4 / np.sqrt(4000)


@pytest.mark.parametrize("smoothing", [1.0, 5.0, 20.0])
def test_full_statistics_are_those_of_scikit_learn(smoothing):
    codes, targets = make_table()
    statistics, _ = TargetStatistics.fit(codes, targets, None, KEY, smoothing=smoothing)
    encoder = TargetEncoder(smooth=smoothing, target_type="continuous").fit(codes.T, targets[0])
    new = np.random.default_rng(1).integers(-1, 15, size=(2, 60)).astype(np.int32)  # some of them unseen
    assert (new > 11).any()
    np.testing.assert_allclose(statistics.transform(new)[[0, 2]], encoder.transform(new.T).T, rtol=1e-12)


def test_statistics_of_pairs_are_those_of_scikit_learn_on_joined_columns():
    codes, targets = make_table()
    statistics, _ = TargetStatistics.fit(codes, targets, None, KEY, pairs=PAIRS, smoothing=2.0)
    joined = (codes[0] * 100 + codes[1])[:, np.newaxis]
    encoder = TargetEncoder(smooth=2.0, target_type="continuous").fit(joined, targets[0])
    np.testing.assert_allclose(statistics.transform(codes)[4], encoder.transform(joined)[:, 0], rtol=1e-12)


def test_whole_weights_are_copies_for_new_rows():
    codes, targets = make_table()
    weights = np.random.default_rng(2).integers(0, 4, size=400)
    weighted, _ = TargetStatistics.fit(codes, targets, weights.astype(float), KEY, pairs=PAIRS)
    copied, _ = TargetStatistics.fit(
        np.repeat(codes, weights, axis=1), np.repeat(targets, weights, 1), None, KEY, pairs=PAIRS
    )
    np.testing.assert_allclose(weighted.transform(codes), copied.transform(codes), rtol=1e-12)


def test_no_weight_is_removal_to_the_bit():
    codes, targets = make_table()
    weights = np.random.default_rng(2).integers(0, 3, size=400).astype(float)
    kept = weights > 0
    statistics, columns = TargetStatistics.fit(codes, targets, weights, KEY, pairs=PAIRS)
    alone, columns_alone = TargetStatistics.fit(codes[:, kept], targets[:, kept], weights[kept], KEY, pairs=PAIRS)
    np.testing.assert_array_equal(columns[:, kept], columns_alone)
    np.testing.assert_array_equal(statistics.groups.keys, alone.groups.keys)
    np.testing.assert_array_equal(statistics.sums, alone.sums)
    np.testing.assert_array_equal(columns[:, ~kept], alone.transform(codes[:, ~kept]))


def test_missing_is_a_category_of_its_own():
    codes = np.array([[-1, -1, 0, 0]], dtype=np.int32)
    statistics, _ = TargetStatistics.fit(codes, np.array([[1.0, 1.0, 0.0, 0.0]]), None, KEY, smoothing=2.0)
    np.testing.assert_allclose(statistics.transform(codes), [[0.75, 0.75, 0.25, 0.25], [2, 2, 2, 2]])


def test_unseen_categories_and_pairs_have_the_prior():
    codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1]], dtype=np.int32)
    statistics, _ = TargetStatistics.fit(codes, np.array([[1.0, 1.0, 1.0, 0.0]]), None, KEY, pairs=PAIRS)
    new = np.array([[9, -1, 0], [9, -1, 1]], dtype=np.int32)  # the last row's categories occur, but not together
    columns = statistics.transform(new)
    np.testing.assert_array_equal(columns[:4, :2], [[0.75, 0.75], [0, 0], [0.75, 0.75], [0, 0]])
    assert columns[4:, 2].tolist() == [0.75, 0.0]
    assert columns[0, 2] > 0.75


def test_the_order_comes_from_the_key_alone():
    codes, targets = make_table()
    first = TargetStatistics.fit(codes, targets, None, KEY)[1]
    np.testing.assert_array_equal(first, TargetStatistics.fit(codes, targets, None, KEY)[1])
    assert (first != TargetStatistics.fit(codes, targets, None, stream_key(4))[1]).any()


def test_slices_of_the_order_do_not_show(monkeypatch):
    codes, targets = make_table(n_rows=100)
    whole = TargetStatistics.fit(codes, targets, None, KEY, pairs=PAIRS)
    monkeypatch.setattr(target_statistics, "SLICE", 7)
    sliced = TargetStatistics.fit(codes, targets, None, KEY, pairs=PAIRS)
    np.testing.assert_array_equal(whole[1], sliced[1])
    np.testing.assert_array_equal(whole[0].sums, sliced[0].sums)


@pytest.mark.parametrize("first", [0, 1, 2, 3, 4, 7, 8, 1000])
def test_the_kernel_knows_where_in_the_order_it_is(first):
    priors = np.arange(12.0)[np.newaxis]
    means = np.empty((1, 5))
    rows, places = np.arange(5), np.arange(5)  # every row is alone: its mean is the prior
    describe_in_order(
        rows, first, places, np.zeros((1, 5)), np.ones(5), priors, 1.0, np.zeros((1, 5)), np.zeros(5), means
    )
    assert means[0].tolist() == [float((first + p).bit_length()) for p in range(5)]


def test_sources_name_the_columns_of_every_column_that_comes_out():
    codes, targets = make_table()
    statistics, columns = TargetStatistics.fit(codes, np.repeat(targets, 2, axis=0), None, KEY, pairs=PAIRS)
    assert statistics.sources == ((0,),) * 3 + ((1,),) * 3 + ((0, 1),) * 3
    assert statistics.n_columns == len(columns) == 9


def test_the_input_is_left_alone():
    codes, targets = make_table()
    weights = np.ones(400)
    for array in (codes, targets, weights):
        array.setflags(write=False)
    statistics, _ = TargetStatistics.fit(codes, targets, weights, KEY, pairs=PAIRS)
    statistics.transform(codes)


def test_what_cannot_be_used_is_refused():
    codes, targets = make_table()
    with pytest.raises(DataError, match="targets must have the shape"):
        TargetStatistics.fit(codes, targets[:, 1:], None, KEY)
    with pytest.raises(DataError, match="weights has 3 rows"):
        TargetStatistics.fit(codes, targets, np.ones(3), KEY)
    with pytest.raises(DataError, match="weights has no row above 0"):
        TargetStatistics.fit(codes, targets, np.zeros(400), KEY)
    with pytest.raises(ParameterError, match="smoothing"):
        TargetStatistics.fit(codes, targets, None, KEY, smoothing=0.0)
    statistics, _ = TargetStatistics.fit(codes, targets, None, KEY)
    with pytest.raises(DataError, match="codes has 1 columns"):
        statistics.transform(codes[:1])
