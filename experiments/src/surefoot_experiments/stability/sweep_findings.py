"""The paper's statements about rules and their parameters (5.1.3, C.2.2 and E), and whether our trials agree."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefoot.selection import stability_delta
from surefoot_experiments.skeleton.judge import Finding, all_of, is_above, is_at_least, is_unanimous, is_within
from surefoot_experiments.skeleton.report import table
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INCLUSION, INFLATED, TOP_K, ComparedRule
from surefoot_experiments.stability.sweep import SweepResults

CLOSE_ACCURACY = 0.05  # the meaning of "approximately"
STABLE = 0.05
BATCHES = 5  # of the trials, for statements about worst cases or medians


def judge_rules(
    sweeps: SweepResults, panel: Sequence[ComparedRule], accuracy: float, numbers: Sequence[int]
) -> list[Finding]:
    """The findings of figures 3 and 7 (and 12 and 13); ``accuracy`` is the accuracy in the caption."""
    return [
        judge_accuracies(sweeps, panel, accuracy),
        _single_models(sweeps, panel),
        _effect_of_bags(sweeps),
        _inclusion(sweeps, panel),
        _compare_with_top_k(sweeps, "a higher utility-weighted accuracy", _less_accurate),
        _compare_with_top_k(sweeps, "a smaller median set", _larger),
        _fewer_bags(sweeps, panel, numbers),
    ]


def rule_table(sweeps: SweepResults, panel: Sequence[ComparedRule], accuracy: float, **setting: Any) -> str:
    """A table of the rules of the first panel, and argmax without and with bags.

    ``setting`` are the arguments of `stability_delta`.
    """
    rows = []
    for rule in (ComparedRule(BASE), ComparedRule(ARGMAX), *panel):
        instabilities = np.array(sweeps.instabilities(rule))
        printed = f" ({accuracy:g})" if rule in panel else ""
        rows.append(
            [
                rule.label,
                f"{sweeps.accuracy(rule):.3f}{printed}",
                f"{instabilities.mean():.3f}",
                f"{instabilities.max():.3f}",
                f"{(instabilities <= STABLE).mean():.0%}",
                f"{sweeps.median_size(rule):g}",
                f"{sweeps.mean_size(rule):.2f}",
                guaranteed_delta(rule, **setting),
            ]
        )
    header = [
        "rule",
        "utility-weighted accuracy (paper, about)",
        "mean instability",
        "worst instability",
        f"trials with at most {STABLE}",
        "median set size",
        "mean set size",
        "guaranteed δ",
    ]
    return table(header, rows)


def guaranteed_delta(rule: ComparedRule, **setting: Any) -> str:
    """The delta of a rule in a table; ``setting`` are the arguments of `stability_delta`."""
    delta = stability_delta(rule.parameter, **setting) if rule.kind == INFLATED else 1.0
    return "none" if delta >= 1 else f"{delta:.2f}"


def promise_remark(epsilon: float, n_rows: int, bag_size: int) -> str:
    """The guarantee of the paper's epsilon by its own theorem."""
    delta = stability_delta(epsilon, n_samples=n_rows, bag_size=bag_size)
    comment = "a fraction is never above 1, so that is no guarantee" if delta >= 1 else "that is the whole guarantee"
    return (
        f"By theorem 4.2 without its Monte-Carlo term, the paper's ε = {epsilon:g} with {n_rows} rows and bags of "
        f"{bag_size} has δ = {delta:.2f}: {comment}. The instability in this section is measured, not guaranteed."
    )


def undecided_remarks(sweeps: SweepResults, panel: Sequence[ComparedRule]) -> list[str]:
    """A remark on trials in which the inflated argmax would return every possible model."""
    (rule,) = (rule for rule in panel if rule.kind == INFLATED)
    count, trials = sweeps.count_undecided(rule), len(sweeps.of(rule))
    if not count:
        return []
    return [
        f"In {count} of {trials} trials ε = {rule.parameter:g} is so large that the inflated argmax would also return "
        "models that no bag chose, which means every possible model (StableSelector warns that the bags cannot "
        "decide). Sizes and accuracies count only models that a bag chose."
    ]


def _by_trial(sweeps: SweepResults, rule: ComparedRule) -> np.ndarray:
    return np.array(sweeps.instabilities(rule))


def _with_error(values: Sequence[float] | np.ndarray) -> str:
    """The mean over trials and its standard error."""
    error = f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{error}"


def _judge_in_batches(sweeps: SweepResults, holds: Callable[[SweepResults], bool]) -> tuple[bool | None, str]:
    """Judge a statement about worst cases or medians, on all trials and on each of five batches of them."""
    in_batches = [holds(batch) for batch in sweeps.batches(BATCHES)]
    overall = holds(sweeps)
    text = f" The statement holds in {sum(in_batches)} of {len(in_batches)} batches of the trials."
    return (overall if is_unanimous(in_batches) == overall else None), text


def judge_accuracies(
    sweeps: SweepResults, panel: Sequence[ComparedRule], accuracy: float, condition: str = ""
) -> Finding:
    """Whether the rules of the first panel are as accurate as in its caption; ``condition`` follows the statement."""
    utilities = {rule.label: sweeps.utilities(rule) for rule in panel}
    about = f"about {accuracy:g} each (within {CLOSE_ACCURACY})"
    return Finding(
        text=f"The chosen parameters give a utility-weighted accuracy of {about}{condition}.",
        holds=all_of(is_within(values, accuracy, CLOSE_ACCURACY) for values in utilities.values()),
        detail="; ".join(f"{label}: {_with_error(values)}" for label, values in utilities.items()) + ".",
    )


