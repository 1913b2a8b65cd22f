"""Trees as arrays: perfect binary trees in heap order."""

from dataclasses import dataclass

import numpy as np

from surefoot._jit import kernel
from surefoot.data import BinnedTable


@dataclass(frozen=True)
class Tree:
    """One tree, for inspection: node 0 is the root, the children of node i are 2i + 1 and 2i + 2.

    ``feature`` is -1 where a node does not split: every row goes left. Where ``threshold`` is NaN the split is by
    category: categories with a 1 at their code in ``goes_right`` go right. ``labels`` are indices into the classes.
    """

    feature: np.ndarray
    threshold: np.ndarray
    missing_right: np.ndarray
    goes_right: np.ndarray  # (nodes, 256)
    labels: np.ndarray


@dataclass(frozen=True)
class VotingForest:
    """Trees of one depth D: ``2**D - 1`` nodes and ``2**D`` leaves each, the trees along the first axis.

    A number goes right if it is above the threshold of the node, a category if its bit in ``sets`` is 1, a missing
    value if ``missing_right`` is True. A node with feature -1 sends every row left.
    """

    features: np.ndarray  # int32
    thresholds: np.ndarray  # float64, NaN for a set of categories
    missing_right: np.ndarray  # bool
    sets: np.ndarray  # uint64, (trees, nodes, 4)
    gains: np.ndarray  # float64: gain of the split
    labels: np.ndarray  # int32, (trees, leaves)

    def tree(self, index: int) -> Tree:
        return Tree(
            feature=self.features[index],
            threshold=self.thresholds[index],
            missing_right=self.missing_right[index],
            goes_right=set_bits(self.sets[index]),
            labels=self.labels[index],
        )

    def add_votes(self, values: np.ndarray, vote_weights: np.ndarray, votes: np.ndarray) -> None:
        """Add each tree's vote weight to ``votes[row, label]``; ``values`` is a block of columns."""
        add_votes(
            values, self.features, self.thresholds, self.missing_right, self.sets, self.labels, vote_weights, votes
        )

    def feature_importances(self, vote_weights: np.ndarray, n_features: int) -> np.ndarray:
        """Each feature's fraction of the gains of trees, weighted by their votes; sums to 1 unless no tree splits."""
        fractions = self.gains / np.maximum(self.gains.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        used = self.features >= 0
        weighted = (fractions * vote_weights[:, np.newaxis])[used]
        importances = np.bincount(self.features[used], weights=weighted, minlength=n_features)
        return importances / (importances.sum() or 1.0)

    @classmethod
    def from_nodes(
        cls,
        table: BinnedTable,
        features: np.ndarray,
        below: np.ndarray,
        above: np.ndarray,
        missing_right: np.ndarray,
        sets: np.ndarray,
        gains: np.ndarray,
        labels: np.ndarray,
    ) -> "VotingForest":
        """A forest from splits between bins: thresholds lie midway between the bins ``below`` and ``above``."""
        return cls(
            features=features,
            thresholds=table.thresholds_between(features, below, above),
            missing_right=missing_right,
            sets=sets,
            gains=gains,
            labels=labels,
        )


def set_bits(words: np.ndarray) -> np.ndarray:
    """Sets of category codes, four words each along the last axis, as 256 zeros and ones."""
    return np.unpackbits(np.ascontiguousarray(words, dtype="<u8").view(np.uint8), axis=-1, bitorder="little")


@kernel
def add_votes(values, features, thresholds, missing_right, sets, labels, vote_weights, votes):
    """Find the leaf of every row of a block (columns, rows) in every tree; add the weight of the tree to its label."""
    n_nodes = features.shape[1]
    for t in range(features.shape[0]):
        for i in range(values.shape[1]):
            node = 0
            while node < n_nodes:
                feature = features[t, node]
                right = False
                if feature >= 0:
                    value = values[feature, i]
                    if np.isnan(value):
                        right = missing_right[t, node]
                    elif np.isnan(thresholds[t, node]):
                        code = np.int64(value)
                        right = (sets[t, node, code // 64] >> np.uint64(code % 64)) & np.uint64(1) == np.uint64(1)
                    else:
                        right = value > thresholds[t, node]
                node = 2 * node + (2 if right else 1)
            votes[i, labels[t, node - n_nodes]] += vote_weights[t]
