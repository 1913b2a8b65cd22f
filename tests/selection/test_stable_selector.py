"""Stable selection: weights, rules and promises by hand, leave-one-out by enumeration, and what is refused."""

import os
import pickle
import threading
import time
import tracemalloc
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from math import e, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reference import bags as naive
from reference.models import FRAMES, make_frame
from reference.projection import distances
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from surefoot import DataError, ParameterError, StableSelector, UndecidedWarning, stability_delta, stability_epsilon
from surefoot.selection import (
    Argmax,
    FunctionSelector,
    InclusionProbability,
    InflatedArgmax,
    LassoSelector,
    ModelWeights,
    TopK,
    bagging,
)
from surefoot.selection.bag_models import BagModels, choose_on_bags, left_out_shares
from surefoot.selection.bags import BagPool
from surefoot.selection.selector import ANY_TARGET, BagError, Selector

needs_trials = pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA names no folder of tables")
PROMISE = (
    "For at most a share {} of the rows, removing that row would give a set of models that shares none with this one. "
    "It does not say that any of them is right."
)
SIZE, N_BAGS = 20, 400
TIGHT = {"tol": 1e-10, "max_iter": 10**6}


class RowsSelector(Selector):
    """Chooses by a function of the bag's rows of X and y; so many bags to a call."""

    target = ANY_TARGET

    def __init__(self, choose, per_call=50):
        self.choose = choose
        self.per_call = per_call

    def prepare(self, table):
        return PreparedRows(table.X, table.y, self.choose, self.per_call)


@dataclass(frozen=True)
class PreparedRows:
    X: np.ndarray
    y: Any
    choose: Any
    bags_per_call: int
    items: Any = None
    are_variables: bool = False

    def select(self, bags):
        models = []
        for index, bag in enumerate(bags):
            try:
                models.append(self.choose(self.X[bag], None if self.y is None else self.y[bag]))
            except RuntimeError as error:
                raise BagError(index, str(error)) from error
        return models


class PeekingSelector(RowsSelector):
    """Says that it looks at more than a bag's rows."""

    pool_is_exact = False


def nearest_column(X, y):
    """The column that is most like the target."""
    return int(np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).argmax())


