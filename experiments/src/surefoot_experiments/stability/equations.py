"""Systems of differential equations: fitted by SINDy to states over time, written as text, and solved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot import StableSelector
from surefoot.selection import Argmax, SINDySelector
from surefoot.selection.polynomial_library import PolynomialLibrary
from surefoot.selection.table import SelectionTable
from surefoot_experiments.stability import paper

DEGREE = 2
NAMES = ("u1", "u2")  # prey and predators
SEPARATOR = "; "  # between the items of a model as text
MAX_STATE = 1e6  # a solution that grows beyond this is stopped
TOLERANCES = {"rtol": 1e-8, "atol": 1e-8}


@dataclass(frozen=True)
class EquationSystem:
    """Coefficients (terms, equations) of polynomials of the states."""

    library: PolynomialLibrary
    coefficients: np.ndarray

    @classmethod
    def fit(
        cls, states: np.ndarray, times: np.ndarray, penalty: float, threshold: float, names: Sequence[str] = NAMES
    ) -> "EquationSystem":
        """Fit by SINDy on all rows; the coefficients of the chosen terms are those of least squares."""
        groups = np.arange(states.shape[1], dtype=np.int32)
        table = SelectionTable(np.ascontiguousarray(states), tuple(names), groups, extras={"t": times})
        prepared = SINDySelector(degree=DEGREE, threshold=threshold, alpha=penalty).prepare(table)
        all_rows = np.arange(len(states), dtype=np.int32)[np.newaxis]
        return cls(PolynomialLibrary(tuple(names), DEGREE), prepared.coefficients(all_rows)[0])

    @classmethod
    def of(cls, equations: Mapping[tuple[str, str], float], names: Sequence[str] = NAMES) -> "EquationSystem":
        """Make a system from the coefficient of each (equation, term)."""
        library = PolynomialLibrary(tuple(names), DEGREE)
        coefficients = np.zeros((library.n_terms, len(names)))
        for (equation, term), value in equations.items():
            coefficients[library.names.index(term), list(names).index(equation)] = value
        return cls(library, coefficients)

    @property
    def equations(self) -> dict[tuple[str, str], float]:
        """The nonzero coefficients, by (equation, term)."""
        return {
            (equation, term): float(self.coefficients[i, j])
            for j, equation in enumerate(self.library.variables)
            for i, term in enumerate(self.library.names)
            if self.coefficients[i, j] != 0.0
        }

    @property
    def text_lines(self) -> list[str]:
        """The equations as text."""
        lines = []
        for equation in self.library.variables:
            parts = [(term, value) for (name, term), value in self.equations.items() if name == equation]
            signed = [f"{'-' if value < 0 else '+'} {abs(value):.3f} {term}" for term, value in parts]
            text = " ".join(part.removesuffix(" 1") for part in signed)  # the constant term is named "1"
            lines.append(f"d{equation}/dt = {text.removeprefix('+ ') or '0'}")
        return lines

    def solve(self, start: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Compute the states at ascending times, of which ``start`` is the first; infinite after they diverge."""
        from scipy.integrate import solve_ivp

        def velocity(_: float, state: np.ndarray) -> np.ndarray:
            return self.library.values(state[np.newaxis])[0] @ self.coefficients

        def escape(_: float, state: np.ndarray) -> float:
            return MAX_STATE - float(np.abs(state).max())

        escape.terminal = True  # type: ignore[attr-defined]
        span = (float(times[0]), float(times[-1]))
        solution: Any = solve_ivp(velocity, span, start, method="LSODA", t_eval=times, events=escape, **TOLERANCES)
        states = np.full((len(times), len(start)), np.inf)
        states[: solution.y.shape[1]] = solution.y.T
        return states


def fit_bags(
    states: Any,
    times: np.ndarray,
    seed: int,
    bags: int,
    n_jobs: int | None,
    names: Sequence[str] = NAMES,
    *,
    replace: bool = False,
) -> StableSelector:
    """SINDy with the paper's parameters on bags of the rows."""
    import pandas as pd

    stable = StableSelector(
        SINDySelector(degree=DEGREE, threshold=paper.CHOSEN_THRESHOLD, alpha=paper.CHOSEN_PENALTY),
        rule=Argmax(),
        n_bags=bags,
        bag_size=paper.DYNAMICS_BAG_SIZE,
        replace=replace,
        random_state=seed,
        n_jobs=n_jobs,
    )
    return stable.fit(pd.DataFrame(np.asarray(states, dtype=np.float64), columns=list(names)), t=times)


def name_items(weights: Mapping[Any, float]) -> dict[tuple[str, ...], float]:
    """The same models with text for their items, such as "u1: u1 u2" for the term u1 u2 in the equation of u1."""
    return {tuple(f"{equation}: {term}" for equation, term in model): weight for model, weight in weights.items()}


def item_names(names: Sequence[str] = NAMES) -> list[str]:
    """All possible items of a model, as text."""
    terms = PolynomialLibrary(tuple(names), DEGREE).names
    return [f"{equation}: {term}" for equation in names for term in terms]


TRUTH = EquationSystem.of(paper.TRUE_EQUATIONS)
