"""Leave-one-out encoding: a category becomes the mean target of the other rows that have it."""

from typing import Any

import numpy as np


class LeaveOneOutEncoder:
    """Encode categories; numbers do not change.

    A category of a single row becomes the mean of all targets. A missing value is a category of its own. New rows get
    the mean over all training rows of their category.

    Leaving a row out reveals its target: within a category, rows with a high target get a low mean. To prevent trees
    from learning this, the means of the training rows are multiplied by normal numbers with mean 1 and standard
    deviation ``noise``. The authors of the paper used 0.3.
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
    """Codes of a categorical column, with missing values as the last code; None for numbers."""
    if not hasattr(column, "cat"):
        return None
    codes = column.cat.codes.to_numpy(np.int64)
    return np.where(codes < 0, len(column.cat.categories), codes)
