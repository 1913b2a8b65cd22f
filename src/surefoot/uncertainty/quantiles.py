"""Predicted quantiles, of a model that learns nothing else of a distribution."""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import naming, real_numbers
from surefoot.uncertainty.distribution import Distribution

SAME_LEVEL = 1e-9


class QuantileDistribution(Distribution):
    """The quantiles of every row at a few levels; everything else of a distribution is refused.

    Parameters
    ----------
    levels : tuple of float
        The levels, ascending.
    values : array of shape (n_levels, n_rows)
        The quantiles of every row, ascending.

    Attributes
    ----------
    name : str
        ``"quantile"``.
    levels : tuple of float
        The levels.
    values : array of shape (n_levels, n_rows)
        The quantiles of every row.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty import QuantileDistribution
    >>> predicted = QuantileDistribution((0.1, 0.5, 0.9), np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 9.0]]))
    >>> predicted
    QuantileDistribution(levels 0.1, 0.5, 0.9, 2 rows)
    >>> predicted.interval(0.8)
    (array([1., 2.]), array([3., 9.]))
    """

    def __init__(self, levels: tuple[float, ...], values: np.ndarray) -> None:
        with naming("levels"):
            self.name, self.levels = "quantile", tuple(levels)
        self.values = real_numbers("values", values)
        if self.values.ndim != 2 or len(self.values) != len(self.levels) or not self.levels:
            message = (
                f"values must have a row for each of the {len(self.levels)} levels, got shape {self.values.shape}."
            )
            raise DataError(message, argument="values")

    def __len__(self) -> int:
        return int(self.values.shape[1])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(levels {', '.join(map(str, self.levels))}, {len(self)} rows)"

    def __getitem__(self, rows: Any) -> "QuantileDistribution":
        """The quantiles of some rows: an index (one row), a slice, an array of indices or a mask."""
        return QuantileDistribution(self.levels, self.values[:, rows].reshape(len(self.levels), -1))

    @property
    def is_discrete(self) -> bool:
        """Whether the distribution is discrete: it is not."""
        return False

    @property
    def centre(self) -> np.ndarray:
        """The quantile whose level is next to 1/2."""
        return self.values[int(np.argmin(np.abs(np.array(self.levels) - 0.5)))]

    def _quantile(self, level: float) -> np.ndarray:
        distance = np.abs(np.array(self.levels) - level)
        if distance.min() > SAME_LEVEL:
            levels = ", ".join(map(str, self.levels))
            raise ParameterError(
                f"distribution='quantile' was trained for the levels {levels} and has no quantile at {level:.6g}: "
                "fit Quantile(levels=...) with it, or choose a distribution such as 'normal'."
            )
        return self.values[int(distance.argmin())].copy()

    def _refused(self, name: str) -> ParameterError:
        levels = ", ".join(map(str, self.levels))
        return ParameterError(
            f"{name} is not known: distribution='quantile' predicts only the quantiles at {levels}. Choose a "
            "distribution such as 'normal' for more."
        )

    @property
    def mean(self) -> np.ndarray:
        """Refused: quantiles have no mean."""
        raise self._refused("mean")

    @property
    def std(self) -> np.ndarray:
        """Refused: quantiles have no standard deviation."""
        raise self._refused("std")

    @property
    def var(self) -> np.ndarray:
        """Refused: quantiles have no variance."""
        raise self._refused("var")

    def logpdf(self, y: Any) -> np.ndarray:
        """Refuse, because quantiles have no density.

        Parameters
        ----------
        y : object
            Not used.

        Returns
        -------
        array
            Never.
        """
        raise self._refused("logpdf")

    def cdf(self, y: Any) -> np.ndarray:
        """Refuse, because quantiles have no distribution function.

        Parameters
        ----------
        y : object
            Not used.

        Returns
        -------
        array
            Never.
        """
        raise self._refused("cdf")

    def sample(self, n: int, random_state: Any = None) -> np.ndarray:
        """Refuse, because there is nothing to draw from.

        Parameters
        ----------
        n : int
            Not used.
        random_state : object
            Not used.

        Returns
        -------
        array
            Never.
        """
        raise self._refused("sample")
