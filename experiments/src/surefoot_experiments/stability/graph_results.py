"""The results on bags of cells: rules, and the heaviest graphs."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.plots import RuleCurve
from surefoot.selection import stability_delta
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.compared_rules import ARGMAX, INFLATED, TOP_K, ComparedRule, rules_of_kind
from surefoot_experiments.stability.lines import RuleLine, WeightLine

NODE_SEPARATOR, EDGE_SEPARATOR = " - ", ", "
Edge = tuple[str, str]


def graph_text(graph: Collection[Edge]) -> str:
    """A graph as text: ``a - b, a - c``."""
    return EDGE_SEPARATOR.join(NODE_SEPARATOR.join(edge) for edge in graph)


def parse_graph(text: str) -> set[Edge]:
    """The graph of a text of `graph_text`."""
    edges = [edge.split(NODE_SEPARATOR) for edge in text.split(EDGE_SEPARATOR)] if text else []
    return {(first, second) for first, second in edges}


@dataclass(frozen=True)
class GraphResults:
    """The lines of each rule, one for each seed, and the graphs of each seed with their weights, heaviest first."""

    rules: dict[ComparedRule, list[RuleLine]]
    by_seed: Sequence[Sequence[tuple[set[Edge], float]]]
    bags: int
    n_rows: int

    @classmethod
    def of(cls, rules: Iterable[RuleLine], weights: Iterable[WeightLine], bags: int, n_rows: int) -> "GraphResults":
        """Sort the lines of the files."""
        by_rule: dict[ComparedRule, list[RuleLine]] = {}
        for rule in rules:
            by_rule.setdefault(rule.compared_rule, []).append(rule)
        by_seed: dict[int, list[tuple[set[Edge], float]]] = {}
        for line in sorted(weights, key=lambda line: (line.trial, -line.weight)):
            by_seed.setdefault(line.trial, []).append((parse_graph(line.model), line.weight))
        return cls(rules=by_rule, by_seed=list(by_seed.values()), bags=bags, n_rows=n_rows)

    @property
    def n_seeds(self) -> int:
        return len(self.by_seed)

    @property
    def heaviest(self) -> Sequence[tuple[set[Edge], float]]:
        """The graphs of the first seed."""
        return self.by_seed[0]

    def instabilities(self, rule: ComparedRule) -> np.ndarray:
        """The instability with each seed."""
        return np.array([line.instability for line in self.rules[rule]])

    def sizes(self, rule: ComparedRule) -> np.ndarray:
        """The mean number of graphs without a cell, with each seed."""
        return np.array([line.left_out_size for line in self.rules[rule]])

    def is_undecided(self, rule: ComparedRule) -> bool:
        """Whether the rule would return every graph, with any seed."""
        return any(line.undecided for line in self.rules[rule])

    def delta(self, epsilon: float) -> float:
        """The guaranteed delta of an epsilon; 1 or more is no guarantee."""
        return stability_delta(epsilon, n_samples=self.n_rows, bag_size=paper.GRAPH_BAG_SIZE)

    def curves(self) -> list[RuleCurve]:
        """Instability and set sizes by epsilon and k, without the values of epsilon that would return every graph."""
        inflated = [rule for rule in rules_of_kind(self.rules, INFLATED) if not self.is_undecided(rule)]
        epsilons = [rule.parameter for rule in inflated]
        promised = [min(1.0, self.delta(epsilon)) for epsilon in epsilons]
        tops = [rule for rule in rules_of_kind(self.rules, TOP_K) if rule.parameter > 1]
        return [
            self._curve("inflated argmax", inflated, epsilons=epsilons, promised=promised),
            self._curve("top-k", tops, setting=f"k = {tops[0].parameter:g}"),
            self._curve("argmax", [ComparedRule(ARGMAX)]),
        ]

    def _curve(self, label: str, rules: Sequence[ComparedRule], **options: object) -> RuleCurve:
        """Means over seeds."""
        worst = [float(self.instabilities(rule).mean()) for rule in rules]
        sizes = [float(self.sizes(rule).mean()) for rule in rules]
        return RuleCurve(label, worst[:1], worst=worst, set_size=sizes, **options)  # type: ignore[arg-type]
