"""The nodes of boosted trees that rows can reach, with thresholds in the units of the table."""

from dataclasses import dataclass

import numpy as np

from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.training_table import Encoding

EMPTY_FRACTION = 1e-9  # weight of a leaf without training rows, as a fraction of the tree's: shap divides by weights


@dataclass(frozen=True)
class ReachedNodes:
    """The nodes of all trees that rows can reach: those of tree t are ``first[t]:first[t + 1]``, root first.

    Children are numbered from the root of their tree; at a leaf they are -1, as is the feature. Features are those that
    trees read: the places in ``sources`` of the encoding.
    """

    first: np.ndarray
    left: np.ndarray
    right: np.ndarray
    features: np.ndarray
    thresholds: np.ndarray  # numbers up to it go left; infinite where every number goes left
    sets: np.ndarray  # row of the forest's ``tables`` where the split is by categories, else -1
    missing_left: np.ndarray
    weights: np.ndarray
    values: np.ndarray  # (nodes, outputs), 0 except at leaves

    @classmethod
    def of(cls, forest: VectorForest, encoding: Encoding) -> "ReachedNodes":
        """The nodes of a forest that reads the codes of ``encoding``."""
        weights, values, is_leaf, place_to_use = _pruned(forest)
        reached = _reached(is_leaf, place_to_use)
        number = np.cumsum(reached, axis=1) - 1
        tree, place = np.nonzero(reached)
        inner = ~is_leaf[tree, place]
        thresholds, missing_left = _thresholds(forest, encoding)

        def child(side: int) -> np.ndarray:
            out = np.full(len(tree), -1, dtype=np.int32)
            out[inner] = number[tree[inner], place_to_use[tree[inner], 2 * place[inner] + side]]
            return out

        def of_node(array: np.ndarray, at_leaf: float) -> np.ndarray:
            out = np.full(len(tree), at_leaf, dtype=array.dtype)
            out[inner] = array[tree[inner], place[inner]]
            return out

        return cls(
            first=np.append(0, np.cumsum(reached.sum(axis=1))),
            left=child(1),
            right=child(2),
            features=of_node(forest.features, -1),
            thresholds=of_node(thresholds, 0.0),
            sets=of_node(forest.sets, -1),
            missing_left=of_node(missing_left, 0),
            weights=weights[tree, place],
            values=np.where(inner[:, np.newaxis], 0.0, values[tree, place]),
        )


def _thresholds(forest: VectorForest, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """The threshold of every node, up to which rows go left, and whether missing values go left.

    Bins are searched with ``value <= threshold`` too, so their thresholds need no change. There is none above the last
    bin: every number goes left. Nodes that split by categories have no threshold.
    """
    tables = [np.empty(0) if edges is None else np.append(edges.thresholds, np.inf) for edges in encoding.edges]
    starts = np.cumsum([0, *map(len, tables)])
    thresholds, missing_left = np.zeros(forest.features.shape), np.ones(forest.features.shape, dtype=np.bool_)
    missing = encoding.missing
    split, by_set = (forest.features >= 0) & (forest.sets < 0), forest.sets >= 0
    feature, limit, shift = (part[split].astype(np.int64) for part in (forest.features, forest.limits, forest.shifts))
    last_code = missing[feature] - 1
    last_left = np.minimum(np.where(shift > 0, limit + shift - 256, limit), last_code)
    thresholds[split] = np.concatenate(tables)[starts[feature] + last_left]
    missing_left[split] = (last_code + 1 - shift) % 256 <= limit
    missing_left[by_set] = forest.tables[forest.sets[by_set], missing[forest.features[by_set]]] == 0
    return thresholds, missing_left


def _pruned(forest: VectorForest) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each place in the heap (trees, places): its weight, its values, whether it is a leaf, and the place to use.

    Where a node does not split, its left child is used instead; two sibling leaves with equal values become one leaf.
    """
    n_trees, n_nodes, n_places = forest.n_trees, forest.features.shape[1], 2 * forest.features.shape[1] + 1
    weights, values = np.empty((n_trees, n_places)), np.empty((n_trees, n_places, forest.n_outputs))
    covers = forest.covers.astype(np.float64)
    weights[:, n_nodes:] = np.maximum(covers, EMPTY_FRACTION * covers.sum(axis=1, keepdims=True))
    values[:, n_nodes:] = forest.leaves
    is_leaf = np.ones((n_trees, n_places), dtype=np.bool_)
    place_to_use = np.tile(np.arange(n_places), (n_trees, 1))
    for level in range(forest.depth - 1, -1, -1):
        start = (1 << level) - 1
        nodes, below = slice(start, 2 * start + 1), 4 * start + 3
        left, right = slice(2 * start + 1, below, 2), slice(2 * start + 2, below, 2)
        split = forest.features[:, nodes] >= 0
        is_equal = is_leaf[:, left] & is_leaf[:, right] & (values[:, left] == values[:, right]).all(axis=2)
        is_leaf[:, nodes] = np.where(split, is_equal, is_leaf[:, left])
        place_to_use[:, nodes] = np.where(split | is_leaf[:, nodes], place_to_use[:, nodes], place_to_use[:, left])
        weights[:, nodes] = weights[:, left] + np.where(split, weights[:, right], 0.0)
        values[:, nodes] = values[:, left]
    return weights, values, is_leaf, place_to_use


def _reached(is_leaf: np.ndarray, place_to_use: np.ndarray) -> np.ndarray:
    """Which places a row can reach, from the roots down."""
    reached = np.zeros_like(is_leaf)
    reached[np.arange(len(reached)), place_to_use[:, 0]] = True
    for place in range((reached.shape[1] - 1) // 2):
        trees = np.flatnonzero(reached[:, place] & ~is_leaf[:, place])
        for child in (2 * place + 1, 2 * place + 2):
            reached[trees, place_to_use[trees, child]] = True
    return reached
