"""Trees with vector leaves, as arrays, and the sum of their leaves."""

from dataclasses import dataclass, replace

import numpy as np

from surefoot._jit import kernel
from surefoot.trees.grown_tree import GrownGradientTree

ALL_LEFT = 255  # no code is above this limit: every row goes left
SPLIT_KINDS = (np.int32, np.uint8, np.uint8, np.int32, np.float32)  # of features, shifts, limits, sets and gains


@dataclass(frozen=True)
class VectorForest:
    """Perfect binary trees of one depth D in heap order: ``2**D - 1`` nodes, ``2**D`` leaves; axis 0 is the trees.

    A row goes left at a node if its code, less ``shifts`` and wrapped to a byte, is at most ``limits``: that covers
    codes up to a threshold, with missing values (the last code) on either side. Where ``sets`` is not -1 the split is
    by categories: row ``sets`` of ``tables`` has a 1 for codes that go right. In a symmetric tree, all nodes of a level
    have the same split.
    """

    symmetric: bool
    features: np.ndarray  # int32, (trees, nodes); -1: no split, every row goes left
    shifts: np.ndarray  # uint8
    limits: np.ndarray  # uint8
    sets: np.ndarray  # int32
    tables: np.ndarray  # uint8, (sets, 256)
    gains: np.ndarray  # float32: gain of the split
    covers: np.ndarray  # float64, (trees, leaves): training rows by weight
    leaves: np.ndarray  # float64, (trees, leaves, outputs)

    @property
    def n_trees(self) -> int:
        return int(self.leaves.shape[0])

    @property
    def depth(self) -> int:
        return int(self.leaves.shape[1]).bit_length() - 1

    @property
    def n_outputs(self) -> int:
        return int(self.leaves.shape[2])

    def first(self, n_trees: int) -> "VectorForest":
        """A forest of the first trees."""
        return self.part(0, n_trees)

    def part(self, start: int, stop: int) -> "VectorForest":
        """A forest of the trees ``start`` to ``stop``."""
        names = ("features", "shifts", "limits", "sets", "gains", "covers", "leaves")
        return replace(self, **{name: getattr(self, name)[start:stop] for name in names})

    def add(self, codes: np.ndarray, start: int, stop: int, raw: np.ndarray) -> None:
        """Add the leaves of the trees ``start`` to ``stop`` to ``raw``, for a block of ``codes`` (columns, rows)."""
        plain = len(self.tables) == 0
        if self.symmetric and plain:
            add_symmetric(codes, self.features, self.shifts, self.limits, self.leaves, start, stop, raw)
        else:
            add_trees(
                codes, self.features, self.shifts, self.limits, self.sets, self.tables, self.leaves, start, stop, raw
            )

    def feature_importances(self, n_features: int) -> np.ndarray:
        """Each feature's fraction of all gains; sums to 1 unless no tree splits."""
        features, gains = self.features, self.gains
        if self.symmetric:  # the nodes of a level have the same split
            first = (1 << np.arange(self.depth)) - 1
            features, gains = features[:, first], gains[:, first]
        used = features >= 0
        importances = np.bincount(features[used], weights=gains[used], minlength=n_features)
        return importances / (importances.sum() or 1.0)


