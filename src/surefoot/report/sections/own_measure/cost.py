"""The costs of errors of a classifier for two classes, and the threshold that follows from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.target import BINARY, Target
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.sections.own_measure.findings import CostFindings
from surefoot.report.statistics import Estimate, mean_of, paired_rate_difference, rate_interval

FALSE_POSITIVE, FALSE_NEGATIVE, POSITIVE = "fp", "fn", "positive"
N_THRESHOLDS = 101  # of the curve
HALF = 0.5


@dataclass(frozen=True)
class Costs:
    """The cost of each kind of error, and the class that is the positive one (0 or 1)."""

    false_positive: float
    false_negative: float
    positive: int

    @classmethod
    def read(cls, given: Any, target: Target) -> "Costs":
        """From a mapping such as {"fp": 1, "fn": 20, "positive": "sick"}; the second class is positive by default."""
        if not isinstance(given, Mapping) or not {FALSE_POSITIVE, FALSE_NEGATIVE} <= set(given):
            message = f'costs must be a dict such as {{"fp": 1, "fn": 20}}, got {given!r}.'
            raise ParameterError(message, argument="costs")
        unknown = sorted(map(str, set(given) - {FALSE_POSITIVE, FALSE_NEGATIVE, POSITIVE}))
        if unknown:
            message = f'costs has the unknown entry {unknown[0]!r}: there are "fp", "fn" and "positive".'
            raise ParameterError(message, argument="costs")
        if target.task != BINARY:
            raise ParameterError("costs is for a target with two classes: leave it out.", argument="costs")
        return cls(
            false_positive=_number(FALSE_POSITIVE, given[FALSE_POSITIVE]),
            false_negative=_number(FALSE_NEGATIVE, given[FALSE_NEGATIVE]),
            positive=_positive(given.get(POSITIVE), target),
        )

    @property
    def largest(self) -> float:
        return max(self.false_positive, self.false_negative)

    @property
    def threshold(self) -> float:
        """The probability of the positive class at which both predictions are expected to cost the same."""
        return self.false_positive / (self.false_positive + self.false_negative)

    def of_rows(self, is_positive: np.ndarray, is_predicted: np.ndarray) -> np.ndarray:
        """The cost of each row."""
        false_positive = self.false_positive * (is_predicted & ~is_positive)
        return np.asarray(false_positive + self.false_negative * (is_positive & ~is_predicted))

    def mean(self, costs: np.ndarray, units: np.ndarray | None, weights: np.ndarray | None) -> Estimate:
        """The mean cost of the rows; costs are between 0 and the largest, so they have the interval of a rate."""
        return _times(rate_interval(costs / self.largest, units, weights=weights), self.largest)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not isfinite(value) or value <= 0:
        raise ParameterError(f"costs must have a number above 0 for {name!r}, got {value!r}.", argument="costs")
    return float(value)


def _positive(given: Any, target: Target) -> int:
    names = [str(label) for label in target.classes]
    if given is None:
        return 1
    if str(given) not in names:
        message = f"costs has the positive class {given!r}, but the classes are {names[0]} and {names[1]}."
        raise ParameterError(message, argument="costs")
    return names.index(str(given))


def measure_cost(costs: Costs, audited: CrossFitted, fitted: Sequence[CrossFitted]) -> CostFindings | None:
    """What errors cost on the held-out rows; None if the audited model predicts no probabilities."""
    chance = _chance(costs, audited)
    if chance is None:
        return None
    target, splits = audited.table.target, audited.splits
    is_positive = target.y[splits.held_out] == costs.positive
    drawn = splits.held_out_units, audited.table.weights_of(splits.held_out)
    by_cost, by_half = (costs.of_rows(is_positive, chance >= each) for each in (costs.threshold, HALF))
    chosen, of_chosen = _choose(costs, chance, is_positive, drawn[1], splits)
    grid = np.linspace(0.0, 1.0, N_THRESHOLDS)
    saving = paired_rate_difference(by_half / costs.largest, by_cost / costs.largest, *drawn)
    rate = mean_of(is_positive, drawn[1])
    return CostFindings(
        positive=str(target.classes[costs.positive]),
        negative=str(target.classes[1 - costs.positive]),
        false_positive=costs.false_positive,
        false_negative=costs.false_negative,
        threshold=costs.threshold,
        at_threshold=costs.mean(by_cost, *drawn),
        at_half=costs.mean(by_half, *drawn),
        saving=_times(saving, costs.largest),
        n_false_positive=int(((chance >= costs.threshold) & ~is_positive).sum()),
        n_false_negative=int(((chance < costs.threshold) & is_positive).sum()),
        n_positive=int(is_positive.sum()),
        n_rows=len(is_positive),
        always=(costs.false_negative * rate, costs.false_positive * (1 - rate)),
        chosen_threshold=float(np.median(chosen)),
        at_chosen=costs.mean(of_chosen, *drawn),
        models=_by_model(costs, fitted, audited, is_positive, drawn),
        thresholds=tuple(grid.tolist()),
        curve=tuple(mean_of(costs.of_rows(is_positive, chance >= each), drawn[1]) for each in grid),
    )


def _chance(costs: Costs, fitted: CrossFitted) -> np.ndarray | None:
    """The predicted probabilities of the positive class."""
    probabilities = fitted.predictions.probabilities
    return None if probabilities is None else probabilities[:, costs.positive]


def _choose(
    costs: Costs, chance: np.ndarray, is_positive: np.ndarray, weights: np.ndarray | None, splits: Splits
) -> tuple[list[float], np.ndarray]:
    """For each part of the rows the threshold that is best on the others, and the cost of every row with these."""
    chosen, of_rows = [], np.empty(len(chance))
    for part in splits.parts:
        inside = np.isin(splits.held_out, part)
        others = None if weights is None else weights[~inside]
        chosen.append(best_threshold(costs, chance[~inside], is_positive[~inside], others))
        of_rows[inside] = costs.of_rows(is_positive[inside], chance[inside] >= chosen[-1])
    return chosen, of_rows


def best_threshold(
    costs: Costs, chance: np.ndarray, is_positive: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """The threshold with the smallest cost; above 1, the positive class is never predicted."""
    order = np.argsort(-chance, kind="stable")
    of_rows = np.where(is_positive, -costs.false_negative, costs.false_positive)
    found = np.cumsum((of_rows if weights is None else of_rows * weights)[order])
    ends = np.flatnonzero(np.append(np.diff(chance[order]) != 0, True))  # rows of equal probability go together
    best = ends[np.argmin(found[ends])]
    return float(chance[order[best]]) if found[best] < 0 else float(np.nextafter(1.0, 2.0))


def _by_model(
    costs: Costs,
    fitted: Sequence[CrossFitted],
    audited: CrossFitted,
    is_positive: np.ndarray,
    drawn: tuple[np.ndarray | None, np.ndarray | None],
) -> tuple[tuple[str, Estimate], ...]:
    every = [*fitted, *([] if audited in fitted else [audited])]
    chances = [(each.name, _chance(costs, each)) for each in every]
    of_models = [
        (name, costs.mean(costs.of_rows(is_positive, chance >= costs.threshold), *drawn))
        for name, chance in chances
        if chance is not None
    ]
    return tuple(sorted(of_models, key=lambda pair: pair[1].value))


def _times(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(estimate.value * factor, estimate.low * factor, estimate.high * factor)
