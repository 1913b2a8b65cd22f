"""What the families of distributions share: their constants and their common methods."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from surefoot._exceptions import DataError
from surefoot.uncertainty.distribution import FLOAT_RANGE, Distribution

Z_MAX = 8.0  # residuals further out than so many scales count as so many
RATIO_MAX = 32.0  # most of y / mean - 1: a leaf of such rows, at a rate of 0.1, moves the mean to them and not beyond
FINEST = 1e-4  # no scale below this share of the target's spread
ROUNDING = 1e-6  # values closer than this share of the spread are one value: they differ by rounding
MIN_SPREAD = 1e-290  # divided by less than this, a target could leave the range of floats
MAX_LOG = 700.0  # e to this power is still a float
MIN_SHARE = 1e-9  # a class without weight starts with this share: its log is finite


@dataclass(frozen=True, kw_only=True)
class RegressionFamily(ABC):
    """A distribution whose parameters are raw outputs of trees, as a model for one target.

    ``raw`` has shape (n_outputs, n_rows). Steps are natural gradients: the gradient of the log-likelihood divided by
    the Fisher information, which is diagonal in all these families.

    Attributes
    ----------
    location, spread : float
        The target that the trees see is ``(y - location) / spread`` (of log y, where the family models that).
    floor, cap : float
        Bounds of the last output: it is read as the nearer bound beyond them, and never stepped further out.
    """

    name: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]]
    natural: ClassVar[bool] = True
    dispersion_sign: ClassVar[float] = 1.0  # whether the last output grows (1) or falls (-1) with the dispersion
    reads_logs: ClassVar[bool] = False  # whether the trees see log y

    location: float = field(default=0.0, repr=False)
    spread: float = field(default=1.0, repr=False)
    floor: float = field(default=math.log(FINEST), repr=False)
    cap: float = field(default=-math.log(FINEST), repr=False)

    @classmethod
    def for_target(cls, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """The family with its settings at their defaults, fitted to a target (see ``fitted_to``)."""
        return cls().fitted_to(y, weights)

    @property
    def n_outputs(self) -> int:
        return len(self.parameters)

    @property
    def has_scale(self) -> bool:
        """Whether the family has a dispersion of its own, which fitted rows understate."""
        return self.n_outputs > 1

    @abstractmethod
    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """A copy that knows the target's location, spread and resolution; a target it cannot have is a DataError."""

    @abstractmethod
    def internal(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        """The target in the units that the trees see; ``name`` is what an error calls it."""

    @abstractmethod
    def start(self, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """The constant outputs (n_outputs,) that make the internal target ``y`` most likely."""

    @abstractmethod
    def gradients(
        self, raw: np.ndarray, y: np.ndarray, stretch: np.ndarray, steps: np.ndarray, scores: np.ndarray
    ) -> None:
        """Write natural gradients into ``steps``: ``raw + rate * steps`` makes the internal target ``y`` more likely.

        ``scores`` gets each step times the square root of its information: free of units, of variance 1 under the
        model. ``stretch`` (n_rows,) is by how much a row's residual must grow to look like that of a row not seen in
        training; it counts for the scale alone.
        """

    @abstractmethod
    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        """Diagonal of the inverse Fisher information, (n_outputs, n_rows)."""

    @abstractmethod
    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Minus the log of the density (or mass) of each internal target."""

    @abstractmethod
    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        """What to add to ``nll`` to have the density of ``y`` in the user's units."""

    @abstractmethod
    def distribution(self, raw: np.ndarray) -> Distribution:
        """The distributions that the outputs describe, in the user's units."""

    def log_density(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Log of the density (or mass) of each internal target under the predicted distribution."""
        return -self.nll(raw, y)

    def probabilities_below(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The predicted probability of a target below each internal target."""
        plain = replace(self, location=0.0, spread=1.0)
        return plain.distribution(raw).cdf(np.exp(np.clip(y, -MAX_LOG, MAX_LOG)) if self.reads_logs else y)

    def moments(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Their means and variances alone."""
        distribution = self.distribution(raw)
        return distribution.mean, distribution.var


@dataclass(frozen=True, kw_only=True)
class LocationScaleFamily(RegressionFamily):
    """A family of a location and the log of a scale, on the standardised target."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "log_sigma")

    def _values(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        """What has a location and a scale: the target itself, unless the family says otherwise."""
        return np.asarray(y, dtype=np.float64)

    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        values, shares = rows_with_weight(self._values(y), weights)
        location, spread = centre_and_spread(values, shares)
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

    def _scale(self, raw: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(raw[1], self.floor, self.cap))

    def _user_location_and_scale(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(over="ignore"):
            location = np.clip(self.location + np.clip(self.spread * raw[0], *FLOAT_RANGE), *FLOAT_RANGE)
            return location, np.clip(self.spread * self._scale(raw), *FLOAT_RANGE)

    def _start(self, location: float, scale: float) -> np.ndarray:
        """Outputs of a constant location and scale, the scale within its bounds."""
        least, most = math.exp(self.floor), math.exp(self.cap)
        return np.array([location, math.log(min(max(scale, least), most))])


@dataclass(frozen=True, kw_only=True)
class ClassificationFamily(ABC):
    """Probabilities of classes from raw outputs of trees; ``raw`` has shape (n_outputs, n_rows).

    The Fisher information of several classes is singular, so steps are plain gradients and come with the diagonal of
    the information.
    """

    name: ClassVar[str]
    natural: ClassVar[bool] = False
    has_scale: ClassVar[bool] = False

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """Names of the outputs."""

    @property
    def n_outputs(self) -> int:
        return len(self.parameters)

    @abstractmethod
    def start(self, y: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
        """The constant outputs (n_outputs,) that give each class its share of the weight."""

    @abstractmethod
    def gradients(self, raw: np.ndarray, y: np.ndarray, steps: np.ndarray, information: np.ndarray) -> None:
        """Write ``1[y = k] - p_k`` into ``steps`` and ``p_k (1 - p_k)`` into ``information``."""

    @abstractmethod
    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Minus the log of the probability of each row's class."""

    @abstractmethod
    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, (n_rows, n_classes)."""


def class_shares(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Each class's share of the weight; a class without any has a tiny one."""
    kept, shares = rows_with_weight(codes.astype(np.int64), weights)
    return np.maximum(np.bincount(kept, weights=shares, minlength=n_classes), MIN_SHARE)


def rows_with_weight(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The values that have weight, and each one's share of the whole weight."""
    if weights is None:
        return values, np.full(len(values), 1 / len(values))
    shares = weights[weights > 0] / weights.max()  # weights of any size: only their ratios count
    return values[weights > 0], shares / shares.sum()


def weighted_sum(values: np.ndarray, shares: np.ndarray) -> float:
    """Sum of products; not by BLAS, whose last digits (and so the model's) depend on how many threads it may use."""
    return float((values * shares).sum())


def centre_and_spread(values: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """Weighted mean and standard deviation, for values as large as floats can be; the spread of a constant is 1."""
    size = max(float(np.abs(values).max()), MIN_SPREAD)
    unit = values / size
    centre = min(max(weighted_sum(unit, shares), float(unit.min())), float(unit.max()))  # a constant is its own mean
    spread = math.sqrt(min(weighted_sum((unit - centre) ** 2, shares), 1.0))  # rounding must not lift it above the size
    if spread == 0:
        return centre * size, 1.0
    return centre * size, max(spread * size, MIN_SPREAD)


def standardise(values: np.ndarray, location: float, spread: float) -> np.ndarray:
    """``(values - location) / spread``, by halves: the difference of two large numbers may be too large."""
    with np.errstate(over="ignore"):
        return np.clip((0.5 * values - 0.5 * location) / (0.5 * spread), *FLOAT_RANGE)


def finest_scale(standardised: np.ndarray) -> float:
    """The smallest scale that the target can support, as a share of its spread.

    A number written down in steps of ``gap`` is known to no better than ``gap / sqrt(12)``, the standard deviation of
    its rounding. Whatever the gap, the best constant scale (1) must remain possible.
    """
    gaps = np.diff(np.unique(standardised))
    gaps = gaps[gaps > ROUNDING]
    gap = float(gaps.min()) if len(gaps) else 0.0
    return min(max(gap / math.sqrt(12), FINEST), 1.0)


def positive(y: np.ndarray, name: str, family: str) -> np.ndarray:
    """The target as floats, if all of it is above 0."""
    values = np.asarray(y, dtype=np.float64)
    if not (values > 0).all():
        raise DataError(
            f"{name} has values of 0 or below, which distribution={family!r} cannot have: shift them above 0, "
            "or choose distribution='normal'."
        )
    return values
