"""Stable selection without a row, by enumeration of all bags."""

import os
import threading
import time
from collections import Counter
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference import bags as naive
from reference.stable_selection import (
    N_BAGS,
    SIZE,
    PeekingSelector,
    RowsSelector,
    by_definition,
    make_data,
    nearest_column,
    stable_lasso,
    state_of,
)
from sklearn.linear_model import Lasso

from surefoot import ParameterError, StableSelector
from surefoot.selection import Argmax, InclusionProbability, LassoSelector, bagged_selection
from surefoot.selection.bagged_selection import BagPool, choose_on_bags, left_out_weights
from surefoot.selection.chosen_models import ModelCounts

needs_trials = pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA names no folder of tables")
TIGHT = {"tol": 1e-10, "max_iter": 10**6}


def exhaustive_weights(X, y, size, choose):
    """Weights over all bags of a size, each bag once."""
    chosen = [choose(X[list(bag)], y[list(bag)]) for bag in combinations(range(len(X)), size)]
    return {model: count / len(chosen) for model, count in Counter(chosen).items()}


@pytest.mark.parametrize("method", ["pool", "refit"])
@pytest.mark.parametrize("seed", [100, 110, 121])  # with these, no model depends on random numbers
def test_leave_one_out_of_a_tiny_table_by_enumeration(seed, method):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 3))
    y = X[:, 0] + 0.8 * X[:, 1] + 0.5 * rng.normal(size=9)
    stable = StableSelector(RowsSelector(nearest_column), n_bags=4000, bag_size=4, epsilon=0.2, random_state=0)
    stable.fit(X, y)
    full = exhaustive_weights(X, y, 4, nearest_column)
    assert {m: stable.weights_[m] for m in full} == pytest.approx(full, abs=0.04)
    selected = set(by_definition(full, 0.2))
    assert set(stable.selected_) == selected
    sets = [
        set(by_definition(exhaustive_weights(np.delete(X, row, 0), np.delete(y, row), 4, nearest_column), 0.2))
        for row in range(9)
    ]
    found = stable.leave_one_out(method)
    assert found.set_sizes.tolist() == [len(models) for models in sets]
    assert found.disjoint_rows.tolist() == [row for row in range(9) if not sets[row] & selected]
    assert found.instability == np.mean([not models & selected for models in sets])


@pytest.mark.parametrize("method", ["pool", "refit"])
def test_leave_one_out_of_inclusion_by_enumeration(method):
    rng = np.random.default_rng(28)
    X = rng.normal(size=(8, 3))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=8)

    def often(X, y):
        bags = map(list, combinations(range(len(X)), 4))
        shares = np.mean([Lasso(0.2, **TIGHT).fit(X[bag], y[bag]).coef_ != 0 for bag in bags], axis=0)
        assert (np.abs(shares - 0.7) > 0.05).all()  # no variable depends on random numbers
        return tuple(f"x{j}" for j in np.flatnonzero(shares >= 0.7))

    settings = {"n_bags": 2000, "bag_size": 4, "rule": InclusionProbability(0.7), "random_state": 0}
    stable = StableSelector(LassoSelector(0.2, standardize=False), **settings).fit(X, y)
    assert stable.selected_ == (often(X, y),)
    without = [often(np.delete(X, row, axis=0), np.delete(y, row)) for row in range(8)]
    found = stable.leave_one_out(method)
    assert found.disjoint_rows.tolist() == [row for row in range(8) if without[row] != often(X, y)]
    assert 0 < found.instability < 1
    assert found.set_sizes.tolist() == [1] * 8


def test_a_row_that_overturns_the_selection_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    X[11, 1] = y[11] = 30.0  # without this row, no column predicts enough
    stable = StableSelector(
        LassoSelector(5.0, standardize=False), n_bags=500, bag_size=28, rule=Argmax(), random_state=0
    ).fit(X, y)
    assert stable.selected_ == (("x1",),)
    for method in ("pool", "refit"):
        found = stable.leave_one_out(method)
        assert found.disjoint_rows.tolist() == [11]
        assert found.instability == pytest.approx(1 / 30)


