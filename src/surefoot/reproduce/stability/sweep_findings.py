"""What the paper says about rules along their parameters (5.1.3, C.2.2 and E), and whether our trials agree."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.reproduce.markdown import table
from surefoot.reproduce.stability.part import Finding
from surefoot.reproduce.stability.rule_grid import ARGMAX, BASE, INCLUSION, INFLATED, TOP_K, Contender
from surefoot.reproduce.stability.sweep import Sweeps
from surefoot.selection import stability_delta

CLOSE_ACCURACY = 0.05  # what "approximately" means here
STABLE = 0.05


def judge(sweeps: Sweeps, panel: Sequence[Contender], accuracy: float, numbers: Sequence[int]) -> list[Finding]:
    """The findings that figures 3 and 7 (and 12 and 13) share; ``accuracy`` is that of the caption."""
    return [
        judge_accuracies(sweeps, panel, accuracy),
        _single_models(sweeps, panel),
        _bagged(sweeps),
        _inclusion(sweeps, panel),
        _more_accurate(sweeps),
        _smaller(sweeps),
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


def _mean(sweeps: Sweeps, one: Contender, bags: int | None = None) -> float:
    return float(np.mean(sweeps.instabilities(one, bags)))


def judge_accuracies(sweeps: Sweeps, panel: Sequence[Contender], accuracy: float, how: str = "") -> Finding:
    """Whether the rules of the first panel are as accurate as its caption says; ``how`` follows the sentence."""
    found = {one.label: sweeps.accuracy(one) for one in panel}
    about = f"about {accuracy:g} each (within {CLOSE_ACCURACY})"
    return Finding(
        f"The chosen parameters give a utility-weighted accuracy of {about}{how}.",
        all(abs(value - accuracy) <= CLOSE_ACCURACY for value in found.values()),
        "; ".join(f"{label}: {value:.3f}" for label, value in found.items()) + ".",
    )


def _single_models(sweeps: Sweeps, panel: Sequence[Contender]) -> Finding:
    single = [Contender(ARGMAX), *(one for one in panel if one.rule == INCLUSION)]
    several = [one for one in panel if one.rule != INCLUSION]
    means = {one: _mean(sweeps, one) for one in (*single, *several)}
    return Finding(
        "Rules that return one model (argmax, inclusion probability) are less stable, on average over trials, than "
        "those that may return more.",
        min(means[one] for one in single) > max(means[one] for one in several),
        "mean instability of " + "; ".join(f"{one.label}: {mean:.3f}" for one, mean in means.items()) + ".",
    )


def _bagged(sweeps: Sweeps) -> Finding:
    without, bagged = _mean(sweeps, Contender(BASE)), _mean(sweeps, Contender(ARGMAX))
    text = "Bags alone make argmax more stable, on average over trials."
    return Finding(text, bagged < without, f"mean instability {without:.3f} without bags, {bagged:.3f} with them.")


def _inclusion(sweeps: Sweeps, panel: Sequence[Contender]) -> Finding:
    (shown,) = (one for one in panel if one.rule == INFLATED)
    bar, taus = max(sweeps.instabilities(shown)), sweeps.along(INCLUSION)
    worse = [one for one in taus if max(sweeps.instabilities(one)) > bar]
    return Finding(
        f"For most τ, the worst instability of inclusion probabilities is above that of the {shown.label}.",
        2 * len(worse) > len(taus),
        f"it is above {bar:.3f} for {len(worse)} of {len(taus)} values of τ.",
    )


def _as_stable(sweeps: Sweeps, top: Contender) -> list[Contender]:
    """The inflated argmaxes whose worst instability is at most that of a top-k."""
    bar = max(sweeps.instabilities(top))
    return [one for one in sweeps.along(INFLATED) if max(sweeps.instabilities(one)) <= bar]


def _more_accurate(sweeps: Sweeps) -> Finding:
    tops = [one for one in sweeps.along(TOP_K) if one.parameter > 1]
    better = [
        one.label
        for one in tops
        if max([sweeps.accuracy(other) for other in _as_stable(sweeps, one)], default=0.0) > sweeps.accuracy(one)
    ]
    return Finding(
        "For most k above 1, some ε has at most the worst instability of top-k and a higher utility-weighted accuracy.",
        2 * len(better) > len(tops),
        f"so for {_listed(better)}, of {len(tops)} values of k.",
    )


def _smaller(sweeps: Sweeps) -> Finding:
    tops = [one for one in sweeps.along(TOP_K) if one.parameter > 1]
    smaller = [
        one.label
        for one in tops
        if min([sweeps.median_size(other) for other in _as_stable(sweeps, one)], default=np.inf)
        < sweeps.median_size(one)
    ]
    return Finding(
        "For most k above 1, some ε has at most the worst instability of top-k and a smaller median set.",
        2 * len(smaller) > len(tops),
        f"so for {_listed(smaller)}, of {len(tops)} values of k.",
    )


def _few_bags(sweeps: Sweeps, panel: Sequence[Contender], numbers: Sequence[int]) -> Finding:
    by_bags = sweeps.by_bags(panel, numbers)
    means = {name: {bags: float(np.mean(values)) for bags, values in found.items()} for name, found in by_bags.items()}
    fewest = min(numbers)
    worst = [name for name, found in means.items() if found[fewest] == max(found.values())]
    told = "; ".join(
        f"{name}: {', '.join(f'{mean:.3f} ({bags:,})' for bags, mean in found.items())}"
        for name, found in means.items()
    )
    text = f"No rule is more stable with {fewest} bags than with more, on average over trials."
    return Finding(text, len(worst) == len(means), f"mean instability (and number of bags) of {told}.")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
