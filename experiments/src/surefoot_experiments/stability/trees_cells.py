"""Cells, the expression of their genes, and their fates."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

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
        """Some of the cells, as many as the paper takes, in the order of the table."""
        rows = np.sort(np.random.default_rng(seed).choice(len(self.fates), paper.TREE_CELLS, replace=False))
        return Cells(self.genes.iloc[rows].reset_index(drop=True), self.fates[rows])

    def correlations(self) -> np.ndarray:
        """Of the genes; not a number where one is the same in all cells."""
        X = self.genes.to_numpy()
        varies = (X[0] != X).any(axis=0)
        matrix = np.full((X.shape[1], X.shape[1]), np.nan)
        matrix[np.ix_(varies, varies)] = np.corrcoef(X[:, varies].T)
        return matrix
