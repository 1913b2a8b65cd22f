"""The lines of the files of the parts: results of a rule on a table, and weights of models."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from surefoot_experiments.stability.compared_rules import ComparedRule, Evaluation

ALL_ROWS = -1


class RuleUnit(NamedTuple):
    """Identifies a `RuleLine`."""

    trial: int
    bags: int
    rule: str
    parameter: float


@dataclass(frozen=True)
class RuleLine:
    """The `Evaluation` of a rule on one table; ``seconds`` is its part of the time spent on that table."""

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
    def of(cls, trial: int, bags: int, rule: ComparedRule, evaluation: Evaluation, seconds: float) -> "RuleLine":
        """Make the line of an evaluated rule."""
        measures = evaluation._asdict()
        return cls(trial=trial, bags=bags, rule=rule.kind, parameter=rule.parameter, **measures, seconds=seconds)

    @property
    def compared_rule(self) -> ComparedRule:
        return ComparedRule(self.rule, self.parameter)

    @property
    def unit(self) -> RuleUnit:
        return RuleUnit(self.trial, self.bags, self.rule, self.parameter)


class WeightUnit(NamedTuple):
    """Identifies a `WeightLine`."""

    trial: int
    row: int
    model: str


@dataclass(frozen=True)
class WeightLine:
    """The weight of a model, written as text, on a table without one of its rows (-1: with all rows)."""

    trial: int
    row: int
    model: str
    weight: float

    @property
    def unit(self) -> WeightUnit:
        return WeightUnit(self.trial, self.row, self.model)


LineOfTrial = TypeVar("LineOfTrial", RuleLine, WeightLine)


def select_trials(lines: Iterable[LineOfTrial], trials: Collection[int]) -> list[LineOfTrial]:
    """The lines of some trials."""
    return [line for line in lines if line.trial in trials]


def weight_lines(
    weights: Mapping[Any, float],
    trial: int,
    row: int = ALL_ROWS,
    *,
    top: int | None = None,
    min_weight: float = 0.0,
    separator: str = " ",
) -> list[WeightLine]:
    """The ``top`` heaviest models that weigh at least ``min_weight``, as text with a ``separator`` between items."""
    heaviest = list(weights.items())[:top]
    return [
        WeightLine(trial=trial, row=row, model=separator.join(map(str, model)), weight=weight)
        for model, weight in heaviest
        if weight >= min_weight
    ]


@dataclass(frozen=True)
class DrawLine:
    """The selection of the inflated argmax on a draw, as text.

    ``changed_row`` is the first row without which argmax selects another model; -1 if there is none.
    """

    trial: int
    bags: int
    epsilon: float
    selected: str
    changed_row: int

    @property
    def unit(self) -> int:
        return self.trial
