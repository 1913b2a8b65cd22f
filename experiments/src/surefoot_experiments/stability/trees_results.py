"""What the draws of cells gave: rules and heaviest trees, over all draws."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.plots import RuleCurve
from surefoot_experiments.stability.lines import RuleLine
from surefoot_experiments.stability.rule_grid import ARGMAX, BASE, INFLATED, TOP_K, Contender, along
from surefoot_experiments.stability.trees_models import TreeLine


@dataclass(frozen=True)
class Draws:
    """The lines of every draw that is whole."""

    rules: dict[Contender, list[RuleLine]]
    trees: dict[int, list[TreeLine]]

    @classmethod
    def of(cls, rules: Iterable[RuleLine], trees: Iterable[TreeLine], bags: int, n_contenders: int) -> "Draws":
        """From the lines of the files; a draw of which lines are missing is left out."""
        by_draw: dict[int, list[RuleLine]] = {}
        for line in rules:
            if line.bags == bags:
                by_draw.setdefault(line.trial, []).append(line)
        whole = [draw for draw in sorted(by_draw) if len(by_draw[draw]) == n_contenders]
        by_rule: dict[Contender, list[RuleLine]] = {}
        for draw in whole:
            for line in by_draw[draw]:
                by_rule.setdefault(line.contender, []).append(line)
        heaviest: dict[int, list[TreeLine]] = {draw: [] for draw in whole}
        for tree in sorted(trees, key=lambda line: line.place):
            if tree.draw in heaviest:
                heaviest[tree.draw].append(tree)
        return cls(by_rule, heaviest)

    @property
    def numbers(self) -> list[int]:
        """Of the draws."""
        return list(self.trees)

    @property
    def seconds(self) -> float:
        """Of one thread."""
        return sum(line.seconds for lines in self.rules.values() for line in lines)

    def instabilities(self, contender: Contender) -> np.ndarray:
        """Of each draw."""
        return np.array([line.instability for line in self.rules[contender]])

    def sizes(self, contender: Contender) -> np.ndarray:
        """The mean set size without a cell, of each draw."""
        return np.array([line.left_out_size for line in self.rules[contender]])

    def weights(self, place: int) -> np.ndarray:
        """The weight of the tree at a place, of each draw."""
        return np.array([trees[place - 1].weight if len(trees) >= place else 0.0 for trees in self.trees.values()])

    def along(self, rule: str) -> list[Contender]:
        """The contenders of a kind, by parameter."""
        return along(self.rules, rule)

    def curves(self, shown: dict[str, Contender]) -> list[RuleCurve]:
        """Of the inflated argmax, top-k and argmax; ``shown`` are those whose distribution over draws is drawn."""
        return [
            self._curve("inflated argmax", self.along(INFLATED), shown[INFLATED], f"ε = {shown[INFLATED].parameter:g}"),
            self._curve("top-k", self.along(TOP_K), shown[TOP_K], f"k = {shown[TOP_K].parameter:g}"),
            self._curve("argmax", [Contender(ARGMAX)], Contender(ARGMAX), None),
            self._curve("argmax, no bags", [Contender(BASE)], Contender(BASE), None),
        ]

    def _curve(self, label: str, contenders: Sequence[Contender], shown: Contender, setting: str | None) -> RuleCurve:
        return RuleCurve(
            label,
            self.instabilities(shown),
            worst=[self.instabilities(one).max() for one in contenders],
            set_size=[float(np.median([line.set_size for line in self.rules[one]])) for one in contenders],
            setting=setting,
        )
