"""What the paper says about rules along their parameters (5.1.3, C.2.2 and E), and whether our trials agree."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefoot.selection import stability_delta
from surefoot_experiments.skeleton.judge import Finding, all_of, is_above, is_always, is_at_least, is_within
from surefoot_experiments.skeleton.report import table
from surefoot_experiments.stability.rule_grid import ARGMAX, BASE, INCLUSION, INFLATED, TOP_K, Contender
from surefoot_experiments.stability.sweep import Sweeps

CLOSE_ACCURACY = 0.05  # what "approximately" means here
STABLE = 0.05
BATCHES = 5  # that trials are dealt to, where a statement is about worst cases or medians


def judge_rules(sweeps: Sweeps, panel: Sequence[Contender], accuracy: float, numbers: Sequence[int]) -> list[Finding]:
    """The findings that figures 3 and 7 (and 12 and 13) share; ``accuracy`` is that of the caption."""
    return [
        judge_accuracies(sweeps, panel, accuracy),
        _single_models(sweeps, panel),
        _bagged(sweeps),
        _inclusion(sweeps, panel),
        _beside_top_k(sweeps, "a higher utility-weighted accuracy", _less_accurate),
        _beside_top_k(sweeps, "a smaller median set", _larger),
        _few_bags(sweeps, panel, numbers),
    ]


def rule_table(sweeps: Sweeps, panel: Sequence[Contender], accuracy: float, **setting: Any) -> str:
    """The rules of the first panel, and argmax without and with bags; ``setting`` is that of `stability_delta`."""
    rows = []
    for one in (Contender(BASE), Contender(ARGMAX), *panel):
        found = np.array(sweeps.instabilities(one))
        printed = f" ({accuracy:g})" if one in panel else ""
        rows.append(
            [
                one.label, f"{sweeps.accuracy(one):.3f}{printed}", f"{found.mean():.3f}", f"{found.max():.3f}",
                f"{(found <= STABLE).mean():.0%}", f"{sweeps.median_size(one):g}", f"{sweeps.mean_size(one):.2f}",
                promised(one, **setting),
            ]
        )  # fmt: skip
    header = [
        "rule", "utility-weighted accuracy (paper, about)", "mean instability", "worst instability",
        f"trials up to {STABLE}", "median set size", "mean set size", "promised δ",
    ]  # fmt: skip
    return table(header, rows)


def promised(one: Contender, **setting: Any) -> str:
    """The delta of a contender in a table; ``setting`` is that of `stability_delta`."""
    delta = stability_delta(one.parameter, **setting) if one.rule == INFLATED else 1.0
    return "none" if delta >= 1 else f"{delta:.2f}"


def what_is_promised(epsilon: float, n_rows: int, bag_size: int) -> str:
    """A remark: what the paper's epsilon promises by its own theorem."""
    delta = stability_delta(epsilon, n_samples=n_rows, bag_size=bag_size)
    told = "a share is never above 1, so that is no guarantee at all" if delta >= 1 else "that is all it guarantees"
    return (
        f"By theorem 4.2 without its Monte-Carlo term, the paper's ε = {epsilon:g} with {n_rows} rows and bags of "
        f"{bag_size} has δ = {delta:.2f}: {told}. The instability here is measured, not promised."
    )


def undecided(sweeps: Sweeps, panel: Sequence[Contender]) -> list[str]:
    """A remark on trials in which the inflated argmax would return every model there is."""
    (one,) = (contender for contender in panel if contender.rule == INFLATED)
    count, trials = sweeps.undecided(one), len(sweeps.of(one))
    if not count:
        return []
    return [
        f"In {count} of {trials} trials ε = {one.parameter:g} is so large that models which no bag chose are within "
        "reach: strictly, the inflated argmax is then every model there is (StableSelector warns: the bags cannot "
        "tell). Sizes and accuracies here count only models that a bag chose."
    ]


def _by_trial(sweeps: Sweeps, one: Contender, bags: int | None = None) -> np.ndarray:
    return np.array(sweeps.instabilities(one, bags))


def _with_error(values: Sequence[float] | np.ndarray) -> str:
    """The mean over trials and its standard error."""
    error = f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{error}"


def _in_batches(sweeps: Sweeps, is_so: Callable[[Sweeps], bool]) -> tuple[bool | None, str]:
    """A statement about worst cases or medians: on all trials together, and on each of five parts of them."""
    found = [is_so(batch) for batch in sweeps.batches(BATCHES)]
    whole = is_so(sweeps)
    told = f" So in {sum(found)} of {len(found)} parts of the trials."
    return (whole if is_always(found) == whole else None), told


