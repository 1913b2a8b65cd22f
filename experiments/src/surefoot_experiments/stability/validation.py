"""Cross-validation of SINDy's penalty and threshold on one trajectory: table 3 and figure 10 (D.1.2)."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from surefoot.plots.style import COLOURS
from surefoot.selection.finite_differences import differentiate
from surefoot.selection.polynomial_library import PolynomialLibrary
from surefoot_experiments.skeleton.judge import Finding
from surefoot_experiments.skeleton.report import new_figure, save_figure, table
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.equations import DEGREE, NAMES, EquationSystem

FOLDS = 5
LABELS = {"u1": "u1, prey", "u2": "u2, predators"}
HOW_VALIDATED = """\
Five folds of adjacent times. SINDy is fitted to the other folds, with derivatives across the gap, and its equations are
solved by LSODA from the first state, which has no noise, through all times. Our numbers come first, the paper's are in
brackets. A dash means that an equation has no term in some fold, which is how we read the paper's dash. The paper does
not say from which state its solutions start."""


class ValidationUnit(NamedTuple):
    """Identifies a `ValidationLine`."""

    penalty: float
    threshold: float


@dataclass(frozen=True)
class ValidationLine:
    """The mean squared error over folds of a penalty and a threshold; infinite if a solution diverges.

    ``null_folds`` is the number of folds in which an equation has no term; the paper then prints a dash.
    """

    penalty: float
    threshold: float
    error: float
    null_folds: int
    seconds: float

    @property
    def unit(self) -> ValidationUnit:
        return ValidationUnit(self.penalty, self.threshold)


def grid() -> list[ValidationUnit]:
    """The cells of table 3."""
    return [
        ValidationUnit(penalty, threshold)
        for penalty in paper.TABLE_3_PENALTIES
        for threshold in paper.TABLE_3_THRESHOLDS
    ]


def printed(cell: ValidationUnit) -> float | None:
    """The paper's error; None if it has a dash."""
    row = paper.TABLE_3[paper.TABLE_3_PENALTIES.index(cell.penalty)]
    return row[paper.TABLE_3_THRESHOLDS.index(cell.threshold)]


def folds(n_rows: int) -> list[np.ndarray]:
    """Five blocks of adjacent rows."""
    return np.array_split(np.arange(n_rows), FOLDS)


def validate(states: np.ndarray, times: np.ndarray, cell: ValidationUnit) -> ValidationLine:
    """Equation 22: fit to four folds, solve, and compare with the fifth."""
    started = time.process_time()
    errors, null_folds = [], 0
    for rows in folds(len(states)):
        others = np.setdiff1d(np.arange(len(states)), rows)
        system = EquationSystem.fit(states[others], times[others], cell.penalty, cell.threshold)
        null_folds += not system.coefficients.any(axis=0).all()
        errors.append(fold_error(system, states, times, rows))
    return ValidationLine(
        penalty=cell.penalty,
        threshold=cell.threshold,
        error=float(np.mean(errors)),
        null_folds=null_folds,
        seconds=time.process_time() - started,
    )


def fold_error(system: EquationSystem, states: np.ndarray, times: np.ndarray, rows: np.ndarray) -> float:
    """The mean squared distance between the solution and the states of some rows.

    The solution starts from the first observed state, which has no noise, and runs through all times.
    """
    solved = system.solve(states[0], times)[rows]
    return float(((solved - states[rows]) ** 2).sum(axis=1).mean()) if np.isfinite(solved).all() else inf


def choose(lines: Iterable[ValidationLine]) -> ValidationUnit:
    """The penalty and threshold with the smallest error.

    Of errors that print as the same number, the largest penalty wins, and then the largest threshold.
    """
    usable = [line for line in lines if not line.null_folds and isfinite(line.error)]
    smallest = min(round(line.error, 4) for line in usable)
    return max(line.unit for line in usable if round(line.error, 4) == smallest)


def table_3(lines: Sequence[ValidationLine]) -> str:
    """Our errors, and the paper's in brackets; a dash if some fold has no term."""
    by_cell = {line.unit: line for line in lines}
    rows = [
        [
            f"{penalty:g}",
            *(_with_printed(by_cell[ValidationUnit(penalty, threshold)]) for threshold in paper.TABLE_3_THRESHOLDS),
        ]
        for penalty in paper.TABLE_3_PENALTIES
    ]
    return table(["λ \\ ω", *(f"{threshold:.2f}" for threshold in paper.TABLE_3_THRESHOLDS)], rows)


