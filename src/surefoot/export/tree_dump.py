"""The trees of one member as lists of nodes, in the words of the table."""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from surefoot.data.category_statistics import CategoryStatistics, Statistic
from surefoot.data.columns import Schema
from surefoot.export.category_values import statistic_columns
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.reached_nodes import ReachedNodes
from surefoot.uncertainty.training_table import Encoding

SIDES = ("right", "left")
UNKNOWN, MISSING, FIRST = 0, 1, 2  # categories as digits of the keys of statistics


def member_dump(member: Member, schema: Schema, names: Sequence[str]) -> dict[str, Any]:
    """Start values, bounds, statistics and trees of one member."""
    trees = member.trees
    nodes = ReachedNodes.of(trees.forest, member.encoding)
    first_statistic = len(member.encoding.plain)
    used = np.unique(nodes.features[nodes.features >= first_statistic]).tolist()
    return {
        "start": trees.start.tolist(),
        "bounds": [bound if isfinite(bound) else None for bound in trees.bounds[trees.forest.n_trees - 1].tolist()],
        "statistics": [_statistic(member.encoding, i - first_statistic, schema, names) for i in used],
        "trees": _NodeDumps(nodes, member, schema, names, used).trees(),
    }


class _NodeDumps:
    """The nodes of all trees as dictionaries."""

    def __init__(
        self, nodes: ReachedNodes, member: Member, schema: Schema, names: Sequence[str], statistics: list[int]
    ) -> None:
        self._nodes, self._schema, self._names = nodes, schema, names
        self._plain, self._statistics = member.encoding.plain, statistics
        self._tables, self._sets = member.trees.forest.tables, nodes.sets.tolist()
        self._features, self._thresholds = nodes.features.tolist(), nodes.thresholds.tolist()
        self._missing_left, self._values = nodes.missing_left.tolist(), nodes.values.tolist()
        self._left, self._right = nodes.left.tolist(), nodes.right.tolist()

    def trees(self) -> list[list[dict[str, Any]]]:
        """A list of nodes for each tree, the root first."""
        first = self._nodes.first.tolist()
        return [[self._node(i) for i in range(start, stop)] for start, stop in pairwise(first)]

    def _node(self, i: int) -> dict[str, Any]:
        feature = self._features[i]
        if feature < 0:
            return {"leaf": self._values[i]}
        children = {"left": self._left[i], "right": self._right[i]}
        threshold = self._thresholds[i] if isfinite(self._thresholds[i]) else None
        if feature >= len(self._plain):
            return {"statistic": self._statistics.index(feature), "threshold": threshold, **children}
        column = self._plain[feature]
        split = {"threshold": threshold} if self._sets[i] < 0 else {"left_categories": self._left_labels(i, column)}
        return {"column": self._names[column], **split, "missing": SIDES[self._missing_left[i]], **children}

    def _left_labels(self, i: int, column: int) -> list[Hashable]:
        goes_right = self._tables[self._sets[i]]
        return [label for code, label in enumerate(self._schema.categories[column]) if not goes_right[code]]


def _statistic(encoding: Encoding, place: int, schema: Schema, names: Sequence[str]) -> dict[str, Any]:
    """A table from categories, or combinations of categories, to numbers."""
    statistics, statistic, target = _at(encoding, place)
    columns = statistic_columns(encoding, statistic.columns)
    digits = _digits(statistic)
    known = (digits != UNKNOWN).all(axis=0)  # categories without weight: their value is that of all others
    values = statistic.counts if target is None else statistic.means[target]
    labels = [_labels_of(schema.categories[j], of) for j, of in zip(columns, digits[:, known], strict=True)]
    return {
        "columns": [names[j] for j in columns],
        "categories": [list(each) for each in zip(*labels, strict=True)],
        "values": values[known].tolist(),
        "other": 0.0 if target is None else float(statistics.prior[target]),
    }


def _at(encoding: Encoding, place: int) -> tuple[CategoryStatistics, Statistic, int | None]:
    """The statistic at a place among all of an encoding, and the target that it is the mean of."""
    for statistics in (encoding.combinations, encoding.statistics):
        if statistics is not None:
            if place < len(statistics.layout):
                return statistics, *statistics.layout[place]
            place -= len(statistics.layout)
    raise IndexError(place)


def _digits(statistic: Statistic) -> np.ndarray:
    """The categories of each key, (columns, keys): 0 if unknown, 1 if missing, then the codes."""
    keys, digits = statistic.keys, []
    for factor in reversed(statistic.factors[1:]):
        keys, digit = np.divmod(keys, factor)
        digits.append(digit)
    return np.stack([keys, *reversed(digits)])


def _labels_of(labels: Sequence[Hashable], digits: np.ndarray) -> list[Hashable | None]:
    return [None if digit == MISSING else labels[digit - FIRST] for digit in digits.tolist()]
