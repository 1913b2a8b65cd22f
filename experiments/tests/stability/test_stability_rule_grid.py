"""What rules make of weights, counted by hand and by scikit-learn."""

import numpy as np
import pytest
from reference_sindy import TERMS, coefficients
from sklearn.linear_model import Lasso

from surefoot import StableSelector, metrics
from surefoot.selection import Argmax, LassoSelector
from surefoot.selection.leave_one_out import LeftOutWeights
from surefoot_experiments.stability.motion import fit_bags
from surefoot_experiments.stability.rule_grid import (
    ARGMAX,
    BASE,
    INCLUSION,
    INFLATED,
    TOP_K,
    Contender,
    evaluate,
    evaluate_base,
    fit_base,
)

FULL = np.array([0.5, 0.3, 0.2])
LEFT_OUT = np.array([[0.5, 0.4, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.4, 0.2, 0.4]])
MEMBERS = np.array([[True, True, False], [True, False, True], [False, True, True]])
WEIGHTS = [LeftOutWeights(FULL, LEFT_OUT, MEMBERS)]


@pytest.mark.parametrize(
    ("contender", "instability", "set_size", "left_out_size"),
    [
        (Contender(ARGMAX), 2 / 4, 1, 5 / 4),  # the last row ties
        (Contender(TOP_K, 2), 0 / 4, 2, 8 / 4),
        (Contender(TOP_K, 3), 0 / 4, 3, 12 / 4),
        # shares of the items are .8 .7 .5 in full; .9 .6 .5, .9 .4 .7, .3 .8 .9 and .6 .8 .6 without a row
        (Contender(INCLUSION, 0.55), 3 / 4, 1, 1.0),
        (Contender(INCLUSION, 0.75), 2 / 4, 1, 1.0),
    ],
)
def test_counted_by_hand(contender: Contender, instability: float, set_size: int, left_out_size: float) -> None:
    found = evaluate(WEIGHTS, contender)
    assert found[:3] == pytest.approx((instability, set_size, left_out_size))
    assert np.isnan(found.utility)
    assert found.undecided == 0


def test_the_inflated_argmax_of_two_models_is_a_gap() -> None:
    """Of two models the second is returned exactly when the gap is below epsilon over the square root of 2."""
    weights = [LeftOutWeights(np.array([0.6, 0.4]), np.array([[0.45, 0.55], [0.3, 0.7], [0.8, 0.2]]), None)]
    narrow = evaluate(weights, Contender(INFLATED, 0.19 * np.sqrt(2)))
    wide = evaluate(weights, Contender(INFLATED, 0.21 * np.sqrt(2)))
    assert narrow[:3] == pytest.approx((1 / 3, 1, 4 / 3))  # rows: both, the second alone, the first alone
    assert wide[:3] == pytest.approx((0.0, 2, 4 / 3))


def test_instability_is_that_of_the_metric() -> None:
    rng = np.random.default_rng(0)
    left_out = rng.dirichlet(np.full(6, 0.5), size=40)
    full = left_out.mean(axis=0)
    for contender in (Contender(TOP_K, 2), Contender(INFLATED, 0.2), Contender(ARGMAX)):
        rule = contender.selection_rule()
        sets = [set(rule.choose(row).tolist()) for row in left_out]
        expected = metrics.instability(set(rule.choose(full).tolist()), sets)
        assert evaluate([LeftOutWeights(full, left_out, None)], contender).instability == expected


def test_models_that_no_bag_chose_are_not_counted() -> None:
    full = np.array([0.5, 0.5, 0.0, 0.0])
    weights = [LeftOutWeights(full, np.array([[0.5, 0.0, 0.5, 0.0]]), None)]
    found = evaluate(weights, Contender(INFLATED, 1.4))
    assert (found.set_size, found.left_out_size, found.undecided) == (2, 2.0, 1)


def test_utility() -> None:
    def utility(contender: Contender, *truth: int) -> float:
        return evaluate(WEIGHTS, contender, np.isin(np.arange(3), truth)).utility

    assert utility(Contender(ARGMAX), 0, 1) == 1.0
    assert utility(Contender(ARGMAX), 0, 2) == 0.0
    assert utility(Contender(TOP_K, 2), 0, 2) == 0.5
    assert utility(Contender(INCLUSION, 0.5), 0, 1, 2) == 1.0


def test_blocks_of_rows_are_put_together() -> None:
    one_by_one = [LeftOutWeights(FULL, row[np.newaxis], MEMBERS) for row in LEFT_OUT]
    for contender in (Contender(ARGMAX), Contender(TOP_K, 2), Contender(INCLUSION, 0.5), Contender(INFLATED, 0.3)):
        assert evaluate(one_by_one, contender)[:3] == evaluate(WEIGHTS, contender)[:3]


def test_a_selector_without_bags() -> None:
    found = evaluate_base(("a",), [("a",), ("b",), ("a",), ("a", "b")], ("a",))
    assert found == (0.5, 1, 1.0, 1.0, 0)
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
        found = Lasso(alpha=0.5, tol=1e-10, max_iter=100_000).fit(X[rows], y[rows]).coef_
        return tuple(f"x{j}" for j in np.flatnonzero(found))

    model, others = fit_base(stable)
    assert model == chosen(np.arange(30))
    assert others == [chosen(np.delete(np.arange(30), row)) for row in range(30)]
    assert len(set(others)) > 1


def test_without_a_time_the_derivatives_are_new() -> None:
    times = np.linspace(0, 16, 21)
    states = 1 + 0.5 * np.column_stack([np.sin(times), np.cos(times)])
    states += 0.05 * np.random.default_rng(0).standard_normal(states.shape)

    def chosen(rows: np.ndarray) -> set[tuple[str, str]]:
        found = coefficients(states[rows], times[rows], 0.01, 0.18)
        return {(f"u{j + 1}", TERMS[i]) for i, j in zip(*np.nonzero(found), strict=True)}

    model, others = fit_base(fit_bags(states, times, 0, 3, None))
    assert set(model) == chosen(np.arange(21))  # type: ignore[call-overload]
    assert [set(other) for other in others] == [  # type: ignore[call-overload]
        chosen(np.delete(np.arange(21), row)) for row in range(21)
    ]


def test_labels() -> None:
    assert Contender(BASE).label == "argmax, no bags"
    assert Contender(TOP_K, 2.0).label == "top-2"
    assert Contender(INFLATED, 0.02).label == "inflated argmax 0.02"
