"""The compared rules, and what each selects from the weights of one table."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from surefoot import StableSelector, metrics
from surefoot.selection import Argmax, InclusionProbability, InflatedArgmax, LeaveOneOut, TopK
from surefoot.selection.leave_one_out import LeftOutWeights
from surefoot.selection.rules import SelectionRule, unseen_would_enter

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
class ComparedRule:
    """A kind of rule and its parameter (k, tau or epsilon; 0 if it has none).

    ``"argmax base"`` is the selector itself on the whole table, without bags: see `evaluate_base`.
    """

    kind: str
    parameter: float = 0.0

    @property
    def label(self) -> str:
        """The name in tables and pictures, such as "top-2"."""
        number = f"{self.parameter:.3g}"
        return {
            BASE: "argmax, no bags",
            ARGMAX: "argmax",
            TOP_K: f"top-{number}",
            INCLUSION: f"inclusion probability {number}",
            INFLATED: f"inflated argmax {number}",
        }[self.kind]

    def selection_rule(self) -> SelectionRule:
        """The rule as an object of surefoot."""
        return RULES[self.kind](self.parameter)


def rules_of_kind(rules: Iterable[ComparedRule], kind: str) -> list[ComparedRule]:
    """The rules of one kind, sorted by parameter."""
    return sorted((rule for rule in rules if rule.kind == kind), key=lambda rule: rule.parameter)


def with_curves(printed: Iterable[ComparedRule]) -> list[ComparedRule]:
    """The rules of a table of the paper, and top-k and the inflated argmax with several parameters."""
    curves = [ComparedRule(TOP_K, float(k)) for k in SIZES]
    curves += [ComparedRule(INFLATED, epsilon) for epsilon in SMALL_EPSILONS]
    return list(dict.fromkeys([*printed, *curves]))


class Evaluation(NamedTuple):
    """How a rule performs on one table.

    Sizes and utility ignore models that no bag chose; ``undecided`` is 1 if the inflated argmax would return all of
    these models as well. ``utility`` is 1 over the size of the set if the set contains the true model and 0 if not. It
    is NaN if the true model is unknown.
    """

    instability: float
    set_size: int
    left_out_size: float
    utility: float
    undecided: int


def evaluate(weights: Iterable[LeftOutWeights], compared: ComparedRule, truth: np.ndarray | None = None) -> Evaluation:
    """Compute instability (eq. 5), the set size with all rows, its mean without a row, and the utility.

    Parameters
    ----------
    weights : iterable of LeftOutWeights
        The weights that `StableSelector.left_out_weights` returns.
    compared : ComparedRule
        Any rule but ``"argmax base"``.
    truth : bool array of shape (n_items,) or None
        The items of the true model.

    Returns
    -------
    Evaluation
        The measures of the rule.
    """
    rule, blocks = compared.selection_rule(), list(weights)
    sizes = np.concatenate([_set_sizes(rule, block.left_out) for block in blocks])
    full, members = _chosen_models(blocks[0])
    utility = float("nan")
    if truth is not None and members is not None:
        utility = _utility(rule.chosen_items(full, members), truth)
    return Evaluation(
        instability=LeaveOneOut.of(rule, blocks).instability,
        set_size=int(_set_sizes(rule, full[np.newaxis])[0]),
        left_out_size=float(sizes.mean()),
        utility=utility,
        undecided=int(isinstance(rule, InflatedArgmax) and unseen_would_enter(full, rule.epsilon)),
    )


def evaluate_base(model: Hashable, left_out: Sequence[Hashable], truth: Hashable | None = None) -> Evaluation:
    """Compute the same measures for a selector that chooses one ``model`` with all rows and one without each row."""
    utility = float("nan") if truth is None else metrics.utility_weighted_accuracy(truth, [{model}])
    return Evaluation(
        instability=metrics.instability({model}, [{other} for other in left_out]),
        set_size=1,
        left_out_size=1.0,
        utility=utility,
        undecided=0,
    )


def fit_base(stable: StableSelector) -> tuple[Hashable, list[Hashable]]:
    """The models that the selector of a fitted ``stable`` chooses with all rows of its table, and without each row."""
    selector, table, prepared = stable._bagging.selector, stable._bagging.table, stable._bagging.prepared
    all_rows = np.arange(table.n_rows, dtype=np.int32)
    if not selector.pool_is_exact:
        others = (selector.prepare(table.without(row)) for row in range(table.n_rows))
        return _choose(prepared, all_rows), [_choose(other, all_rows[:-1]) for other in others]
    return _choose(prepared, all_rows), [_choose(prepared, np.delete(all_rows, row)) for row in all_rows]


def _choose(prepared: Any, rows: np.ndarray) -> Hashable:
    """The selector's model on some rows; a set of items is a tuple."""
    chosen = prepared.select(rows[np.newaxis])[0]
    return chosen if prepared.items is None else tuple(prepared.items[j] for j in np.flatnonzero(chosen))


def _chosen_models(block: LeftOutWeights) -> tuple[np.ndarray, np.ndarray | None]:
    """The weights of the models that bags of all rows chose, and the items of these models."""
    chosen = block.full > 0
    return block.full[chosen], None if block.members is None else block.members[chosen]


def _set_sizes(rule: SelectionRule, weights: np.ndarray) -> np.ndarray:
    """For each row of weights, how many of the models that bags chose are selected."""
    if isinstance(rule, InclusionProbability):
        return np.ones(len(weights), dtype=np.int64)
    return (rule.choose_many(weights) & (weights > 0)).sum(axis=1)


def _utility(chosen: np.ndarray, truth: np.ndarray) -> float:
    models = [tuple(np.flatnonzero(row)) for row in chosen]
    return metrics.utility_weighted_accuracy(tuple(np.flatnonzero(truth)), [models])