def judge_validation(lines: Sequence[ValidationLine], system: EquationSystem) -> list[Finding]:
    """Whether the same parameters are chosen, and whether SINDy finds the true terms with them."""
    chosen, expected = choose(lines), ValidationUnit(paper.CHOSEN_PENALTY, paper.CHOSEN_THRESHOLD)
    by_cell = {line.unit: line for line in lines}
    differ = [cell for cell in grid() if (printed(cell) is None) != bool(by_cell[cell].null_folds)]
    n_agree = len(lines) - len(differ)
    return [
        Finding(
            text=f"Cross-validation chooses λ = {expected.penalty:g} and ω = {expected.threshold:g} (table 3; one "
            "trajectory, nothing is random).",
            holds=chosen == expected,
            detail=f"it chooses λ = {chosen.penalty:g} and ω = {chosen.threshold:g}, with an error of "
            f"{by_cell[chosen].error:.4f}; the paper's choice has {by_cell[expected].error:.4f} (printed: "
            f"{printed(expected):g}).",
        ),
        Finding(
            text="Our table 3 has a dash in the same cells as the paper's.",
            holds=not differ,
            detail=f"{n_agree} of {len(lines)} cells agree" + (f"; not {_cell_names(differ)}." if differ else "."),
        ),
        Finding(
            text="With the paper's λ and ω, SINDy on the whole trajectory finds the true terms (equations 23 and 24).",
            holds=set(system.equations) == set(paper.TRUE_EQUATIONS),
            detail="; ".join(system.text_lines) + ".",
        ),
    ]


def equations_table(system: EquationSystem) -> str:
    """Our coefficients, those of equations 23 and 24, and the true ones."""
    terms = list(dict.fromkeys([*paper.EQUATIONS, *system.equations]))
    columns = (system.equations, paper.EQUATIONS, paper.TRUE_EQUATIONS)
    rows = [[f"d{term[0]}/dt", term[1], *(_number(column.get(term)) for column in columns)] for term in terms]
    return table(["equation", "term", "ours", "paper", "truth"], rows)


def draw_figure_10(path: Path, system: EquationSystem, states: np.ndarray, times: np.ndarray) -> None:
    """Draw the solution of the fitted equations, and the observed states."""
    figure = new_figure(7.2, 4.0)
    ax = figure.subplots()
    draw_solution(ax, system, states, times)
    ax.set_title("Figure 10: solution of the equations that SINDy fits to one trajectory")
    save_figure(path, figure)


def draw_solution(
    ax: Any, system: EquationSystem, states: np.ndarray, times: np.ndarray, names: Sequence[str] = NAMES
) -> None:
    """Draw the states as points, and the solution from the first state as curves."""
    fine = np.linspace(times[0], times[-1], 400)
    solved = system.solve(states[0], fine)
    for j, (name, colour, marker) in enumerate(zip(names, COLOURS, "os", strict=False)):
        ax.plot(fine, solved[:, j], color=colour, linewidth=1.6)
        ax.plot(times, states[:, j], marker, color=colour, markersize=5, label=LABELS.get(name, name))
    ax.legend(frameon=False)
    ax.set_xlabel("time")
    ax.spines[["top", "right"]].set_visible(False)


def nearest_trajectory(trajectories: Sequence[np.ndarray], times: np.ndarray) -> tuple[int, float]:
    """The index of the trajectory that fits equations 23 and 24 best, and the largest difference of a coefficient.

    By least squares on the true terms, which is the last step of SINDy if it finds them.
    """
    expected = np.array(list(paper.EQUATIONS.values()))
    gaps = [np.abs(_fit_true_terms(states, times) - expected).max() for states in trajectories]
    return int(np.argmin(gaps)), float(min(gaps))


def _fit_true_terms(states: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Fit the coefficients of equations 23 and 24, in their order."""
    library, slopes = PolynomialLibrary(NAMES, DEGREE), differentiate(states, times)
    values = library.values(states)
    coefficients: dict[tuple[str, str], float] = {}
    for j, name in enumerate(NAMES):
        terms = [term for equation, term in paper.EQUATIONS if equation == name]
        columns = values[:, [library.names.index(term) for term in terms]]
        fitted = np.linalg.lstsq(columns, slopes[:, j], rcond=None)[0]
        coefficients |= {(name, term): value for term, value in zip(terms, fitted, strict=True)}
    return np.array([coefficients[term] for term in paper.EQUATIONS])


def _with_printed(ours: ValidationLine) -> str:
    """Our error and the paper's in brackets."""
    theirs = printed(ours.unit)
    error = f"{ours.error:.4f}" if isfinite(ours.error) else "diverges"
    return f"{'-' if ours.null_folds else error} ({'-' if theirs is None else f'{theirs:g}'})"


def _cell_names(cells: Sequence[ValidationUnit]) -> str:
    return ", ".join(f"(λ = {cell.penalty:g}, ω = {cell.threshold:g})" for cell in cells)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