class ForestBuilder:
    """Collects grown trees and makes a forest of them."""

    def __init__(self, n_codes: np.ndarray, is_categorical: np.ndarray) -> None:
        self.n_codes, self.is_categorical = n_codes, is_categorical
        self._has_categories = bool(is_categorical.any())
        self._trees: list[tuple[np.ndarray, ...]] = []
        self._tables: list[np.ndarray] = []
        self._symmetric, self._depth = True, 1

    def __len__(self) -> int:
        return len(self._trees)

    def add(self, tree: GrownGradientTree, leaves: np.ndarray, covers: np.ndarray) -> None:
        """Copy a grown tree with the values and weights of its leaves."""
        self._symmetric, self._depth = tree.symmetric, tree.depth
        grown = (tree.features, tree.codes, tree.missing_left, tree.gains, covers, leaves)
        self._trees.append(tuple(array.copy() for array in grown))
        if self._has_categories:
            is_set = (tree.features >= 0) & self.is_categorical[tree.features]
            self._tables.append(tree.tables[is_set])

    def zero_last_output(self, start: int) -> None:
        """Set the last output of the trees from number ``start`` on to 0."""
        for *_, leaves in self._trees[start:]:
            leaves[:, -1] = 0.0

    def last_tree(self) -> VectorForest:
        """A forest of the last tree alone."""
        alone = ForestBuilder(self.n_codes, self.is_categorical)
        alone._trees, alone._tables = self._trees[-1:], self._tables[-1:]
        alone._symmetric, alone._depth = self._symmetric, self._depth
        return alone.forest(1)

    def forest(self, n_trees: int) -> VectorForest:
        """A forest of the first ``n_trees`` trees."""
        features, codes, missing_left, gains, covers, leaves = (
            np.array(parts)[:n_trees] for parts in zip(*self._trees, strict=True)
        )
        missing = self.n_codes[features] - 1
        shifts = np.where(missing_left, missing, 0)
        limits = np.where(features < 0, ALL_LEFT, np.where(missing_left, 256 - missing + codes, codes))
        is_set = (features >= 0) & self.is_categorical[features]
        sets = np.where(is_set, np.cumsum(is_set).reshape(is_set.shape) - 1, -1)
        tables = np.concatenate([np.empty((0, 256), dtype=np.uint8), *self._tables[:n_trees]])
        splits = zip((features, shifts, limits, sets, gains), SPLIT_KINDS, strict=True)
        level = np.floor(np.log2(np.arange(1, 1 << self._depth))).astype(np.int64)
        by_node = [part.astype(kind)[:, level] if self._symmetric else part.astype(kind) for part, kind in splits]
        features, shifts, limits, sets, gains = by_node
        return VectorForest(
            symmetric=self._symmetric,
            features=features,
            shifts=shifts,
            limits=limits,
            sets=sets,
            tables=tables,
            gains=gains,
            covers=covers,
            leaves=leaves,
        )


@kernel
def add_symmetric(codes, features, shifts, limits, leaves, start, stop, raw):
    """Add the leaves of symmetric trees without categories: one comparison per level for the whole block of rows."""
    n_rows = codes.shape[1]
    place = np.empty(n_rows, np.uint16)
    depth = 0
    while (1 << depth) < leaves.shape[1]:
        depth += 1
    for t in range(start, stop):
        place[:] = 0
        for level in range(depth):
            node = (1 << level) - 1
            feature = max(features[t, node], 0)  # without a split, no code is above the limit
            column = codes[feature]
            shift, limit = shifts[t, node], limits[t, node]
            for i in range(n_rows):
                place[i] = np.uint16(place[i] + place[i]) | np.uint16(np.uint8(column[i] - shift) > limit)
        for k in range(raw.shape[0]):
            out = raw[k]
            values = leaves[t, :, k]
            for i in range(n_rows):
                out[i] += values[np.uint64(place[i])]  # an unsigned index is not checked for wrapping around


@kernel
def add_trees(codes, features, shifts, limits, sets, tables, leaves, start, stop, raw):
    """Add the leaves of any trees: all rows of a block go down a tree together, level by level."""
    n_rows = codes.shape[1]
    n_nodes = features.shape[1]
    has_sets = tables.shape[0] > 0
    place = np.empty(n_rows, np.uint32)
    for t in range(start, stop):
        feature, shift, limit, category = features[t], shifts[t], limits[t], sets[t]
        place[:] = 0
        level = 1
        while level <= n_nodes:
            for i in range(n_rows):
                node = np.uint64(place[i])
                code = codes[np.uint64(max(feature[node], 0)), i]
                right = np.uint32(np.uint8(code - shift[node]) > limit[node])
                if has_sets and category[node] >= 0:
                    right = np.uint32(tables[np.uint64(category[node]), code])
                place[i] = 2 * place[i] + np.uint32(1) + right
            level = 2 * level + 1
        for k in range(raw.shape[0]):
            out = raw[k]
            values = leaves[t, :, k]
            for i in range(n_rows):
                out[i] += values[np.uint64(place[i]) - np.uint64(n_nodes)]
