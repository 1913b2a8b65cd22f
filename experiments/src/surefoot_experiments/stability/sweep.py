"""Every rule with several parameters, on many trials: the fits, and the curves of the figures."""

import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median

import numpy as np

from surefoot import StableSelector
from surefoot.plots import RuleCurve
from surefoot.selection.leave_one_out import LeftOutWeights
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability.compared_rules import (
    ARGMAX,
    BASE,
    INCLUSION,
    INFLATED,
    SIZES,
    TOP_K,
    ComparedRule,
    evaluate,
    evaluate_base,
    fit_base,
    rules_of_kind,
)
from surefoot_experiments.stability.lines import RuleLine, RuleUnit

EPSILONS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.09, *(round(0.05 * step, 2) for step in range(2, 20)))
TAUS = tuple(round(0.05 * step, 2) for step in range(1, 20))
CURVES = {INFLATED: "inflated argmax", TOP_K: "top-k", INCLUSION: "inclusion probability", ARGMAX: "argmax"}
PARAMETERS = {INFLATED: "ε", TOP_K: "k", INCLUSION: "τ"}
FitTrial = Callable[[int, int], StableSelector]  # arguments: the trial and the number of bags


def compared_rules(panel: Sequence[ComparedRule]) -> list[ComparedRule]:
    """All rules with all parameters; ``panel`` are the rules in the first panel of the figure."""
    rules = [ComparedRule(BASE), ComparedRule(ARGMAX), *(ComparedRule(TOP_K, float(k)) for k in SIZES)]
    rules += [ComparedRule(INFLATED, epsilon) for epsilon in EPSILONS]
    rules += [ComparedRule(INCLUSION, tau) for tau in TAUS]
    return rules + [rule for rule in panel if rule not in rules]


class Sweep:
    """The rules of a part on its trials, and the file of their results."""

    def __init__(
        self, results: GrowingCsv[RuleLine], panel: Sequence[ComparedRule], bags: int, fewer_bags: Sequence[int]
    ) -> None:
        self.results, self.panel, self.bags = results, tuple(panel), bags
        self.fewer_bags = tuple(fewer for fewer in fewer_bags if fewer < bags)

    def is_done(self, trial: int) -> bool:
        """Whether all lines of a trial are in the file."""
        return all(unit in self.results.lines for unit in self._units(trial))

    def complete_trials(self) -> set[int]:
        """The trials with all their lines."""
        return {trial for trial in {unit.trial for unit in self.results.lines} if self.is_done(trial)}

    def _units(self, trial: int) -> list[RuleUnit]:
        by_bags = {self.bags: compared_rules(self.panel), **dict.fromkeys(self.fewer_bags, self._rules_by_bags())}
        return [RuleUnit(trial, bags, rule.kind, rule.parameter) for bags, rules in by_bags.items() for rule in rules]

    def _rules_by_bags(self) -> list[ComparedRule]:
        """The rules of figures 12 and 13."""
        return [ComparedRule(ARGMAX), *self.panel]

    def run(self, trial: int, fit: FitTrial, method: str, truth: np.ndarray) -> tuple[StableSelector, list[RuleLine]]:
        """Fit a trial and evaluate every rule.

        With fewer bags, new bags are drawn without each row, as in the paper, because a small pool may contain no bag
        without some row.
        """
        started = time.process_time()
        stable = fit(trial, self.bags)
        left_out = stable.left_out_weights(method)
        lines = rule_lines(stable, left_out, trial, compared_rules(self.panel), truth, started=started)
        for bags in self.fewer_bags:
            started = time.process_time()
            with_fewer = fit(trial, bags)
            left_out = with_fewer.left_out_weights("refit")
            lines += rule_lines(with_fewer, left_out, trial, self._rules_by_bags(), truth, started=started)
        return stable, lines