def make_data(n_rows=40, seed=0):
    """Two columns that are almost the same, two that are almost as good, and one that tells nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=n_rows)
    X[:, 3] = X[:, 2] + 0.3 * rng.normal(size=n_rows)
    return X, X[:, 0] + X[:, 2] + 0.3 * rng.normal(size=n_rows)


def stable_lasso(alpha=0.2, **parameters):
    settings = {"n_bags": N_BAGS, "bag_size": SIZE, "random_state": 0}
    settings |= {} if "delta" in parameters or "rule" in parameters else {"epsilon": 0.3}
    return StableSelector(LassoSelector(alpha), **(settings | parameters))


@pytest.fixture(scope="module")
def data():
    X, y = make_data()
    X.flags.writeable = y.flags.writeable = False
    return X, y


@pytest.fixture(scope="module")
def fitted(data):
    return stable_lasso().fit(*data)


def state_of(stable):
    """All that a fit tells."""
    return (
        list(stable.weights_.items()),
        stable.selected_,
        stable.expression_,
        stable.models_,
        stable.bag_models_.tolist(),
        stable.epsilon_,
        stable.delta_,
    )


# Weights


def test_weights_are_shares_of_the_bags(data, fitted):
    X, y = data
    models = [
        np.flatnonzero(Lasso(0.2, **TIGHT).fit(X[bag], y[bag]).coef_) for bag in fitted._bagging.pool.bags(0, N_BAGS)
    ]
    named = [tuple(f"x{j}" for j in model) for model in models]
    counts = Counter(named)
    assert len(counts) > 5
    assert dict(fitted.weights_) == {model: count / N_BAGS for model, count in counts.items()}
    assert sum(fitted.weights_.values()) == pytest.approx(1.0, abs=1e-12)
    assert list(fitted.weights_.values()) == sorted(fitted.weights_.values(), reverse=True)
    assert fitted.models_ == tuple(dict.fromkeys(named))  # in the order in which bags chose them
    assert [fitted.models_[place] for place in fitted.bag_models_] == named
    assert fitted.weights_["x4", "x3"] == 0.0  # no bag's model, in no bag's order
    assert ("x4", "x3") not in fitted.weights_


def test_weights_in_a_frame_and_in_words():
    weights = ModelWeights([f"m{k}" for k in range(7)], [0.1, 0.2, 0.3, 0.1, 0.1, 0.1, 0.1])
    assert repr(weights) == "ModelWeights('m2': 0.3, 'm1': 0.2, 'm0': 0.1, 'm3': 0.1, 'm4': 0.1, ... 2 more)"
    assert repr(ModelWeights([()], [1.0])) == "ModelWeights((): 1)"
    frame = ModelWeights([("a",), ("a", "b")], [0.25, 0.75]).to_frame()
    assert frame["model"].tolist() == [("a", "b"), ("a",)]
    assert frame["weight"].tolist() == [0.75, 0.25]


@pytest.mark.parametrize("n_items", [1, 7, 8, 63, 64, 65, 130])
def test_models_of_any_number_of_items_are_told_apart(n_items):
    rng = np.random.default_rng(n_items)
    kinds = rng.random((5, n_items)) < 0.5
    chosen = kinds[rng.integers(0, 5, size=60)]
    chosen[-1] = ~chosen[-1]
    found, items = BagModels(), tuple(f"x{j}" for j in range(n_items))
    for start in range(0, 60, 17):
        found.add(chosen[start : start + 17], items)
    named = [tuple(items[j] for j in np.flatnonzero(row)) for row in chosen]
    assert [found.models[place] for place in found.heaviest_by_bag()] == named
    assert found.models == list(dict.fromkeys(named))
    np.testing.assert_array_equal(found.member_array()[found.heaviest_by_bag()], chosen)
    assert found.shares().tolist() == [Counter(named)[model] / 60 for model in found.models]


# The rule


def by_definition(weights, epsilon):
    """Models nearer than epsilon to winning by their margin, heaviest first: by a naive projection of the weights."""
    values = np.array(list(weights.values()))
    near = distances(values[np.newaxis], np.array([epsilon]))[0] < epsilon
    return [model for model, chosen in zip(weights, near, strict=True) if chosen]


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.2, 0.3])
def test_selected_models_are_those_of_the_inflated_argmax(data, epsilon):
    stable = stable_lasso(epsilon=epsilon).fit(*data)
    assert set(stable.selected_) == set(by_definition(stable.weights_, epsilon))
    heavy = [stable.weights_[model] for model in stable.selected_]
    assert heavy == sorted(heavy, reverse=True)


def test_selected_models_of_other_rules(data):
    top = stable_lasso(rule=TopK(3)).fit(*data)
    weights = list(top.weights_.values())
    assert top.selected_ == tuple(model for model, weight in top.weights_.items() if weight >= weights[2])
    first = stable_lasso(rule=Argmax()).fit(*data)
    assert first.selected_ == tuple(model for model, weight in top.weights_.items() if weight == weights[0])
    inflated = stable_lasso(rule=InflatedArgmax(0.2)).fit(*data)
    assert inflated.selected_ == stable_lasso(epsilon=0.2).fit(*data).selected_
    assert inflated.guarantee_ == stable_lasso(epsilon=0.2).fit(*data).guarantee_
    often = stable_lasso(rule=InclusionProbability(0.4)).fit(*data)
    share = {f"x{j}": sum(w for model, w in top.weights_.items() if f"x{j}" in model) for j in range(5)}
    assert often.selected_ == (tuple(name for name, weight in share.items() if weight >= 0.4),)


@pytest.mark.parametrize("rule", [TopK(2), Argmax(), InclusionProbability(0.5)], ids=repr)
def test_other_rules_promise_nothing(data, rule):
    stable = stable_lasso(rule=rule).fit(*data)
    assert stable.guarantee_ == "This rule carries no guarantee."
    assert np.isnan([stable.epsilon_, stable.delta_, stable.delta_monte_carlo_]).all()
    assert not stable.undecided_


def test_expression_is_a_product_of_choices():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 5))
    X[:, 4] = X[:, 3] + 0.02 * rng.normal(size=100)
    y = X[:, 1] + X[:, 3] + 0.5 * rng.normal(size=100)
    stable = stable_lasso(alpha=0.3, bag_size=0.5, delta=0.05).fit(X, y)
    assert set(stable.selected_) == {("x1", "x3"), ("x1", "x4")}
    assert stable.expression_ == "x1 x {x3 | x4}"


def test_expression_of_models_that_are_no_sets():
    X, y = make_data()
    stable = StableSelector(RowsSelector(nearest_column), n_bags=300, bag_size=10, epsilon=0.3, random_state=0)
    stable.fit(X, y)
    assert stable.expression_ == " or ".join(str(model) for model in stable.selected_)
    assert len(stable.selected_) > 1
    with pytest.raises(ParameterError, match="not sets of variables: selected_"):
        stable.get_support()


# The promise


@pytest.mark.parametrize("replace", [False, True])
def test_epsilon_and_delta_in_closed_form(data, replace):
    n_rows, n_models = 40, 2**5
    held = 1 - (1 - 1 / n_rows) ** SIZE if replace else SIZE / n_rows
    movement = (1 - 1 / n_models) * held / ((n_rows - 1) * (1 - held))
    chance = (1 - 1 / n_models) * 16 * e**2
    stable = stable_lasso(delta=0.3, replace=replace).fit(*data)
    assert stable.epsilon_ == pytest.approx(sqrt(movement / 0.3))
    assert stable.delta_ == pytest.approx(0.3)
    assert stable.delta_monte_carlo_ == pytest.approx(min(1.0, 0.3 + chance / N_BAGS / stable.epsilon_**2))
    again = stable_lasso(epsilon=stable.epsilon_, replace=replace).fit(*data)
    assert again.delta_ == pytest.approx(0.3)
    assert again.selected_ == stable.selected_
    careful = stable_lasso(delta=0.6, monte_carlo=True, n_bags=5000, replace=replace).fit(*data)
    assert careful.epsilon_ == pytest.approx(sqrt((movement + chance / 5000) / 0.6))
    assert careful.delta_monte_carlo_ == pytest.approx(0.6)
    assert careful.delta_ == pytest.approx(movement / careful.epsilon_**2)


def test_the_functions_of_the_promise_agree(data):
    stable = stable_lasso(delta=0.2).fit(*data)
    setting = {"n_samples": 40, "bag_size": SIZE, "n_models": 32}
    assert stable.epsilon_ == stability_epsilon(0.2, **setting)
    assert stable.delta_monte_carlo_ == min(1, stability_delta(stable.epsilon_, n_bags=N_BAGS, **setting))


def test_neither_delta_nor_epsilon_is_five_in_a_hundred():
    X, y = make_data(n_rows=100)
    stable = StableSelector(LassoSelector(0.2), n_bags=100, random_state=0).fit(X, y)
    assert stable.delta_ == pytest.approx(0.05)
    assert stable._bagging.pool.size == 50
    assert stable.guarantee_ == PROMISE.format(0.05)


def test_the_promise_in_words(data):
    assert stable_lasso(delta=0.25).fit(*data).guarantee_ == PROMISE.format(0.25)
    careful = stable_lasso(epsilon=0.9, monte_carlo=True, n_bags=2000, bag_size=8).fit(*data)
    assert careful.guarantee_ == PROMISE.format("0.0784")  # rounded up: less would be promised too much
    assert 0.0783 < careful.delta_monte_carlo_ <= 0.0784
    none = stable_lasso(epsilon=0.02).fit(*data)
    assert none.delta_ == none.delta_monte_carlo_ == 1.0
    assert none.guarantee_ == "This epsilon carries no guarantee."
    not_so_careful = stable_lasso(epsilon=0.3, monte_carlo=True).fit(*data)  # too few bags
    assert not_so_careful.delta_ < 1.0 == not_so_careful.delta_monte_carlo_
    assert not_so_careful.guarantee_ == "This epsilon carries no guarantee."


def test_a_delta_out_of_reach_names_the_least_within_reach(data):
    X, y = data
    least = (1 - 1 / 32) * 35 / 5 / 39 / 2
    assert 0.0869 < least < 0.087
    with pytest.raises(ParameterError, match=r"delta=0\.05 .* least delta within reach is 0\.087; allow that"):
        stable_lasso(delta=0.05, bag_size=35).fit(X, y)
    with pytest.warns(UndecidedWarning):  # within reach, and of little use
        assert stable_lasso(delta=0.0875, bag_size=35).fit(X, y).delta_ == pytest.approx(0.0875)


def test_a_delta_within_reach_because_there_are_few_models(data):
    X, y = data  # one column: two models, half of the movement that very many models may have
    stable = stable_lasso(delta=0.05, bag_size=35).fit(X[:, :1], y)
    assert stable.delta_ == pytest.approx(0.05)


def test_monte_carlo_is_refused_where_it_would_mean_nothing(data):
    with pytest.raises(ParameterError, match="monte_carlo=True is for rule='inflated_argmax'"):
        StableSelector(LassoSelector(0.2), rule=TopK(2), monte_carlo=True).fit(*data)


def test_undecided_tables_say_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 4)), rng.normal(size=5)
    stable = StableSelector(LassoSelector(0.1), n_bags=200, bag_size=2, delta=0.1, random_state=0)
    with pytest.warns(UndecidedWarning, match="models which no bag chose would be selected as well") as caught:
        stable.fit(X, y)
    assert caught[0].filename == __file__
    assert stable.undecided_
    assert stable.expression_ == "any model: the bags cannot tell"
    assert stable.selected_ == tuple(stable.weights_)


def test_tables_are_decided_once_every_model_was_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 1))
    y = 0.4 * X[:, 0] + rng.normal(size=12)
    stable = stable_lasso(alpha=0.25, bag_size=5, epsilon=1.3).fit(X, y)
    assert len(stable.weights_) == 2  # the column, and nothing: there is no other model
    assert not stable.undecided_
    assert stable.expression_ in ("{x0 | nothing}", "x0", "nothing")


# The same result


@pytest.mark.parametrize("alpha", [0.2, "cv"])
def test_threads_do_not_matter(alpha):
    X, y = make_data()
    one, two, three = (
        stable_lasso(alpha, n_bags=3000 if alpha != "cv" else 150, n_jobs=n).fit(X, y) for n in (1, 2, 3)
    )
    assert state_of(one) == state_of(two) == state_of(three)
    assert one._bagging.pool == two._bagging.pool
    with_threads, alone = two.leave_one_out(), one.leave_one_out()
    assert with_threads.instability == alone.instability
    np.testing.assert_array_equal(with_threads.set_sizes, alone.set_sizes)


def test_blocks_do_not_matter(monkeypatch):
    X, y = make_data()
    several = [
        StableSelector(RowsSelector(nearest_column, per_call), n_bags=150, bag_size=10, epsilon=0.3, random_state=3)
        for per_call in (1, 7, 64, 1000)
    ]
    states = [state_of(stable.fit(X, y)) for stable in several]
    assert states[0] == states[1] == states[2] == states[3]
    whole = stable_lasso().fit(X, y)
    monkeypatch.setattr("surefoot.selection.bag_models.MOST_CELLS", 7 * SIZE)
    monkeypatch.setattr("surefoot.selection.bag_models.CALLS_AT_ONCE", 3)
    monkeypatch.setattr("surefoot.selection.bagging.MOST_WEIGHTS", 3 * len(whole.models_))
    pieces = stable_lasso().fit(X, y)
    assert state_of(pieces) == state_of(whole)
    ours, theirs = pieces.leave_one_out(), whole.leave_one_out()
    np.testing.assert_array_equal(ours.set_sizes, theirs.set_sizes)
    np.testing.assert_array_equal(ours.disjoint_rows, theirs.disjoint_rows)


def test_more_bags_begin_with_the_same(data):
    few, many = stable_lasso(n_bags=100).fit(*data), stable_lasso(n_bags=300).fit(*data)
    assert [many.models_[place] for place in many.bag_models_[:100]] == [few.models_[p] for p in few.bag_models_]


def test_seeds(data):
    same = [stable_lasso(random_state=seed).fit(*data) for seed in (7, 7, np.random.RandomState(0), 0)]
    assert state_of(same[0]) == state_of(same[1])
    assert state_of(same[2]) == state_of(same[3])
    assert dict(same[0].weights_) != dict(same[3].weights_)
    assert (
        stable_lasso(random_state=None).fit(*data)._bagging.pool
        != stable_lasso(random_state=None).fit(*data)._bagging.pool
    )


# Without a row


def exhaustive_weights(X, y, size, choose):
    """Weights over all bags of a size, each once."""
    chosen = [choose(X[list(bag)], y[list(bag)]) for bag in combinations(range(len(X)), size)]
    return {model: count / len(chosen) for model, count in Counter(chosen).items()}


@pytest.mark.parametrize("method", ["pool", "refit"])
@pytest.mark.parametrize("seed", [100, 110, 121])  # in these, chance does not decide about any model
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
        assert (np.abs(shares - 0.7) > 0.05).all()  # chance does not decide about any variable
        return tuple(f"x{j}" for j in np.flatnonzero(shares >= 0.7))

    settings = {"n_bags": 2000, "bag_size": 4, "rule": InclusionProbability(0.7), "random_state": 0}
    stable = StableSelector(LassoSelector(0.2), **settings).fit(X, y)
    assert stable.selected_ == (often(X, y),)
    without = [often(np.delete(X, row, axis=0), np.delete(y, row)) for row in range(8)]
    found = stable.leave_one_out(method)
    assert found.disjoint_rows.tolist() == [row for row in range(8) if without[row] != often(X, y)]
    assert 0 < found.instability < 1
    assert found.set_sizes.tolist() == [1] * 8


def test_a_row_that_turns_the_conclusion_over_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    X[11, 1] = y[11] = 30.0  # without this row, no column tells enough
    stable = StableSelector(LassoSelector(5.0), n_bags=500, bag_size=28, rule=Argmax(), random_state=0).fit(X, y)
    assert stable.selected_ == (("x1",),)
    for method in ("pool", "refit"):
        found = stable.leave_one_out(method)
        assert found.disjoint_rows.tolist() == [11]
        assert found.instability == pytest.approx(1 / 30)


@pytest.mark.parametrize("replace", [False, True])
def test_weights_without_a_row_are_those_of_the_bags_that_lack_it(replace):
    rng = np.random.default_rng(0)
    pool, n_models, n_bags = BagPool(8, 5, replace, 4), 6, 200
    found, chosen = BagModels(), []
    for _ in range(4):
        block = [dict(zip(rng.permutation(n_models)[:2].tolist(), rng.random(2), strict=True)) for _ in range(50)]
        block[3] = 5
        found.add(block, None)
        chosen += block
    shares = [{5: 1.0} if one == 5 else {m: w / sum(one.values()) for m, w in one.items()} for one in chosen]
    bags = pool.bags(0, n_bags).tolist()
    expected = naive.left_out_shares(bags, shares, 8, found.models)
    np.testing.assert_allclose(left_out_shares(found, pool, range(8)), expected, rtol=1e-12)
    np.testing.assert_allclose(left_out_shares(found, pool, range(3, 6)), expected[3:6], rtol=1e-12)
    np.testing.assert_allclose(left_out_shares(found, pool, range(8)).sum(axis=1), 1.0)


def first_trial():
    trial = np.load(Path(os.environ["SUREFOOT_DATA"]) / "correlated_regression_trials.npz")["data"][0]
    return trial[:, :-1], trial[:, -1]


@needs_trials
def test_pool_and_refits_agree_on_a_trial_of_the_paper():
    X, y = first_trial()
    stable = StableSelector(LassoSelector(0.5), n_bags=1500, bag_size=25, epsilon=0.1, random_state=0).fit(X, y)
    pool, refit = stable.leave_one_out("pool"), stable.leave_one_out("refit")
    assert abs(pool.instability - refit.instability) <= 3 / 30
    assert abs(pool.set_sizes.mean() - refit.set_sizes.mean()) < 0.4
    for row in (0, 14, 29):
        rows = np.delete(np.arange(30), row)
        prepared, others = LassoSelector(0.5).prepare(stable._bagging.table.without(row)), BagModels()
        choose_on_bags(prepared, BagPool(29, 25, False, 1), 0, 3000, others, None, lambda bag: None)
        without = dict(zip(others.models, others.shares(), strict=True))
        ours = left_out_shares(stable._bagging.found, stable._bagging.pool, range(row, row + 1))[0]
        n_ours = sum(row not in bag for bag in stable._bagging.pool.bags(0, stable._bagging.found.n_bags).tolist())
        assert abs(n_ours - 1500) < 200  # about as many bags as without leaving a row out
        for model, weight in zip(stable._bagging.found.models, ours, strict=True):
            other = without.get(model, 0.0)
            mean = (weight * n_ours + other * 3000) / (n_ours + 3000)
            assert abs(weight - other) < 5 * sqrt(mean * (1 - mean) * (1 / n_ours + 1 / 3000)) + 1e-12, (row, model)
        bag = rows[others_bag(1)]
        expected = tuple(f"x{j}" for j in np.flatnonzero(Lasso(0.5, **TIGHT).fit(X[bag], y[bag]).coef_))
        assert others.models[others.heaviest_by_bag()[0]] == expected


def others_bag(seed):
    return BagPool(29, 25, False, seed).bags(0, 1)[0]


def test_leave_one_out_leaves_the_fit_as_it_was(data):
    stable = stable_lasso().fit(*data)
    before = state_of(stable)
    first = stable.leave_one_out()
    assert state_of(stable) == before
    second = stable.leave_one_out()
    np.testing.assert_array_equal(first.set_sizes, second.set_sizes)
    assert len(stable.bag_models_) == N_BAGS


def test_leave_one_out_of_the_fit_whatever_parameters_are_set_later(data):
    stable, other = stable_lasso().fit(*data), stable_lasso().fit(*data)
    other.set_params(n_bags=3, replace=True, bag_size=5, selector=LassoSelector(9.0), epsilon=1.0)
    for method in ("pool", "refit"):
        ours, theirs = stable.leave_one_out(method), other.leave_one_out(method)
        np.testing.assert_array_equal(ours.set_sizes, theirs.set_sizes)
        assert ours.instability == theirs.instability


def test_leave_one_out_from_several_threads_at_once():
    X, y = make_data()

    def slow_choice(bag_X, bag_y):
        time.sleep(1e-4)  # lets the other threads go on
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
    assert 0 < (expected.set_sizes > 1).sum() < 40  # bags that are mixed up would show
    for found in [*results, stable.leave_one_out()]:
        np.testing.assert_array_equal(found.set_sizes, expected.set_sizes)


def test_the_pool_is_refused_where_models_depend_on_other_rows(data):
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


def test_nothing_is_promised_where_models_depend_on_other_rows(data):
    """Theorem 4.2 is about models that depend on the rows of their bag alone."""
    settings = {"n_bags": 50, "bag_size": SIZE, "random_state": 0}
    stable = StableSelector(PeekingSelector(nearest_column), **settings, epsilon=0.3).fit(*data)
    alone = StableSelector(RowsSelector(nearest_column), **settings, epsilon=0.3).fit(*data)
    assert alone.delta_ < 1.0
    assert alone.promised_delta(1.0) < 1.0
    assert stable.delta_ == stable.delta_monte_carlo_ == stable.promised_delta(1.0) == 1.0
    assert stable.guarantee_ == "This epsilon carries no guarantee."
    assert stable.selected_ == alone.selected_
    with pytest.raises(ParameterError, match=r"delta cannot be promised with PeekingSelector.*give epsilon"):
        StableSelector(PeekingSelector(nearest_column), **settings, delta=0.5).fit(*data)


def test_bags_that_all_hold_a_row_are_refused(data):
    stable = stable_lasso(n_bags=1, rule=Argmax()).fit(*data)
    with pytest.raises(ParameterError, match=r"Every bag holds row \d+: take more bags"):
        stable.leave_one_out()


def test_a_pool_beyond_all_measure_is_refused(data, monkeypatch):
    stable = stable_lasso(bag_size=2000, replace=True).fit(*data)  # one bag in 10**22 lacks a given row

    def draw_no_more(*arguments):
        raise AssertionError("bags are drawn for ever")

    monkeypatch.setattr(bagging, "choose_on_bags", draw_no_more)
    with pytest.raises(ParameterError, match="bag_size"):
        stable.leave_one_out()


def test_leave_one_out_by_a_method_that_is_none(fitted):
    with pytest.raises(ParameterError, match="method must be one of 'pool', 'refit', got 'jackknife'"):
        fitted.leave_one_out("jackknife")


# Models that are anything


def test_a_bag_may_weigh_several_models(data):
    X, y = data

    def weigh(bag_X, bag_y):
        order = np.argsort(-np.abs(bag_X.T @ bag_y))
        return {int(order[0]): 3, int(order[1]): 1.0}

    stable = StableSelector(RowsSelector(weigh), n_bags=200, bag_size=10, epsilon=0.3, random_state=0).fit(X, y)
    expected = Counter()
    for bag in stable._bagging.pool.bags(0, 200):
        order = np.argsort(-np.abs(X[bag].T @ y[bag]))
        expected[int(order[0])] += 0.75 / 200
        expected[int(order[1])] += 0.25 / 200
    assert dict(stable.weights_) == pytest.approx(dict(expected))
    heaviest = [int(np.abs(X[bag].T @ y[bag]).argmax()) for bag in stable._bagging.pool.bags(0, 200)]
    assert [stable.models_[place] for place in stable.bag_models_] == heaviest


@pytest.mark.parametrize("weights", [{}, {"a": -1.0, "b": 2.0}, {"a": 0.0}, {"a": np.nan}, {"a": np.inf}])
def test_weights_of_a_bag_that_are_refused(data, weights):
    stable = StableSelector(RowsSelector(lambda X, y: weights), n_bags=20, bag_size=SIZE, epsilon=0.3)
    with pytest.raises(DataError, match="weights of bag 0 must be 0 or more"):
        stable.fit(*data)


@pytest.mark.parametrize("model", [[1, 2], {1}, np.zeros(2), ("a", [])], ids=repr)
def test_a_model_that_cannot_be_hashed_is_refused(data, model):
    place = []

    def choose(X, y):
        place.append(len(place))
        return model if len(place) == 14 else "a"

    stable = StableSelector(RowsSelector(choose, 5), n_bags=20, bag_size=SIZE, epsilon=0.3)
    with pytest.raises(DataError, match=r"model of bag 13 .* hashable, such as a tuple or a frozenset"):
        stable.fit(*data)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("per_call", [1, 10, 1000])
def test_a_selector_that_fails_is_told_with_the_number_of_the_bag(data, per_call, n_jobs):
    X, y = data
    pool = StableSelector(RowsSelector(nearest_column), n_bags=1, bag_size=SIZE, epsilon=0.3, random_state=0)
    bad = X[pool.fit(X, y)._bagging.pool.bags(37, 38)[0]]

    def choose(bag_X, bag_y):
        if np.array_equal(bag_X, bad):
            raise RuntimeError("it would not converge")
        return "model"

    settings = {"n_bags": 60, "bag_size": SIZE, "epsilon": 0.3, "random_state": 0, "n_jobs": n_jobs}
    stable = StableSelector(RowsSelector(choose, per_call), **settings)
    with pytest.raises(DataError, match="The selector failed on bag 37: it would not converge") as caught:
        stable.fit(X, y)
    assert isinstance(caught.value.__cause__, BagError)


# What is refused


@pytest.mark.parametrize("n_rows", [1, 2])
def test_fewer_than_three_rows(data, n_rows):
    X, y = data
    with pytest.raises(DataError, match=f"n_samples={n_rows}, but at least 3 rows"):
        stable_lasso(bag_size=1).fit(X[:n_rows], y[:n_rows])


@pytest.mark.parametrize("bag_size", [40, 41, 0.99])
def test_bags_of_all_rows(data, bag_size):
    with pytest.raises(ParameterError, match=r"bag_size=.* must leave a row out: take smaller bags"):
        stable_lasso(bag_size=bag_size).fit(*data)
    if bag_size != 0.99:
        assert stable_lasso(bag_size=bag_size, replace=True).fit(*data)._bagging.pool.size == bag_size


def test_a_refit_needs_room_to_leave_a_row_out(data):
    stable = stable_lasso(bag_size=39).fit(*data)
    with pytest.raises(ParameterError, match="bag_size is 39 of 40 rows"):
        stable.leave_one_out("refit")


BAD_PARAMETERS = {
    "selector must be a selector": {"selector": LinearRegression()},
    "selector must be a selector such": {"selector": LassoSelector},
    "n_bags must be 1 or more": {"n_bags": 0},
    "n_bags must be a whole number": {"n_bags": 10.0},
    "replace must be True or False": {"replace": "no"},
    "monte_carlo must be True or False": {"monte_carlo": 1},
    "rule must be 'inflated_argmax' or a rule": {"rule": "argmax"},
    "rule must be 'inflated_argmax' or a rule such": {"rule": TopK},
    "delta and epsilon are both given": {"delta": 0.05},
    "delta and epsilon are for rule='inflated_argmax'": {"rule": TopK(2)},
    "epsilon must be at most the square root of 2": {"epsilon": 1.5},
    "epsilon must be above 0": {"epsilon": 0.0},
    "epsilon must be a finite number": {"epsilon": "small"},
    "delta must be above 0 and below 1": {"delta": 1.0, "epsilon": None},
    "delta must be a finite number": {"delta": np.nan, "epsilon": None},
    "bag_size must be a share": {"bag_size": 1.5},
    "bag_size must be 1 or more": {"bag_size": 0},
    "bag_size must be a whole number": {"bag_size": "half"},
}


@pytest.mark.parametrize(("message", "parameters"), BAD_PARAMETERS.items(), ids=BAD_PARAMETERS)
def test_parameters_that_are_refused(data, message, parameters):
    with pytest.raises(ParameterError, match=message):
        stable_lasso().set_params(**parameters).fit(*data)


def test_unknown_arguments_of_fit_are_refused(data):
    X, y = data
    with pytest.raises((DataError, ParameterError, TypeError), match="sample_weight"):
        stable_lasso().fit(X, y, sample_weight=np.ones(40))


def test_items_are_asked_for_before_the_bags_are_drawn(data):
    def choose(X, y):
        raise AssertionError("a bag was drawn")

    stable = StableSelector(RowsSelector(choose), n_bags=20, bag_size=SIZE, rule=InclusionProbability(0.5))
    with pytest.raises(ParameterError, match="InclusionProbability"):
        stable.fit(*data)


@pytest.mark.parametrize("kind", ["array", *FRAMES])
def test_bad_columns_are_named(data, kind):
    X, y = data
    columns = {f"c{j}": X[:, j].copy() for j in range(5)}
    constant, gaps = columns | {"c3": np.full(40, 0.1)}, dict(columns)
    gaps["c1"], gaps["c4"] = (np.where(np.arange(40) == 7, np.nan, columns[name]) for name in ("c1", "c4"))

    def table(some):
        return np.column_stack(list(some.values())) if kind == "array" else make_frame(kind, some)

    letter = "x" if kind == "array" else "c"
    with pytest.raises(DataError, match=f"same value in every row of column '{letter}3'"):
        stable_lasso().fit(table(constant), y)
    with pytest.raises(DataError, match=f"NaN in columns '{letter}1', '{letter}4'"):
        stable_lasso().fit(table(gaps), y)


def test_a_category_with_gaps_or_one_value_is_named(data):
    X, y = data
    labels = ["a", "b"] * 20
    with pytest.raises(DataError, match="'kind' of X has missing categories"):
        stable_lasso().fit(make_frame("pandas", {"n": X[:, 0]}, {"kind": [None, *labels[1:]]}), y)
    with pytest.raises(DataError, match="same value in every row of column 'kind'"):
        stable_lasso().fit(make_frame("pandas", {"n": X[:, 0]}, {"kind": ["a"] * 40}), y)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "requires y to be passed"),
        (np.full(40, np.nan), "y contains NaN"),
        (np.full(40, np.inf), "y contains infinity"),
        (["a"] * 40, "y must be numbers"),
        (np.zeros(39), "inconsistent numbers of samples"),
    ],
)
def test_targets_that_are_refused(data, target, message):
    with pytest.raises(ValueError, match=message):
        stable_lasso().fit(data[0], target)


BAD_FITS = {
    "a delta out of reach": lambda stable, X, y: stable.set_params(delta=1e-4, epsilon=None).fit(X, y),
    "a bad parameter": lambda stable, X, y: stable.set_params(n_bags=0).fit(X, y),
    "a bad selector": lambda stable, X, y: stable.set_params(selector=LassoSelector(-1.0)).fit(X, y),
    "a constant column": lambda stable, X, y: stable.fit(np.ones_like(X), y),
    "no target": lambda stable, X, y: stable.fit(X),
    "too few rows": lambda stable, X, y: stable.fit(X[:2], y[:2]),
}


@pytest.mark.parametrize("name", BAD_FITS)
def test_a_fit_that_fails_leaves_the_selector_as_it_was(data, name):
    X, y = data
    wider = np.hstack([X, X[:, ::-1] ** 2])
    unfitted = stable_lasso()
    before = set(vars(unfitted))
    with pytest.raises(ValueError):  # noqa: PT011 - what it says is tested elsewhere
        BAD_FITS[name](unfitted, wider, y)
    assert set(vars(unfitted)) == before
    with pytest.raises(NotFittedError):
        unfitted.get_support()
    stable = stable_lasso().fit(X, y)
    state = state_of(stable)
    with pytest.raises(ValueError):  # noqa: PT011
        BAD_FITS[name](stable, wider, y)
    assert state_of(stable) == state
    assert stable.n_features_in_ == 5
    np.testing.assert_array_equal(stable.transform(X), X[:, stable.get_support()])


@pytest.mark.parametrize("call", ["get_support", "leave_one_out", "get_feature_names_out"])
def test_nothing_before_a_fit(call):
    with pytest.raises(NotFittedError):
        getattr(stable_lasso(), call)()


# Columns


def test_support_is_the_union_or_the_intersection(data, fitted):
    X, _ = data
    union = {name for model in fitted.selected_ for name in model}
    common = set(fitted.selected_[0]).intersection(*fitted.selected_)
    assert common < union
    for how, names in [("union", union), ("intersection", common)]:
        assert fitted.get_support(how=how).tolist() == [f"x{j}" in names for j in range(5)]
        assert fitted.get_support(indices=True, how=how).tolist() == [j for j in range(5) if f"x{j}" in names]
    np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.get_support()])
    assert fitted.get_feature_names_out().tolist() == sorted(union)
    with pytest.raises(ParameterError, match="how must be one of 'union', 'intersection', got 'both'"):
        fitted.get_support(how="both")


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_keep_their_names(data, fitted, kind):
    X, y = data
    names = ["size", "age", "price of it", "Größe", "x0"]
    frame = make_frame(kind, {name: X[:, j] for j, name in enumerate(names)})
    stable = stable_lasso().fit(frame, y)
    to_name = {f"x{j}": name for j, name in enumerate(names)}
    assert stable.selected_ == tuple(tuple(to_name[item] for item in model) for model in fitted.selected_)
    assert stable.feature_names_in_.tolist() == names
    kept = [name for name, support in zip(names, stable.get_support(), strict=True) if support]
    taken = stable.transform(frame)
    assert type(taken) is type(frame)
    assert list(taken.columns) == stable.get_feature_names_out().tolist() == kept
    np.testing.assert_array_equal(np.asarray(taken), X[:, stable.get_support()])
    assert list(stable.get_feature_names_out(names)) == kept
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        stable.get_feature_names_out([*names[:-1], "other"])
    with pytest.raises(ValueError, match="feature names should match"):
        stable.transform(make_frame(kind, {name: X[:, j] for j, name in enumerate(names[::-1])}))


@pytest.mark.parametrize("kind", FRAMES)
def test_a_category_is_one_variable(kind):
    rng = np.random.default_rng(0)
    labels = rng.choice(["red", "green", "blue"], size=60).tolist()
    x = rng.normal(size=60)
    y = x + np.array([{"red": 0.0, "green": 1.5, "blue": 3.0}[label] for label in labels])
    frame = make_frame(kind, {"x": x, "noise": rng.normal(size=60)}, {"colour": labels})
    stable = stable_lasso(alpha=0.1, bag_size=30).fit(frame, y)
    assert stable.selected_ == (("x", "colour"),)
    assert set(stable.weights_) <= {("x", "colour"), ("x", "noise", "colour")}
    assert stable.get_support().tolist() == [True, False, True]
    assert list(stable.transform(frame).columns) == ["x", "colour"]
    assert stable.epsilon_ == 0.3
    by_hand = np.column_stack([x, frame["noise"], *(np.array(labels) == one for one in ("blue", "green", "red"))])
    weights = stable_lasso(alpha=0.1, bag_size=30).fit(by_hand, y).weights_
    merged = Counter()
    for model, weight in weights.items():
        merged[tuple(dict.fromkeys({"x0": "x", "x1": "noise"}.get(name, "colour") for name in model))] += weight
    assert dict(stable.weights_) == pytest.approx(dict(merged))


def test_names_out_of_an_array_may_be_given(data, fitted):
    """As scikit-learn's own selectors have it, and pipelines and column transformers need it."""
    X, y = data
    assert list(fitted.get_feature_names_out(list("abcde"))) == [
        name for name, support in zip("abcde", fitted.get_support(), strict=True) if support
    ]
    columns = ColumnTransformer([("stable", stable_lasso(), [1, 2, 4])]).fit(X, y)
    own = columns.named_transformers_["stable"]
    expected = [f"stable__x{j}" for j, support in zip((1, 2, 4), own.get_support(), strict=True) if support]
    assert columns.get_feature_names_out().tolist() == expected
    products = make_pipeline(PolynomialFeatures(include_bias=False), stable_lasso()).fit(X[:, :2], y)
    names = products[0].get_feature_names_out()
    assert products.get_feature_names_out().tolist() == names[products[1].get_support()].tolist()


