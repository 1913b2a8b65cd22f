"""Which columns the nodes of a level may be split at: not all, if columns are drawn or interactions are limited.

What a node may use depends on the splits above it, so it is known level by level, before the level is searched.
"""

from math import inf

import numpy as np

from surefoot._random import random_permutation
from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.growth_rules import GrowthRules
from surefoot.trees.level_kernels import TreeSplits

MAX_MASKS = 4096  # of the columns that may follow those of a path: they are kept, because paths repeat


class NodeLimits:
    """The limits of one grower; they are those of its next level to be searched.

    Attributes
    ----------
    allowed : uint8 array of shape (n_nodes or 1, n_columns)
        1 for the columns that a node may be split at, of those that trees read; one row if it is that of all nodes.
    is_fixed : bool
        Whether the limits are the same for all levels of a tree.
    """

    def __init__(self, rules: GrowthRules, n_columns: int) -> None:
        self.rules = rules
        self.is_fixed = rules.interactions is None and rules.max_leaf_nodes is None
        has_one_row = rules.symmetric or self.is_fixed
        self.allowed = np.ones((1 if has_one_row else 1 << (rules.depth - 1), n_columns), dtype=np.uint8)
        sources = rules.sources or tuple((j,) for j in range(n_columns))
        self._sources = [frozenset(source) for source in sources]
        self._n_columns = 1 + max(max(source) for source in sources)  # of the table
        self._drawn = np.ones(n_columns, dtype=np.uint8)
        self._masks: dict[frozenset[int], np.ndarray] = {}

    @classmethod
    def of(cls, rules: GrowthRules, n_columns: int) -> "NodeLimits | None":
        """The limits that the rules set; None if there are none."""
        return cls(rules, n_columns) if rules.limits_columns or rules.max_leaf_nodes is not None else None

    def begin_tree(self, key: np.uint64) -> None:
        """Draw the columns of the next tree."""
        if self.rules.max_features < 1.0:
            n_drawn = max(1, round(self.rules.max_features * self._n_columns))
            drawn = set(random_permutation(key, self._n_columns)[:n_drawn].tolist())
            self._drawn[:] = [source <= drawn for source in self._sources]
        if self.is_fixed:
            self.allowed[0] = self._drawn

    def begin_level(self, tree: GrownGradientTree, level: int) -> None:
        """Write what the nodes of a level may use, after the splits of the level above."""
        if self.is_fixed:
            return
        if level == 0:
            self._used = [frozenset[int]()]  # for each node, the columns of the table above it
            self._reach = np.array([inf])  # for each node, the lowest gain above it
            self._all_reaches = np.empty(0)  # of the nodes of all levels above, with their own gains
        n_nodes = 1 if self.rules.symmetric else 1 << level
        if level > 0 and self.rules.interactions is not None:
            self._used = self._used_below(tree.level(level - 1))
        self.allowed[:n_nodes] = self._drawn
        if self.rules.interactions is not None:
            for row, used in enumerate(self._used):
                self.allowed[row] &= self._mask(used)
        if level > 0 and self.rules.max_leaf_nodes is not None:
            self._close_nodes(tree.level(level - 1))

    def _used_below(self, above: TreeSplits) -> list[frozenset[int]]:
        """The columns above each node of the next level."""
        features, sources = above.features.tolist(), self._sources
        below = [
            used | sources[feature] if feature >= 0 else used
            for used, feature in zip(self._used, features, strict=True)
        ]
        return below if self.rules.symmetric else [used for used in below for _ in range(2)]

    def _mask(self, used: frozenset[int]) -> np.ndarray:
        """The columns that may be split at below splits at the columns ``used`` of the table."""
        mask = self._masks.get(used)
        if mask is None:
            if len(self._masks) >= MAX_MASKS:
                self._masks.clear()
            mask = self._masks[used] = np.array(self._may_follow(used), dtype=np.uint8)
        return mask

    def _may_follow(self, used: frozenset[int]) -> list[bool]:
        interactions = self.rules.interactions
        assert interactions is not None
        if isinstance(interactions, int):
            return [len(used | source) <= interactions for source in self._sources]
        groups = [own for own in map(frozenset, interactions) if used <= own]
        free = frozenset[int]().union(*groups)
        return [
            source <= free and (len(source) == 1 or any(source <= own for own in groups)) for source in self._sources
        ]

    def _close_nodes(self, above: TreeSplits) -> None:
        """Allow no column below nodes that best-first growth cannot split: enough others have higher gains.

        It splits a node before another if the lowest gain on the path to the node, with its own, is the higher one.
        """
        assert self.rules.max_leaf_nodes is not None
        n_splits = self.rules.max_leaf_nodes - 1
        reach = np.where(above.features >= 0, np.minimum(self._reach, above.gains), -inf)
        self._all_reaches = np.concatenate([self._all_reaches, reach])
        if len(self._all_reaches) > n_splits:
            reach[reach < np.partition(self._all_reaches, -n_splits)[-n_splits]] = -inf
        self._reach = np.repeat(reach, 2)
        self.allowed[: len(self._reach)][self._reach == -inf] = 0
