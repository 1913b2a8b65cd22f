"""Every rule along its parameter, on many trials: what is run, and the curves that come of it."""

import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median

import numpy as np

from surefoot import StableSelector
from surefoot.plots import RuleCurve
from surefoot.selection.leave_one_out import LeftOutWeights
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability.lines import RuleLine, RuleUnit
from surefoot_experiments.stability.rule_grid import (
    ARGMAX,
    BASE,
    INCLUSION,
    INFLATED,
    SIZES,
    TOP_K,
    Contender,
    along,
    evaluate,
    evaluate_base,
    fit_base,
)

EPSILONS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.09, *(round(0.05 * step, 2) for step in range(2, 20)))
TAUS = tuple(round(0.05 * step, 2) for step in range(1, 20))
CURVES = {INFLATED: "inflated argmax", TOP_K: "top-k", INCLUSION: "inclusion probability", ARGMAX: "argmax"}
NAMES = {INFLATED: "ε", TOP_K: "k", INCLUSION: "τ"}
Fit = Callable[[int, int], StableSelector]  # of a trial and a number of bags


def contenders(panel: Sequence[Contender]) -> list[Contender]:
    """All rules, along their parameters; ``panel`` are those that the first panel of the figure shows."""
    every = [Contender(BASE), Contender(ARGMAX), *(Contender(TOP_K, float(k)) for k in SIZES)]
    every += [Contender(INFLATED, epsilon) for epsilon in EPSILONS] + [Contender(INCLUSION, tau) for tau in TAUS]
    return every + [contender for contender in panel if contender not in every]


class Sweep:
    """The rules of a part on its trials, and the file that they go to."""

    def __init__(
        self, results: GrowingCsv[RuleLine], panel: Sequence[Contender], bags: int, fewer_bags: Sequence[int]
    ) -> None:
        self.results, self.panel, self.bags = results, tuple(panel), bags
        self.fewer_bags = tuple(fewer for fewer in fewer_bags if fewer < bags)

    def is_done(self, trial: int) -> bool:
        """Whether all lines of a trial are there."""
        return all(unit in self.results.lines for unit in self._units(trial))

    def whole_trials(self) -> set[int]:
        """The trials of which no line is missing."""
        return {trial for trial in {unit.trial for unit in self.results.lines} if self.is_done(trial)}

    def _units(self, trial: int) -> list[RuleUnit]:
        units = [RuleUnit(trial, self.bags, one.rule, one.parameter) for one in contenders(self.panel)]
        few = [(bags, one) for bags in self.fewer_bags for one in self._by_bags()]
        return units + [RuleUnit(trial, bags, one.rule, one.parameter) for bags, one in few]

    def _by_bags(self) -> tuple[Contender, ...]:
        """The rules of figures 12 and 13."""
        return (Contender(ARGMAX), *self.panel)

    def run(self, trial: int, fit: Fit, method: str, truth: np.ndarray) -> tuple[StableSelector, list[RuleLine]]:
        """What is fitted to a trial, and what every rule makes of it.

        With fewer bags each row gets bags of its own, as the paper does it: a pool of so few may not have any for it.
        """
        started = time.process_time()
        stable = fit(trial, self.bags)
        left_out = stable.left_out_weights(method)
        lines = rule_lines(stable, left_out, trial, contenders(self.panel), truth, started=started)
        for bags in self.fewer_bags:
            started = time.process_time()
            few = fit(trial, bags)
            left_out = few.left_out_weights("refit")
            lines += rule_lines(few, left_out, trial, self._by_bags(), truth, started=started)
        return stable, lines


