"""Corrections of predicted distributions, fitted to rows that the models are not trained on.

Predicted scales may be too small or too large for all rows, and they may differ more between rows than the noise does.
Held-out rows show both. The last output, the log of the scale (or of the shape), is replaced by the linear function of
itself under which held-out rows are most likely, with a slope between 0 (one scale for all rows) and 1. Where the first
output is the log of a mean, trees that are shrunk to zero leave the mean slightly too low: held-out rows show by how
much. Counts have no scale: held-out rows show how much more than a Poisson distribution they vary around predicted
means. For a normal distribution, they also show how much heavier the tails are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import norm

from surefoot.uncertainty.families import DISPERSED, ClassificationFamily, Normal, Poisson, Quantile, RegressionFamily
from surefoot.uncertainty.families.base import LocationScaleFamily, rows_with_weight, weighted_sum
from surefoot.uncertainty.families.normal import MAX_DISPERSION, MIN_DISPERSION
from surefoot.uncertainty.families.quantile import weighted_quantile

if TYPE_CHECKING:
    from surefoot.uncertainty.member import BoostedTrees

AnyFamily = RegressionFamily | ClassificationFamily
SLOPES = np.linspace(0.0, 1.0, 21)
MAX_SHIFT = 3.0  # of the log of a scale or of a mean
MAX_STEP, MAX_COST = 0.5, 0.005  # to calibrate intervals: of the log of a scale; in nats per row
MIN_LEVEL = 1e-9  # levels this close to 0 or 1 are clipped: one row must not decide alone
MAX_COUNT_DISPERSION = 2.0
FIRST_DISPERSION = 0.1  # where the search for the tails of a normal distribution starts
MIN_GAIN = 1.5  # in nats, over all held-out rows: 1 in 24 tables with normal noise gains as much by chance
DIGITS = 4  # of the line and the tails: further digits are noise of the search, and depend on the order of the rows
NEXT_TO = 0.05  # the log of a scale this close to its lower bound is at the bound
N_PASSES = 2  # the best mean depends on the scale, and the best scale on the mean: a little
MIN_ROWS = 10  # with fewer held-out rows there is no correction
MIN_LOG = -700.0  # of a probability: one row must not decide alone
N_SIMULATED = 5  # members of a simulated ensemble
VARIANCE_OF_TEN = 0.9  # of ten numbers around their mean; fixed, so that more members leave each member unchanged


@dataclass(frozen=True)
class Recalibration:
    """``shift + slope * output`` replaces the last output; ``mean_shift`` is added to the first."""

    slope: float = 1.0
    shift: float = 0.0
    mean_shift: float = 0.0
    dispersion: float = 0.0  # of counts; for a normal distribution, one over the degrees of freedom of its tails
    quantile_shifts: tuple[float, ...] = ()  # added to predicted quantiles, one for each level

    def applied_to(self, trees: "BoostedTrees") -> "BoostedTrees":
        """The corrected model: as outputs are sums, all terms of the last output are multiplied by the slope."""
        start, leaves = trees.start.copy(), trees.forest.leaves.copy()
        start[0] += self.mean_shift
        start[: len(self.quantile_shifts)] += self.quantile_shifts
        if len(start) > 1:
            start[-1] = self.shift + self.slope * start[-1]
            leaves[:, :, -1] *= self.slope
        finite = np.where(np.isfinite(trees.bounds), trees.bounds, 0.0)
        bounds = np.where(np.isfinite(trees.bounds), self.shift + self.slope * finite, trees.bounds)
        return replace(trees, start=start, forest=replace(trees.forest, leaves=leaves), bounds=bounds)

    def predicted(
        self, family: AnyFamily, raw: np.ndarray, bounds: tuple[float, float]
    ) -> tuple[AnyFamily, np.ndarray]:
        """The family, and raw outputs (outputs, rows) under given bounds of the last, as predictions have them."""
        raw = raw.copy()
        np.clip(raw[-1], *bounds, out=raw[-1])
        if isinstance(family, RegressionFamily):
            raw[0] += self.mean_shift
            if len(raw) > 1:
                raw[-1] = self.shift + self.slope * raw[-1]
        return (replace(family, dispersion=self.dispersion) if isinstance(family, DISPERSED) else family), raw


def fit_recalibration(
    family: RegressionFamily, raw: np.ndarray, y: np.ndarray, weights: np.ndarray, calibrates_intervals: bool = False
) -> Recalibration:
    """The correction under which rows with internal targets ``y`` are most likely.

    ``raw`` has shape (members, outputs, rows): with several members, the likelihood is that of their mixture. With
    ``calibrates_intervals``, a normal distribution gets heavier tails if the rows have them, and the level of the scale
    is moved to where intervals of all levels have the coverage that they should, as far as that costs little
    likelihood.
    """
    return RecalibrationSearch(family=family, raw=raw, y=y, weights=weights).best(calibrates_intervals)


@dataclass(frozen=True)
class RecalibrationSearch:
    """Held-out rows, and the search for the correction under which they are most likely."""

    family: RegressionFamily
    raw: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    @cached_property
    def fractions(self) -> np.ndarray:
        return self.weights / self.weights.sum()

    @cached_property
    def centre(self) -> float:
        """The mean of the last output."""
        return weighted_sum(self.raw[:, -1].mean(axis=0), self.fractions)

    def best(self, calibrates_intervals: bool) -> Recalibration:
        """The best correction; see ``fit_recalibration``."""
        family, line = self.family, Recalibration()
        if len(self.y) < MIN_ROWS:
            return line
        if isinstance(family, Quantile):
            return replace(line, quantile_shifts=self.best_quantile_shifts(family))
        for _ in range(1 if isinstance(family, LocationScaleFamily) else N_PASSES):
            if not isinstance(family, LocationScaleFamily):
                line = replace(line, mean_shift=self.best_mean_shift(line))
            if isinstance(family, Poisson):
                line = replace(line, dispersion=self.best_dispersion(line))
            elif family.has_scale:
                slope, shift = self.best_line(line)
                line = replace(line, slope=slope, shift=shift)
        if calibrates_intervals and isinstance(family, Normal):
            line = self.with_tails(line)
        can_calibrate = (
            family.has_scale and family.is_distribution and not family.is_discrete
        )  # levels of counts are not uniform
        return self.with_calibrated_intervals(line) if calibrates_intervals and can_calibrate else line

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
        """Mean negative log-likelihood of the rows under a correction."""
        raw, family = self.corrected(line), self.family_of(line)
        n_members, n_outputs, _ = raw.shape
        side_by_side = raw.transpose(1, 0, 2).reshape(n_outputs, -1)  # one call for all members, not one for each
        logs = family.log_density(side_by_side, np.tile(self.y, n_members)).reshape(n_members, -1)
        mixed = logs[0] if n_members == 1 else np.logaddexp.reduce(logs, axis=0) - np.log(n_members)
        return -weighted_sum(np.maximum(mixed, MIN_LOG), self.fractions)

    def miscalibration(self, line: Recalibration) -> float:
        """How far the coverage of central intervals is from their level, over all levels."""
        family = self.family_of(line)
        below = np.mean([family.probabilities_below(raw, self.y) for raw in self.corrected(line)], axis=0)
        return distance_from_uniform(np.abs(2.0 * below - 1.0), self.fractions)

    def with_calibrated_intervals(self, line: Recalibration) -> Recalibration:
        """The line moved to where intervals are best calibrated, or as far as costs at most ``MAX_COST``."""
        _, step = _minimum(lambda by: self.miscalibration(replace(line, shift=line.shift + by)), -MAX_STEP, MAX_STEP)
        cost = self.loss(replace(line, shift=line.shift + step)) - self.loss(line)
        step *= np.sqrt(min(1.0, MAX_COST / max(cost, np.finfo(float).tiny)))  # the cost grows with its square
        return replace(line, shift=line.shift + float(step))

    def best_quantile_shifts(self, family: Quantile) -> tuple[float, ...]:
        """For each level, what makes its fraction of the rows lie below the predicted quantile."""
        residuals = self.y - self.raw[0, :-1]
        return tuple(
            weighted_quantile(*rows_with_weight(own, self.weights), level)
            for own, level in zip(residuals, family.levels, strict=True)
        )

    def best_mean_shift(self, line: Recalibration) -> float:
        return _minimum(lambda shift: self.loss(replace(line, mean_shift=shift)))[1]

    def best_dispersion(self, line: Recalibration) -> float:
        def loss(root: float) -> float:
            return self.loss(replace(line, dispersion=root * root))

        min_loss, root = _minimum(loss, 0.0, float(np.sqrt(MAX_COUNT_DISPERSION)))
        return root * root if min_loss < loss(0.0) else 0.0

    def limits(self, slope: float) -> tuple[float, float]:
        """Limits for the shift of a line of this slope through the centre: beyond, all scales are at their bounds."""
        outputs = (1.0 - slope) * self.centre + slope * self.raw[:, -1]
        low, high = self.family.floor - outputs.max(), self.family.cap - outputs.min()
        return float(np.clip(low, -MAX_SHIFT, 0.0)), float(np.clip(high, 0.0, MAX_SHIFT))

    def with_tails(self, line: Recalibration) -> Recalibration:
        """The best line together with the best tails of a Student t, if they make the rows clearly more likely.

        The line is fitted again, because a single outlier pulls that of a normal distribution. Where most scales are at
        their lower bound, residuals are smaller still, and hold no information about tails.
        """
        at_floor = self.corrected(line)[:, -1].mean(axis=0) <= self.family.floor + NEXT_TO
        if weighted_sum(at_floor.astype(float), self.fractions) > 0.5:
            return line

        def tailed(numbers: Sequence[float]) -> Recalibration:
            slope, shift, dispersion = numbers
            return replace(line, slope=slope, shift=shift + (1.0 - slope) * self.centre, dispersion=dispersion)

        start = (line.slope, line.shift - (1.0 - line.slope) * self.centre, FIRST_DISPERSION)
        bounds = ((0.0, 1.0), (-MAX_SHIFT, MAX_SHIFT), (MIN_DISPERSION, MAX_DISPERSION))
        result = minimize(lambda numbers: self.loss(tailed(numbers.tolist())), start, method="L-BFGS-B", bounds=bounds)
        best = tailed([round(number, DIGITS) for number in result.x.tolist()])
        gain = (self.loss(line) - self.loss(best)) * self.weights.sum()
        return best if gain > MIN_GAIN else line

    def best_line(self, line: Recalibration) -> tuple[float, float]:
        """The best slope, and its best shift."""

        def best_shift(slope: float) -> tuple[float, float, float]:
            """The lowest loss, the slope and its best shift, searched around the line through the centre."""
            through_centre = (1.0 - slope) * self.centre

            def loss(shift: float) -> float:
                return self.loss(replace(line, slope=slope, shift=through_centre + shift))

            (min_loss, shift), (low, high) = _minimum(loss), self.limits(slope)
            if not low <= shift <= high:  # the loss is flat there, and the search has gone astray
                min_loss, shift = _minimum(loss, low, high)
            return min_loss, slope, through_centre + shift

        _, slope, shift = min(map(best_shift, SLOPES.tolist()))
        return slope, shift


def _minimum(loss: Callable[[float], float], low: float = -MAX_SHIFT, high: float = MAX_SHIFT) -> tuple[float, float]:
    """The lowest loss, and where it is."""
    result = minimize_scalar(loss, bounds=(low, high), method="bounded")
    return float(result.fun), float(result.x)


def distance_from_uniform(levels: np.ndarray, fractions: np.ndarray) -> float:
    """The Anderson-Darling distance: the squared difference of distribution functions over the variance there."""
    order = np.argsort(levels, kind="stable")
    levels = np.clip(levels[order], MIN_LEVEL, 1.0 - MIN_LEVEL)
    upto = np.cumsum(fractions[order])
    before = upto - fractions[order]
    from_below, from_above = upto**2 - before**2, (1.0 - before) ** 2 - (1.0 - upto) ** 2
    return float(-1.0 - (from_below * np.log(levels) + from_above * np.log1p(-levels)).sum())


def simulated_ensemble(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Outputs (members, outputs, rows) of a larger ensemble, from those of two models that differ only by their seed.

    A mixture is wider than its members, because they disagree. Two models show how much: the simulated members are
    spread around their mean like quantiles of a normal distribution with the variance of the two.
    """
    nodes = norm.ppf((np.arange(N_SIMULATED) + 0.5) / N_SIMULATED)
    nodes *= np.sqrt(VARIANCE_OF_TEN / np.mean(nodes**2))
    members = np.repeat(((one + other) / 2)[np.newaxis], N_SIMULATED, axis=0)
    members[:, 0] += nodes[:, np.newaxis] * np.abs(one[0] - other[0]) / np.sqrt(2.0)
    return members
