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
from surefoot_experiments.stability.motion import DEGREE, NAMES, Motion

FOLDS = 5
LABELS = {"u1": "u1, prey", "u2": "u2, predators"}
HOW_VALIDATED = """\
Five folds of adjacent times; SINDy is fitted to the others, its derivatives across the gap, and its equations are
solved by LSODA from the first state, which has no noise, through all times. Ours first, the paper's in brackets; a dash
where an equation has no term in some fold, which is how we read the paper's dash. The paper does not say from which
state its solutions start."""


class Cell(NamedTuple):
    """What a line is about."""

    penalty: float
    threshold: float


@dataclass(frozen=True)
class ValidationLine:
    """The mean squared error over folds of a penalty and a threshold; infinite where a solution runs away.

    ``null_folds`` are folds in which an equation has no term: the paper prints a dash then.
    """

    penalty: float
    threshold: float
    error: float
    null_folds: int
    seconds: float

    @property
    def unit(self) -> Cell:
        return Cell(self.penalty, self.threshold)


def grid() -> list[Cell]:
    """The cells of table 3."""
    return [Cell(penalty, threshold) for penalty in paper.TABLE_3_PENALTIES for threshold in paper.TABLE_3_THRESHOLDS]


def printed(cell: Cell) -> float | None:
    """The paper's error; None where it has a dash."""
    row = paper.TABLE_3[paper.TABLE_3_PENALTIES.index(cell.penalty)]
    return row[paper.TABLE_3_THRESHOLDS.index(cell.threshold)]


def folds(n_rows: int) -> list[np.ndarray]:
    """Five parts of adjacent rows."""
    return np.array_split(np.arange(n_rows), FOLDS)


def validate(states: np.ndarray, times: np.ndarray, cell: Cell) -> ValidationLine:
    """Equation 22: fit to four parts, solve, and compare with the fifth."""
    started = time.process_time()
    errors, null_folds = [], 0
    for rows in folds(len(states)):
        others = np.setdiff1d(np.arange(len(states)), rows)
        motion = Motion.fit(states[others], times[others], cell.penalty, cell.threshold)
        null_folds += not motion.coefficients.any(axis=0).all()
        errors.append(fold_error(motion, states, times, rows))
    return ValidationLine(*cell, float(np.mean(errors)), null_folds, time.process_time() - started)


def fold_error(motion: Motion, states: np.ndarray, times: np.ndarray, rows: np.ndarray) -> float:
    """The mean squared distance between the solution and the states of some rows.

    The solution starts from the first observed state, which has no noise, and runs through all times.
    """
    solved = motion.solve(states[0], times)[rows]
    return float(((solved - states[rows]) ** 2).sum(axis=1).mean()) if np.isfinite(solved).all() else inf


def choose(lines: Iterable[ValidationLine]) -> Cell:
    """The least error; of those that print as the same number, the largest penalty, and then the largest threshold."""
    usable = [line for line in lines if not line.null_folds and isfinite(line.error)]
    least = min(round(line.error, 4) for line in usable)
    return max(line.unit for line in usable if round(line.error, 4) == least)


def table_3(lines: Sequence[ValidationLine]) -> str:
    """Ours, and the paper's in brackets; a dash where some fold has no term."""
    by_cell = {line.unit: line for line in lines}
    rows = [
        [
            f"{penalty:g}",
            *(_beside(by_cell[Cell(penalty, threshold)]) for threshold in paper.TABLE_3_THRESHOLDS),
        ]
        for penalty in paper.TABLE_3_PENALTIES
    ]
    return table(["λ \\ ω", *(f"{threshold:.2f}" for threshold in paper.TABLE_3_THRESHOLDS)], rows)


