"""Target statistics of categories, against naive loops and scikit-learn's TargetEncoder."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.category_statistics import (
    in_order,
    kind_of,
    make_table,
    prior_before,
    statistic_in_order,
    statistic_of_all,
)
from sklearn.preprocessing import TargetEncoder

from surefoot._random import random_permutation, stream_key
from surefoot.data import category_statistics
from surefoot.data.category_statistics import (
    STRENGTH,
    CategoryStatistics,
    informative_pairs,
    keys_of,
    order_statistics,
    running_priors,
)

KEY = stream_key(3)
SINGLES = ((0,), (1,))


@st.composite
def tables(draw):
    """Codes of two columns, two targets, whole weights, and the rows to train on (at least one with weight)."""
    n_rows = draw(st.integers(1, 20))
    codes = draw(arrays(np.int32, (2, n_rows), elements=st.integers(-1, 2)))
    targets = draw(arrays(np.float64, (2, n_rows), elements=st.integers(-4, 4).map(float)))
    weights = draw(arrays(np.float64, n_rows, elements=st.integers(0, 3).map(float)))
    train = np.flatnonzero(draw(arrays(np.bool_, n_rows)))
    one = draw(st.integers(0, n_rows - 1))
    weights[one] = 2.0
    return codes, targets, weights, np.union1d(train, [one])


def xor_table(n_rows=3000, n_categories=12, seed=0):
    """A target that only both columns together explain."""
    codes, _, weights, train = make_table(n_rows, n_categories, 2, seed)
    return codes, ((codes[0] + codes[1]) % 2)[np.newaxis].astype(float), weights, train


def fit_all(codes, targets, weights, train, key):
    """Statistics of every column, and of the informative pairs."""
    rows = (codes, targets, weights, train, key)
    return CategoryStatistics.fit([*((j,) for j in range(len(codes))), *informative_pairs(*rows)], *rows)


@pytest.fixture
def with_all_pairs(monkeypatch):
    monkeypatch.setattr(category_statistics, "PAIR_GAIN", -np.inf)


# The kernel and the priors against plain loops


@settings(deadline=None)
@given(table=tables(), strength=st.sampled_from([0.5, 5.0]))
def test_the_kernel_reads_rows_in_their_order(table, strength):
    codes, targets, weights, _ = table
    kinds = codes[0].astype(np.int64) + 1
    priors = np.random.default_rng(0).normal(size=targets.shape)
    sums, counts, ordered = np.zeros((2, 4)), np.zeros(4), np.empty(targets.shape)
    order_statistics(kinds, targets, weights, priors, strength, sums, counts, ordered)
    expected, totals = in_order(kinds.tolist(), targets.tolist(), weights.tolist(), priors.tolist(), strength)
    np.testing.assert_allclose(ordered, expected, rtol=1e-12)
    for kind in range(4):
        expected_sums, mass = totals.get(kind, ([0.0, 0.0], 0.0))
        assert sums[:, kind].tolist() == expected_sums
        assert counts[kind] == mass


@settings(deadline=None)
@given(table=tables())
def test_running_priors_are_means_of_the_first_rows(table):
    _, targets, weights, _ = table
    expected = [[prior_before(i, target, weights) for i in range(len(weights))] for target in targets]
    np.testing.assert_allclose(running_priors(targets, weights), expected, rtol=1e-12, atol=1e-14)


def test_running_priors_change_at_powers_of_two_only():
    priors = running_priors(np.random.default_rng(0).normal(size=(1, 5000)), np.ones(5000))[0]
    assert (np.flatnonzero(np.diff(priors)) + 1).tolist() == [2**k for k in range(13)]


# Statistics against plain loops


@settings(deadline=None, max_examples=60)
@given(table=tables())
def test_statistics_use_earlier_rows_in_training_and_all_rows_otherwise(table):
    codes, targets, weights, train = table
    fitted, values = fit_all(codes, targets, weights, train, KEY)
    order = train[random_permutation(KEY, len(train))]
    assert fitted.sources[: 2 * len(fitted.statistics) : 2] == tuple(s.columns for s in fitted.statistics)
    assert len(fitted.sources) == len(values)
    for k, statistic in enumerate(fitted.statistics):
        everything, priors = statistic_of_all(codes, statistic.columns, targets, weights, train, STRENGTH)
        earlier = statistic_in_order(codes, statistic.columns, targets, weights, order.tolist(), STRENGTH)
        unknown = (priors, 0.0)
        means = np.array(
            [everything.get(kind_of(codes, statistic.columns, i), unknown)[0] for i in range(len(weights))]
        )
        np.testing.assert_allclose(fitted.transform(codes)[2 * k : 2 * k + 2], means.T, rtol=1e-10, atol=1e-12)
        means[train] = [earlier[i] for i in train]
        np.testing.assert_allclose(values[2 * k : 2 * k + 2], means.T, rtol=1e-10, atol=1e-12)
    for j, counts in enumerate(values[2 * len(fitted.statistics) :]):
        everything, _ = statistic_of_all(codes, (j,), targets, weights, train, STRENGTH)
        expected = [everything.get(kind_of(codes, (j,), i), ((), 0.0))[1] for i in range(len(weights))]
        assert counts.tolist() == expected


@pytest.mark.usefixtures("with_all_pairs")
def test_pairs_against_plain_loops():
    codes, targets, weights, train = make_table(60, 3, 3)
    codes[:, ::7] = -1
    targets = np.concatenate([targets, targets**2])
    fitted, values = fit_all(codes, targets, weights, train[5:], KEY)
    kinds = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    assert tuple(statistic.columns for statistic in fitted.statistics) == kinds
    assert fitted.sources == (*(kind for kind in kinds for _ in range(2)), *kinds[:3])
    order = train[5:][random_permutation(KEY, 55)].tolist()
    for k, kind in enumerate(kinds):
        earlier = statistic_in_order(codes, kind, targets, weights, order, STRENGTH)
        expected = np.array([earlier[i] for i in train[5:]]).T
        np.testing.assert_allclose(values[2 * k : 2 * k + 2, 5:], expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(values[:, :5], fitted.transform(codes)[:, :5])


@settings(deadline=None)
@given(codes=arrays(np.int32, (2, 12), elements=st.integers(-2, 3)))
def test_different_pairs_of_categories_have_different_keys(codes):
    keys = keys_of((0, 1), (6, 6), codes)
    for i in range(12):
        for j in range(12):
            assert (keys[i] == keys[j]) == (kind_of(codes, (0, 1), i) == kind_of(codes, (0, 1), j))


def test_keys_of_pairs_do_not_overflow():
    codes = np.array([[1_000_000, 999_999], [0, 999_999]], dtype=np.int32)
    keys = keys_of((0, 1), (1_000_003, 1_000_002), codes)
    assert keys.tolist() == [1_000_002 * 1_000_002 + 2, 1_000_001 * 1_000_002 + 1_000_001]


# Against scikit-learn


@pytest.mark.parametrize("target_type", ["binary", "continuous"])
def test_full_statistics_are_those_of_scikit_learn(target_type):
    codes, targets, weights, train = make_table()
    if target_type == "binary":
        targets = (targets > 0.3).astype(float)
    fitted, _ = fit_all(codes, targets, weights, train, KEY)
    theirs = TargetEncoder(smooth=STRENGTH, target_type=target_type)
    theirs.fit(codes.T, targets[0].astype(int) if target_type == "binary" else targets[0])
    new = np.append(codes, [[8], [8]], axis=1)  # with an unknown category
    np.testing.assert_allclose(fitted.transform(new)[:2], theirs.transform(new.T).T, rtol=1e-12)


def test_full_statistics_of_several_classes_are_those_of_scikit_learn():
    codes, targets, weights, train = make_table()
    classes = np.digitize(targets[0], [-0.5, 0.8])
    fitted, _ = fit_all(codes, np.eye(3)[classes].T, weights, train, KEY)
    theirs = TargetEncoder(smooth=STRENGTH, target_type="multiclass").fit(codes.T, classes)
    np.testing.assert_allclose(fitted.transform(codes)[:6], theirs.transform(codes.T).T, rtol=1e-12)


# No target leakage


@pytest.mark.usefixtures("with_all_pairs")
def test_statistics_of_training_rows_do_not_use_their_own_or_later_targets():
    codes, targets, weights, train = make_table(40, 3)
    order = train[random_permutation(KEY, 40)]
    _, before = fit_all(codes, targets, weights, train, KEY)
    n_changed = 0
    for place, row in enumerate(order):
        other = targets.copy()
        other[0, row] += 10.0
        _, after = fit_all(codes, other, weights, train, KEY)
        changed = (after != before).any(axis=0)
        assert not changed[order[: place + 1]].any()
        alike = [i for i in order[place + 1 :] if (codes[:, i] == codes[:, row]).any()]
        assert changed[alike].all()  # later rows of the same category use it
        n_changed += changed.sum()
    assert n_changed > 0


def test_rows_outside_training_are_not_used():
    codes, targets, weights, train = make_table()
    fitted, values = fit_all(codes, targets, weights, train[:300], KEY)
    targets[:, 300:] = 1e6
    weights[300:] = 7.0
    again, same = fit_all(codes, targets, weights, train[:300], KEY)
    np.testing.assert_array_equal(same, values)
    np.testing.assert_array_equal(again.prior, fitted.prior)


def test_ordered_statistics_are_not_correlated_with_a_random_target():
    """With almost as many categories as rows, the full statistic is correlated with it, the ordered one is not."""
    codes, targets, weights, train = make_table(4000, 2000, 1)
    fitted, values = fit_all(codes, targets, weights, train, KEY)
    assert np.corrcoef(fitted.transform(codes)[0], targets[0])[0, 1] > 0.5
    assert abs(np.corrcoef(values[0], targets[0])[0, 1]) < 3.5 / np.sqrt(4000)


# Weights


@pytest.mark.usefixtures("with_all_pairs")
def test_rows_without_weight_contribute_nothing():
    codes, targets, weights, train = make_table(100, 4)
    weights[::3] = 0.0
    fitted, values = fit_all(codes, targets, weights, train, KEY)
    other = targets.copy()
    other[:, ::3] += 1e3
    again, same = fit_all(codes, other, weights, train, KEY)
    np.testing.assert_array_equal(same, values)
    np.testing.assert_array_equal(again.transform(codes), fitted.transform(codes))
    counted, _ = fit_all(codes, targets, weights, train[weights > 0], KEY)
    np.testing.assert_allclose(fitted.transform(codes), counted.transform(codes), rtol=1e-12, atol=1e-14)


@settings(deadline=None, max_examples=50)
@given(table=tables())
def test_a_weight_of_k_is_equivalent_to_k_copies_in_full_statistics(table):
    codes, targets, weights, train = table
    fitted, _ = fit_all(codes, targets, weights, train, KEY)
    copies = np.repeat(train, weights[train].astype(int))
    copied, _ = fit_all(codes[:, copies], targets[:, copies], np.ones(len(copies)), np.arange(len(copies)), KEY)
    for statistic in fitted.statistics[:2]:
        twin = copied.statistics[statistic.columns[0]]
        ours, theirs = statistic.lookup(codes, fitted.prior), twin.lookup(codes, copied.prior)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(ours[1], theirs[1])


# Unknown and missing categories


@pytest.mark.usefixtures("with_all_pairs")
def test_unknown_categories_have_the_prior_and_the_count_0():
    codes, targets, weights, train = make_table()
    fitted, _ = fit_all(codes, targets, weights, train, KEY)
    unknown = np.array([[8, -1, 8, 3], [8, -1, 3, 8]], dtype=np.int32)
    first, second, pair, n_first, n_second = fitted.transform(unknown)
    prior = np.mean(targets)
    np.testing.assert_allclose(first[:3], prior)
    np.testing.assert_allclose(second[[0, 1, 3]], prior)
    np.testing.assert_allclose(pair[:2], prior)
    assert n_first.tolist() == [0.0, 0.0, 0.0, (codes[0] == 3).sum()]
    assert n_second.tolist() == [0.0, 0.0, (codes[1] == 3).sum(), 0.0]


def test_missing_values_are_a_category():
    codes, targets, weights, train = make_table()
    codes[0, :50] = -1
    targets[0, :50] += 3.0
    fitted, _ = fit_all(codes, targets, weights, train, KEY)
    values = fitted.transform(np.array([[-1], [0]], dtype=np.int32))
    expected = (targets[0, :50].sum() + STRENGTH * targets.mean()) / (50 + STRENGTH)
    np.testing.assert_allclose(values[0, 0], expected)
    assert values[len(fitted.statistics), 0] == 50.0


def test_a_column_of_missing_values_only():
    codes, targets, weights, train = make_table()
    codes[1] = -1
    fitted, values = fit_all(codes, targets, weights, train, KEY)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(fitted.transform(codes)[1], targets.mean())


def test_a_constant_target():
    codes, _, weights, train = make_table()
    fitted, values = fit_all(codes, np.full((1, 400), 2.0), weights, train, KEY)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(fitted.transform(codes)[:2], 2.0)
    assert tuple(statistic.columns for statistic in fitted.statistics) == SINGLES


def test_one_row():
    one = np.ones(1)
    fitted, values = fit_all(np.zeros((2, 1), np.int32), one[np.newaxis], one, np.array([0]), KEY)
    assert values[:2].tolist() == [[0.0], [0.0]]  # there is no earlier row
    np.testing.assert_allclose(fitted.transform(np.zeros((2, 1), np.int32))[:2], 1.0)


# Pairs


def pairs_of(codes, targets, weights, train, key=KEY):
    fitted, _ = fit_all(codes, targets, weights, train, key)
    return [statistic.columns for statistic in fitted.statistics if len(statistic.columns) == 2]


def test_an_informative_pair_is_taken():
    assert pairs_of(*xor_table()) == [(0, 1)]


@pytest.mark.parametrize("seed", range(3))
def test_only_the_informative_pair_of_several_columns_is_taken(seed):
    codes, _, weights, train = make_table(4000, 12, 4, seed)
    targets = ((codes[0] + codes[2]) % 2)[np.newaxis].astype(float)
    assert pairs_of(codes, targets, weights, train) == [(0, 2)]


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_independent_columns_are_not_taken(seed):
    codes, targets, weights, train = make_table(3000, 12, 3, seed)
    assert pairs_of(codes, targets, weights, train) == []
    assert pairs_of(codes, targets + codes[0] % 3, weights, train) == []  # one column explains the target


def test_all_pairs_are_taken_if_most_are_informative():
    codes, targets, weights, train = make_table(3000, 12, 4)
    parity = 1.0 - 2.0 * (codes % 2)
    targets = parity[0] * parity[1] + parity[0] * parity[2] + parity[0] * parity[3] + parity[1] * parity[2]
    targets += parity[1] * parity[3]  # all but the pair (2, 3)
    assert len(pairs_of(codes, targets[np.newaxis], weights, train)) == 6


# The order


def test_equal_keys_give_equal_bits_and_other_keys_another_order():
    table = xor_table(500)
    fitted, values = fit_all(*table, KEY)
    again, same = fit_all(*table, KEY)
    other, different = fit_all(*table, stream_key(4))
    assert same.tobytes() == values.tobytes()
    for one, two in zip(fitted.statistics, again.statistics, strict=True):
        assert one.means.tobytes() == two.means.tobytes()
    assert (different[0] != values[0]).mean() > 0.9
    for one, two in zip(fitted.statistics, other.statistics, strict=True):  # the order has no effect on these
        np.testing.assert_allclose(one.means, two.means, rtol=1e-12)
        np.testing.assert_array_equal(one.counts, two.counts)


@pytest.mark.usefixtures("with_all_pairs")
@pytest.mark.parametrize("number", [3, 4, 5])
def test_another_order_is_that_of_its_key(number):
    table = xor_table(200)
    fitted, _ = fit_all(*table, KEY)
    _, expected = fit_all(*table, stream_key(number))
    np.testing.assert_array_equal(fitted.in_another_order(*table, stream_key(number)), expected)


def test_statistics_in_another_order_do_not_use_the_own_target():
    codes, targets, weights, train = xor_table(300)
    fitted, _ = fit_all(codes, targets, weights, train, KEY)
    before = fitted.in_another_order(codes, targets, weights, train, stream_key(5))
    n_means = len(fitted.statistics)
    for row in train[:20]:
        other = targets.copy()
        other[0, row] = 9.0
        after = fitted.in_another_order(codes, other, weights, train, stream_key(5))
        np.testing.assert_array_equal(after[:n_means, row], before[:n_means, row])


def test_arguments_are_not_changed():
    table = xor_table(200)
    copies = [part.copy() for part in table]
    fit_all(*table, KEY)
    for part, copy in zip(table, copies, strict=True):
        np.testing.assert_array_equal(part, copy)
