"""Stable selection: weights, rules and guarantees by hand, and models of any kind."""

from collections import Counter
from math import e, sqrt

import numpy as np
import pytest
from reference.stable_selection import (
    N_BAGS,
    SIZE,
    RowsSelector,
    by_definition,
    make_data,
    nearest_column,
    stable_lasso,
    state_of,
)
from sklearn.linear_model import Lasso

from surefoot import DataError, ParameterError, StableSelector, UndecidedWarning, stability_delta, stability_epsilon
from surefoot.selection import Argmax, InclusionProbability, InflatedArgmax, LassoSelector, ModelWeights, TopK
from surefoot.selection.chosen_models import ModelCounts
from surefoot.selection.selector import BagError

PROMISE = (
    "For at most a share {} of the rows, removing that row would give a set of models that shares none with this one. "
    "It does not say that any of them is right."
)
TIGHT = {"tol": 1e-10, "max_iter": 10**6}


# Weights


def test_weights_are_fractions_of_the_bags(data, fitted):
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
    assert fitted.weights_["x4", "x3"] == 0.0  # not the model of any bag
    assert ("x4", "x3") not in fitted.weights_


def test_weights_in_a_frame_and_in_words():
    weights = ModelWeights([f"m{k}" for k in range(7)], [0.1, 0.2, 0.3, 0.1, 0.1, 0.1, 0.1])
    assert repr(weights) == "ModelWeights('m2': 0.3, 'm1': 0.2, 'm0': 0.1, 'm3': 0.1, 'm4': 0.1, ... 2 more)"
    assert repr(ModelWeights([()], [1.0])) == "ModelWeights((): 1)"
    frame = ModelWeights([("a",), ("a", "b")], [0.25, 0.75]).to_frame()
    assert frame["model"].tolist() == [("a", "b"), ("a",)]
    assert frame["weight"].tolist() == [0.75, 0.25]


@pytest.mark.parametrize("n_items", [1, 7, 8, 63, 64, 65, 130])
def test_models_with_any_number_of_items_are_distinguished(n_items):
    rng = np.random.default_rng(n_items)
    kinds = rng.random((5, n_items)) < 0.5
    chosen = kinds[rng.integers(0, 5, size=60)]
    chosen[-1] = ~chosen[-1]
    found, items = ModelCounts(), tuple(f"x{j}" for j in range(n_items))
    for start in range(0, 60, 17):
        found.add(chosen[start : start + 17], items)
    named = [tuple(items[j] for j in np.flatnonzero(row)) for row in chosen]
    assert [found.models[place] for place in found.heaviest_by_bag()] == named
    assert found.models == list(dict.fromkeys(named))
    np.testing.assert_array_equal(found.member_array()[found.heaviest_by_bag()], chosen)
    assert found.model_weights().tolist() == [Counter(named)[model] / 60 for model in found.models]


# The rule


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.2, 0.3])
def test_selected_models_equal_the_inflated_argmax(data, epsilon):
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
def test_other_rules_carry_no_guarantee(data, rule):
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
    assert stable.expression_ == "x1 and (x3 or x4)"


def test_expression_of_models_that_are_not_sets():
    X, y = make_data()
    stable = StableSelector(RowsSelector(nearest_column), n_bags=300, bag_size=10, epsilon=0.3, random_state=0)
    stable.fit(X, y)
    assert stable.expression_ == " or ".join(str(model) for model in stable.selected_)
    assert len(stable.selected_) > 1
    with pytest.raises(ParameterError, match="not sets of variables: use selected_"):
        stable.get_support()


# The guarantee


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


def test_epsilon_and_delta_agree_with_the_functions(data):
    stable = stable_lasso(delta=0.2).fit(*data)
    setting = {"n_samples": 40, "bag_size": SIZE, "n_models": 32}
    assert stable.epsilon_ == stability_epsilon(0.2, **setting)
    assert stable.delta_monte_carlo_ == min(1, stability_delta(stable.epsilon_, n_bags=N_BAGS, **setting))