def judge_accuracies(sweeps: Sweeps, panel: Sequence[Contender], accuracy: float, how: str = "") -> Finding:
    """Whether the rules of the first panel are as accurate as its caption says; ``how`` follows the sentence."""
    found = {one.label: sweeps.utilities(one) for one in panel}
    about = f"about {accuracy:g} each (within {CLOSE_ACCURACY})"
    return Finding(
        f"The chosen parameters give a utility-weighted accuracy of {about}{how}.",
        all_of(is_within(values, accuracy, CLOSE_ACCURACY) for values in found.values()),
        "; ".join(f"{label}: {_with_error(values)}" for label, values in found.items()) + ".",
    )


def _single_models(sweeps: Sweeps, panel: Sequence[Contender]) -> Finding:
    single = [Contender(ARGMAX), *(one for one in panel if one.rule == INCLUSION)]
    several = [one for one in panel if one.rule != INCLUSION]
    means = {one: _by_trial(sweeps, one) for one in (*single, *several)}
    return Finding(
        "Rules that return one model (argmax, inclusion probability) are less stable, on average over trials, than "
        "those that may return more.",
        all_of(is_above(means[one] - means[other]) for one in single for other in several),
        "mean instability of " + "; ".join(f"{one.label}: {_with_error(mean)}" for one, mean in means.items()) + ".",
    )


def _bagged(sweeps: Sweeps) -> Finding:
    without, bagged = _by_trial(sweeps, Contender(BASE)), _by_trial(sweeps, Contender(ARGMAX))
    return Finding(
        "Bags alone make argmax more stable, on average over trials.",
        is_above(without - bagged),
        f"mean instability {_with_error(without)} without bags, {_with_error(bagged)} with them; the difference is "
        f"{_with_error(without - bagged)}.",
    )


def _worse_taus(sweeps: Sweeps, shown: Contender) -> list[Contender]:
    """The inclusion probabilities that are less stable, at worst, than the inflated argmax."""
    bar = max(sweeps.instabilities(shown))
    return [one for one in sweeps.along(INCLUSION) if max(sweeps.instabilities(one)) > bar]


def _inclusion(sweeps: Sweeps, panel: Sequence[Contender]) -> Finding:
    (shown,) = (one for one in panel if one.rule == INFLATED)
    taus = sweeps.along(INCLUSION)
    holds, told = _in_batches(sweeps, lambda part: 2 * len(_worse_taus(part, shown)) > len(taus))
    return Finding(
        f"For most τ, the worst instability of inclusion probabilities is above that of the {shown.label}.",
        holds,
        f"it is above {max(sweeps.instabilities(shown)):.3f} for {len(_worse_taus(sweeps, shown))} of {len(taus)} "
        f"values of τ.{told}",
    )


def _as_stable(sweeps: Sweeps, top: Contender) -> list[Contender]:
    """The inflated argmaxes whose worst instability is at most that of a top-k."""
    bar = max(sweeps.instabilities(top))
    return [one for one in sweeps.along(INFLATED) if max(sweeps.instabilities(one)) <= bar]


def _tops(sweeps: Sweeps) -> list[Contender]:
    return [one for one in sweeps.along(TOP_K) if one.parameter > 1]


def _less_accurate(sweeps: Sweeps) -> list[Contender]:
    """The top-k that some ε as stable is more accurate than."""
    return [
        one
        for one in _tops(sweeps)
        if max([sweeps.accuracy(other) for other in _as_stable(sweeps, one)], default=0.0) > sweeps.accuracy(one)
    ]


def _larger(sweeps: Sweeps) -> list[Contender]:
    """The top-k that some ε as stable has smaller sets than."""
    return [
        one
        for one in _tops(sweeps)
        if min([sweeps.median_size(other) for other in _as_stable(sweeps, one)], default=np.inf)
        < sweeps.median_size(one)
    ]


def _beside_top_k(sweeps: Sweeps, what: str, find: Callable[[Sweeps], list[Contender]]) -> Finding:
    n_tops = len(_tops(sweeps))
    holds, told = _in_batches(sweeps, lambda part: 2 * len(find(part)) > n_tops)
    return Finding(
        f"For most k above 1, some ε has at most the worst instability of top-k and {what}.",
        holds,
        f"so for {_listed([one.label for one in find(sweeps)])}, of {n_tops} values of k.{told}",
    )


def _few_bags(sweeps: Sweeps, panel: Sequence[Contender], numbers: Sequence[int]) -> Finding:
    by_bags = sweeps.by_bags(panel, numbers)
    fewest = min(numbers)
    margins = [
        is_at_least(np.subtract(found[fewest], values))
        for found in by_bags.values()
        for bags, values in found.items()
        if bags != fewest
    ]
    told = "; ".join(
        f"{name}: {', '.join(f'{_with_error(values)} ({bags:,})' for bags, values in found.items())}"
        for name, found in by_bags.items()
    )
    text = f"No rule is more stable with {fewest} bags than with more, on average over trials."
    return Finding(text, all_of(margins), f"mean instability (and number of bags) of {told}.")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