def _single_models(sweeps: SweepResults, panel: Sequence[ComparedRule]) -> Finding:
    single = [ComparedRule(ARGMAX), *(rule for rule in panel if rule.kind == INCLUSION)]
    several = [rule for rule in panel if rule.kind != INCLUSION]
    values = {rule: _by_trial(sweeps, rule) for rule in (*single, *several)}
    means = "; ".join(f"{rule.label}: {_with_error(of_rule)}" for rule, of_rule in values.items())
    return Finding(
        text="Rules that return one model (argmax, inclusion probability) are less stable, on average over trials, "
        "than those that may return more.",
        holds=all_of(is_above(values[one] - values[other]) for one in single for other in several),
        detail=f"mean instability of {means}.",
    )


def _effect_of_bags(sweeps: SweepResults) -> Finding:
    without, bagged = _by_trial(sweeps, ComparedRule(BASE)), _by_trial(sweeps, ComparedRule(ARGMAX))
    return Finding(
        text="Bags alone make argmax more stable, on average over trials.",
        holds=is_above(without - bagged),
        detail=f"mean instability {_with_error(without)} without bags, {_with_error(bagged)} with them; the difference "
        f"is {_with_error(without - bagged)}.",
    )


def _worse_taus(sweeps: SweepResults, inflated: ComparedRule) -> list[ComparedRule]:
    """The inclusion probabilities with a higher worst instability than the inflated argmax."""
    limit = max(sweeps.instabilities(inflated))
    return [rule for rule in sweeps.rules_of_kind(INCLUSION) if max(sweeps.instabilities(rule)) > limit]


def _inclusion(sweeps: SweepResults, panel: Sequence[ComparedRule]) -> Finding:
    (inflated,) = (rule for rule in panel if rule.kind == INFLATED)
    taus = sweeps.rules_of_kind(INCLUSION)
    holds, in_batches = _judge_in_batches(sweeps, lambda part: 2 * len(_worse_taus(part, inflated)) > len(taus))
    return Finding(
        text=f"For most τ, the worst instability of inclusion probabilities is above that of the {inflated.label}.",
        holds=holds,
        detail=f"it is above {max(sweeps.instabilities(inflated)):.3f} for {len(_worse_taus(sweeps, inflated))} of "
        f"{len(taus)} values of τ.{in_batches}",
    )


def _as_stable(sweeps: SweepResults, top: ComparedRule) -> list[ComparedRule]:
    """The inflated argmaxes whose worst instability is at most that of a top-k."""
    limit = max(sweeps.instabilities(top))
    return [rule for rule in sweeps.rules_of_kind(INFLATED) if max(sweeps.instabilities(rule)) <= limit]


def _tops(sweeps: SweepResults) -> list[ComparedRule]:
    return [rule for rule in sweeps.rules_of_kind(TOP_K) if rule.parameter > 1]


def _less_accurate(sweeps: SweepResults) -> list[ComparedRule]:
    """The top-k that are less accurate than some ε that is as stable."""
    return [
        top
        for top in _tops(sweeps)
        if max([sweeps.accuracy(other) for other in _as_stable(sweeps, top)], default=0.0) > sweeps.accuracy(top)
    ]


def _larger(sweeps: SweepResults) -> list[ComparedRule]:
    """The top-k with larger sets than some ε that is as stable."""
    return [
        top
        for top in _tops(sweeps)
        if min([sweeps.median_size(other) for other in _as_stable(sweeps, top)], default=np.inf)
        < sweeps.median_size(top)
    ]


def _compare_with_top_k(
    sweeps: SweepResults, advantage: str, find: Callable[[SweepResults], list[ComparedRule]]
) -> Finding:
    n_tops = len(_tops(sweeps))
    holds, in_batches = _judge_in_batches(sweeps, lambda part: 2 * len(find(part)) > n_tops)
    labels = ", ".join(rule.label for rule in find(sweeps)) or "none"
    return Finding(
        text=f"For most k above 1, some ε has at most the worst instability of top-k and {advantage}.",
        holds=holds,
        detail=f"true for {labels}, of {n_tops} values of k.{in_batches}",
    )


def _fewer_bags(sweeps: SweepResults, panel: Sequence[ComparedRule], numbers: Sequence[int]) -> Finding:
    by_bags = sweeps.by_bags(panel, numbers)
    min_bags = min(numbers)
    verdicts = [
        is_at_least(np.subtract(of_rule[min_bags], values))
        for of_rule in by_bags.values()
        for bags, values in of_rule.items()
        if bags != min_bags
    ]
    means = "; ".join(
        f"{name}: {', '.join(f'{_with_error(values)} ({bags:,})' for bags, values in of_rule.items())}"
        for name, of_rule in by_bags.items()
    )
    return Finding(
        text=f"No rule is more stable with {min_bags} bags than with more, on average over trials.",
        holds=all_of(verdicts),
        detail=f"mean instability (and number of bags) of {means}.",
    )
