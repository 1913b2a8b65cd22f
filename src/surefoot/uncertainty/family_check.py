"""Checks of a family of distributions: whether its methods agree with each other."""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_boolean, check_number
from surefoot.data.problem import check_numbers
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.families import Z_MAX, RegressionFamily
from surefoot.uncertainty.families.base import most_likely
from surefoot.uncertainty.families.chosen import unfitted_family

STEP = 1e-5  # of central differences
N_ROWS = 6  # raw outputs around the start, at which the family is checked
SPREAD = 0.25  # of these outputs
GRADIENT_TOLERANCE = 1e-3  # on average: finite differences are wrong next to a kink
MEAN_TOLERANCE = 1e-3  # of expected gradients and of moments
CDF_TOLERANCE = 1e-4
LIKELIHOOD_TOLERANCE = 1e-6
START_TOLERANCE = 1e-4  # in nats per row
FAR = 0.999 * Z_MAX  # scores this large are clipped
N_LEVELS, REACH = 10_000, 30.0  # of a quadrature: levels are even in their log-odds, and none is 1/2
MAX_COUNTS = 100_000


@dataclass(frozen=True)
class FamilyCheck:
    """One check of a family.

    Attributes
    ----------
    name : str
        What is checked.
    error : float
        The largest error; NaN if the check could not be made.
    limit : float
        The largest error that passes.
    hint : str
        What to look at if it fails.
    """

    name: str
    error: float
    limit: float
    hint: str

    @property
    def passed(self) -> bool:
        """Whether the error is below its limit."""
        return bool(self.error <= self.limit)

    def __str__(self) -> str:
        line = f"{'ok  ' if self.passed else 'FAIL'} {self.name}: error {self.error:.2g}, limit {self.limit:.2g}"
        return line if self.passed else f"{line}; {self.hint}"


