"""Predicted distributions, corrected by rows that their models have not seen.

A scale that differs from row to row may be too small or too large for all rows, and it may differ more than the noise
does. Both show in held-out rows. The last output, the log of the scale (or of the shape), is replaced by the straight
line in itself under which held-out rows are most likely, with a slope between 0 (one scale for all rows) and 1. Where
the first output is the log of a mean, trees that are drawn to zero leave the mean a little too low: held-out rows tell
by how much. Counts have no scale: held-out rows tell how much more than Poisson's they vary around predicted means.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import norm

from surefoot.uncertainty.families import Poisson, RegressionFamily
from surefoot.uncertainty.families.base import LocationScaleFamily
from surefoot.uncertainty.families.targets import weighted_sum

SLOPES = np.linspace(0.0, 1.0, 21)
MAX_SHIFT = 3.0  # of the log of a scale or of a mean
MAX_STEP, MOST_COST = 0.5, 0.005  # of the log of a scale, to make intervals even; in nats for each row
LEAST_LEVEL = 1e-9  # so far inside its distribution, or outside, one row must not decide alone
MAX_DISPERSION = 2.0
N_PASSES = 2  # what suits the mean depends on the scale, and the other way round: a little
FEWEST_ROWS = 10  # fewer rows say nothing
LEAST_LOG = -700.0  # of a probability: one row must not decide alone
N_IMAGINED = 5  # members of an imagined ensemble
VARIANCE_OF_TEN = 0.9  # of ten numbers about their mean; the same for all ensembles: more members must change no member


@dataclass(frozen=True)
class Recalibration:
    """``shift + slope * output`` replaces the last output; ``mean_shift`` is added to the first."""

    slope: float = 1.0
    shift: float = 0.0
    mean_shift: float = 0.0
    dispersion: float = 0.0  # of counts


def fit_recalibration(
    family: RegressionFamily, raw: np.ndarray, y: np.ndarray, weights: np.ndarray, evens: bool = False
) -> Recalibration:
    """The correction under which rows with internal targets ``y`` are most likely.

    ``raw`` has shape (members, outputs, rows): of several members, rows are as likely as under their mixture. With
    ``evens``, the level of the scale is moved to where intervals of all levels hold what they should, as far as that
    costs little likelihood.
    """
    return HeldOut(family, raw, y, weights / weights.sum()).correction(evens)


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows, and how likely they are under a correction."""

    family: RegressionFamily
    raw: np.ndarray
    y: np.ndarray
    shares: np.ndarray

    def correction(self, evens: bool) -> Recalibration:
        """The best one; see ``fit_recalibration``."""
        family, found = self.family, Recalibration()
        if len(self.y) < FEWEST_ROWS:
            return found
        for _ in range(1 if isinstance(family, LocationScaleFamily) else N_PASSES):
            if not isinstance(family, LocationScaleFamily):
                found = replace(found, mean_shift=self.best_mean_shift(found))
            if isinstance(family, Poisson):
                found = replace(found, dispersion=self.best_dispersion(found))
            else:
                slope, shift = self.best_line(found)
                found = replace(found, slope=slope, shift=shift)
        return self.evened(found) if evens and family.has_scale else found

    def corrected(self, line: Recalibration) -> np.ndarray:
        raw = self.raw.copy()
        raw[:, 0] += line.mean_shift
        if self.family.has_scale:
            raw[:, -1] = line.shift + line.slope * raw[:, -1]
        return raw

    def loss(self, line: Recalibration) -> float:
        raw, family = self.corrected(line), self.family
        if isinstance(family, Poisson) and line.dispersion > 0:
            disperse = replace(family, dispersion=line.dispersion)
            logs = np.array([disperse.distribution(member).logpdf(self.y) for member in raw])
        else:
            logs = np.array([-family.nll(member, self.y) for member in raw])
        mixed = logs[0] if len(logs) == 1 else logsumexp(logs, axis=0) - np.log(len(logs))
        return -weighted_sum(np.maximum(mixed, LEAST_LOG), self.shares)

    def unevenness(self, line: Recalibration) -> float:
        """How far central intervals of all levels are from holding as many rows as they should."""
        members = self.corrected(line)
        below = np.mean([self.family.probabilities_below(raw, self.y) for raw in members], axis=0)
        return distance_from_uniform(np.abs(2.0 * below - 1.0), self.shares)

    def evened(self, line: Recalibration) -> Recalibration:
        """The line moved to the level at which intervals are even, or as far as costs no more than ``MOST_COST``."""
        _, step = _least(lambda by: self.unevenness(replace(line, shift=line.shift + by)), -MAX_STEP, MAX_STEP)
        cost = self.loss(replace(line, shift=line.shift + step)) - self.loss(line)
        step *= np.sqrt(min(1.0, MOST_COST / max(cost, np.finfo(float).tiny)))  # it grows with the square
        return replace(line, shift=line.shift + float(step))

    def best_mean_shift(self, line: Recalibration) -> float:
        return _least(lambda shift: self.loss(replace(line, mean_shift=shift)))[1]

    def best_dispersion(self, line: Recalibration) -> float:
        def loss(root: float) -> float:
            return self.loss(replace(line, dispersion=root * root))

        least, root = _least(loss, 0.0, float(np.sqrt(MAX_DISPERSION)))
        return root * root if least < loss(0.0) else 0.0

    def best_line(self, line: Recalibration) -> tuple[float, float]:
        """The slope, and the shift that goes with it."""
        centre = weighted_sum(self.raw[:, -1].mean(axis=0), self.shares)

        def best_shift(slope: float) -> tuple[float, float, float]:
            """The least loss, the slope and its best shift, looked for around the line through the centre."""
            still = (1.0 - slope) * centre
            least, shift = _least(lambda shift: self.loss(replace(line, slope=slope, shift=still + shift)))
            return least, slope, still + shift

        _, slope, shift = min(map(best_shift, SLOPES.tolist()))
        return slope, shift


def _least(loss: Callable[[float], float], low: float = -MAX_SHIFT, high: float = MAX_SHIFT) -> tuple[float, float]:
    """The least loss, and where it is."""
    found = minimize_scalar(loss, bounds=(low, high), method="bounded")
    return float(found.fun), float(found.x)


def distance_from_uniform(levels: np.ndarray, shares: np.ndarray) -> float:
    """Anderson and Darling's: the squared difference of the distribution functions, weighed by its inverse variance."""
    order = np.argsort(levels, kind="stable")
    found = np.clip(levels[order], LEAST_LEVEL, 1.0 - LEAST_LEVEL)
    upto = np.cumsum(shares[order])
    before = upto - shares[order]
    from_below, from_above = upto**2 - before**2, (1.0 - before) ** 2 - (1.0 - upto) ** 2
    return float(-1.0 - (from_below * np.log(found) + from_above * np.log1p(-found)).sum())


def imagined_ensemble(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Outputs (members, outputs, rows) of a larger ensemble, from those of two models that differ by chance.

    A mixture is wider than its members, by their disagreement. Two models tell how much that is: the members are spread
    around their mean as a Normal distribution of the same variance is.
    """
    nodes = norm.ppf((np.arange(N_IMAGINED) + 0.5) / N_IMAGINED)
    nodes *= np.sqrt(VARIANCE_OF_TEN / np.mean(nodes**2))
    members = np.repeat(((one + other) / 2)[np.newaxis], N_IMAGINED, axis=0)
    members[:, 0] += nodes[:, np.newaxis] * np.abs(one[0] - other[0]) / np.sqrt(2.0)
    return members