def judge_validation(lines: Sequence[ValidationLine], motion: Motion) -> list[Finding]:
    """Whether the same parameters are chosen, and whether they find the true terms."""
    chosen, wanted = choose(lines), Cell(paper.CHOSEN_PENALTY, paper.CHOSEN_THRESHOLD)
    by_cell = {line.unit: line for line in lines}
    differ = [cell for cell in grid() if (printed(cell) is None) != bool(by_cell[cell].null_folds)]
    best, here = by_cell[chosen], by_cell[wanted]
    return [
        Finding(
            f"Cross-validation chooses λ = {wanted.penalty:g} and ω = {wanted.threshold:g} (table 3; one trajectory, "
            "nothing is drawn).",
            chosen == wanted,
            f"it chooses λ = {chosen.penalty:g} and ω = {chosen.threshold:g}, with an error of {best.error:.4f}; the "
            f"paper's choice has {here.error:.4f} (printed: {printed(wanted):g}).",
        ),
        Finding(
            "Our table 3 has a dash in the same cells as the paper's.",
            not differ,
            f"{len(lines) - len(differ)} of {len(lines)} cells agree" + (f"; not {_named(differ)}." if differ else "."),
        ),
        Finding(
            "With the paper's λ and ω, SINDy on the whole trajectory finds the true terms (equations 23 and 24).",
            set(motion.equations) == set(paper.TRUE_EQUATIONS),
            "; ".join(motion.words) + ".",
        ),
    ]


def equations_table(motion: Motion) -> str:
    """Our coefficients beside those of equations 23 and 24, and the true ones."""
    terms = list(dict.fromkeys([*paper.EQUATIONS, *motion.equations]))
    columns = (motion.equations, paper.EQUATIONS, paper.TRUE_EQUATIONS)
    rows = [[f"d{term[0]}/dt", term[1], *(_number(column.get(term)) for column in columns)] for term in terms]
    return table(["equation", "term", "ours", "paper", "truth"], rows)


def draw_figure_10(path: Path, motion: Motion, states: np.ndarray, times: np.ndarray) -> None:
    """The solution of the fitted equations, through the observed states."""
    figure = new_figure(7.2, 4.0)
    ax = figure.subplots()
    draw_motion(ax, motion, states, times)
    ax.set_title("Figure 10: solution of the equations that SINDy fits to one trajectory")
    save_figure(path, figure)


def draw_motion(ax: Any, motion: Motion, states: np.ndarray, times: np.ndarray, names: Sequence[str] = NAMES) -> None:
    """States as points, and the solution from the first of them as curves."""
    fine = np.linspace(times[0], times[-1], 400)
    solved = motion.solve(states[0], fine)
    for j, (name, colour, marker) in enumerate(zip(names, COLOURS, "os", strict=False)):
        ax.plot(fine, solved[:, j], color=colour, linewidth=1.6)
        ax.plot(times, states[:, j], marker, color=colour, markersize=5, label=LABELS.get(name, name))
    ax.legend(frameon=False)
    ax.set_xlabel("time")
    ax.spines[["top", "right"]].set_visible(False)


def nearest_trajectory(trajectories: Sequence[np.ndarray], times: np.ndarray) -> tuple[int, float]:
    """Which of some trajectories fits equations 23 and 24 best, and the largest difference of a coefficient.

    Least squares on the true terms, which is what SINDy ends with where it finds them.
    """
    wanted = np.array(list(paper.EQUATIONS.values()))
    gaps = [np.abs(_true_terms(states, times) - wanted).max() for states in trajectories]
    return int(np.argmin(gaps)), float(min(gaps))


def _true_terms(states: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Coefficients of the terms of equations 23 and 24, in their order."""
    library, slopes = PolynomialLibrary(NAMES, DEGREE), differentiate(states, times)
    values = library.values(states)
    found: dict[tuple[str, str], float] = {}
    for j, name in enumerate(NAMES):
        terms = [term for equation, term in paper.EQUATIONS if equation == name]
        columns = values[:, [library.names.index(term) for term in terms]]
        fitted = np.linalg.lstsq(columns, slopes[:, j], rcond=None)[0]
        found |= {(name, term): value for term, value in zip(terms, fitted, strict=True)}
    return np.array([found[term] for term in paper.EQUATIONS])


def _beside(ours: ValidationLine) -> str:
    theirs = printed(ours.unit)
    error = f"{ours.error:.4f}" if isfinite(ours.error) else "runs away"
    return f"{'-' if ours.null_folds else error} ({'-' if theirs is None else f'{theirs:g}'})"


def _named(cells: Sequence[Cell]) -> str:
    return ", ".join(f"(λ = {cell.penalty:g}, ω = {cell.threshold:g})" for cell in cells)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
