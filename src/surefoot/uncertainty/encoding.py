"""How a row becomes the codes that trees read."""

from dataclasses import dataclass

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.data import Binner, Columns


@dataclass(frozen=True)
class Encoding:
    """Bins for the columns that trees read as they are.

    ``sources`` says for each column that trees read which columns of the table it comes from.
    """

    binner: Binner
    sources: tuple[tuple[int, ...], ...]

    @classmethod
    def fit(cls, columns: Columns, max_bins: int, weights: np.ndarray | None, threads: RowThreads) -> "Encoding":
        """Bins from the training rows."""
        binner = Binner.from_columns(columns, max_bins, weights, threads)
        return cls(binner, tuple((j,) for j in range(columns.n_columns)))

    @property
    def is_categorical(self) -> np.ndarray:
        return np.array([edges is None for edges in self.binner.edges], dtype=np.bool_)

    def codes(self, columns: Columns, start: int, stop: int) -> np.ndarray:
        """Codes (columns that trees read, rows) of the rows ``start`` to ``stop``."""
        return self.binner.codes_of(columns.block(start, stop))

    def split_importances(self, importances: np.ndarray, n_columns: int) -> np.ndarray:
        """Importances of the table's columns; a column made from several shares out its own."""
        out = np.zeros(n_columns)
        for share, source in zip(importances, self.sources, strict=True):
            for j in source:
                out[j] += share / len(source)
        return out
