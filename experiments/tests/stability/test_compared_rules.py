"""Selections of the rules against manual counts and scikit-learn."""

import numpy as np
import pytest
from reference_sindy import TERMS, coefficients
from sklearn.linear_model import Lasso

from surefoot import StableSelector, metrics
from surefoot.selection import Argmax, LassoSelector
from surefoot.selection.leave_one_out import LeftOutWeights
from surefoot_experiments.stability.compared_rules import (
    ARGMAX,
    BASE,
    INCLUSION,
    INFLATED,
    TOP_K,
    ComparedRule,
    evaluate,
    evaluate_base,
    fit_base,
)
from surefoot_experiments.stability.equations import fit_bags

FULL = np.array([0.5, 0.3, 0.2])
LEFT_OUT = np.array([[0.5, 0.4, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.4, 0.2, 0.4]])
MEMBERS = np.array([[True, True, False], [True, False, True], [False, True, True]])
WEIGHTS = [LeftOutWeights(FULL, LEFT_OUT, MEMBERS)]


@pytest.mark.parametrize(
    ("rule", "instability", "set_size", "left_out_size"),
    [
        (ComparedRule(ARGMAX), 2 / 4, 1, 5 / 4),  # the last row ties
        (ComparedRule(TOP_K, 2), 0 / 4, 2, 8 / 4),
        (ComparedRule(TOP_K, 3), 0 / 4, 3, 12 / 4),
        # fractions of the items are .8 .7 .5 in full; .9 .6 .5, .9 .4 .7, .3 .8 .9 and .6 .8 .6 without a row
        (ComparedRule(INCLUSION, 0.55), 3 / 4, 1, 1.0),
        (ComparedRule(INCLUSION, 0.75), 2 / 4, 1, 1.0),
    ],
)
def test_counted_by_hand(rule: ComparedRule, instability: float, set_size: int, left_out_size: float) -> None:
    evaluation = evaluate(WEIGHTS, rule)
    assert evaluation[:3] == pytest.approx((instability, set_size, left_out_size))
    assert np.isnan(evaluation.utility)
    assert evaluation.undecided == 0


def test_the_inflated_argmax_of_two_models_is_a_gap() -> None:
    """The second of two models is returned if and only if the gap is below epsilon over the square root of 2."""
    weights = [LeftOutWeights(np.array([0.6, 0.4]), np.array([[0.45, 0.55], [0.3, 0.7], [0.8, 0.2]]), None)]
    narrow = evaluate(weights, ComparedRule(INFLATED, 0.19 * np.sqrt(2)))
    wide = evaluate(weights, ComparedRule(INFLATED, 0.21 * np.sqrt(2)))
    assert narrow[:3] == pytest.approx((1 / 3, 1, 4 / 3))  # rows: both, the second alone, the first alone
    assert wide[:3] == pytest.approx((0.0, 2, 4 / 3))


def test_instability_is_that_of_the_metric() -> None:
    rng = np.random.default_rng(0)
    left_out = rng.dirichlet(np.full(6, 0.5), size=40)
    full = left_out.mean(axis=0)
    for compared in (ComparedRule(TOP_K, 2), ComparedRule(INFLATED, 0.2), ComparedRule(ARGMAX)):
        rule = compared.selection_rule()
        sets = [set(rule.choose(row).tolist()) for row in left_out]
        expected = metrics.instability(set(rule.choose(full).tolist()), sets)
        assert evaluate([LeftOutWeights(full, left_out, None)], compared).instability == expected


def test_models_that_no_bag_chose_are_not_counted() -> None:
    full = np.array([0.5, 0.5, 0.0, 0.0])
    weights = [LeftOutWeights(full, np.array([[0.5, 0.0, 0.5, 0.0]]), None)]
    evaluation = evaluate(weights, ComparedRule(INFLATED, 1.4))
    assert (evaluation.set_size, evaluation.left_out_size, evaluation.undecided) == (2, 2.0, 1)


def test_utility() -> None:
    def utility(rule: ComparedRule, *truth: int) -> float:
        return evaluate(WEIGHTS, rule, np.isin(np.arange(3), truth)).utility

    assert utility(ComparedRule(ARGMAX), 0, 1) == 1.0
    assert utility(ComparedRule(ARGMAX), 0, 2) == 0.0
    assert utility(ComparedRule(TOP_K, 2), 0, 2) == 0.5
    assert utility(ComparedRule(INCLUSION, 0.5), 0, 1, 2) == 1.0


def test_blocks_of_rows_are_concatenated() -> None:
    one_by_one = [LeftOutWeights(FULL, row[np.newaxis], MEMBERS) for row in LEFT_OUT]
    for rule in (
        ComparedRule(ARGMAX),
        ComparedRule(TOP_K, 2),
        ComparedRule(INCLUSION, 0.5),
        ComparedRule(INFLATED, 0.3),
    ):
        assert evaluate(one_by_one, rule)[:3] == evaluate(WEIGHTS, rule)[:3]


def test_a_selector_without_bags() -> None:
    evaluation = evaluate_base(("a",), [("a",), ("b",), ("a",), ("a", "b")], ("a",))
    assert evaluation == (0.5, 1, 1.0, 1.0, 0)
    assert evaluate_base(("a",), [("a",)], ("b",)).utility == 0.0


def test_the_lasso_without_bags_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 6))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    y = X[:, 0] + X[:, 2] + 0.3 * rng.standard_normal(30)
    stable = StableSelector(
        LassoSelector(0.5, standardize=False), rule=Argmax(), n_bags=3, bag_size=25, random_state=0
    ).fit(X, y)

    def chosen(rows: np.ndarray) -> tuple[str, ...]:
        weights = Lasso(alpha=0.5, tol=1e-10, max_iter=100_000).fit(X[rows], y[rows]).coef_
        return tuple(f"x{j}" for j in np.flatnonzero(weights))

    model, others = fit_base(stable)
    assert model == chosen(np.arange(30))
    assert others == [chosen(np.delete(np.arange(30), row)) for row in range(30)]
    assert len(set(others)) > 1


def test_derivatives_are_recomputed_without_a_time() -> None:
    times = np.linspace(0, 16, 21)
    states = 1 + 0.5 * np.column_stack([np.sin(times), np.cos(times)])
    states += 0.05 * np.random.default_rng(0).standard_normal(states.shape)

    def chosen(rows: np.ndarray) -> set[tuple[str, str]]:
        weights = coefficients(states[rows], times[rows], 0.01, 0.18)
        return {(f"u{j + 1}", TERMS[i]) for i, j in zip(*np.nonzero(weights), strict=True)}

    model, others = fit_base(fit_bags(states, times, 0, 3, None))
    assert set(model) == chosen(np.arange(21))  # type: ignore[call-overload]
    assert [set(other) for other in others] == [  # type: ignore[call-overload]
        chosen(np.delete(np.arange(21), row)) for row in range(21)
    ]


def test_labels() -> None:
    assert ComparedRule(BASE).label == "argmax, no bags"
    assert ComparedRule(TOP_K, 2.0).label == "top-2"
    assert ComparedRule(INFLATED, 0.02).label == "inflated argmax 0.02"
