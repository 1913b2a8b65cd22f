"""The results on draws of cells: rules, and the heaviest trees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.plots import RuleCurve
from surefoot_experiments.stability.compared_rules import ARGMAX, BASE, INFLATED, TOP_K, ComparedRule, rules_of_kind
from surefoot_experiments.stability.lines import RuleLine
from surefoot_experiments.stability.trees_models import TreeLine


@dataclass(frozen=True)
class TreeResults:
    """The lines of the complete draws."""

    rules: dict[ComparedRule, list[RuleLine]]
    trees: dict[int, list[TreeLine]]

    @classmethod
    def of(cls, rules: Iterable[RuleLine], trees: Iterable[TreeLine], bags: int, n_rules: int) -> "TreeResults":
        """Sort the lines of the files; a draw with missing lines is left out."""
        by_draw: dict[int, list[RuleLine]] = {}
        for line in rules:
            if line.bags == bags:
                by_draw.setdefault(line.trial, []).append(line)
        complete = [draw for draw in sorted(by_draw) if len(by_draw[draw]) == n_rules]
        by_rule: dict[ComparedRule, list[RuleLine]] = {}
        for draw in complete:
            for line in by_draw[draw]:
                by_rule.setdefault(line.compared_rule, []).append(line)
        heaviest: dict[int, list[TreeLine]] = {draw: [] for draw in complete}
        for tree in sorted(trees, key=lambda line: line.place):
            if tree.draw in heaviest:
                heaviest[tree.draw].append(tree)
        return cls(by_rule, heaviest)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the draws."""
        return list(self.trees)

    @property
    def seconds(self) -> float:
        """The time on one thread."""
        return sum(line.seconds for lines in self.rules.values() for line in lines)

    def instabilities(self, rule: ComparedRule) -> np.ndarray:
        """The instability on each draw."""
        return np.array([line.instability for line in self.rules[rule]])

    def sizes(self, rule: ComparedRule) -> np.ndarray:
        """The mean set size without a cell, on each draw."""
        return np.array([line.left_out_size for line in self.rules[rule]])

    def weights(self, place: int) -> np.ndarray:
        """The weight of the tree of rank ``place`` on each draw."""
        return np.array([trees[place - 1].weight if len(trees) >= place else 0.0 for trees in self.trees.values()])

    def rules_of_kind(self, kind: str) -> list[ComparedRule]:
        """The rules of one kind, sorted by parameter."""
        return rules_of_kind(self.rules, kind)

    def curves(self, shown: dict[str, ComparedRule]) -> list[RuleCurve]:
        """The curves of the inflated argmax, top-k and argmax.

        ``shown`` are the rules whose distribution over draws is drawn, by kind.
        """
        inflated, tops = self.rules_of_kind(INFLATED), self.rules_of_kind(TOP_K)
        return [
            self._curve("inflated argmax", inflated, shown[INFLATED], f"ε = {shown[INFLATED].parameter:g}"),
            self._curve("top-k", tops, shown[TOP_K], f"k = {shown[TOP_K].parameter:g}"),
            self._curve("argmax", [ComparedRule(ARGMAX)], ComparedRule(ARGMAX), None),
            self._curve("argmax, no bags", [ComparedRule(BASE)], ComparedRule(BASE), None),
        ]

    def _curve(self, label: str, rules: Sequence[ComparedRule], shown: ComparedRule, setting: str | None) -> RuleCurve:
        return RuleCurve(
            label,
            self.instabilities(shown),
            worst=[self.instabilities(rule).max() for rule in rules],
            set_size=[float(np.median([line.set_size for line in self.rules[rule]])) for rule in rules],
            setting=setting,
        )
