"""Predicted distributions, one per row."""

from typing import Any

import numpy as np
from scipy import special, stats
from sklearn.utils import check_random_state

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import naming, real_numbers
from surefoot._parameters import check_integer, check_number

LARGEST = float(np.finfo(np.float64).max)
FLOAT_RANGE = (-LARGEST, LARGEST)  # np.clip(values, *FLOAT_RANGE) replaces infinities by the largest numbers
FARTHEST_QUANTILE = 40.0  # in standard deviations of a large count: beyond, the probability rounds to 0 or 1
MAX_HALVINGS = 2200  # no interval of floats can be halved more often


class Distribution:
    """One distribution per row, in the units of the target.

    Moments and quantiles that are too large for a float are the largest float. For counts, ``pdf`` and ``logpdf``
    return the probability mass.

    Parameters
    ----------
    name : str
        Name of the family.
    scipy_distribution : distribution of scipy.stats
        The family in scipy.
    **parameters : float or array of shape (n_rows,)
        The parameters of ``scipy_distribution``, by name.

    Attributes
    ----------
    name : str
        Name of the family.
    parameters : dict of arrays of shape (n_rows,)
        The parameters of ``scipy_distribution``, by name.
    mean, std, var : arrays of shape (n_rows,)
        Moments of the distribution of every row.

    Examples
    --------
    >>> from scipy import special, stats
    >>> from surefoot.uncertainty.distribution import Distribution
    >>> prices = Distribution("normal", stats.norm, loc=[10.0, 20.0, 30.0], scale=2.0)
    >>> prices
    Distribution(normal, 3 rows)
    >>> prices.mean
    array([10., 20., 30.])
    >>> low, high = prices.interval(0.9)
    >>> low.round(2)
    array([ 6.71, 16.71, 26.71])
    >>> prices[1:].quantile(0.5)
    array([20., 30.])
    """

    def __init__(self, name: str, scipy_distribution: Any, **parameters: Any) -> None:
        arrays = {key: real_numbers(key, value) for key, value in parameters.items()}
        with naming(" and ".join(arrays)):
            shape = np.broadcast_shapes((1,), *(array.shape for array in arrays.values()))
        if len(shape) > 1:
            raise ParameterError(f"parameters must be numbers or arrays of one dimension, got the shape {shape}.")
        self.name = name
        self.parameters = {key: np.broadcast_to(array, shape) for key, array in arrays.items()}
        self._scipy = scipy_distribution
        self._n_rows = shape[0]

    def __len__(self) -> int:
        return self._n_rows

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {len(self)} rows)"

    def __getitem__(self, rows: Any) -> "Distribution":
        """The distributions of some rows: an index (one row), a slice, an array of indices or a mask."""
        return Distribution(self.name, self._scipy, **{key: array[rows] for key, array in self.parameters.items()})

    @property
    def is_discrete(self) -> bool:
        """Whether the distribution is discrete: one of counts."""
        return isinstance(self._scipy, stats.rv_discrete)

    def _unit(self) -> dict[str, np.ndarray]:
        """The parameters other than location and scale."""
        return {key: array for key, array in self.parameters.items() if key not in ("loc", "scale")}

    @property
    def mean(self) -> np.ndarray:
        """Mean of the distribution of every row."""
        location, scale = self.parameters.get("loc", 0.0), self.parameters.get("scale", 1.0)
        with np.errstate(all="ignore"):
            return np.clip(location + np.clip(scale * self._scipy.mean(**self._unit()), *FLOAT_RANGE), *FLOAT_RANGE)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of the distribution of every row."""
        with np.errstate(all="ignore"):  # not from the variance, which overflows for large numbers
            return np.clip(self.parameters.get("scale", 1.0) * self._scipy.std(**self._unit()), *FLOAT_RANGE)

    @property
    def var(self) -> np.ndarray:
        """Variance of the distribution of every row."""
        with np.errstate(all="ignore"):
            return np.clip(self.std**2, *FLOAT_RANGE)

    def quantile(self, q: Any) -> np.ndarray:
        """Return the value that is not exceeded with probability ``q``.

        Parameters
        ----------
        q : float or list of floats
            Probabilities from 0 to 1.

        Returns
        -------
        array of shape (n_rows,) or (n_levels, n_rows)
            The second shape for a list of levels.
        """
        levels = real_numbers("q", q)
        if levels.ndim > 1 or not ((levels >= 0) & (levels <= 1)).all():
            raise ParameterError(f"q must be a number from 0 to 1, or a list of such numbers, got {q!r}.")
        if levels.ndim == 0:
            return self._quantile(float(levels))
        return np.array([self._quantile(float(level)) for level in levels]).reshape(len(levels), len(self))

    def _quantile(self, level: float) -> np.ndarray:
        with np.errstate(all="ignore"):
            values = np.array(self._scipy.ppf(level, **self.parameters), dtype=np.float64)
        unknown = np.isnan(values)  # scipy has no quantiles for very large counts
        if unknown.any():
            rows = self[unknown]
            reach = FARTHEST_QUANTILE * rows.std
            values[unknown] = rows._bisect_counts(level, np.floor(rows.mean - reach), np.ceil(rows.mean + reach))
        return np.clip(values, *FLOAT_RANGE) if 0 < level < 1 else values

    def _bisect_counts(self, level: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The smallest counts with a cumulative probability of at least ``level``."""
        for _ in range(MAX_HALVINGS):
            if not (low < high).any():
                break
            middle = low + np.floor((high - low) / 2)
            middle = np.where(middle < high, middle, low)  # large floats may have no count between them
            below = self.cdf(middle) < level
            above = np.maximum(middle + 1, np.nextafter(middle, np.inf))  # the next count that is a float
            low, high = np.where((low < high) & below, above, low), np.where(below, high, middle)
        return high

    def interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the central interval that contains the target with probability ``level``.

        Parameters
        ----------
        level : float
            Between 0 and 1.

        Returns
        -------
        tuple of two arrays of shape (n_rows,)
            Lower and upper bounds.
        """
        level = check_number("level", level, 0, 1, include_boundaries="neither")
        return self._quantile((1 - level) / 2), self._quantile((1 + level) / 2)

    def pdf(self, y: Any) -> np.ndarray:
        """Return the density at ``y``; for counts, the probability.

        Parameters
        ----------
        y : float or array of shape (..., n_rows)
            One number, one per row, or an array with the rows as its last axis.

        Returns
        -------
        array of shape (..., n_rows)
            Densities.
        """
        return np.exp(self.logpdf(y))

    def logpdf(self, y: Any) -> np.ndarray:
        """Return the log of the density at ``y``; for counts, of the probability.

        Parameters
        ----------
        y : float or array of shape (..., n_rows)
            One number, one per row, or an array with the rows as its last axis.

        Returns
        -------
        array of shape (..., n_rows)
            Logs of densities.
        """
        log_density = self._scipy.logpmf if self.is_discrete else self._scipy.logpdf
        values = self._checked(y)
        with np.errstate(all="ignore"):
            logs = log_density(values, **self.parameters)
        return np.where(np.isnan(logs) & ~np.isnan(values), -np.inf, logs)  # scipy: inf - inf far out in the tails

    def cdf(self, y: Any) -> np.ndarray:
        """Return the probability of at most ``y``.

        Parameters
        ----------
        y : float or array of shape (..., n_rows)
            One number, one per row, or an array with the rows as its last axis.

        Returns
        -------
        array of shape (..., n_rows)
            Probabilities.
        """
        with np.errstate(all="ignore"):
            return np.asarray(self._cdf(self._checked(y)))

    def _cdf(self, values: np.ndarray) -> Any:
        if self._scipy is not stats.norm or self.parameters.keys() != {"loc", "scale"}:
            return self._scipy.cdf(values, **self.parameters)
        location, scale = self.parameters["loc"], self.parameters["scale"]  # scipy's checks take ten times as long
        return np.where(scale > 0, special.ndtr((values - location) / scale), np.nan)

    def _checked(self, y: Any) -> np.ndarray:
        values = real_numbers("y", y)
        if values.ndim and values.shape[-1] not in (1, len(self)):
            message = f"y must be one number, or have one for each of the {len(self)} rows, got {values.shape}."
            raise DataError(message, argument="y")
        return values

    def sample(self, n: int, random_state: Any = None) -> np.ndarray:
        """Draw ``n`` values for every row.

        Parameters
        ----------
        n : int
            Number of draws.
        random_state : int, RandomState, Generator or None, default=None
            Seed or source of random numbers.

        Returns
        -------
        array of shape (n, n_rows)
            The draws.
        """
        size = (check_integer("n", n, min_value=0), len(self))
        with np.errstate(all="ignore"):
            draws = self._scipy.rvs(**self.parameters, size=size, random_state=generator_from(random_state))
        return np.clip(np.asarray(draws, dtype=np.float64), *FLOAT_RANGE)


def generator_from(random_state: Any) -> np.random.Generator | np.random.RandomState:
    """The random number generator for ``random_state``; unlike scikit-learn, also for a numpy Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    with naming("random_state"):
        return check_random_state(random_state)