@dataclass(frozen=True)
class FamilyReport:
    """The checks of a family, from ``check_family``.

    Attributes
    ----------
    family : str
        The name of the family.
    checks : tuple of FamilyCheck
        Each with ``name``, ``error``, ``limit``, ``hint`` and ``passed``.
    notes : tuple of str
        What works but has a limit: a family that cannot be pickled, for example.
    """

    family: str
    checks: tuple[FamilyCheck, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(check.passed for check in self.checks)

    def __str__(self) -> str:
        notes = [f"note {note}" for note in self.notes]
        return "\n".join([f"check of the family {self.family!r}", *map(str, self.checks), *notes])


def check_family(
    family: Any, y: Any = None, *, information_tolerance: float = 0.05, raises: bool = True
) -> FamilyReport:
    """Check that the methods of a family of distributions agree with each other.

    Gradients are compared with finite differences of the likelihood, the Fisher information with the expected square
    of the gradient, the start with a search for the most likely constants, the likelihood and the distribution
    function with the density, and the moments with integrals. All are checked at a few outputs around the start.

    Parameters
    ----------
    family : family, class of families or str
        For example an object of your own subclass of ``CustomFamily``.
    y : array of shape (n_rows,), default=None
        A target for which the family is meant. None: numbers, positive numbers, counts or fractions are drawn,
        whichever the family takes.
    information_tolerance : float, default=0.05
        Relative error of the Fisher information that passes. Natural gradients need no exact information.
    raises : bool, default=True
        Raise an error if a check fails; otherwise the report shows it.

    Returns
    -------
    FamilyReport
        ``passed``, and a line of text for each check.

    Raises
    ------
    ParameterError
        A check failed; the message is the report.

    Examples
    --------
    >>> from surefoot.uncertainty import StudentT, check_family
    >>> report = check_family(StudentT(df=4))
    >>> report.passed
    True
    >>> [check.name for check in report.checks][:3]
    ['gradients are derivatives of the likelihood', 'expected gradients are 0', 'information']
    """
    check_number("information_tolerance", information_tolerance, 0, np.inf, include_boundaries="neither")
    check_boolean("raises", raises)
    unfitted = unfitted_family(family)
    if not unfitted.is_distribution:
        message = f"family must be a distribution: {unfitted.name!r} predicts only some quantiles."
        raise ParameterError(message, argument="family")
    fitted, target = _fitted(unfitted, y)
    subject = _Subject.at_outputs_around_start(fitted, target)
    checks = (
        FamilyCheck(
            "gradients are derivatives of the likelihood",
            _largest(subject.gradient_errors),
            GRADIENT_TOLERANCE,
            "compare gradient with the derivatives of minus nll by each output",
        ),
        FamilyCheck(
            "expected gradients are 0",
            _largest(subject.mean_gradients),
            MEAN_TOLERANCE,
            "nll and distribution are not those of the same distribution",
        ),
        FamilyCheck(
            "information",
            _largest(subject.information_errors),
            information_tolerance,
            "information must be the expected square of each derivative",
        ),
        FamilyCheck("start", _largest(subject.start_loss), START_TOLERANCE, "other constants are more likely"),
        FamilyCheck(
            "nll is minus the log of the density",
            _largest(subject.likelihood_errors),
            LIKELIHOOD_TOLERANCE,
            "compare nll with logpdf (or logpmf) of the distribution",
        ),
        FamilyCheck(
            "the density adds up to the distribution function",
            _largest(subject.cdf_errors),
            CDF_TOLERANCE,
            "the density does not integrate (or the masses do not sum) to the cdf",
        ),
        FamilyCheck(
            "moments",
            _largest(subject.moment_errors),
            10 * MEAN_TOLERANCE,
            "mean and variance are not those of the density",
        ),
    )
    report = FamilyReport(family=fitted.name, checks=checks, notes=_notes(fitted))
    if raises and not report.passed:
        raise ParameterError(str(report), argument="family")
    return report


def _largest(errors: Callable[[], Any]) -> float:
    """The largest error; NaN, which does not pass, if a method of the family fails."""
    with np.errstate(all="ignore"):
        values = np.abs(np.asarray(errors(), dtype=np.float64))
    return float(values.max()) if values.size else 0.0


def _example_targets() -> Iterator[np.ndarray]:
    """Targets of several kinds."""
    generator = np.random.default_rng(0)
    yield 10 + 3 * generator.standard_t(6, 400)
    yield generator.gamma(2.0, 1.5, 400)
    yield generator.poisson(generator.gamma(2.0, 1.5, 400)).astype(float)
    yield generator.beta(2.0, 3.0, 400)


def _fitted(family: RegressionFamily, y: Any) -> tuple[RegressionFamily, np.ndarray]:
    """The family fitted to a target, and the internal target; without one, to the first example that it takes."""
    if y is not None:
        target = check_numbers(y)
        if not len(target):
            raise DataError("y is empty: pass a target, or None.", argument="y")
        fitted = family.fitted_to(target)
        return fitted, fitted.internal(target)
    for example in _example_targets():
        try:
            with np.errstate(all="ignore"):
                fitted = family.fitted_to(example)
            return fitted, fitted.internal(example)
        except DataError:
            continue
    raise DataError(f"The family {family.name!r} takes none of the targets that are drawn: pass y.", argument="y")


def _notes(family: RegressionFamily) -> tuple[str, ...]:
    try:
        is_same = pickle.loads(pickle.dumps(family)) == family
    except Exception:  # whatever a class of the user's raises
        is_same = False
    why = "its models cannot be pickled: define the class in a module, or at the top level of a script"
    return () if is_same else (why,)


@dataclass(frozen=True)
class _Subject:
    """A family at a few raw outputs, and outcomes with their probabilities under each of its distributions."""

    family: RegressionFamily
    target: np.ndarray
    raw: np.ndarray  # (n_outputs, N_ROWS)
    outcomes: np.ndarray  # (N_ROWS, n): in the user's units
    chances: np.ndarray  # (N_ROWS, n)

    @classmethod
    def at_outputs_around_start(cls, family: RegressionFamily, target: np.ndarray) -> "_Subject":
        start = np.asarray(family.start(target), dtype=np.float64)
        raw = start[:, np.newaxis] + SPREAD * np.random.default_rng(0).normal(size=(len(start), N_ROWS))
        raw[-1] = np.clip(raw[-1], family.floor + 2 * STEP, family.cap - 2 * STEP)
        outcomes = [_outcomes(family.distribution(raw)[row : row + 1]) for row in range(N_ROWS)]
        n = max(len(values) for values, _ in outcomes)
        padded = np.array([[np.pad(part, (0, n - len(part)), mode="edge") for part in pair] for pair in outcomes])
        for row, (values, _) in enumerate(outcomes):
            padded[row, 1, len(values) :] = 0.0
        return cls(family, target, raw, padded[:, 0], padded[:, 1])

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """For each of the outputs: the output repeated, outcomes, internal targets, and chances."""
        for row in range(N_ROWS):
            used = self.chances[row] > 0
            values = self.outcomes[row][used]
            raw = np.repeat(self.raw[:, row : row + 1], len(values), axis=1)
            yield raw, values, self.family.internal(values), self.chances[row][used]

    def slopes(self, raw: np.ndarray, internal: np.ndarray) -> np.ndarray:
        """Derivatives of the log-likelihood by each output, by central differences."""
        out = np.empty_like(raw)
        for k in range(len(raw)):
            step = np.zeros((len(raw), 1))
            step[k] = STEP
            out[k] = (self.family.nll(raw - step, internal) - self.family.nll(raw + step, internal)) / (2 * STEP)
        return out

    def gradient_errors(self) -> list[float]:
        """Errors of gradients where they are not clipped, relative to the root of the information."""
        errors = []
        for raw, _, internal, chances in self.rows():
            steps, scores = np.empty_like(raw), np.empty_like(raw)
            self.family.gradients(raw, internal, np.ones(len(internal)), (0, len(internal)), steps, scores)
            roots = np.sqrt(self.family.inverse_information(raw))
            differences = np.abs(steps / roots - self.slopes(raw, internal) * roots)
            differences[:, (np.abs(scores) > FAR).any(axis=0)] = 0.0
            errors.append(float((differences * chances).sum(axis=1).max() / chances.sum()))
        return errors

    def mean_gradients(self) -> list[float]:
        """Expected gradients, relative to the root of the information."""
        return [
            float(np.abs((self.slopes(raw, internal) * np.sqrt(self.family.inverse_information(raw))) @ chances).max())
            for raw, _, internal, chances in self.rows()
        ]

    def information_errors(self) -> list[float]:
        """Expected squares of gradients times the inverse information, less 1."""
        return [
            float(np.abs((self.slopes(raw, internal) ** 2 * self.family.inverse_information(raw)) @ chances - 1).max())
            for raw, _, internal, chances in self.rows()
        ]

    def start_loss(self) -> float:
        """How much more likely the target is under other constants."""
        family, y = self.family, self.target
        start = np.asarray(family.start(y), dtype=np.float64)
        best = most_likely(family, y, None, np.zeros(len(y)), start)
        losses = [family.nll(np.repeat(each[:, np.newaxis], len(y), axis=1), y).mean() for each in (start, best)]
        return float(max(losses[0] - losses[1], 0.0))

    def likelihood_errors(self) -> list[float]:
        """Differences of the likelihood from the density, weighted with the chances."""
        errors = []
        for raw, values, internal, chances in self.rows():
            in_user_units = self.family.nll(raw, internal) + self.family.nll_offset(values)
            differences = in_user_units + self.family.distribution(raw).logpdf(values)
            errors.append(float(np.abs(differences) @ chances))
        return errors

    def cdf_errors(self) -> list[float]:
        """Differences of the distribution function from the summed density."""
        errors = []
        for raw, values, _, _ in self.rows():
            distribution = self.family.distribution(raw)
            density, cdf = distribution.pdf(values), distribution.cdf(values)
            if distribution.is_discrete:
                errors.append(float(np.abs(np.cumsum(density) - cdf).max()))
                continue
            inner = slice(len(values) // 20, -(len(values) // 20))  # in the tails, outcomes are far from each other
            trapezoids = np.diff(values[inner]) * (density[inner][1:] + density[inner][:-1]) / 2
            errors.append(float(np.abs(np.cumsum(trapezoids) - (cdf[inner][1:] - cdf[inner][0])).max()))
        return errors

    def moment_errors(self) -> list[float]:
        """Relative errors of the mean and of the variance; moments that are infinite are not checked."""
        errors = []
        means, variances = self.family.moments(self.raw)
        for row, (_, values, _, chances) in enumerate(self.rows()):
            mean = values @ chances / chances.sum()
            variance = (values - mean) ** 2 @ chances / chances.sum()
            if np.isfinite([means[row], variances[row]]).all() and variances[row] > 0:
                errors.append(abs(means[row] - mean) / np.sqrt(variances[row]))
                errors.append(abs(variances[row] / variance - 1) if variances[row] < 1e300 else 0.0)
        return errors


def _outcomes(distribution: Distribution) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes of one distribution with their chances: all likely counts, or quantiles that are dense in the tails."""
    if distribution.is_discrete:
        last = float(distribution.quantile(1 - 1e-10)[0])
        values = np.arange(0.0, min(last + 10, MAX_COUNTS))
        return values, distribution.pdf(values[:, np.newaxis])[:, 0]
    levels = special.expit(np.linspace(-REACH, REACH, N_LEVELS))
    one = {name: value[0] for name, value in distribution.parameters.items()}
    values = np.asarray(distribution._scipy.ppf(levels, **one))  # one call for all levels
    chances = levels * (1 - levels) * 2 * REACH / (N_LEVELS - 1)
    keep = np.isfinite(values)
    return values[keep], chances[keep]