def test_in_a_pipeline_before_a_model(data):
    X, y = data
    model = make_pipeline(stable_lasso(), LinearRegression()).fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert model.score(pd.DataFrame(X, columns=list("abcde")), y) > 0.8
    stable = stable_lasso().set_output(transform="pandas").fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert stable.transform(pd.DataFrame(X, columns=list("abcde"))).columns.tolist() == list(
        stable.get_feature_names_out()
    )


def test_a_model_of_no_variable_leaves_no_column(data):
    X, y = data
    stable = stable_lasso(alpha=100.0).fit(X, y)
    assert stable.selected_ == ((),)
    assert stable.expression_ == "nothing"
    assert not stable.get_support().any()
    assert stable.transform(X).shape == (40, 0)


# Inputs and copies


@pytest.mark.parametrize("order", ["C", "F", "strided", "float32", "list"])
def test_layouts_do_not_matter(data, fitted, order):
    X, y = data
    if order == "float32":
        X = X.astype(np.float32)
        assert state_of(stable_lasso().fit(X, y)) == state_of(stable_lasso().fit(X.astype(np.float64), y))
        return
    wide = np.repeat(X, 2, axis=1)
    other = {"C": X, "F": np.asfortranarray(X), "strided": wide[:, ::2], "list": X.tolist()}[order]
    assert state_of(stable_lasso().fit(other, y)) == state_of(fitted)


