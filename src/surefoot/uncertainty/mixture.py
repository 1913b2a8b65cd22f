"""Mixtures of the distributions that the members of an ensemble predict."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._numbers import naming
from surefoot._parameters import check_integer
from surefoot.uncertainty.distribution import FLOAT_RANGE, MAX_HALVINGS, Distribution, generator_from

QUANTILE_PRECISION = 1e-10  # as a fraction of the standard deviation and of the range of the members' quantiles


class MixtureDistribution(Distribution):
    """For each row, the mixture of the distributions that the members of an ensemble predict, with equal weights.

    Parameters
    ----------
    components : sequence of Distribution
        One for each member, of the same family and for the same rows.

    Attributes
    ----------
    components : tuple of Distribution
        One for each member.
    mean, std, var : arrays of shape (n_rows,)
        By the law of total variance: the mean of the variances plus the variance of the means.

    Examples
    --------
    >>> from scipy import stats
    >>> from surefoot.uncertainty import Distribution, MixtureDistribution
    >>> members = [Distribution("normal", stats.norm, loc=[0.0, mean], scale=1.0) for mean in (-2.0, 2.0)]
    >>> mixture = MixtureDistribution(members)
    >>> mixture
    MixtureDistribution(2 x normal, 2 rows)
    >>> mixture.var
    array([1., 5.])
    """

    def __init__(self, components: Sequence[Distribution]) -> None:
        with naming("components"):
            components = tuple(components)
        if not components or not all(isinstance(member, Distribution) for member in components):
            message = "components must be distributions, at least one: what predict_distribution returns."
            raise ParameterError(message, argument="components")
        if len({(member.name, len(member)) for member in components}) > 1:
            raise ParameterError("components must be distributions of one family, for the same rows.")
        self.components = components
        self.name = f"{len(components)} x {components[0].name}"

    def __len__(self) -> int:
        return len(self.components[0])

    def __getitem__(self, rows: Any) -> "MixtureDistribution":
        """The mixtures of some rows: an index (one row), a slice, an array of indices or a mask."""
        return MixtureDistribution([member[rows] for member in self.components])

    @property
    def is_discrete(self) -> bool:
        """Whether the distribution is discrete: one of counts."""
        return self.components[0].is_discrete

    @property
    def mean(self) -> np.ndarray:
        """Mean of the distribution of every row."""
        return np.clip(sum(member.mean / len(self.components) for member in self.components), *FLOAT_RANGE)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of the distribution of every row."""
        mean = self.mean
        with np.errstate(all="ignore"):
            parts = [np.clip(member.mean - mean, *FLOAT_RANGE) for member in self.components]
            parts += [member.std for member in self.components]
            size = np.maximum(np.abs(parts).max(axis=0), np.finfo(np.float64).tiny)  # squares relative to it are safe
            return np.clip(
                size * np.sqrt(sum((part / size) ** 2 for part in parts) / len(self.components)), *FLOAT_RANGE
            )

    def _quantile(self, level: float) -> np.ndarray:
        quantiles = [member._quantile(level) for member in self.components]
        low, high = np.min(quantiles, axis=0), np.max(quantiles, axis=0)
        if self.is_discrete:
            return self._bisect_counts(level, low, high)
        return self._bisect(level, low, high)

    def _bisect(self, level: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Halve the intervals, keeping the quantile inside, until all are narrow or have no float inside."""
        with np.errstate(all="ignore"):
            precision = QUANTILE_PRECISION * np.minimum(high - low, self.std)
        for _ in range(MAX_HALVINGS):
            middle = 0.5 * low + 0.5 * high
            with np.errstate(all="ignore"):
                wide = (high - low > precision) & (low < middle) & (middle < high)
            if not wide.any():
                break
            below = self.cdf(middle) < level
            low, high = np.where(wide & below, middle, low), np.where(wide & ~below, middle, high)
        return middle

    def logpdf(self, y: Any) -> np.ndarray:
        """Return the log of the mean density of the members at ``y``; for counts, of the mean probability.

        Parameters
        ----------
        y : float or array of shape (..., n_rows)
            One number, one per row, or an array with the rows as its last axis.

        Returns
        -------
        array of shape (..., n_rows)
            Logs of densities.
        """
        total = self.components[0].logpdf(y)
        for member in self.components[1:]:
            with np.errstate(invalid="ignore"):  # of a missing y
                total = np.logaddexp(total, member.logpdf(y))
        return total - np.log(len(self.components))

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
        return np.asarray(sum(member.cdf(y) for member in self.components) / len(self.components))

    def sample(self, n: int, random_state: Any = None) -> np.ndarray:
        """Draw ``n`` values for every row, each from a random member.

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
        generator = generator_from(random_state)
        chosen = (generator.random(size) * len(self.components)).astype(np.int64)
        draws = np.empty(size)
        for index, member in enumerate(self.components):
            rows = np.nonzero(chosen == index)[1]
            draws[chosen == index] = member[rows].sample(1, generator)[0]
        return draws
