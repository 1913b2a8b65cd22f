"""The lines of the files that parts fill: what a rule did on a table, and how heavy a model was."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from surefoot_experiments.stability.rule_grid import Contender, Evaluation

ALL_ROWS = -1


class RuleUnit(NamedTuple):
    """What a line of rules is about."""

    trial: int
    bags: int
    rule: str
    parameter: float


@dataclass(frozen=True)
class RuleLine:
    """What a contender did on one table (see `Evaluation`); ``seconds`` is its share of the work on that table."""

    trial: int
    bags: int
    rule: str
    parameter: float
    instability: float
    set_size: int
    left_out_size: float
    utility: float
    undecided: int
    seconds: float

    @classmethod
    def of(cls, trial: int, bags: int, contender: Contender, found: Evaluation, seconds: float) -> "RuleLine":
        """What was found about a contender."""
        return cls(trial, bags, contender.rule, contender.parameter, *found, seconds)

    @property
    def contender(self) -> Contender:
        return Contender(self.rule, self.parameter)

    @property
    def unit(self) -> RuleUnit:
        return RuleUnit(self.trial, self.bags, self.rule, self.parameter)


class WeightUnit(NamedTuple):
    """What a line of weights is about."""

    trial: int
    row: int
    model: str


@dataclass(frozen=True)
class WeightLine:
    """The weight of a model, in words, on a table without one of its rows (-1: with all of them)."""

    trial: int
    row: int
    model: str
    weight: float

    @property
    def unit(self) -> WeightUnit:
        return WeightUnit(self.trial, self.row, self.model)


OfTrial = TypeVar("OfTrial", RuleLine, WeightLine)


def of_trials(lines: Iterable[OfTrial], trials: Collection[int]) -> list[OfTrial]:
    """The lines that are about some trials."""
    return [line for line in lines if line.trial in trials]


def weight_lines(
    weights: Mapping[Any, float],
    trial: int,
    row: int = ALL_ROWS,
    *,
    top: int | None = None,
    least: float = 0.0,
    join: str = " ",
) -> list[WeightLine]:
    """The ``top`` models, heaviest first, that weigh at least ``least``; written as items with ``join`` between."""
    heaviest = list(weights.items())[:top]
    return [WeightLine(trial, row, join.join(map(str, model)), weight) for model, weight in heaviest if weight >= least]


@dataclass(frozen=True)
class DrawLine:
    """What the inflated argmax selected on a draw, in words.

    ``changed_row`` is the first row without which argmax selects another model; -1 where there is none.
    """

    trial: int
    bags: int
    epsilon: float
    selected: str
    changed_row: int

    @property
    def unit(self) -> int:
        return self.trial