def test_inputs_are_untouched(data):
    X, y = (part.copy() for part in data)
    before = X.tobytes(), y.tobytes()
    stable = stable_lasso().fit(X, y)
    stable.leave_one_out()
    stable.leave_one_out("refit")
    stable.transform(X)
    assert (X.tobytes(), y.tobytes()) == before
    frame = make_frame("pandas", {"a": X[:, 0], "b": X[:, 1]}, {"c": ["u", "v"] * 20})
    copy = frame.copy()
    stable_lasso().fit(frame, y).transform(frame)
    pd.testing.assert_frame_equal(frame, copy)


def test_later_changes_of_the_table_do_not_reach_the_selector(data):
    X, y = (part.copy() for part in data)
    stable = stable_lasso().fit(X, y)
    X[:], y[:] = 0.0, 0.0
    expected, found = stable_lasso().fit(*data).leave_one_out("refit"), stable.leave_one_out("refit")
    np.testing.assert_array_equal(found.set_sizes, expected.set_sizes)


@pytest.mark.parametrize("method", ["pool", "refit"])
@pytest.mark.parametrize("kind", ["rows", "function"])
def test_nor_do_they_where_the_target_is_taken_as_it_is(data, kind, method):
    selector = RowsSelector(nearest_column) if kind == "rows" else FunctionSelector(nearest_column)
    settings = {"n_bags": 100, "bag_size": 30, "rule": Argmax(), "random_state": 0}
    expected = StableSelector(selector, **settings).fit(*data).leave_one_out(method)
    X, y = (part.copy() for part in data)
    stable = StableSelector(selector, **settings).fit(X, y)
    X[:], y[:] = 0.0, 0.0
    found = stable.leave_one_out(method)
    np.testing.assert_array_equal(found.disjoint_rows, expected.disjoint_rows)


