"""Systems of equations: solutions, validation and text; and lynx and hare."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from noisy_trajectories import predators_and_prey
from reference_sindy import coefficients, library
from scipy.integrate import odeint

from surefoot_experiments.stability import lynx_hare, paper
from surefoot_experiments.stability.equations import TRUTH, EquationSystem, fit_bags, item_names, name_items
from surefoot_experiments.stability.validation import (
    ValidationLine,
    ValidationUnit,
    choose,
    fold_error,
    folds,
    grid,
    judge_validation,
    nearest_trajectory,
    printed,
    table_3,
    validate,
)

TIMES = np.linspace(0, 16, 21)
STATES = predators_and_prey(TIMES, 0.05, 3)


def test_a_solution_is_that_of_scipys_odeint() -> None:
    solved = TRUTH.solve(np.ones(2), TIMES)
    assert np.abs(solved - predators_and_prey(TIMES, 0.0, 0)).max() < 1e-5


def test_a_solution_is_infinite_after_it_diverges() -> None:
    diverging = EquationSystem.of({("u1", "u1^2"): 1.0})  # u1 = 1 / (1 - t)
    times = np.array([0.0, 0.5, 0.9, 1.5])
    solved = diverging.solve(np.array([1.0, 1.0]), times)
    assert solved[:3, 0] == pytest.approx([1.0, 2.0, 10.0], rel=1e-5)
    assert np.isinf(solved[3]).all()
    assert fold_error(diverging, np.ones((4, 2)), times, np.array([3])) == np.inf


def test_equations_as_text() -> None:
    assert TRUTH.text_lines == ["du1/dt = 0.667 u1 - 1.333 u1 u2", "du2/dt = - 1.000 u2 + 1.000 u1 u2"]
    assert EquationSystem.of({}).text_lines == ["du1/dt = 0", "du2/dt = 0"]
    assert EquationSystem.of({("u1", "1"): 0.5, ("u1", "u2"): -2.0}).text_lines[0] == "du1/dt = 0.500 - 2.000 u2"
    assert item_names()[4] == "u1: u1 u2"
    assert name_items({(("u1", "u1"), ("u2", "u1 u2")): 0.5}) == {("u1: u1", "u2: u1 u2"): 0.5}


def test_coefficients_are_those_of_the_reference() -> None:
    for penalty, threshold in ((0.01, 0.18), (0.03, 0.25), (0.15, 0.16)):
        system = EquationSystem.fit(STATES, TIMES, penalty, threshold)
        assert np.abs(system.coefficients - coefficients(STATES, TIMES, penalty, threshold)).max() < 1e-8


@pytest.mark.parametrize("cell", [ValidationUnit(0.01, 0.18), ValidationUnit(0.02, 0.25)])
def test_a_cell_of_table_3_against_an_independent_computation(cell: ValidationUnit) -> None:
    """NumPy fits, scipy's odeint solves, and the error of equation 22 is computed directly."""
    squares = []
    for rows in np.split(np.arange(21), [5, 9, 13, 17]):
        others = np.delete(np.arange(21), rows)
        fitted = coefficients(STATES[others], TIMES[others], *cell)
        solved = odeint(lambda u, _, c: (library([u]) @ c)[0], STATES[0], TIMES, args=(fitted,), rtol=1e-9, atol=1e-9)
        squares.append(np.mean(np.sum((solved[rows] - STATES[rows]) ** 2, axis=1)))
    line = validate(STATES, TIMES, cell)
    assert line.error == pytest.approx(np.mean(squares), rel=1e-4)
    assert line.null_folds == 0


def test_folds_are_adjacent_times() -> None:
    assert [rows.tolist() for rows in folds(6)] == [[0, 1], [2], [3], [4], [5]]
    assert np.concatenate(folds(21)).tolist() == list(range(21))


def test_an_equation_without_terms_is_counted() -> None:
    assert validate(STATES, TIMES, ValidationUnit(0.01, 50.0)).null_folds == 5


