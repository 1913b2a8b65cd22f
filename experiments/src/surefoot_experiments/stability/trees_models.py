"""The heaviest trees of a draw, stored so that they can be grown again for a picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from surefoot import StableSelector
from surefoot.selection import TreeSelector
from surefoot.selection.table import SelectionTable
from surefoot_experiments.stability import paper

FILE = "mesc_stumpf2017.parquet"
FATE = "target"


@dataclass(frozen=True)
class Cells:
    """A frame with a column for each gene, and an array of fates."""

    genes: Any
    fates: np.ndarray

    @classmethod
    def read(cls, data: Path) -> "Cells":
        """All cells of the table."""
        import pandas as pd

        frame = pd.read_parquet(data / FILE)
        return cls(frame.drop(columns=FATE).astype(np.float64), frame[FATE].astype(str).to_numpy(dtype=object))

    def draw(self, seed: int) -> "Cells":
        """As many random cells as in the paper, in the order of the table."""
        rows = np.sort(np.random.default_rng(seed).choice(len(self.fates), paper.TREE_CELLS, replace=False))
        return Cells(self.genes.iloc[rows].reset_index(drop=True), self.fates[rows])

    def correlations(self) -> np.ndarray:
        """The correlations of the genes; NaN for a gene that is constant over the cells."""
        X = self.genes.to_numpy()
        varies = (X[0] != X).any(axis=0)
        matrix = np.full((X.shape[1], X.shape[1]), np.nan)
        matrix[np.ix_(varies, varies)] = np.corrcoef(X[:, varies].T)
        return matrix


TOP = 3  # trees in figure 15
CHANCE, FIXED = "chance", "fixed"
TIES = {CHANCE: "at random", FIXED: "in a fixed way"}  # how equally good splits are decided
SEED = 0  # of the trees with fixed ties


class TreeUnit(NamedTuple):
    """Identifies a `TreeLine`."""

    draw: int
    ties: str
    place: int


@dataclass(frozen=True)
class TreeLine:
    """One of the heaviest trees of a draw; ``place`` 1 is the heaviest.

    ``left_out`` are the cells of the draw (counted from 0) that are not in the first bag that chose the tree: a tree
    fitted to the other cells has the same structure. ``models`` is the number of different trees that the bags chose.
    """

    draw: int
    ties: str
    place: int
    weight: float
    model: str
    left_out: str
    models: int

    @property
    def unit(self) -> TreeUnit:
        return TreeUnit(self.draw, self.ties, self.place)


def tree_selector(ties: str) -> TreeSelector:
    """scikit-learn's defaults, which decide ties at random, or the same with a fixed seed."""
    return TreeSelector() if ties == CHANCE else TreeSelector(random_state=SEED)


def one_line_text(model: Any) -> str:
    """A model of `TreeSelector` in one line: ``gene(low, high)``, with fates for leaves."""
    if not isinstance(model, tuple):
        return str(model)
    gene, low, high = model
    return f"{gene}({one_line_text(low)}, {one_line_text(high)})"


def tree_lines(stable: StableSelector, draw: int, ties: str) -> list[TreeLine]:
    """The heaviest trees of a fitted selector."""
    lines = []
    for place, (model, weight) in enumerate(list(stable.weights_.items())[:TOP], start=1):
        bag = int(np.argmax(stable.bag_models_ == stable.models_.index(model)))
        pool = stable._bagging.pool
        left_out = np.setdiff1d(np.arange(pool.n_rows), pool.bags(bag, bag + 1)[0])
        line = TreeLine(
            draw=draw,
            ties=ties,
            place=place,
            weight=weight,
            model=one_line_text(model),
            left_out=" ".join(map(str, left_out.tolist())),
            models=len(stable.models_),
        )
        lines.append(line)
    return lines


def grow_again(cells: Cells, line: TreeLine) -> Any:
    """Fit scikit-learn's tree to the cells of a draw, without those that a line leaves out.

    The classes are codes of the sorted fates.
    """
    X = np.ascontiguousarray(cells.genes.to_numpy(dtype=np.float64))
    table = SelectionTable(X, tuple(cells.genes.columns), np.arange(X.shape[1], dtype=np.int32), y=cells.fates)
    rows = np.delete(np.arange(len(X), dtype=np.int32), [int(row) for row in line.left_out.split()])
    return tree_selector(line.ties).prepare(table).fit(rows, check_input=True)
