"""Predicted distributions, corrected by rows that their models have not seen.

A scale that differs from row to row may be too small or too large for all rows, and it may differ more than the noise
does. Both show in held-out rows. The last output, the log of the scale (or of the shape), is replaced by the straight
line in itself under which held-out rows are most likely, with a slope between 0 (one scale for all rows) and 1. Where
the first output is the log of a mean, trees that are drawn to zero leave the mean a little too low: held-out rows tell
by how much. Counts have no scale: held-out rows tell how much more than Poisson's they vary around predicted means. And
they tell how much heavier than a Normal's the tails are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import norm

from surefoot.uncertainty.families import DISPERSED, Normal, Poisson, RegressionFamily
from surefoot.uncertainty.families.base import LocationScaleFamily
from surefoot.uncertainty.families.normal import MAX_DISPERSION, MIN_DISPERSION
from surefoot.uncertainty.families.targets import weighted_sum

SLOPES = np.linspace(0.0, 1.0, 21)
MAX_SHIFT = 3.0  # of the log of a scale or of a mean
MAX_STEP, MAX_COST = 0.5, 0.005  # of the log of a scale, to make intervals even; in nats for each row
MIN_LEVEL = 1e-9  # so far inside its distribution, or outside, one row must not decide alone
MAX_COUNT_DISPERSION = 2.0  # of counts
FIRST_DISPERSION = 0.1  # of a Normal: where the search begins
MIN_GAIN = 1.5  # nats of all held-out rows: by chance alone, one table of Normal noise in 24 gains as much
DIGITS = 4  # of line and tails: further ones are chance of the search, and differ with the order of the rows
NEXT_TO = 0.05  # so close to its least value, the log of a scale has reached it
N_PASSES = 2  # what suits the mean depends on the scale, and the other way round: a little
MIN_ROWS = 10  # fewer rows say nothing
MIN_LOG = -700.0  # of a probability: one row must not decide alone
N_IMAGINED = 5  # members of an imagined ensemble
VARIANCE_OF_TEN = 0.9  # of ten numbers about their mean; the same for all ensembles: more members must change no member


@dataclass(frozen=True)
class Recalibration:
    """``shift + slope * output`` replaces the last output; ``mean_shift`` is added to the first."""

    slope: float = 1.0
    shift: float = 0.0
    mean_shift: float = 0.0
    dispersion: float = 0.0  # of counts; of a Normal, one over the degrees of freedom of its tails


def fit_recalibration(
    family: RegressionFamily, raw: np.ndarray, y: np.ndarray, weights: np.ndarray, evens: bool = False
) -> Recalibration:
    """The correction under which rows with internal targets ``y`` are most likely.

    ``raw`` has shape (members, outputs, rows): of several members, rows are as likely as under their mixture. With
    ``evens``, a Normal gets heavier tails if rows tell them, and the level of the scale is moved to where intervals of
    all levels hold what they should, as far as that costs little likelihood.
    """
    return HeldOut(family, raw, y, weights).correction(evens)


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows, and how likely they are under a correction."""

    family: RegressionFamily
    raw: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    @cached_property
    def shares(self) -> np.ndarray:
        return self.weights / self.weights.sum()

    @cached_property
    def centre(self) -> float:
        """The mean of the last output."""
        return weighted_sum(self.raw[:, -1].mean(axis=0), self.shares)

    def correction(self, evens: bool) -> Recalibration:
        """The best one; see ``fit_recalibration``."""
        family, found = self.family, Recalibration()
        if len(self.y) < MIN_ROWS:
            return found
        for _ in range(1 if isinstance(family, LocationScaleFamily) else N_PASSES):
            if not isinstance(family, LocationScaleFamily):
                found = replace(found, mean_shift=self.best_mean_shift(found))
            if isinstance(family, Poisson):
                found = replace(found, dispersion=self.best_dispersion(found))
            else:
                slope, shift = self.best_line(found)
                found = replace(found, slope=slope, shift=shift)
        if evens and isinstance(family, Normal):
            found = self.with_tails(found)
        return self.evened(found) if evens and family.has_scale else found

    def corrected(self, line: Recalibration) -> np.ndarray:
        raw = self.raw.copy()
        raw[:, 0] += line.mean_shift
        if self.family.has_scale:
            raw[:, -1] = line.shift + line.slope * raw[:, -1]
        return raw

    def family_of(self, line: Recalibration) -> RegressionFamily:
        family = self.family
        return replace(family, dispersion=line.dispersion) if isinstance(family, DISPERSED) else family

    def loss(self, line: Recalibration) -> float:
        raw, family = self.corrected(line), self.family_of(line)
        n_members, n_outputs, _ = raw.shape
        side_by_side = raw.transpose(1, 0, 2).reshape(n_outputs, -1)  # one call for all members, not one for each
        logs = family.log_density(side_by_side, np.tile(self.y, n_members)).reshape(n_members, -1)
        mixed = logs[0] if n_members == 1 else np.logaddexp.reduce(logs, axis=0) - np.log(n_members)
        return -weighted_sum(np.maximum(mixed, MIN_LOG), self.shares)

    def unevenness(self, line: Recalibration) -> float:
        """How far central intervals of all levels are from holding as many rows as they should."""
        family = self.family_of(line)
        below = np.mean([family.probabilities_below(raw, self.y) for raw in self.corrected(line)], axis=0)
        return distance_from_uniform(np.abs(2.0 * below - 1.0), self.shares)

    def evened(self, line: Recalibration) -> Recalibration:
        """The line moved to the level at which intervals are even, or as far as costs no more than ``MAX_COST``."""
        _, step = _least(lambda by: self.unevenness(replace(line, shift=line.shift + by)), -MAX_STEP, MAX_STEP)
        cost = self.loss(replace(line, shift=line.shift + step)) - self.loss(line)
        step *= np.sqrt(min(1.0, MAX_COST / max(cost, np.finfo(float).tiny)))  # it grows with the square
        return replace(line, shift=line.shift + float(step))

    def best_mean_shift(self, line: Recalibration) -> float:
        return _least(lambda shift: self.loss(replace(line, mean_shift=shift)))[1]

    def best_dispersion(self, line: Recalibration) -> float:
        def loss(root: float) -> float:
            return self.loss(replace(line, dispersion=root * root))

        least, root = _least(loss, 0.0, float(np.sqrt(MAX_COUNT_DISPERSION)))
        return root * root if least < loss(0.0) else 0.0

    def limits(self, slope: float) -> tuple[float, float]:
        """Least and most shift of a line of this slope through the centre: beyond, all scales are at their bounds."""
        outputs = (1.0 - slope) * self.centre + slope * self.raw[:, -1]
        low, high = self.family.floor - outputs.max(), self.family.cap - outputs.min()
        return float(np.clip(low, -MAX_SHIFT, 0.0)), float(np.clip(high, 0.0, MAX_SHIFT))

    def with_tails(self, line: Recalibration) -> Recalibration:
        """The likeliest line and tails of a Student t together, if rows are clearly less likely with those of a Normal.

        The line is looked for anew: one row far out draws that of a Normal to itself. Where most scales are as small as
        they may be, residuals are smaller still, and tell nothing of tails.
        """
        at_floor = self.corrected(line)[:, -1].mean(axis=0) <= self.family.floor + NEXT_TO
        if weighted_sum(at_floor.astype(float), self.shares) > 0.5:
            return line

        def tailed(numbers: Sequence[float]) -> Recalibration:
            slope, shift, dispersion = numbers
            return replace(line, slope=slope, shift=shift + (1.0 - slope) * self.centre, dispersion=dispersion)

        start = (line.slope, line.shift - (1.0 - line.slope) * self.centre, FIRST_DISPERSION)
        bounds = ((0.0, 1.0), (-MAX_SHIFT, MAX_SHIFT), (MIN_DISPERSION, MAX_DISPERSION))
        found = minimize(lambda numbers: self.loss(tailed(numbers.tolist())), start, method="L-BFGS-B", bounds=bounds)
        likeliest = tailed([round(number, DIGITS) for number in found.x.tolist()])
        gain = (self.loss(line) - self.loss(likeliest)) * self.weights.sum()
        return likeliest if gain > MIN_GAIN else line

    def best_line(self, line: Recalibration) -> tuple[float, float]:
        """The slope, and the shift that goes with it."""

        def best_shift(slope: float) -> tuple[float, float, float]:
            """The least loss, the slope and its best shift, looked for around the line through the centre."""
            still = (1.0 - slope) * self.centre

            def loss(shift: float) -> float:
                return self.loss(replace(line, slope=slope, shift=still + shift))

            (least, shift), (low, high) = _least(loss), self.limits(slope)
            if not low <= shift <= high:  # the loss is flat there, which has led the search astray
                least, shift = _least(loss, low, high)
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
    found = np.clip(levels[order], MIN_LEVEL, 1.0 - MIN_LEVEL)
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