def lines(errors: dict[ValidationUnit, float]) -> list[ValidationLine]:
    return [ValidationLine(*cell, errors.get(cell, 1.0), int(printed(cell) is None), 0.1) for cell in grid()]


def test_ties_go_to_the_larger_penalty_and_threshold() -> None:
    tied = {
        ValidationUnit(0.0075, 0.25): 0.05381,
        ValidationUnit(0.01, 0.16): 0.05384,
        ValidationUnit(0.01, 0.18): 0.05379,
        ValidationUnit(0.01, 0.19): 0.0539,
    }
    assert choose(lines(tied)) == ValidationUnit(0.01, 0.18)
    null = [ValidationLine(*cell, 0.0, 1, 0.1) for cell in grid()[:-1]] + [ValidationLine(*grid()[-1], 3.0, 0, 0.1)]
    assert choose(null) == grid()[-1]


def test_the_choice_and_the_terms_are_judged() -> None:
    same = lines({ValidationUnit(0.01, 0.18): 0.0538})
    chosen, dashes, terms = judge_validation(same, TRUTH)
    assert chosen.holds
    assert dashes.holds
    assert terms.holds
    assert "(printed: 0.0538)" in chosen.detail
    other = [
        ValidationLine(*line.unit, line.error, 1, 0.1) if line.unit == ValidationUnit(0.02, 0.16) else line
        for line in same
    ]
    chosen, dashes, terms = judge_validation(other + lines({})[:0], EquationSystem.of({("u1", "u1"): 1.0}))
    assert chosen.holds
    assert dashes.holds is False
    assert terms.holds is False
    assert "not (λ = 0.02, ω = 0.16)." in dashes.detail
    assert judge_validation(lines({ValidationUnit(0.02, 0.2): 0.01}), TRUTH)[0].holds is False


def test_table_3_as_text() -> None:
    rows = table_3(lines({ValidationUnit(0.01, 0.18): 0.05, ValidationUnit(0.02, 0.16): np.inf})).splitlines()
    assert rows[3].startswith("| 0.01 | 1.0000 (0.0538) | 1.0000 (0.0538) | 0.0500 (0.0538) |")
    assert rows[4].startswith("| 0.02 | diverges (0.1285) |")
    assert rows[6] == "| 0.15 | 1.0000 (0.0788) | - (-) | - (-) | - (-) | - (-) | - (-) |"


def test_the_trajectory_nearest_to_the_printed_equations() -> None:
    printed_system = EquationSystem.of(paper.EQUATIONS)
    fine = np.linspace(0, 16, 2001)
    own = printed_system.solve(np.ones(2), fine)
    far = TRUTH.solve(np.ones(2), fine)
    index, gap = nearest_trajectory([far, own], fine)
    assert (index, gap < 1e-3) == (1, True)


def test_lynx_and_hare_have_mean_1(stability_tables: Path) -> None:
    states, years = lynx_hare.read_states(stability_tables)
    frame = pd.read_parquet(stability_tables / "lynx_hare.parquet")
    assert states.mean(axis=0) == pytest.approx([1.0, 1.0])
    assert states[:, 0] / frame["hare"].to_numpy() == pytest.approx(np.full(21, 1 / frame["hare"].mean()))
    assert years.tolist() == list(range(1900, 1921))


def test_the_selected_models_of_lynx_and_hare() -> None:
    weights = {("a",): 0.4, ("b",): 0.38, (): 0.22}
    assert lynx_hare.selected_models(weights, 0.05) == [("a",), ("b",)]
    assert lynx_hare.selected_models(weights, 0.02) == [("a",)]


def test_bags_of_a_trajectory_have_the_papers_settings() -> None:
    stable = fit_bags(STATES, TIMES, 0, 20, None)
    assert (stable.bag_size, stable.n_bags) == (15, 20)
    assert stable.selector.get_params() == {"degree": 2, "threshold": 0.18, "alpha": 0.01}
    assert sum(stable.weights_.values()) == pytest.approx(1.0)