@pytest.mark.parametrize("replace", [False, True])
def test_weights_without_a_row_use_the_bags_that_lack_it(replace):
    rng = np.random.default_rng(0)
    pool, n_models, n_bags = BagPool(8, 5, replace, 4), 6, 200
    found, chosen = ModelCounts(), []
    for _ in range(4):
        block = [dict(zip(rng.permutation(n_models)[:2].tolist(), rng.random(2), strict=True)) for _ in range(50)]
        block[3] = 5
        found.add(block, None)
        chosen += block
    shares = [{5: 1.0} if one == 5 else {m: w / sum(one.values()) for m, w in one.items()} for one in chosen]
    bags = pool.bags(0, n_bags).tolist()
    expected = naive.left_out_shares(bags, shares, 8, found.models)
    np.testing.assert_allclose(left_out_weights(found, pool, range(8)), expected, rtol=1e-12)
    np.testing.assert_allclose(left_out_weights(found, pool, range(3, 6)), expected[3:6], rtol=1e-12)
    np.testing.assert_allclose(left_out_weights(found, pool, range(8)).sum(axis=1), 1.0)


def first_trial():
    trial = np.load(Path(os.environ["SUREFOOT_DATA"]) / "correlated_regression_trials.npz")["data"][0]
    return trial[:, :-1], trial[:, -1]


@needs_trials
def test_pool_and_refits_agree_on_a_trial_of_the_paper():
    X, y = first_trial()
    stable = StableSelector(
        LassoSelector(0.5, standardize=False), n_bags=1500, bag_size=25, epsilon=0.1, random_state=0
    ).fit(X, y)
    pool, refit = stable.leave_one_out("pool"), stable.leave_one_out("refit")
    assert abs(pool.instability - refit.instability) <= 3 / 30
    assert abs(pool.set_sizes.mean() - refit.set_sizes.mean()) < 0.4
    for row in (0, 14, 29):
        rows = np.delete(np.arange(30), row)
        prepared, others = (
            LassoSelector(0.5, standardize=False).prepare(stable._bagging.table.without(row)),
            ModelCounts(),
        )
        choose_on_bags(prepared, BagPool(29, 25, False, 1), 0, 3000, others, None, lambda bag: None)
        without = dict(zip(others.models, others.model_weights(), strict=True))
        ours = left_out_weights(stable._bagging.counts, stable._bagging.pool, range(row, row + 1))[0]
        n_ours = sum(row not in bag for bag in stable._bagging.pool.bags(0, stable._bagging.counts.n_bags).tolist())
        assert abs(n_ours - 1500) < 200  # about as many bags as with all rows
        for model, weight in zip(stable._bagging.counts.models, ours, strict=True):
            other = without.get(model, 0.0)
            mean = (weight * n_ours + other * 3000) / (n_ours + 3000)
            assert abs(weight - other) < 5 * sqrt(mean * (1 - mean) * (1 / n_ours + 1 / 3000)) + 1e-12, (row, model)
        bag = rows[others_bag(1)]
        expected = tuple(f"x{j}" for j in np.flatnonzero(Lasso(0.5, **TIGHT).fit(X[bag], y[bag]).coef_))
        assert others.models[others.heaviest_by_bag()[0]] == expected


def others_bag(seed):
    return BagPool(29, 25, False, seed).bags(0, 1)[0]


def test_leave_one_out_does_not_change_the_fit(data):
    stable = stable_lasso().fit(*data)
    before = state_of(stable)
    first = stable.leave_one_out()
    assert state_of(stable) == before
    second = stable.leave_one_out()
    np.testing.assert_array_equal(first.set_sizes, second.set_sizes)
    assert len(stable.bag_models_) == N_BAGS


