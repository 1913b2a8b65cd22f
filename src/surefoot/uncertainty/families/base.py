"""What the families of distributions share: the interface, and how a target is weighted and standardised."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import minimize

from surefoot._exceptions import DataError, ParameterError
from surefoot.uncertainty.distribution import FLOAT_RANGE, Distribution

Z_MAX = 8.0  # residuals are clipped to this many scales
RATIO_MAX = 32.0  # upper bound of y / mean - 1: a leaf of such rows, at a rate of 0.1, moves the mean just to them
FINEST = 1e-4  # no scale is below this fraction of the target's spread
ROUNDING = 1e-6  # values closer than this fraction of the spread are equal: they differ by rounding
MIN_SPREAD = 1e-290  # divided by less, a target could leave the range of floats
MAX_LOG = 700.0  # e to this power is still a float
MAX_SEARCH = 1000  # evaluations of the likelihood


@dataclass(frozen=True, kw_only=True)
class RegressionFamily(ABC):
    """A distribution with raw outputs of trees as its parameters, fitted to one target.

    ``raw`` has shape (n_outputs, n_rows). Steps are natural gradients: the gradient of the log-likelihood divided by
    the Fisher information, which is diagonal in all these families.

    Attributes
    ----------
    location, spread : float
        Trees are grown on the internal target ``(y - location) / spread`` (of log y, if the family models log y).
    floor, cap : float
        Bounds of the last output: it is clipped to them, and steps never lead further out.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]]
    natural: ClassVar[bool] = True
    dispersion_sign: ClassVar[float] = 1.0  # whether the last output grows (1) or falls (-1) with the dispersion
    reads_logs: ClassVar[bool] = False  # whether the internal target is that of log y
    constrained_outputs: ClassVar[tuple[int, ...]] = (0,)  # the mean is monotone if these are; none: never
    is_discrete: ClassVar[bool] = False
    is_distribution: ClassVar[bool] = True  # whether more is predicted than quantiles
    takes_exposure: ClassVar[bool] = False  # whether the first output is the log of a mean or of a scale of the target
    offset_moves_target: ClassVar[bool] = False  # whether an offset is the same as another target

    location: float = field(default=0.0, repr=False)
    spread: float = field(default=1.0, repr=False)
    floor: float = field(default=math.log(FINEST), repr=False)
    cap: float = field(default=-math.log(FINEST), repr=False)

    @classmethod
    def for_target(cls, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """The family with default settings, fitted to a target (see ``fitted_to``)."""
        return cls().fitted_to(y, weights)

    @property
    def n_outputs(self) -> int:
        return len(self.parameters)

    @property
    def n_locations(self) -> int:
        """The number of outputs, from the first on, that an offset is added to."""
        return 1

    @property
    def has_scale(self) -> bool:
        """Whether trees predict a dispersion, which fitted rows understate."""
        return self.n_outputs > 1

    @abstractmethod
    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """A copy with location, spread and resolution of the target; a target outside its support is a DataError."""

    @abstractmethod
    def internal(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        """The internal target, on which trees are grown; error messages call the target ``name``."""

    @abstractmethod
    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """The constant outputs (n_outputs,) that make the internal target ``y`` most likely."""

    @abstractmethod
    def gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        """Write natural gradients into ``steps``: ``raw + rate * steps`` makes the internal target ``y`` more likely.

        ``scores`` gets each step times the square root of its information: without unit, of variance 1 under the model.
        ``stretch`` (n_rows,) is the factor that makes the residual of a training row comparable to that of a new row;
        only the scale uses it. Only the rows from ``rows[0]`` to ``rows[1]`` are read and written.
        """

    @abstractmethod
    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        """Diagonal of the inverse Fisher information, (n_outputs, n_rows)."""

    @abstractmethod
    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Minus the log of the density (or mass) of each internal target."""

    @abstractmethod
    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        """The term that converts ``nll`` to the density of ``y`` in the user's units."""

    @abstractmethod
    def distribution(self, raw: np.ndarray) -> Distribution:
        """The predicted distributions, in the user's units."""

    def without_offset(self, y: np.ndarray, offset: np.ndarray, name: str = "y") -> np.ndarray:
        """The target less an offset, or divided by its exponential if the family models log y."""
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(np.log(check_positive(y, name, self.name)) - offset) if self.reads_logs else y - offset

    def fitted_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> Self:
        """As ``fitted_to``, if rows have offsets."""
        return self.fitted_to(y, weights)

    def start_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> np.ndarray:
        """As ``start``, if the first output of rows has an ``offset`` of shape (1, n_rows)."""
        fractions = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
        first = self.start(y, weights)
        first[0] -= weighted_sum(offset[0], fractions)
        return most_likely(self, y, weights, offset[0], first)

    def exposed_gradients(
        self,
        raw: np.ndarray,
        y: np.ndarray,
        stretch: np.ndarray,
        exposures: np.ndarray,
        rows: tuple[int, int],
        steps: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        """As ``gradients``, for rows whose weights are multiplied by their ``exposures`` when trees are grown."""
        self.gradients(raw, y, stretch, rows, steps, scores)
        own = slice(*rows)
        scores[:, own] /= np.sqrt(exposures[own])  # so that their weighted sums have a variance of the summed weights

    def saturated_output(self, y: np.ndarray) -> np.ndarray:
        """The first output under which each internal target is most likely, in families with a scale."""
        return y

    def point(self, distribution: Distribution) -> np.ndarray:
        """The number that ``predict`` returns for each row."""
        return distribution.mean

    def log_density(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Log of the density (or mass) of each internal target under the predicted distribution."""
        return -self.nll(raw, y)

    def probabilities_below(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The predicted probability of a target below each internal target."""
        plain = replace(self, location=0.0, spread=1.0)
        return plain.distribution(raw).cdf(np.exp(np.clip(y, -MAX_LOG, MAX_LOG)) if self.reads_logs else y)

    def moments(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the predicted distributions."""
        distribution = self.distribution(raw)
        return distribution.mean, distribution.var

    def mean_slopes(self, raw: np.ndarray) -> np.ndarray:
        """The derivatives of the predicted means by each output, (n_outputs, n_rows)."""
        raise ParameterError(
            f"The knowledge uncertainty of distribution={self.name!r} cannot be divided among columns: explain the "
            "parameters with shap_values."
        )


@dataclass(frozen=True, kw_only=True)
class LocationScaleFamily(RegressionFamily):
    """A family of a location and the log of a scale, on the standardised target."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "log_sigma")
    offset_moves_target: ClassVar[bool] = True

    def _values(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        """The values that have a location and a scale: the target itself, or its log."""
        return np.asarray(y, dtype=np.float64)

    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        values, fractions = rows_with_weight(self._values(y), weights)
        location, spread = centre_and_spread(values, fractions)
        standardised = standardise(values, location, spread)
        half_range = float(np.ptp(standardised)) / 2  # no group of rows has a larger standard deviation
        return replace(
            self,
            location=location,
            spread=spread,
            floor=math.log(finest_scale(standardised)),
            cap=math.log(max(half_range, 1.0)),
        )

    def internal(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        return standardise(self._values(y, name), self.location, self.spread)

    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        return np.full(len(y), math.log(self.spread))

    def _location_slopes(self, raw: np.ndarray) -> np.ndarray:
        """As ``mean_slopes``, for families whose location is their mean."""
        return np.stack([np.full(raw.shape[1], self.spread), np.zeros(raw.shape[1])])

    def _scale(self, raw: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(raw[1], self.floor, self.cap))

    def _user_location_and_scale(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(over="ignore"):
            location = np.clip(self.location + np.clip(self.spread * raw[0], *FLOAT_RANGE), *FLOAT_RANGE)
            return location, np.clip(self.spread * self._scale(raw), *FLOAT_RANGE)

    def _start(self, location: float, scale: float) -> np.ndarray:
        """Outputs of a constant location and scale, the scale within its bounds."""
        low, high = math.exp(self.floor), math.exp(self.cap)
        return np.array([location, math.log(min(max(scale, low), high))])


def most_likely(
    family: RegressionFamily, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """The constant outputs under which rows with an offset of the first output are most likely; ``first`` is a guess.

    The likelihood is searched without derivatives.
    """
    fractions = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()

    def loss(constants: np.ndarray) -> float:
        raw = np.repeat(constants[:, np.newaxis], len(y), axis=1)
        raw[0] += offset
        with np.errstate(all="ignore"):
            mean = weighted_sum(family.nll(raw, y), fractions)
        return mean if math.isfinite(mean) else math.inf

    result = minimize(
        loss, first, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": MAX_SEARCH}
    )
    return np.asarray(result.x)


def rows_with_weight(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The values that have weight, and the fraction of the total weight of each."""
    if weights is None:
        return values, np.broadcast_to(1 / len(values), len(values))  # takes no memory
    fractions = weights[weights > 0] / weights.max()  # only the ratios of weights count
    return values[weights > 0], fractions / fractions.sum()


def weighted_sum(values: np.ndarray, fractions: np.ndarray) -> float:
    """Sum of products, not by BLAS: its last digits, and so those of the model, depend on its number of threads."""
    return float((values * fractions).sum())


def centre_and_spread(values: np.ndarray, fractions: np.ndarray) -> tuple[float, float]:
    """Weighted mean and standard deviation of floats of any size; the spread of a constant is 1."""
    size = max(float(values.max()), -float(values.min()), MIN_SPREAD)
    unit = values / size
    low, high = float(unit.min()), float(unit.max())
    # Clipped, because rounding must neither move the mean of a constant nor raise the spread above the size.
    centre = min(max(weighted_sum(unit, fractions), low), high)
    unit -= centre
    unit *= unit
    spread = math.sqrt(min(weighted_sum(unit, fractions), 1.0))
    if spread == 0:
        return centre * size, 1.0
    return centre * size, max(spread * size, MIN_SPREAD)


def standardise(values: np.ndarray, location: float, spread: float) -> np.ndarray:
    """``(values - location) / spread``, computed from halves, because the difference of large numbers may overflow."""
    with np.errstate(over="ignore"):
        out = 0.5 * values
        out -= 0.5 * location
        out /= 0.5 * spread
        return np.clip(out, *FLOAT_RANGE, out=out)


def finest_scale(standardised: np.ndarray) -> float:
    """The smallest scale that the resolution of the target allows, as a fraction of its spread.

    A number rounded to multiples of ``gap`` is known only up to ``gap / sqrt(12)``, the standard deviation of the
    rounding error. The result is at most 1, so that the best constant scale (1) is always possible.
    """
    gaps = np.diff(np.unique(standardised))
    gaps = gaps[gaps > ROUNDING]
    gap = float(gaps.min()) if len(gaps) else 0.0
    return min(max(gap / math.sqrt(12), FINEST), 1.0)


def check_positive(y: np.ndarray, name: str, family: str) -> np.ndarray:
    """The target as floats; a DataError if it is not above 0 everywhere."""
    values = np.asarray(y, dtype=np.float64)
    if not (values > 0).all():
        raise DataError(
            f"{name} has values of 0 or below, which distribution={family!r} does not allow: shift them above 0, "
            "or choose distribution='normal'."
        )
    return values
