"""The rules that are compared, and what each makes of the weights of one table."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from surefoot import StableSelector, metrics
from surefoot.selection import LeaveOneOut
from surefoot.selection.leave_one_out import LeftOutWeights
from surefoot.selection.rules import (
    Argmax,
    InclusionProbability,
    InflatedArgmax,
    SelectionRule,
    TopK,
    unseen_would_enter,
)

BASE, ARGMAX, TOP_K, INCLUSION, INFLATED = "argmax base", "argmax", "top-k", "ip", "inflated"
RULES: dict[str, Any] = {
    ARGMAX: lambda _: Argmax(),
    TOP_K: lambda k: TopK(int(k)),
    INCLUSION: InclusionProbability,
    INFLATED: InflatedArgmax,
}
SIZES = range(1, 7)  # k of top-k
SMALL_EPSILONS = tuple(round(0.005 * step, 3) for step in range(1, 21))


@dataclass(frozen=True)
class Contender:
    """A rule and its parameter (k, tau or epsilon; 0 where it has none).

    ``"argmax base"`` is the selector itself on the whole table, without bags: see `evaluate_base`.
    """

    rule: str
    parameter: float = 0.0

    @property
    def label(self) -> str:
        """Such as "top-2"; what stands in tables and pictures."""
        number = f"{self.parameter:.3g}"
        return {
            BASE: "argmax, no bags",
            ARGMAX: "argmax",
            TOP_K: f"top-{number}",
            INCLUSION: f"inclusion probability {number}",
            INFLATED: f"inflated argmax {number}",
        }[self.rule]

    def selection_rule(self) -> SelectionRule:
        """The rule itself."""
        return RULES[self.rule](self.parameter)


def along(contenders: Iterable[Contender], rule: str) -> list[Contender]:
    """Those of a kind, by parameter."""
    return sorted((one for one in contenders if one.rule == rule), key=lambda one: one.parameter)


def with_curves(printed: Iterable[Contender]) -> list[Contender]:
    """Those of a table of the paper, and top-k and the inflated argmax along their parameters."""
    more = [Contender(TOP_K, float(k)) for k in SIZES] + [Contender(INFLATED, epsilon) for epsilon in SMALL_EPSILONS]
    return list(dict.fromkeys([*printed, *more]))


class Evaluation(NamedTuple):
    """What a contender did on one table.

    Sizes and utility do not count models that no bag chose; where the inflated argmax would return all of them as well,
    ``undecided`` is 1. ``utility`` is 1 over the size of the set if the truth is in it, 0 if not, and not a number
    where the truth is not known.
    """

    instability: float
    set_size: int
    left_out_size: float
    utility: float
    undecided: int


def evaluate(weights: Iterable[LeftOutWeights], contender: Contender, truth: np.ndarray | None = None) -> Evaluation:
    """Instability (eq. 5), the size of the set by all rows, its mean without a row, and the utility.

    Parameters
    ----------
    weights : iterable of LeftOutWeights
        As `StableSelector.left_out_weights` gives them.
    contender : Contender
        Any but ``"argmax base"``.
    truth : bool array of shape (n_items,) or None
        The items of the true model.
    """
    rule, blocks = contender.selection_rule(), list(weights)
    sizes = np.concatenate([_set_sizes(rule, block.left_out) for block in blocks])
    full, members = _seen(blocks[0])
    return Evaluation(
        LeaveOneOut.of(rule, blocks).instability,
        int(_set_sizes(rule, full[np.newaxis])[0]),
        float(sizes.mean()),
        float("nan") if truth is None or members is None else _utility(rule.chosen_items(full, members), truth),
        int(isinstance(rule, InflatedArgmax) and unseen_would_enter(full, rule.epsilon)),
    )


def evaluate_base(model: Hashable, left_out: Sequence[Hashable], truth: Hashable | None = None) -> Evaluation:
    """The same for a selector that chooses one ``model`` from all rows, and another without each row."""
    utility = float("nan") if truth is None else metrics.utility_weighted_accuracy(truth, [{model}])
    return Evaluation(metrics.instability({model}, [{other} for other in left_out]), 1, 1.0, utility, 0)


def fit_base(stable: StableSelector) -> tuple[Hashable, list[Hashable]]:
    """What the selector of a fitted ``stable`` chooses from all rows of its table, and without each of them."""
    selector, table, prepared = stable._bagging.selector, stable._bagging.table, stable._bagging.prepared
    every = np.arange(table.n_rows, dtype=np.int32)
    if not selector.pool_is_exact:
        others = (selector.prepare(table.without(row)) for row in range(table.n_rows))
        return _choice(prepared, every), [_choice(other, every[:-1]) for other in others]
    return _choice(prepared, every), [_choice(prepared, np.delete(every, row)) for row in every]


def _choice(prepared: Any, rows: np.ndarray) -> Hashable:
    """The selector's model of some rows; a set of items as a tuple."""
    chosen = prepared.select(rows[np.newaxis])[0]
    return chosen if prepared.items is None else tuple(prepared.items[j] for j in np.flatnonzero(chosen))


def _seen(block: LeftOutWeights) -> tuple[np.ndarray, np.ndarray | None]:
    """The weights by all rows of the models that bags of all rows chose, and the models' items."""
    seen = block.full > 0
    return block.full[seen], None if block.members is None else block.members[seen]


def _set_sizes(rule: SelectionRule, weights: np.ndarray) -> np.ndarray:
    """How many of the models that bags chose are in each of many sets."""
    if isinstance(rule, InclusionProbability):
        return np.ones(len(weights), dtype=np.int64)
    return (rule.choose_many(weights) & (weights > 0)).sum(axis=1)


def _utility(chosen: np.ndarray, truth: np.ndarray) -> float:
    models = [tuple(np.flatnonzero(row)) for row in chosen]
    return metrics.utility_weighted_accuracy(tuple(np.flatnonzero(truth)), [models])
