"""What the study says, by the rules that the protocol fixed before it was run."""

from collections.abc import Sequence
from math import isnan

from surefoot_experiments.shift.lines import ResultLine
from surefoot_experiments.shift.methods import IN_WORDS, PURE_JOINT, PURE_MEAN, UNBIASED, WEIGHTED
from surefoot_experiments.shift.protocol import BAR, FLEXIBLE, SMALL
from surefoot_experiments.shift.ratios import BOTH, Average, averages, compare_budgets, task_ratios
from surefoot_experiments.skeleton.judge import Finding

NO_RESULTS = "no results yet."


class Averages:
    """The mean ratios to plain boosting by budget and method, and those of the default to other things.

    ``to_weighted`` is its target RMSE over that of importance-weighted boosting, ``small_to_flexible`` its ratio to
    plain boosting among small models over that among flexible ones.
    """

    def __init__(self, lines: Sequence[ResultLine], default: str) -> None:
        self.ratios, self.default = task_ratios(lines), default
        self.all = averages(self.ratios)
        self.methods = list(dict.fromkeys(entry.method for entry in self.all))
        weighted = [entry for entry in task_ratios(lines, WEIGHTED) if entry.method == default]
        self.to_weighted = next((entry for entry in averages(weighted) if entry.budget == BOTH), None)
        self.small_to_flexible = compare_budgets(self.ratios, default, SMALL.name, FLEXIBLE.name)

    def get(self, budget: str, method: str) -> Average | None:
        return next((entry for entry in self.all if (entry.budget, entry.method) == (budget, method)), None)


def judge_study(found_in: Averages) -> list[Finding]:
    """The bar first, then every method, then what is asked about them."""
    shown = [method for method in found_in.methods if method != UNBIASED]
    return [
        _does_no_harm(found_in),
        *(_lowers(found_in, method) for method in shown),
        _beats_weights(found_in),
        _small_gains_more(found_in),
        _pure_is_weak(found_in),
        _is_there_something_to_gain(found_in),
    ]


def _does_no_harm(found_in: Averages) -> Finding:
    found = found_in.get(BOTH, found_in.default)
    text = f"The default (kind {found_in.default!r}) does no harm: its target RMSE is on average at most {BAR:g} times "
    return Finding(
        f"{text}that of plain boosting, over all tasks.",
        None if found is None else found.ratio <= BAR,
        NO_RESULTS if found is None else f"{_each_budget(found_in, found_in.default)}",
    )


def _lowers(found_in: Averages, method: str) -> Finding:
    found = found_in.get(BOTH, method)
    is_default = " (the default)" if method == found_in.default else ""
    words = IN_WORDS[method][0].upper() + IN_WORDS[method][1:]
    return Finding(
        f"{words}{is_default} lowers the target's RMSE on average.",
        None if found is None else found.helps,
        NO_RESULTS if found is None else _each_budget(found_in, method),
    )


def _beats_weights(found_in: Averages) -> Finding:
    found = found_in.to_weighted
    return Finding(
        "The default has a lower target RMSE than importance-weighted boosting on average.",
        None if found is None else found.helps,
        NO_RESULTS if found is None else f"{in_words(found)}.",
    )


def _small_gains_more(found_in: Averages) -> Finding:
    flexible, small = (found_in.get(budget.name, found_in.default) for budget in (FLEXIBLE, SMALL))
    text, gap = "Small, misspecified models gain more by the default than flexible ones.", found_in.small_to_flexible
    if flexible is None or small is None or gap is None:
        return Finding(text, None, NO_RESULTS)
    detail = f"mean ratios {small.ratio:.3f} and {flexible.ratio:.3f}; one over the other {ratio_in_words(gap)}."
    return Finding(text, gap.helps, detail)


def _pure_is_weak(found_in: Averages) -> Finding:
    found = [found_in.get(BOTH, method) for method in (PURE_MEAN, PURE_JOINT)]
    known = [entry for entry in found if entry is not None]
    text = "Without plain squared loss blended in (blend=1), the V-matrix loss raises the target's RMSE."
    if len(known) < len(found):
        return Finding(text, None, NO_RESULTS)
    verdicts = {entry.helps for entry in known}
    holds = True if verdicts == {False} else False if True in verdicts else None
    return Finding(text, holds, "; ".join(f"{entry.method} {in_words(entry)}" for entry in known) + ".")


def _is_there_something_to_gain(found_in: Averages) -> Finding:
    found = found_in.get(BOTH, UNBIASED)
    return Finding(
        "There is something to gain: plain boosting on as many unbiased rows has a lower target RMSE.",
        None if found is None else found.helps,
        NO_RESULTS if found is None else _each_budget(found_in, UNBIASED),
    )


def _each_budget(found_in: Averages, method: str) -> str:
    """The ratio over all tasks, and that of each budget."""
    told = []
    for budget, words in ((BOTH, ""), (FLEXIBLE.name, "flexible "), (SMALL.name, "small ")):
        found = found_in.get(budget, method)
        told += [f"{words}{in_words(found)}"] if found is not None else []
    return "; ".join(told) + "."


def in_words(found: Average) -> str:
    """The ratio, its interval, and on how many tasks there is a significant difference."""
    counts = f"better on {found.better}, worse on {found.worse} of {found.tasks} tasks"
    return f"{ratio_in_words(found)}, {counts}"


def ratio_in_words(found: Average) -> str:
    """The ratio and its interval."""
    return f"{found.ratio:.3f}" + ("" if isnan(found.low) else f" ({found.low:.3f} to {found.high:.3f})")
