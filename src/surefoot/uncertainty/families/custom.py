"""Families of the user's own: four methods in NumPy, without compiled code."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.families.base import Z_MAX, LocationScaleFamily, RegressionFamily, most_likely

MIN_INFORMATION = 1e-12  # of an output of a row: no step is infinite


@dataclass(frozen=True, kw_only=True)
class UserSteps(RegressionFamily):
    """What families of the user's own share: natural gradients and distributions from a few methods."""

    @abstractmethod
    def gradient(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the gradient of the log-likelihood of each target.

        Parameters
        ----------
        raw : array of shape (n_outputs, n_rows)
            The outputs of the trees.
        y : array of shape (n_rows,)
            The internal target.

        Returns
        -------
        array of shape (n_outputs, n_rows)
            Derivatives by the outputs.
        """

    @abstractmethod
    def information(self, raw: np.ndarray) -> np.ndarray:
        """Return the diagonal of the Fisher information: the expected square of each derivative.

        Parameters
        ----------
        raw : array of shape (n_outputs, n_rows)
            The outputs of the trees.

        Returns
        -------
        array of shape (n_outputs, n_rows)
            Above 0. Where it vanishes, a larger number makes steps shorter and is safe.
        """

    @abstractmethod
    def scipy_distribution(self, raw: np.ndarray) -> Any:
        """Return the distribution of the internal target.

        Parameters
        ----------
        raw : array of shape (n_outputs, n_rows)
            The outputs of the trees.

        Returns
        -------
        frozen distribution of scipy.stats
            For example ``stats.gumbel_r(loc=raw[0], scale=np.exp(raw[1]))``.
        """

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return minus the log of the density (or mass); a formula of your own is faster than this one from scipy.

        Parameters
        ----------
        raw : array of shape (n_outputs, n_rows)
            The outputs of the trees.
        y : array of shape (n_rows,)
            The internal target.

        Returns
        -------
        array of shape (n_rows,)
            Minus the logs of densities.
        """
        return -self._internal_distribution(self.bounded(raw)).logpdf(y)

    def inverse_information(self, raw: np.ndarray) -> np.ndarray:
        return 1 / np.maximum(self.information(self.bounded(raw)), MIN_INFORMATION)

    def search_start(self, y: np.ndarray, weights: np.ndarray | None, first: Any) -> np.ndarray:
        """Return the constant outputs under which the targets are most likely, for ``start``, by a search.

        Parameters
        ----------
        y : array of shape (n_rows,)
            The internal target.
        weights : array of shape (n_rows,) or None
            The weights of the rows.
        first : array of shape (n_outputs,)
            Where the search begins.

        Returns
        -------
        array of shape (n_outputs,)
            The constants.
        """
        return most_likely(self, y, weights, np.zeros(len(y)), np.asarray(first, dtype=np.float64))

    def bounded(self, raw: np.ndarray) -> np.ndarray:
        """Return the outputs within their bounds: a ``nll`` of your own must use these.

        Parameters
        ----------
        raw : array of shape (n_outputs, n_rows)
            The outputs of the trees.

        Returns
        -------
        array of shape (n_outputs, n_rows)
            The same, but for a log of a scale beyond its bounds.
        """
        return raw

    def _internal_distribution(self, raw: np.ndarray) -> Distribution:
        """The distribution of the internal target."""
        frozen = self.scipy_distribution(raw)
        shapes = [] if frozen.dist.shapes is None else frozen.dist.shapes.replace(" ", "").split(",")
        given = dict(zip([*shapes, "loc", "scale"], frozen.args, strict=False)) | frozen.kwds
        return Distribution(self.name, frozen.dist, **_for_every_row(given, raw.shape[1]))

    def _steps(self, raw: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Natural gradients and scores, with scores of at most ``Z_MAX``: one row must not decide alone."""
        roots = np.sqrt(np.maximum(self.information(raw), MIN_INFORMATION))
        with np.errstate(all="ignore"):
            scores = np.clip(np.nan_to_num(self.gradient(raw, y) / roots, nan=0.0), -Z_MAX, Z_MAX)
        return scores / roots, scores


@dataclass(frozen=True, kw_only=True)
class CustomFamily(UserSteps):
    """Base class for a distribution of your own, whose outputs are logs or other numbers of order 1.

    The internal target is the target itself. Trees learn all outputs in the same way. For a location and the log of a
    scale, ``CustomLocationScaleFamily`` is better: its targets are standardised, and its scale is protected from being
    learned from residuals that the trees have fitted already.

    A subclass has a ``name``, the ``parameters`` (names of the outputs) and the methods ``start``, ``gradient``,
    ``information`` and ``scipy_distribution``. ``check_family`` compares them with each other.

    Attributes
    ----------
    takes_exposure : bool
        Set it to True in the class if the first output is the log of a mean: an exposure is then added as its log.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from surefoot.uncertainty import CustomFamily, check_family
    >>> class Exponential(CustomFamily):
    ...     name, parameters = "exponential", ("log_mean",)
    ...
    ...     def start(self, y, weights=None):
    ...         return np.log(np.average(y, weights=weights))[np.newaxis]
    ...
    ...     def gradient(self, raw, y):
    ...         return y * np.exp(-raw) - 1
    ...
    ...     def information(self, raw):
    ...         return np.ones_like(raw)
    ...
    ...     def scipy_distribution(self, raw):
    ...         return stats.expon(scale=np.exp(raw[0]))
    >>> check_family(Exponential(), raises=False).passed
    True
    """

    has_scale: ClassVar[bool] = False

    def fitted_to(self, y: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """Return the family itself; a target that has no likelihood under its start is refused."""
        values = self.internal(y)
        with np.errstate(all="ignore"):
            start = np.asarray(self.start(values, weights), dtype=np.float64)
        if start.shape != (self.n_outputs,):
            raise ParameterError(
                f"distribution={self.name!r} has {self.n_outputs} parameters, but its start has shape {start.shape}."
            )
        with np.errstate(all="ignore"):
            losses = self.nll(np.repeat(start[:, np.newaxis], len(values), axis=1), values)
        if not np.isfinite(losses).all():
            raise DataError(f"y has values that are impossible under distribution={self.name!r}, fitted to all rows.")
        return self

    def internal(self, y: np.ndarray, name: str = "y") -> np.ndarray:
        return np.ascontiguousarray(y, dtype=np.float64)

    def nll_offset(self, y: np.ndarray) -> np.ndarray:
        return np.zeros(len(y))

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
        steps[:, own], scores[:, own] = self._steps(raw[:, own], y[own])

    def distribution(self, raw: np.ndarray) -> Distribution:
        return self._internal_distribution(raw)


@dataclass(frozen=True, kw_only=True)
class CustomLocationScaleFamily(UserSteps, LocationScaleFamily):
    """Base class for a distribution of your own with a location and the log of a scale, in this order.

    The internal target is ``(y - location) / spread``, with mean 0 and standard deviation 1; predicted distributions
    are converted back. The scale has bounds from the resolution and the range of the target, is learned from residuals
    as they would be if the row had been left out, and is corrected on held-out rows, as in the built-in families.

    A subclass has a ``name`` and the methods ``start``, ``gradient``, ``information`` and ``scipy_distribution``; the
    ``parameters`` are ``("mu", "log_sigma")``. ``check_family`` compares them with each other.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from surefoot.uncertainty import CustomLocationScaleFamily, check_family
    >>> class Logistic(CustomLocationScaleFamily):
    ...     name = "logistic"
    ...
    ...     def start(self, y, weights=None):
    ...         return self.search_start(y, weights, [0.0, np.log(0.55)])
    ...
    ...     def gradient(self, raw, y):
    ...         z = (y - raw[0]) / np.exp(raw[1])
    ...         pull = np.tanh(z / 2)
    ...         return np.stack([pull / np.exp(raw[1]), z * pull - 1])
    ...
    ...     def information(self, raw):
    ...         return np.stack([np.exp(-2 * raw[1]) / 3, np.full(raw.shape[1], (3 + np.pi**2) / 9)])
    ...
    ...     def scipy_distribution(self, raw):
    ...         return stats.logistic(loc=raw[0], scale=np.exp(raw[1]))
    >>> check_family(Logistic(), raises=False).passed
    True
    """

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
        given, values = self.bounded(raw[:, own]), y[own]
        steps[:, own], scores[:, own] = self._steps(given, values)
        stretched = given[0] + stretch[own] * (values - given[0])
        of_scale = self._steps(given, stretched)
        stuck = (raw[1, own] <= self.floor) & (of_scale[0][1] < 0) | (raw[1, own] >= self.cap) & (of_scale[0][1] > 0)
        for out, part in zip((steps, scores), of_scale, strict=True):
            out[1, own] = np.where(stuck, 0.0, part[1])

    def bounded(self, raw: np.ndarray) -> np.ndarray:
        return np.stack([raw[0], np.clip(raw[1], self.floor, self.cap)])

    def distribution(self, raw: np.ndarray) -> Distribution:
        """Return the predicted distributions, in the units of the target.

        Parameters
        ----------
        raw : array of shape (2, n_rows)
            The outputs of the trees.

        Returns
        -------
        Distribution
            With the location and the scale of each row.
        """
        internal = self._internal_distribution(self.bounded(raw))
        given = dict(internal.parameters)
        location, scale = given.pop("loc", 0.0), given.pop("scale", 1.0)
        moved = {"loc": self.location + self.spread * location, "scale": self.spread * scale}
        return Distribution(self.name, internal._scipy, **given, **moved)


def _for_every_row(given: dict[str, Any], n_rows: int) -> dict[str, np.ndarray]:
    return {key: np.broadcast_to(np.asarray(value, dtype=np.float64), n_rows) for key, value in given.items()}