def test_leave_one_out_does_not_depend_on_parameters_set_later(data):
    stable, other = stable_lasso().fit(*data), stable_lasso().fit(*data)
    other.set_params(n_bags=3, replace=True, bag_size=5, selector=LassoSelector(9.0), epsilon=1.0)
    for method in ("pool", "refit"):
        ours, theirs = stable.leave_one_out(method), other.leave_one_out(method)
        np.testing.assert_array_equal(ours.set_sizes, theirs.set_sizes)
        assert ours.instability == theirs.instability


def test_leave_one_out_from_several_threads_at_once():
    X, y = make_data()

    def slow_choice(bag_X, bag_y):
        time.sleep(1e-4)  # lets the other threads continue
        return nearest_column(bag_X, bag_y)

    results, settings = [], {"n_bags": 300, "bag_size": 30, "epsilon": 0.45, "random_state": 0}
    stable = StableSelector(RowsSelector(slow_choice, 1), **settings).fit(X, y)
    threads = [threading.Thread(target=lambda: results.append(stable.leave_one_out())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = StableSelector(RowsSelector(nearest_column), **settings).fit(X, y)
    expected = alone.leave_one_out()
    assert len(results) == 4
    assert 0 < (expected.set_sizes > 1).sum() < 40  # mixed-up bags would be visible
    for found in [*results, stable.leave_one_out()]:
        np.testing.assert_array_equal(found.set_sizes, expected.set_sizes)


def test_the_pool_is_refused_if_models_depend_on_other_rows(data):
    stable = StableSelector(PeekingSelector(nearest_column), n_bags=50, bag_size=SIZE, epsilon=0.3, random_state=0)
    stable.fit(*data)
    with pytest.raises(ParameterError, match=r"PeekingSelector.*method='refit'"):
        stable.leave_one_out()
    assert stable.leave_one_out("refit").set_sizes.shape == (40,)


def test_a_selection_of_nothing_keeps_the_rows(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdefgh")[: X.shape[1]])
    stable = StableSelector(LassoSelector(1e6), n_bags=10, bag_size=SIZE, rule=Argmax(), random_state=0).fit(frame, y)
    assert stable.selected_ == ((),)
    assert stable.transform(frame).shape == (len(X), 0)


def test_there_is_no_guarantee_if_models_depend_on_other_rows(data):
    """Theorem 4.2 applies to models that depend only on the rows of their bag."""
    settings = {"n_bags": 50, "bag_size": SIZE, "random_state": 0}
    stable = StableSelector(PeekingSelector(nearest_column), **settings, epsilon=0.3).fit(*data)
    alone = StableSelector(RowsSelector(nearest_column), **settings, epsilon=0.3).fit(*data)
    assert alone.delta_ < 1.0
    assert alone.promised_delta(1.0) < 1.0
    assert stable.delta_ == stable.delta_monte_carlo_ == stable.promised_delta(1.0) == 1.0
    assert stable.guarantee_ == "This epsilon carries no guarantee."
    assert stable.selected_ == alone.selected_
    with pytest.raises(ParameterError, match=r"delta cannot be guaranteed with PeekingSelector.*give epsilon"):
        StableSelector(PeekingSelector(nearest_column), **settings, delta=0.5).fit(*data)


def test_bags_that_all_hold_a_row_are_refused(data):
    stable = stable_lasso(n_bags=1, rule=Argmax()).fit(*data)
    with pytest.raises(ParameterError, match=r"Every bag holds row \d+: use more bags"):
        stable.leave_one_out()


def test_a_pool_that_is_too_large_is_refused(data, monkeypatch):
    stable = stable_lasso(bag_size=2000, replace=True).fit(*data)  # one bag in 10**22 lacks a given row

    def draw_no_more(*arguments):
        raise AssertionError("bags are drawn for ever")

    monkeypatch.setattr(bagged_selection, "choose_on_bags", draw_no_more)
    with pytest.raises(ParameterError, match="bag_size"):
        stable.leave_one_out()


def test_an_unknown_method_is_refused(fitted):
    with pytest.raises(ParameterError, match="method must be one of 'pool', 'refit', got 'jackknife'"):
        fitted.leave_one_out("jackknife")
