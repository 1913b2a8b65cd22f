"""What the bags of cells gave: rules, and the heaviest graphs."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.plots import RuleCurve
from surefoot.selection import stability_delta
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.lines import RuleLine, WeightLine
from surefoot_experiments.stability.rule_grid import ARGMAX, INFLATED, TOP_K, Contender, along

BETWEEN_NODES, BETWEEN_EDGES = " - ", ", "
Edge = tuple[str, str]


def graph_words(graph: Collection[Edge]) -> str:
    """A graph as text: ``a - b, a - c``."""
    return BETWEEN_EDGES.join(BETWEEN_NODES.join(edge) for edge in graph)


def graph_of(words: str) -> set[Edge]:
    """The graph that is written so."""
    edges = [edge.split(BETWEEN_NODES) for edge in words.split(BETWEEN_EDGES)] if words else []
    return {(first, second) for first, second in edges}


@dataclass(frozen=True)
class Graphs:
    """The rules' lines, one for each seed, and each seed's heaviest graphs with their weights, heaviest first."""

    rules: dict[Contender, list[RuleLine]]
    by_seed: Sequence[Sequence[tuple[set[Edge], float]]]
    bags: int
    n_rows: int

    @classmethod
    def of(cls, rules: Iterable[RuleLine], weights: Iterable[WeightLine], bags: int, n_rows: int) -> "Graphs":
        """From the lines of the files."""
        by_rule: dict[Contender, list[RuleLine]] = {}
        for rule in rules:
            by_rule.setdefault(rule.contender, []).append(rule)
        by_seed: dict[int, list[tuple[set[Edge], float]]] = {}
        for line in sorted(weights, key=lambda line: (line.trial, -line.weight)):
            by_seed.setdefault(line.trial, []).append((graph_of(line.model), line.weight))
        return cls(by_rule, list(by_seed.values()), bags, n_rows)

    @property
    def n_seeds(self) -> int:
        return len(self.by_seed)

    @property
    def heaviest(self) -> Sequence[tuple[set[Edge], float]]:
        """Of the first seed."""
        return self.by_seed[0]

    def instabilities(self, contender: Contender) -> np.ndarray:
        """Of each seed."""
        return np.array([line.instability for line in self.rules[contender]])

    def sizes(self, contender: Contender) -> np.ndarray:
        """The mean number of graphs without a cell, of each seed."""
        return np.array([line.left_out_size for line in self.rules[contender]])

    def undecided(self, contender: Contender) -> bool:
        """Whether every graph is within reach, with any seed."""
        return any(line.undecided for line in self.rules[contender])

    def delta(self, epsilon: float) -> float:
        """What an inflation promises; 1 and more is no promise."""
        return stability_delta(epsilon, n_samples=self.n_rows, bag_size=paper.GRAPH_BAG_SIZE)

    def curves(self) -> list[RuleCurve]:
        """Instability and set sizes along epsilon and k; without the inflations that would return every graph."""
        inflated = [one for one in along(self.rules, INFLATED) if not self.undecided(one)]
        epsilons = [one.parameter for one in inflated]
        promised = [min(1.0, self.delta(epsilon)) for epsilon in epsilons]
        tops = [one for one in along(self.rules, TOP_K) if one.parameter > 1]
        return [
            self._curve("inflated argmax", inflated, epsilons=epsilons, promised=promised),
            self._curve("top-k", tops, setting=f"k = {tops[0].parameter:g}"),
            self._curve("argmax", [Contender(ARGMAX)]),
        ]

    def _curve(self, label: str, contenders: Sequence[Contender], **more: object) -> RuleCurve:
        """Means over seeds."""
        worst = [float(self.instabilities(one).mean()) for one in contenders]
        sizes = [float(self.sizes(one).mean()) for one in contenders]
        return RuleCurve(label, worst[:1], worst=worst, set_size=sizes, **more)  # type: ignore[arg-type]
