"""The same bags, and the table without each cell, solved by scikit-learn's graphical lasso.

With strict tolerances it should agree with ours. With its default tolerances it stops too early: some entries that
should be zero are not zero yet, and others are still zero that should not be.
"""

import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from surefoot.selection.selector import PreparedSelector

BAG, WITHOUT = "bag", "without"  # the bag of that number; all cells but the one of that number
ALL_CELLS = -1  # the number of "without" that leaves no cell out
UNSOLVED = "-"
OURS, STRICT, DEFAULT = "ours", "strict", "default"
TOLERANCES: dict[str, dict[str, Any]] = {STRICT: {"tol": 1e-8, "enet_tol": 1e-14, "max_iter": 5000}, DEFAULT: {}}


class PeerUnit(NamedTuple):
    """Identifies a `PeerLine`."""

    kind: str
    number: int


@dataclass(frozen=True)
class PeerLine:
    """The graphs of some cells, with 0 or 1 for each pair of proteins: ours and scikit-learn's; "-" if it fails."""

    kind: str
    number: int
    ours: str
    strict: str
    default: str
    seconds: float

    @property
    def unit(self) -> PeerUnit:
        return PeerUnit(self.kind, self.number)


def peer_line(X: np.ndarray, penalty: float, prepared: PreparedSelector, unit: PeerUnit, rows: np.ndarray) -> PeerLine:
    """The graphs of some rows, by both solvers."""
    started = time.process_time()
    covariance = np.cov(X[rows].T, bias=True)
    return PeerLine(
        **unit._asdict(),
        ours=_edge_code(np.asarray(prepared.select(rows[np.newaxis]))[0]),
        strict=_solve_with_peer(covariance, penalty, TOLERANCES[STRICT]),
        default=_solve_with_peer(covariance, penalty, TOLERANCES[DEFAULT]),
        seconds=time.process_time() - started,
    )


def _solve_with_peer(covariance: np.ndarray, penalty: float, tolerances: dict[str, Any]) -> str:
    from sklearn.covariance import graphical_lasso

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about missing convergence and its consequences
        try:
            precision = graphical_lasso(covariance, penalty, **tolerances)[1]
        except FloatingPointError:  # "Non SPD result"
            return UNSOLVED
    return _edge_code(precision[np.triu_indices(len(precision), 1)] != 0)


def _edge_code(edges: np.ndarray) -> str:
    return "".join("1" if edge else "0" for edge in edges)


@dataclass(frozen=True)
class PeerComparison:
    """The lines of bags, of tables without a cell, and of the whole table."""

    bags: Sequence[PeerLine]
    without_cell: Sequence[PeerLine]
    all_cells: PeerLine | None

    @classmethod
    def of(cls, lines: Iterable[PeerLine]) -> "PeerComparison":
        """Sort the lines of the file."""
        ordered = sorted(lines, key=lambda line: line.unit)
        without = [line for line in ordered if line.kind == WITHOUT]
        all_cells = [line for line in without if line.number == ALL_CELLS]
        return cls(
            bags=[line for line in ordered if line.kind == BAG],
            without_cell=[line for line in without if line.number != ALL_CELLS],
            all_cells=all_cells[0] if all_cells else None,
        )

    @property
    def tables(self) -> list[PeerLine]:
        """The lines of the bags and of the tables without a cell."""
        return [*self.bags, *self.without_cell]

    def count_solved(self, solver: str) -> int:
        """How many tables a solver finds a graph for."""
        return sum(getattr(line, solver) != UNSOLVED for line in self.tables)

    def count_equal(self, solver: str) -> int:
        """For how many tables a solver finds our graph."""
        return sum(getattr(line, solver) == line.ours for line in self.tables)

    def top_two(self, solver: str) -> list[float]:
        """The fractions of the two most frequent graphs among the bags that have a graph; one if all are equal."""
        counts = Counter(getattr(line, solver) for line in self.bags if getattr(line, solver) != UNSOLVED)
        return [count / counts.total() for _, count in counts.most_common(2)]

    def instability(self, solver: str) -> float | None:
        """The fraction of cells whose removal changes the graph; None if some table has no graph."""
        graphs = [getattr(line, solver) for line in self.without_cell]
        if self.all_cells is None or not graphs or UNSOLVED in (*graphs, getattr(self.all_cells, solver)):
            return None
        return sum(graph != getattr(self.all_cells, solver) for graph in graphs) / len(graphs)
