"""A fitted model as dictionaries of trees in the format of shap's TreeExplainer, one for each raw output."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.data.columns import Schema
from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.training_table import Encoding

EMPTY_FRACTION = 1e-9  # weight of a leaf without training rows, as a fraction of the tree's: shap divides by weights


def shap_models(
    member: Member, schema: Schema, outputs: Sequence[Hashable], columns: Sequence[str] | None
) -> dict[Hashable, dict[str, Any]]:
    """The model that TreeExplainer takes for each of the ``outputs``; an error message uses the names ``columns``."""
    forest = member.trees.forest
    _check_splits(forest, member.encoding, schema, columns)
    nodes = _Nodes.of(forest, member.encoding)
    return {
        name: {"trees": nodes.trees(output), "base_offset": float(member.trees.start[output])}
        for output, name in enumerate(outputs)
    }


def _check_splits(forest: VectorForest, encoding: Encoding, schema: Schema, columns: Sequence[str] | None) -> None:
    """Refuse trees that split on categories, or on a column that is made from others or from categories."""
    read = {encoding.sources[feature] for feature in np.unique(forest.features[forest.features >= 0])}
    refused = {j for source in read if len(source) > 1 or source[0] in schema.categories for j in source}
    if refused:
        names = ", ".join(repr(columns[j]) if columns is not None else str(j) for j in sorted(refused))
        raise DataError(
            f"to_shap cannot express splits on categories (X's columns {names}), because shap's trees have only "
            "thresholds: encode them as numbers before fit, for example with scikit-learn's TargetEncoder."
        )


def _thresholds(forest: VectorForest, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """The threshold of every node, up to which rows go left, and whether missing values go left.

    Bins are searched with ``value <= threshold`` too, so their thresholds need no change. There is none above the last
    bin: every number goes left.
    """
    tables = [np.empty(0) if edges is None else np.append(edges.thresholds, np.inf) for edges in encoding.binner.edges]
    starts = np.cumsum([0, *map(len, tables)])
    thresholds, missing_left = np.zeros(forest.features.shape), np.ones(forest.features.shape, dtype=np.bool_)
    split = forest.features >= 0
    feature, limit, shift = (part[split].astype(np.int64) for part in (forest.features, forest.limits, forest.shifts))
    last_code = encoding.binner.missing[feature] - 1
    last_left = np.minimum(np.where(shift > 0, limit + shift - 256, limit), last_code)
    thresholds[split] = np.concatenate(tables)[starts[feature] + last_left]
    missing_left[split] = (last_code + 1 - shift) % 256 <= limit
    return thresholds, missing_left


@dataclass(frozen=True)
class _Nodes:
    """The nodes of all trees that rows can reach: those of tree t are ``first[t]:first[t + 1]``, root first.

    Children are numbered from the root of their tree; at a leaf they are -1, as is the feature.
    """

    first: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing: np.ndarray
    features: np.ndarray
    thresholds: np.ndarray
    weights: np.ndarray
    values: np.ndarray  # (nodes, outputs), 0 except at leaves: shap computes the others

    @classmethod
    def of(cls, forest: VectorForest, encoding: Encoding) -> "_Nodes":
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

        left, right = child(1), child(2)
        columns = np.array([source[0] for source in encoding.sources], dtype=np.int32)[forest.features]
        return cls(
            first=np.append(0, np.cumsum(reached.sum(axis=1))),
            left=left,
            right=right,
            missing=np.where(of_node(missing_left, 0), left, right),
            features=of_node(columns, -1),
            thresholds=of_node(thresholds, 0.0),
            weights=weights[tree, place],
            values=np.where(inner[:, np.newaxis], 0.0, values[tree, place]),
        )

    def trees(self, output: int) -> list[dict[str, np.ndarray]]:
        """Trees of one output; every array is a copy, because shap writes to its input."""
        parts = {
            "children_left": self.left,
            "children_right": self.right,
            "children_default": self.missing,
            "features": self.features,
            "thresholds": self.thresholds,
            "values": self.values[:, output : output + 1],
            "node_sample_weight": self.weights,
        }
        return [
            {name: part[start:stop].copy() for name, part in parts.items()}
            for start, stop in zip(self.first[:-1], self.first[1:], strict=True)
        ]


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
