"""Figure 11: the likelihood of held-out cells under the graphical lasso, by its penalty."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefoot.plots.style import COLOURS, LEGEND_SIZE, REFERENCE_COLOUR
from surefoot.selection import solve_graphical_lasso
from surefoot_experiments.skeleton.report import new_figure, save_figure
from surefoot_experiments.stability import paper

N_FOLDS = 5
LIKELIHOOD, PENALIZED = "log-likelihood", "log-likelihood minus the penalty, eq. 25"


class FoldUnit(NamedTuple):
    """Identifies a `FoldLine`."""

    penalty: int
    fold: int


@dataclass(frozen=True)
class FoldLine:
    """The precision matrix of the other folds, compared with the covariance of a fold.

    ``trace`` is the trace of their product; ``norm`` is the sum of all absolute entries of the precision matrix.
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
    """A line for each fold; a fold is a block of consecutive rows."""
    folds = np.array_split(np.arange(len(X)), N_FOLDS)
    return [_fold_line(X, held_out, penalty, fold) for fold, held_out in enumerate(folds)]


def _fold_line(X: np.ndarray, held_out: np.ndarray, penalty: int, fold: int) -> FoldLine:
    started = time.process_time()
    precision = solve_graphical_lasso(np.cov(np.delete(X, held_out, axis=0).T, bias=True), float(penalty))
    return FoldLine(
        penalty=penalty,
        fold=fold,
        log_determinant=float(np.linalg.slogdet(precision)[1]),
        trace=float(np.sum(np.cov(X[held_out].T, bias=True) * precision)),
        norm=float(np.abs(precision).sum()),
        edges=int(np.count_nonzero(np.triu(precision, 1))),
        seconds=time.process_time() - started,
    )


@dataclass(frozen=True)
class PenaltyValidation:
    """Means over the folds, by increasing penalty."""

    penalties: np.ndarray
    likelihood: np.ndarray
    penalized: np.ndarray

    @classmethod
    def of(cls, lines: Iterable[FoldLine]) -> "PenaltyValidation":
        """Compute the means of the penalties whose folds are complete."""
        by_penalty: dict[int, list[FoldLine]] = {}
        for line in lines:
            by_penalty.setdefault(line.penalty, []).append(line)
        complete = sorted(penalty for penalty, folds in by_penalty.items() if len(folds) == N_FOLDS)
        means = [
            [
                np.mean([line.log_determinant - line.trace for line in by_penalty[penalty]]),
                np.mean([line.log_determinant - line.trace - penalty * line.norm for line in by_penalty[penalty]]),
            ]
            for penalty in complete
        ]
        return cls(np.array(complete), *np.reshape(means, (len(complete), 2)).T)

    @property
    def curves(self) -> dict[str, np.ndarray]:
        """The two criteria by name."""
        return {LIKELIHOOD: self.likelihood, PENALIZED: self.penalized}

    def best_penalties(self) -> dict[str, int]:
        """The penalties that the likelihood and the paper's equation 25 choose."""
        return {name: int(self.penalties[np.argmax(curve)]) for name, curve in self.curves.items()}


def draw_figure_11(path: Path, validation: PenaltyValidation) -> None:
    """Draw the likelihood with and without the penalty term, and the choice of each."""
    figure = new_figure(7.2, 4.4)
    ax = figure.subplots()
    for (name, best), colour, dash in zip(validation.best_penalties().items(), COLOURS, ("-", "--"), strict=False):
        curve = validation.curves[name]
        ax.plot(validation.penalties, curve, dash, color=colour, label=f"{name}: best at {best}")
        ax.plot(best, curve.max(), "o", color=colour)
    ax.axvline(paper.GRAPH_PENALTY, color=REFERENCE_COLOUR, label=f"the paper's choice, {paper.GRAPH_PENALTY:g}")
    ax.set(xlabel="penalty λ", ylabel=f"mean over {N_FOLDS} held-out folds")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=LEGEND_SIZE)
    figure.suptitle("Figure 11, proteins: the penalty that cross-validation chooses")
    save_figure(path, figure)
