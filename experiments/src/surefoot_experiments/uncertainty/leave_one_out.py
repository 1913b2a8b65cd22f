"""Leave-one-out encoding: a category becomes the mean target of the other rows that have it."""

from typing import Any

import numpy as np


class LeaveOneOutEncoder:
    """Numbers stay as they are; of a category that no other row has, the mean of all targets is taken.

    A missing value counts as a category of its own. New rows get the mean over all training rows of their category.

    Leaving the row out tells its target: within a category, rows with a high target get a low mean. ``noise``
    multiplies the means of the training rows by normal numbers of mean 1 and this standard deviation, so that trees do
    not learn that instead; 0.3 is what the authors of the paper used.
    """

    def __init__(self, noise: float = 0.3, seed: int = 0) -> None:
        self.noise, self.seed = noise, seed
        self.sums: dict[str, np.ndarray] = {}
        self.counts: dict[str, np.ndarray] = {}
        self.mean = 0.0

    def fit_transform(self, X: Any, y: np.ndarray) -> np.ndarray:
        """Encode the training rows, each without its own target."""
        rng = np.random.default_rng(self.seed)
        self.mean = float(y.mean())
        columns = []
        for name in X.columns:
            codes = _codes(X[name])
            if codes is None:
                columns.append(X[name].to_numpy(np.float64))
                continue
            self.sums[name] = np.bincount(codes, y, len(X[name].cat.categories) + 1)
            self.counts[name] = np.bincount(codes, minlength=len(self.sums[name]))
            means = self._means(self.sums[name][codes] - y, self.counts[name][codes] - 1)
            columns.append(means * rng.normal(1.0, self.noise, len(means)))
        return np.column_stack(columns)

    def transform(self, X: Any) -> np.ndarray:
        """Encode new rows."""
        columns = []
        for name in X.columns:
            codes = _codes(X[name])
            if codes is None:
                columns.append(X[name].to_numpy(np.float64))
            else:
                columns.append(self._means(self.sums[name][codes], self.counts[name][codes]))
        return np.column_stack(columns)

    def _means(self, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return np.where(counts > 0, sums / np.maximum(counts, 1), self.mean)


def _codes(column: Any) -> np.ndarray | None:
    """Codes of a categorical column, with those of missing values last; None for numbers."""
    if not hasattr(column, "cat"):
        return None
    codes = column.cat.codes.to_numpy(np.int64)
    return np.where(codes < 0, len(column.cat.categories), codes)
