"""Quantiles at one or several levels, by the pinball loss."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.uncertainty.distribution import FLOAT_RANGE, Distribution
from surefoot.uncertainty.families.base import Z_MAX, LocationScaleFamily, rows_with_weight, weighted_sum
from surefoot.uncertainty.quantiles import QuantileDistribution

TIE = 1e-12  # a summed weight this close to a level is at the level
MAX_LEVELS = 100
MIN_LEVEL = 1e-9  # quantiles further out would need more rows than there are


@dataclass(frozen=True)
class Quantile(LocationScaleFamily):
    """Quantiles of the target at some levels, for when no distribution fits; outputs are the quantiles and a log scale.

    The loss is the mean pinball loss of all levels. It is minus the log of an asymmetric Laplace density, up to
    constants; the scale of this density, one for all levels of a row, only decides how long steps are. Predicted
    quantiles are sorted, so that they never cross.

    Parameters
    ----------
    levels : float or tuple of float, default=0.5
        The levels, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import Quantile
    >>> y = np.array([1.0, 2.0, 3.0, 4.0, 90.0])
    >>> family = Quantile((0.9, 0.5)).fitted_to(y)
    >>> family
    Quantile(levels=(0.5, 0.9))
    >>> start = family.start(family.internal(y))
    >>> family.distribution(start[:, np.newaxis]).quantile(0.5)
    array([3.])
    """

    levels: tuple[float, ...] = (0.5,)
    name: ClassVar[str] = "quantile"
    is_distribution: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", checked_levels(self.levels))

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the outputs."""
        return (*(f"quantile_{level:g}" for level in self.levels), "log_scale")

    @property
    def n_locations(self) -> int:
        return len(self.levels)

    @property
    def _levels(self) -> np.ndarray:
        """The levels, one for each row of outputs."""
        return np.array(self.levels)[:, np.newaxis]

    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        values, fractions = rows_with_weight(y, weights)
        quantiles = np.array([weighted_quantile(values, fractions, level) for level in self.levels])
        loss = weighted_sum(self._pinball(values - quantiles[:, np.newaxis]).mean(axis=0), fractions)
        return np.append(quantiles, self._start(0.0, loss)[1])

    def _pinball(self, residuals: np.ndarray) -> np.ndarray:
        return np.maximum(self._levels * residuals, (self._levels - 1.0) * residuals)

    def _scale(self, raw: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(raw[-1], self.floor, self.cap))

    def gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        own = slice(*rows)
        given, scale, levels = raw[:, own], self._scale(raw[:, own]), self._levels
        residuals = y[own] - given[:-1]
        signs = np.where(residuals == 0, 0.0, levels - (residuals < 0))
        steps[:-1, own] = scale * signs / (levels * (1.0 - levels))
        scores[:-1, own] = signs / np.sqrt(levels * (1.0 - levels))
        step = np.minimum(stretch[own] * self._pinball(residuals) / scale, Z_MAX).mean(axis=0) - 1.0
        stuck = (given[-1] <= self.floor) & (step < 0) | (given[-1] >= self.cap) & (step > 0)
        steps[-1, own] = np.where(stuck, 0.0, step)
        scores[-1, own] = np.sqrt(len(self.levels)) * steps[-1, own]

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        variances = self._levels * (1.0 - self._levels)
        return np.concatenate([self._scale(raw) ** 2 / variances, np.full((1, raw.shape[1]), 1 / len(self.levels))])

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The mean over the levels of minus the log of asymmetric Laplace densities."""
        constant = np.log(self._levels * (1.0 - self._levels)).mean()
        loss = self._pinball(y - raw[:-1]).mean(axis=0) / self._scale(raw)
        return loss + np.clip(raw[-1], self.floor, self.cap) - constant

    def distribution(self, raw: np.ndarray) -> Distribution:
        with np.errstate(over="ignore"):
            values = np.clip(self.location + np.clip(self.spread * raw[:-1], *FLOAT_RANGE), *FLOAT_RANGE)
        return QuantileDistribution(self.levels, np.sort(values, axis=0))

    def point(self, distribution: Distribution) -> np.ndarray:
        assert isinstance(distribution, QuantileDistribution)
        return distribution.centre


def checked_levels(levels: float | Iterable[float]) -> tuple[float, ...]:
    """The levels in ascending order."""
    given: tuple[Any, ...] = tuple(levels) if np.iterable(levels) and not isinstance(levels, str) else (levels,)
    is_valid = 1 <= len(given) <= MAX_LEVELS and all(
        isinstance(level, float | np.floating) and MIN_LEVEL <= level < 1 for level in given
    )
    if not is_valid or len(set(given)) < len(given):
        raise ParameterError(
            f"levels must be different numbers between 0 and 1, at most {MAX_LEVELS}, got {levels!r}.",
            argument="levels",
        )
    return tuple(sorted(float(level) for level in given))


def weighted_quantile(values: np.ndarray, fractions: np.ndarray, level: float) -> float:
    """The middle of the values between which the level is crossed: no other number has a smaller pinball loss."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(fractions[order])
    last = len(values) - 1
    lower = min(int(np.searchsorted(below, level - TIE)), last)
    upper = min(int(np.searchsorted(below, level + TIE)), last)
    return float(0.5 * values[order[lower]] + 0.5 * values[order[upper]])