def test_the_default_delta_is_five_percent():
    X, y = make_data(n_rows=100)
    stable = StableSelector(LassoSelector(0.2), n_bags=100, random_state=0).fit(X, y)
    assert stable.delta_ == pytest.approx(0.05)
    assert stable._bagging.pool.size == 50
    assert stable.guarantee_ == PROMISE.format(0.05)


def test_the_guarantee_in_words(data):
    assert stable_lasso(delta=0.25).fit(*data).guarantee_ == PROMISE.format(0.25)
    careful = stable_lasso(epsilon=0.9, monte_carlo=True, n_bags=2000, bag_size=8).fit(*data)
    assert careful.guarantee_ == PROMISE.format("0.0784")  # rounded up: a smaller number would guarantee too much
    assert 0.0783 < careful.delta_monte_carlo_ <= 0.0784
    none = stable_lasso(epsilon=0.02).fit(*data)
    assert none.delta_ == none.delta_monte_carlo_ == 1.0
    assert none.guarantee_ == "This epsilon carries no guarantee."
    not_so_careful = stable_lasso(epsilon=0.3, monte_carlo=True).fit(*data)  # too few bags
    assert not_so_careful.delta_ < 1.0 == not_so_careful.delta_monte_carlo_
    assert not_so_careful.guarantee_ == "This epsilon carries no guarantee."


def test_the_error_of_an_impossible_delta_names_the_smallest(data):
    X, y = data
    least = (1 - 1 / 32) * 35 / 5 / 39 / 2
    assert 0.0869 < least < 0.087
    with pytest.raises(ParameterError, match=r"delta=0\.05 .* smallest possible delta is 0\.087; use that"):
        stable_lasso(delta=0.05, bag_size=35).fit(X, y)
    with pytest.warns(UndecidedWarning):  # possible, but of little use
        assert stable_lasso(delta=0.0875, bag_size=35).fit(X, y).delta_ == pytest.approx(0.0875)


def test_a_delta_that_is_possible_because_there_are_few_models(data):
    X, y = data  # one column: two models, with half of the movement of very many models
    stable = stable_lasso(delta=0.05, bag_size=35).fit(X[:, :1], y)
    assert stable.delta_ == pytest.approx(0.05)


def test_monte_carlo_is_refused_with_other_rules(data):
    with pytest.raises(ParameterError, match="monte_carlo is for rule='inflated_argmax'"):
        StableSelector(LassoSelector(0.2), rule=TopK(2), monte_carlo=True).fit(*data)


def test_undecided_tables_cause_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 4)), rng.normal(size=5)
    stable = StableSelector(LassoSelector(0.1), n_bags=200, bag_size=2, delta=0.1, random_state=0)
    with pytest.warns(UndecidedWarning, match="models which no bag chose would be selected as well") as caught:
        stable.fit(X, y)
    assert caught[0].filename == __file__
    assert stable.undecided_
    assert stable.expression_ == "any model: the bags cannot tell"
    assert stable.selected_ == tuple(stable.weights_)


def test_tables_are_decided_if_every_model_was_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 1))
    y = 0.4 * X[:, 0] + rng.normal(size=12)
    stable = stable_lasso(alpha=0.25, bag_size=5, epsilon=1.3).fit(X, y)
    assert len(stable.weights_) == 2  # the column, and nothing: there are no other models
    assert not stable.undecided_
    assert stable.expression_ in ("x0 or nothing", "x0", "nothing")


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
    monkeypatch.setattr("surefoot.selection.bagged_selection.MAX_CELLS", 7 * SIZE)
    monkeypatch.setattr("surefoot.selection.bagged_selection.CALLS_AT_ONCE", 3)
    monkeypatch.setattr("surefoot.selection.bagged_selection.MAX_WEIGHTS", 3 * len(whole.models_))
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


# Models of any kind


def test_a_bag_may_weight_several_models(data):
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
def test_a_failing_selector_is_reported_with_the_number_of_the_bag(data, per_call, n_jobs):
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
