"""Whether the order of the rows matters; a table sorted by its target does not show it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from surefoot.report.checks import check_row_order
from surefoot.report.checks.row_order import _error, sorted_by_target
from surefoot.report.checks.split_comparison import SplitComparison
from surefoot.report.inputs.target import Target

N = 600


def make_table(seed):
    rng = np.random.default_rng(seed)
    return rng, pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))


def checked(X, y, copies=None):
    target = Target.read(y, len(y))[0]
    return check_row_order(SplitComparison.of(X, target, copies, 0, 1), X, target)


@pytest.mark.parametrize("seed", range(5))
def test_a_random_order_does_not_matter(seed):
    rng, X = make_table(seed)
    for y in (X.a + X.b * X.c + rng.standard_t(3, N), (X.a + rng.logistic(size=N) > 0).astype(int)):
        order = checked(X, y.to_numpy())
        assert (order.matters, order.neighbours_alike, order.sorted_by_target) == (False, False, False)
        assert order.excess.low < 0 < order.excess.high or abs(order.excess.value) < 0.1
        assert ("is not known" in order.sentence) == order.undecided
        assert ("does not matter much" in order.sentence) == (not order.undecided)


@pytest.mark.parametrize("seed", range(5))
def test_a_rule_that_changes_is_detected(seed):
    rng, X = make_table(seed)
    sign = np.where(np.arange(N) < 0.75 * N, 2, -2)
    order = checked(X, (sign * X.a + rng.logistic(size=N) > 0).astype(int).to_numpy())
    assert order.matters
    assert order.error_in_order > order.error_shuffled + 0.1
    assert order.excess.low > 0
    assert "--time" in order.sentence


@pytest.mark.parametrize("seed", range(5))
def test_a_rule_that_changes_slowly_is_never_ruled_out(seed):
    """A check that cannot detect the change must not rule it out."""
    rng, X = make_table(seed)
    slope = np.linspace(2, -2, N)
    for y in ((slope * X.a + rng.logistic(size=N) / 2 > 0).astype(int), slope * X.a + rng.normal(size=N)):
        order = checked(X, y.to_numpy())
        assert order.matters or order.undecided


@pytest.mark.parametrize("seed", range(5))
def test_more_rows_show_that_the_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(4000, 4)), columns=list("abcd"))
    order = checked(X, (X.a + rng.logistic(size=4000) > 0).astype(int).to_numpy())
    assert not order.matters
    assert not order.undecided
    assert order.excess.high <= 0.1


@pytest.mark.parametrize("seed", range(5))
def test_distant_copies_do_not_look_like_an_effect_of_order(seed):
    """The second half of the table is a copy of the first; without one of each copy, the order does not matter."""
    rng, X = make_table(seed)
    y = rng.integers(0, 2, N)
    twice, codes = pd.concat([X, X], ignore_index=True), np.tile(np.arange(N), 2)
    order = checked(twice, np.tile(y, 2), codes)
    assert not order.matters
    assert order.excess == checked(X, y).excess


@pytest.mark.parametrize("seed", range(5))
def test_similar_neighbours_are_detected(seed):
    rng, X = make_table(seed)
    order = checked(X, (X.a + np.repeat(rng.normal(size=N // 10), 10) + rng.normal(size=N)).to_numpy())
    assert order.neighbours_alike
    assert not order.matters
    assert "neighbours belong together" in order.sentence


@pytest.mark.parametrize("seed", range(5))
def test_a_table_sorted_by_its_target_is_not_tested(seed):
    rng, X = make_table(seed)
    noisy = (X.a + rng.normal(size=N)).to_numpy()
    for y in (noisy, (noisy > 0).astype(int), np.digitize(noisy, [-1, 0, 1])):
        place = np.argsort(y, kind="stable")
        for order in (place, place[::-1]):
            result = checked(X.iloc[order].reset_index(drop=True), y[order])
            assert result.sorted_by_target
            assert (result.matters, result.neighbours_alike) == (False, False)
            assert "sorted by the target" in result.sentence
        assert not sorted_by_target(y, y.dtype.kind != "f")


def test_few_rows_are_not_tested_and_many_are_drawn_in_blocks():
    rng, X = make_table(0)
    assert checked(X.iloc[:60], np.arange(60) / 7) is None
    n = 25_000
    big = pd.DataFrame({"a": rng.normal(size=n), "t": np.arange(n) * 1.0})
    order = checked(big, big.a.to_numpy() + np.repeat(rng.normal(size=n // 20), 20) + rng.normal(size=n))
    assert order.neighbours_alike  # blocks keep neighbours
    assert order.sorted_by == "t"


def test_a_class_that_is_missing_in_the_first_rows():
    rng, X = make_table(1)
    y = rng.integers(0, 2, N)
    y[-60:] = rng.integers(0, 3, 60)
    assert checked(X, y).error_in_order > 0


def test_error_rates_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    probabilities, y = rng.dirichlet(np.ones(4), 200), rng.integers(0, 4, 200)
    expected = 1 - accuracy_score(y, probabilities.argmax(axis=1))
    assert _error(np.eye(4)[y] - probabilities, True) == pytest.approx(expected)
