"""A predictive distribution, ours or scipy's, with one set of names."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError

OUR_NAMES = {"norm": "normal", "laplace": "laplace", "lognorm": "lognormal", "gamma": "gamma", "poisson": "poisson"}
FROM_ZERO = ("lognormal", "gamma", "poisson")  # shifted away from 0 they are not these families


@dataclass(frozen=True)
class Predicted:
    """One distribution per row; every method returns one float64 per row."""

    source: Any
    n_rows: int

    @property
    def is_scipy(self) -> bool:
        return hasattr(self.source, "ppf")

    @property
    def family(self) -> str | None:
        """Name of the family; None if it has no closed form here."""
        if not self.is_scipy:
            name, start = getattr(self.source, "name", None), self.parameters.get("loc", 0.0)
        else:
            name, start = OUR_NAMES.get(self.source.dist.name), self.source.support()[0]
        return None if name in FROM_ZERO and np.any(start != 0) else name

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The parameters under scipy's names, if the distribution has them."""
        return getattr(self.source, "parameters", {})

    @property
    def components(self) -> "list[Predicted]":
        """The members of an equal-weight mixture; empty for any other distribution."""
        return [Predicted(component, self.n_rows) for component in getattr(self.source, "components", ())]

    @property
    def is_discrete(self) -> bool:
        if self.is_scipy:
            return not hasattr(self.source, "logpdf")
        return bool(getattr(self.source, "is_discrete", False))

    @property
    def mean(self) -> np.ndarray:
        return self._rows(self.source.mean() if self.is_scipy else self.source.mean)

    @property
    def std(self) -> np.ndarray:
        return self._rows(self.source.std() if self.is_scipy else self.source.std)

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Logarithm of the density, or of the mass of a discrete distribution; minus infinity where it is 0."""
        log_density = self.source.logpmf if self.is_scipy and self.is_discrete else self.source.logpdf
        with np.errstate(divide="ignore"):
            return self._rows(log_density(y))

    def cdf(self, y: np.ndarray) -> np.ndarray:
        return self._rows(self.source.cdf(y))

    def quantile(self, probability: float) -> np.ndarray:
        return self._rows(self.source.ppf(probability) if self.is_scipy else self.source.quantile(probability))

    def interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.source.interval(level)
        return self._rows(low), self._rows(high)

    def _rows(self, values: Any) -> np.ndarray:
        array = np.asarray(values, dtype=np.float64)
        if array.shape not in ((), (self.n_rows,)):
            raise DataError(
                f"distribution returns values of shape {array.shape} for {self.n_rows} rows: "
                "it must be for the same rows as y_true."
            )
        if np.isnan(array).any():
            raise DataError("distribution returns NaN for some rows: check its parameters.")
        return np.broadcast_to(array, self.n_rows)


def is_distribution(prediction: Any) -> bool:
    """Whether ``prediction`` looks like a distribution."""
    return hasattr(prediction, "cdf") and (hasattr(prediction, "logpdf") or hasattr(prediction, "logpmf"))


def check_distribution(distribution: Any, n_rows: int) -> Predicted:
    """Check ``distribution``, and wrap it as distributions of ``n_rows`` rows."""
    if not is_distribution(distribution):
        raise DataError(
            "distribution must be what predict_distribution returns or a frozen distribution of scipy.stats, "
            f"got {type(distribution).__name__}."
        )
    if hasattr(distribution, "__len__") and len(distribution) != n_rows:
        raise DataError(f"distribution has {len(distribution)} rows, but y_true has {n_rows}.")
    return Predicted(distribution, n_rows)