def test_parameters_and_clones(data, fitted):
    stable = stable_lasso(delta=0.1)
    parameters = stable.get_params()
    assert parameters["selector__alpha"] == 0.2
    assert parameters["delta"] == 0.1
    copy = clone(stable).set_params(selector__alpha=0.4, n_bags=10)
    assert (copy.selector.alpha, copy.n_bags) == (0.4, 10)
    assert stable.selector.alpha == 0.2
    again = clone(fitted)
    assert not hasattr(again, "weights_")
    assert state_of(again.fit(*data)) == state_of(fitted)
    assert {name: value for name, value in fitted.get_params().items() if name != "selector"} == {
        name: value for name, value in again.get_params().items() if name != "selector"
    }


def test_a_fitted_selector_can_be_pickled(data):
    X, _ = data
    stable = stable_lasso().fit(*data)
    copy = pickle.loads(pickle.dumps(stable))
    assert state_of(copy) == state_of(stable)
    np.testing.assert_array_equal(copy.transform(X), stable.transform(X))
    ours, theirs = copy.leave_one_out(), stable.leave_one_out()
    np.testing.assert_array_equal(ours.set_sizes, theirs.set_sizes)
    assert state_of(pickle.loads(pickle.dumps(stable))) == state_of(stable)


def test_memory_does_not_grow_with_the_rows_of_the_bags():
    X, y = make_data(n_rows=60)
    n_bags = 200_000
    stable_lasso(bag_size=30).fit(X, y).leave_one_out()  # compiled kernels are not counted
    tracemalloc.start()
    try:
        stable = stable_lasso(bag_size=30, n_bags=n_bags).fit(X, y)
        _, of_fit = tracemalloc.get_traced_memory()
        stable.leave_one_out()
        kept, of_both = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(stable.bag_models_) == n_bags
    budget = n_bags * 500  # bytes; a bag's row numbers alone would be 120
    assert of_fit < budget / 3
    assert of_both < budget
    assert kept < 2 * n_bags * 40


# scikit-learn's own checks: none is expected to fail


@pytest.mark.filterwarnings("ignore::surefoot.UndecidedWarning")  # random tables, few bags
@parametrize_with_checks([StableSelector(LassoSelector(alpha=0.1), n_bags=20, bag_size=0.5, epsilon=0.5)])
def test_scikit_learn_check(estimator, check):
    check(estimator)
