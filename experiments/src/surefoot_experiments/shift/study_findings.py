"""The findings of the study, by the rules that the protocol fixed before it was run."""

from collections.abc import Sequence
from math import isnan

from surefoot_experiments.shift.lines import ResultLine
from surefoot_experiments.shift.methods import IN_WORDS, PURE_JOINT, PURE_MEAN, UNBIASED, WEIGHTED
from surefoot_experiments.shift.protocol import FLEXIBLE, MAX_HARMLESS_RATIO, SMALL
from surefoot_experiments.shift.ratios import BOTH, Average, averages, compare_budgets, task_ratios
from surefoot_experiments.skeleton.judge import Finding

NO_RESULTS = "no results yet."


class Averages:
    """The mean ratios to plain boosting by budget and method, and two ratios of the default.

    ``to_weighted`` is its target RMSE divided by that of importance-weighted boosting; ``small_to_flexible`` is its
    ratio to plain boosting for small models divided by that for flexible models.
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


def judge_study(means: Averages) -> list[Finding]:
    """Judge the default first, then every method, then the further questions of the protocol."""
    shown = [method for method in means.methods if method != UNBIASED]
    return [
        _does_no_harm(means),
        *(_lowers(means, method) for method in shown),
        _beats_weights(means),
        _small_gains_more(means),
        _pure_is_weak(means),
        _unbiased_rows_help(means),
    ]


def _does_no_harm(means: Averages) -> Finding:
    average = means.get(BOTH, means.default)
    return Finding(
        f"The default (kind {means.default!r}) does no harm: its target RMSE is on average at most "
        f"{MAX_HARMLESS_RATIO:g} times that of plain boosting, over all tasks.",
        None if average is None else average.ratio <= MAX_HARMLESS_RATIO,
        NO_RESULTS if average is None else _each_budget(means, means.default),
    )


def _lowers(means: Averages, method: str) -> Finding:
    average = means.get(BOTH, method)
    is_default = " (the default)" if method == means.default else ""
    words = IN_WORDS[method][0].upper() + IN_WORDS[method][1:]
    return Finding(
        f"{words}{is_default} lowers the target's RMSE on average.",
        None if average is None else average.helps,
        NO_RESULTS if average is None else _each_budget(means, method),
    )


def _beats_weights(means: Averages) -> Finding:
    average = means.to_weighted
    return Finding(
        "The default has a lower target RMSE than importance-weighted boosting on average.",
        None if average is None else average.helps,
        NO_RESULTS if average is None else f"{in_words(average)}.",
    )


def _small_gains_more(means: Averages) -> Finding:
    flexible, small = (means.get(budget.name, means.default) for budget in (FLEXIBLE, SMALL))
    text = "Small, misspecified models gain more from the default than flexible ones."
    quotient = means.small_to_flexible
    if flexible is None or small is None or quotient is None:
        return Finding(text, None, NO_RESULTS)
    detail = f"mean ratios {small.ratio:.3f} and {flexible.ratio:.3f}; their quotient is {ratio_in_words(quotient)}."
    return Finding(text, quotient.helps, detail)


def _pure_is_weak(means: Averages) -> Finding:
    pure = [means.get(BOTH, method) for method in (PURE_MEAN, PURE_JOINT)]
    known = [average for average in pure if average is not None]
    text = "Without squared loss blended in (blend=1), the V-matrix loss raises the target's RMSE."
    if len(known) < len(pure):
        return Finding(text, None, NO_RESULTS)
    verdicts = {average.helps for average in known}
    holds = True if verdicts == {False} else False if True in verdicts else None
    return Finding(text, holds, "; ".join(f"{average.method} {in_words(average)}" for average in known) + ".")


def _unbiased_rows_help(means: Averages) -> Finding:
    average = means.get(BOTH, UNBIASED)
    return Finding(
        "There is something to gain: plain boosting on as many unbiased rows has a lower target RMSE.",
        None if average is None else average.helps,
        NO_RESULTS if average is None else _each_budget(means, UNBIASED),
    )


def _each_budget(means: Averages, method: str) -> str:
    """Describe the ratio over all tasks, and that of each budget."""
    parts = []
    for budget, words in ((BOTH, ""), (FLEXIBLE.name, "flexible "), (SMALL.name, "small ")):
        average = means.get(budget, method)
        parts += [f"{words}{in_words(average)}"] if average is not None else []
    return "; ".join(parts) + "."


def in_words(average: Average) -> str:
    """Describe the ratio, its interval, and the number of tasks with a significant difference."""
    counts = f"better on {average.better}, worse on {average.worse} of {average.tasks} tasks"
    return f"{ratio_in_words(average)}, {counts}"


def ratio_in_words(average: Average) -> str:
    """Describe the ratio and its interval."""
    return f"{average.ratio:.3f}" + ("" if isnan(average.low) else f" ({average.low:.3f} to {average.high:.3f})")