def rule_lines(
    stable: StableSelector,
    left_out: Iterable[LeftOutWeights],
    trial: int,
    rules: Sequence[Contender],
    truth: np.ndarray | None = None,
    *,
    started: float,
) -> list[RuleLine]:
    """What each rule does on the table of a fitted ``stable``, whose weights without a row are ``left_out``.

    ``truth`` are the items of the true model. The lines share the seconds of work since ``started``, which is a
    `time.process_time`.
    """
    blocks = list(left_out)
    found = {}
    for contender in rules:
        if contender.rule != BASE:
            found[contender] = evaluate(blocks, contender, truth)
            continue
        items = stable._bagging.prepared.items
        named = None if truth is None or items is None else tuple(items[j] for j in np.flatnonzero(truth))
        found[contender] = evaluate_base(*fit_base(stable), named)
    seconds = (time.process_time() - started) / len(found)
    return [RuleLine.of(trial, stable.n_bags, contender, each, seconds) for contender, each in found.items()]


class Sweeps:
    """The lines of a sweep, read again."""

    def __init__(self, lines: Iterable[RuleLine], bags: int) -> None:
        self._by_rule: dict[tuple[int, Contender], list[RuleLine]] = {}
        for line in lines:
            self._by_rule.setdefault((line.bags, line.contender), []).append(line)
        self.bags = bags

    def batches(self, number: int) -> list["Sweeps"]:
        """The trials dealt to so many batches; fewer where there are fewer trials."""
        lines = [line for found in self._by_rule.values() for line in found]
        dealt = [[line for line in lines if line.trial % number == batch] for batch in range(number)]
        return [Sweeps(batch, self.bags) for batch in dealt if batch]

    def of(self, contender: Contender, bags: int | None = None) -> list[RuleLine]:
        """A line for each trial."""
        return self._by_rule.get((self.bags if bags is None else bags, contender), [])

    def instabilities(self, contender: Contender, bags: int | None = None) -> list[float]:
        """Of each trial."""
        return [line.instability for line in self.of(contender, bags)]

    def accuracy(self, contender: Contender) -> float:
        """Utility-weighted (eq. 7)."""
        return float(np.mean([line.utility for line in self.of(contender)]))

    def utilities(self, contender: Contender) -> list[float]:
        """Utility-weighted accuracy of each trial."""
        return [line.utility for line in self.of(contender)]

    def median_size(self, contender: Contender) -> float:
        """Of the sets by all rows."""
        return float(median(line.set_size for line in self.of(contender)))

    def mean_size(self, contender: Contender) -> float:
        """Of the sets by all rows."""
        return float(np.mean([line.set_size for line in self.of(contender)]))

    def undecided(self, contender: Contender) -> int:
        """In how many trials models that no bag chose would be returned too."""
        return sum(line.undecided for line in self.of(contender))

    def along(self, rule: str) -> list[Contender]:
        """The contenders of a kind, by parameter."""
        return along((one for bags, one in self._by_rule if bags == self.bags), rule)

    def curves(self, panel: Sequence[Contender]) -> list[RuleCurve]:
        """Those of figures 3 and 7."""
        shown = {one.rule: one for one in panel}
        curves = [self._curve(label, self.along(rule), shown.get(rule)) for rule, label in CURVES.items()]
        return [*curves, self._curve("argmax, no bags", [Contender(BASE)], None)]

    def _curve(self, label: str, rules: Sequence[Contender], shown: Contender | None) -> RuleCurve:
        return RuleCurve(
            label,
            self.instabilities(rules[0] if shown is None else shown),
            worst=[max(self.instabilities(one)) for one in rules],
            accuracy=[self.accuracy(one) for one in rules],
            set_size=[self.median_size(one) for one in rules],
            setting=None if shown is None else f"{NAMES[shown.rule]} = {shown.parameter:g}",
        )

    def by_bags(self, panel: Sequence[Contender], numbers: Sequence[int]) -> dict[str, dict[int, list[float]]]:
        """The instabilities of figures 12 and 13: of each rule, by the number of bags."""
        return {
            one.label: {bags: found for bags in (*numbers, self.bags) if (found := self.instabilities(one, bags))}
            for one in (Contender(ARGMAX), *panel)
        }
