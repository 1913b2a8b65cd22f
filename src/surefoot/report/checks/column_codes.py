"""Columns as whole numbers, and rows as one hash each, so that equal rows are found by looking at one number."""

from typing import Any

import numpy as np


def codes_of(column: Any) -> np.ndarray:
    """The values of a column as whole numbers from 0; missing values are one value of their own."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.int64) + 1
    return pd.factorize(column.to_numpy(), use_na_sentinel=False)[0].astype(np.int64)


def pattern_ids(hashes: np.ndarray) -> np.ndarray:
    """Ids from 0 such that rows with equal hashes share one."""
    import pandas as pd

    return np.asarray(pd.factorize(hashes)[0])


class RowHashes:
    """A 64-bit hash of each row: the sum of random numbers, one for each value of each column.

    A sum, so that the hash without a column costs one subtraction.
    """

    def __init__(self, codes: list[np.ndarray], seed: int = 0) -> None:
        generator = np.random.default_rng(seed)
        self.parts = [generator.integers(0, 2**64, int(each.max()) + 1, dtype=np.uint64)[each] for each in codes]
        self.total = np.zeros(len(codes[0]), dtype=np.uint64)
        for part in self.parts:
            self.total += part

    def without(self, j: int) -> np.ndarray:
        """The hashes of all columns but one."""
        return self.total - self.parts[j]