def rule_lines(
    stable: StableSelector,
    left_out: Iterable[LeftOutWeights],
    trial: int,
    rules: Sequence[ComparedRule],
    truth: np.ndarray | None = None,
    *,
    started: float,
) -> list[RuleLine]:
    """Evaluate rules on the table of a fitted ``stable``, with the weights ``left_out`` without each row.

    ``truth`` marks the items of the true model. The time since ``started`` (a `time.process_time`) is divided evenly
    among the lines.
    """
    blocks = list(left_out)
    evaluations = {}
    for rule in rules:
        if rule.kind != BASE:
            evaluations[rule] = evaluate(blocks, rule, truth)
            continue
        items = stable._bagging.prepared.items
        model = None if truth is None or items is None else tuple(items[j] for j in np.flatnonzero(truth))
        evaluations[rule] = evaluate_base(*fit_base(stable), model)
    seconds = (time.process_time() - started) / len(evaluations)
    return [RuleLine.of(trial, stable.n_bags, rule, evaluation, seconds) for rule, evaluation in evaluations.items()]


class SweepResults:
    """The lines of a sweep, by rule and number of bags."""

    def __init__(self, lines: Iterable[RuleLine], bags: int) -> None:
        self._by_rule: dict[tuple[int, ComparedRule], list[RuleLine]] = {}
        for line in lines:
            self._by_rule.setdefault((line.bags, line.compared_rule), []).append(line)
        self.bags = bags

    def batches(self, number: int) -> list["SweepResults"]:
        """The trials divided into ``number`` batches; fewer if there are fewer trials."""
        lines = [line for by_rule in self._by_rule.values() for line in by_rule]
        batches = [[line for line in lines if line.trial % number == batch] for batch in range(number)]
        return [SweepResults(batch, self.bags) for batch in batches if batch]

    def of(self, rule: ComparedRule, bags: int | None = None) -> list[RuleLine]:
        """The lines of a rule, one for each trial."""
        return self._by_rule.get((self.bags if bags is None else bags, rule), [])

    def instabilities(self, rule: ComparedRule, bags: int | None = None) -> list[float]:
        """The instability on each trial."""
        return [line.instability for line in self.of(rule, bags)]

    def utilities(self, rule: ComparedRule) -> list[float]:
        """The utility-weighted accuracy of each trial (eq. 7)."""
        return [line.utility for line in self.of(rule)]

    def accuracy(self, rule: ComparedRule) -> float:
        """The mean utility-weighted accuracy."""
        return float(np.mean(self.utilities(rule)))

    def median_size(self, rule: ComparedRule) -> float:
        """The median size of the sets with all rows."""
        return float(median(line.set_size for line in self.of(rule)))

    def mean_size(self, rule: ComparedRule) -> float:
        """The mean size of the sets with all rows."""
        return float(np.mean([line.set_size for line in self.of(rule)]))

    def count_undecided(self, rule: ComparedRule) -> int:
        """The number of trials in which models that no bag chose would be returned too."""
        return sum(line.undecided for line in self.of(rule))

    def rules_of_kind(self, kind: str) -> list[ComparedRule]:
        """The rules of one kind, sorted by parameter."""
        return rules_of_kind((rule for bags, rule in self._by_rule if bags == self.bags), kind)

    def curves(self, panel: Sequence[ComparedRule]) -> list[RuleCurve]:
        """The curves of figures 3 and 7."""
        shown = {rule.kind: rule for rule in panel}
        curves = [self._curve(label, self.rules_of_kind(kind), shown.get(kind)) for kind, label in CURVES.items()]
        return [*curves, self._curve("argmax, no bags", [ComparedRule(BASE)], None)]

    def _curve(self, label: str, rules: Sequence[ComparedRule], shown: ComparedRule | None) -> RuleCurve:
        return RuleCurve(
            label,
            self.instabilities(rules[0] if shown is None else shown),
            worst=[max(self.instabilities(rule)) for rule in rules],
            accuracy=[self.accuracy(rule) for rule in rules],
            set_size=[self.median_size(rule) for rule in rules],
            setting=None if shown is None else f"{PARAMETERS[shown.kind]} = {shown.parameter:g}",
        )

    def by_bags(self, panel: Sequence[ComparedRule], numbers: Sequence[int]) -> dict[str, dict[int, list[float]]]:
        """The instabilities of figures 12 and 13, by rule and number of bags."""
        return {
            rule.label: {bags: values for bags in (*numbers, self.bags) if (values := self.instabilities(rule, bags))}
            for rule in (ComparedRule(ARGMAX), *panel)
        }
