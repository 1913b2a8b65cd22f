"""Figure 11: how likely held-out cells are under the graphical lasso, by its penalty."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefoot.plots.style import COLOURS, LEGEND_SIZE, REFERENCE_COLOUR
from surefoot.selection.graphical_lasso import solve_graphical_lasso
from surefoot_experiments.skeleton.report import new_figure, save_figure
from surefoot_experiments.stability import paper

N_FOLDS = 5
LIKELIHOOD, PENALISED = "log-likelihood", "log-likelihood less the penalty, eq. 25"


class FoldUnit(NamedTuple):
    """What a line is about."""

    penalty: int
    fold: int


@dataclass(frozen=True)
class FoldLine:
    """The precision matrix of the other folds' rows, and how it suits the covariance of a fold's rows.

    ``trace`` is that of the product of both; ``norm`` is the sum of all absolute entries of the precision matrix.
    """

    penalty: int
    fold: int
    log_determinant: float
    trace: float
    norm: float
    edges: int
    seconds: float

    @property
    def unit(self) -> FoldUnit:
        return FoldUnit(self.penalty, self.fold)


def fold_lines(X: np.ndarray, penalty: int) -> list[FoldLine]:
    """A line for each fold; the folds are of consecutive rows."""
    folds = np.array_split(np.arange(len(X)), N_FOLDS)
    return [_line(X, held_out, penalty, fold) for fold, held_out in enumerate(folds)]


def _line(X: np.ndarray, held_out: np.ndarray, penalty: int, fold: int) -> FoldLine:
    started = time.process_time()
    precision = solve_graphical_lasso(np.cov(np.delete(X, held_out, axis=0).T, bias=True), float(penalty))
    trace = float(np.sum(np.cov(X[held_out].T, bias=True) * precision))
    edges = int(np.count_nonzero(np.triu(precision, 1)))
    log_determinant = float(np.linalg.slogdet(precision)[1])
    seconds = time.process_time() - started
    return FoldLine(penalty, fold, log_determinant, trace, float(np.abs(precision).sum()), edges, seconds)


@dataclass(frozen=True)
class Validation:
    """Means over the folds, by growing penalty."""

    penalties: np.ndarray
    likelihood: np.ndarray
    penalised: np.ndarray

    @classmethod
    def of(cls, lines: Iterable[FoldLine]) -> "Validation":
        """Of the penalties that have all their folds."""
        by_penalty: dict[int, list[FoldLine]] = {}
        for line in lines:
            by_penalty.setdefault(line.penalty, []).append(line)
        whole = sorted(penalty for penalty, folds in by_penalty.items() if len(folds) == N_FOLDS)
        means = [
            [
                np.mean([line.log_determinant - line.trace for line in by_penalty[penalty]]),
                np.mean([line.log_determinant - line.trace - penalty * line.norm for line in by_penalty[penalty]]),
            ]
            for penalty in whole
        ]
        return cls(np.array(whole), *np.reshape(means, (len(whole), 2)).T)

    def best(self) -> dict[str, int]:
        """The penalties that the likelihood and the paper's equation 25 would choose."""
        curves = {LIKELIHOOD: self.likelihood, PENALISED: self.penalised}
        return {name: int(self.penalties[np.argmax(curve)]) for name, curve in curves.items()}


def draw_figure_11(path: Path, validation: Validation) -> None:
    """The likelihood with and without the penalty's share, and what each would choose."""
    figure = new_figure(7.2, 4.4)
    ax = figure.subplots()
    curves = {LIKELIHOOD: validation.likelihood, PENALISED: validation.penalised}
    for (name, best), colour, dash in zip(validation.best().items(), COLOURS, ("-", "--"), strict=False):
        curve = curves[name]
        ax.plot(validation.penalties, curve, dash, color=colour, label=f"{name}: best at {best}")
        ax.plot(best, curve.max(), "o", color=colour)
    ax.axvline(paper.GRAPH_PENALTY, color=REFERENCE_COLOUR, label=f"the paper's choice, {paper.GRAPH_PENALTY:g}")
    ax.set(xlabel="penalty λ", ylabel=f"mean over {N_FOLDS} held-out folds")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=LEGEND_SIZE)
    figure.suptitle("Figure 11, proteins: which penalty cross-validation chooses")
    save_figure(path, figure)
