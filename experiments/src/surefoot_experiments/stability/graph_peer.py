"""The same bags, and the table without each cell, by scikit-learn's graphical lasso.

With strict tolerances it should agree with ours. With its default tolerances it stops when some entries that belong at
zero are not there yet and others have not left it.
"""

import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from surefoot.selection.selector import PreparedSelector

BAG, WITHOUT = "bag", "without"  # a bag of that number; all cells but that one
ALL_CELLS = -1  # "without" no cell
UNSOLVED = "-"
OURS, STRICT, DEFAULT = "ours", "strict", "default"
TOLERANCES: dict[str, dict[str, Any]] = {STRICT: {"tol": 1e-8, "enet_tol": 1e-14, "max_iter": 5000}, DEFAULT: {}}


class PeerUnit(NamedTuple):
    """What a line is about."""

    kind: str
    number: int


@dataclass(frozen=True)
class PeerLine:
    """The graphs of some cells, a 0 or 1 for each pair of proteins: ours, and scikit-learn's; "-" where it gives up."""

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
    """What both make of some rows."""
    started = time.process_time()
    covariance = np.cov(X[rows].T, bias=True)
    ours = _code(np.asarray(prepared.select(rows[np.newaxis]))[0])
    strict, default = (_peer(covariance, penalty, TOLERANCES[way]) for way in (STRICT, DEFAULT))
    return PeerLine(*unit, ours, strict, default, time.process_time() - started)


def _peer(covariance: np.ndarray, penalty: float, tolerances: dict[str, Any]) -> str:
    from sklearn.covariance import graphical_lasso

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of not having converged, and of what comes of it
        try:
            precision = graphical_lasso(covariance, penalty, **tolerances)[1]
        except FloatingPointError:  # "Non SPD result"
            return UNSOLVED
    return _code(precision[np.triu_indices(len(precision), 1)] != 0)


def _code(edges: np.ndarray) -> str:
    return "".join("1" if edge else "0" for edge in edges)


@dataclass(frozen=True)
class Peers:
    """Rows that were solved in several ways."""

    bags: Sequence[PeerLine]
    without: Sequence[PeerLine]  # a cell
    all_cells: PeerLine | None

    @classmethod
    def of(cls, lines: Iterable[PeerLine]) -> "Peers":
        """From the lines of the file."""
        ordered = sorted(lines, key=lambda line: line.unit)
        without = [line for line in ordered if line.kind == WITHOUT]
        all_cells = [line for line in without if line.number == ALL_CELLS]
        others = [line for line in without if line.number != ALL_CELLS]
        return cls([line for line in ordered if line.kind == BAG], others, all_cells[0] if all_cells else None)

    @property
    def every(self) -> list[PeerLine]:
        return [*self.bags, *self.without]

    def solved(self, way: str) -> int:
        """How many have a graph."""
        return sum(getattr(line, way) != UNSOLVED for line in self.every)

    def exact(self, way: str) -> int:
        """How many have our graph."""
        return sum(getattr(line, way) == line.ours for line in self.every)

    def top_two(self, way: str) -> list[float]:
        """The shares of the two most frequent graphs (or of the only one) among the bags that have one."""
        counts = Counter(getattr(line, way) for line in self.bags if getattr(line, way) != UNSOLVED)
        return [count / counts.total() for _, count in counts.most_common(2)]

    def instability(self, way: str) -> float | None:
        """The share of cells without which the graph is another than by all cells; None where some have none."""
        graphs = [getattr(line, way) for line in self.without]
        if self.all_cells is None or not graphs or UNSOLVED in (*graphs, getattr(self.all_cells, way)):
            return None
        return sum(graph != getattr(self.all_cells, way) for graph in graphs) / len(graphs)
