"""A tree grown leaf by leaf, and how such trees become a forest of perfect trees."""

from dataclasses import dataclass

import numpy as np

from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.vector_forest import ForestBuilder, VectorForest


@dataclass(frozen=True)
class Split:
    """How a node splits its rows by the codes of one column."""

    feature: int
    code: int  # the last code that goes left, for a column in order
    missing_left: bool
    goes_right: np.ndarray  # uint8, (256,)
    gain: float


@dataclass(frozen=True)
class LeafwiseTree:
    """Splits and leaves by their number in a heap: the children of node k are 2k + 1 and 2k + 2."""

    splits: dict[int, Split]
    values: dict[int, float]
    covers: dict[int, float]  # rows by weight in each leaf

    @property
    def depth(self) -> int:
        """Splits on the longest path; at least 1, because a forest has no trees without a node."""
        return max(1, max(level_of(node) for node in self.values))


def level_of(node: int) -> int:
    """Return the number of splits above a node."""
    return (node + 1).bit_length() - 1


def make_forest(trees: list[LeafwiseTree], missing: np.ndarray, is_categorical: np.ndarray) -> VectorForest:
    """Make perfect trees, all as deep as the deepest: below a leaf, every row goes left."""
    depth = max(tree.depth for tree in trees)
    builder = ForestBuilder(missing + 1, is_categorical)
    for tree in trees:
        grown = GrownGradientTree.empty(depth, symmetric=False, n_rows=0)
        grown.features[:] = -1
        for node, split in tree.splits.items():
            grown.features[node], grown.codes[node] = split.feature, split.code
            grown.missing_left[node], grown.gains[node] = split.missing_left, split.gain
            grown.tables[node] = split.goes_right
        leaves, covers = np.zeros((1 << depth, 1)), np.zeros(1 << depth)
        for node, value in tree.values.items():
            leaf = leftmost_leaf(node, depth)
            leaves[leaf, 0], covers[leaf] = value, tree.covers[node]
        builder.add(grown, leaves, covers)
    return builder.forest(len(trees))


def leftmost_leaf(node: int, depth: int) -> int:
    """Return the number of the first leaf below a node of a perfect tree."""
    level = level_of(node)
    return (node + 1 - (1 << level)) << (depth - level)
