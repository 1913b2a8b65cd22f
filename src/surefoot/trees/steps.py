"""A weighted vote of stumps as one step function for each feature: a prediction looks up features, not stumps."""

from dataclasses import dataclass

import numpy as np

from surefoot._jit import kernel
from surefoot.trees.forest import VotingForest, set_bits

BATCH = 256
N_CODES = 256  # of categories, and a set of them may begin or end at each


@dataclass(frozen=True)
class StepFunctions:
    """Step functions of some features, and a constant; their sum is the vote.

    ``breaks[starts[k]:starts[k + 1]]`` are the places where the function of ``features[k]`` jumps, padded with infinity
    to a power of two; ``heights`` has the value up to each break, and beyond the last of them.
    """

    features: np.ndarray
    starts: np.ndarray
    breaks: np.ndarray
    heights: np.ndarray  # (outputs, breaks)
    missing: np.ndarray  # (outputs, features): the value where the feature is missing
    constant: np.ndarray  # (outputs,)

    @classmethod
    def from_stumps(cls, forest: VotingForest, leaf_values: np.ndarray) -> "StepFunctions":
        """Add up stumps; ``leaf_values`` (outputs, stumps, 2) is what each adds on its left and on its right."""
        root = forest.features[:, 0]
        used = np.unique(root[root >= 0])
        breaks, heights, missing = [], [], []
        for feature in used:
            stumps = np.flatnonzero(root == feature).tolist()
            cuts = np.unique(np.concatenate([_jumps(forest, stump) for stump in stumps]))
            size = 1 << len(cuts).bit_length()
            points = np.concatenate([cuts, np.full(size - len(cuts), np.inf)])
            breaks.append(points)
            heights.append(_heights(forest, leaf_values, stumps, points))
            sides = forest.missing_right[stumps, 0].astype(np.int64)
            missing.append(leaf_values[:, stumps, sides].sum(axis=1))
        n_outputs = leaf_values.shape[0]
        return cls(
            features=used.astype(np.int64),
            starts=np.concatenate([[0], np.cumsum([len(points) for points in breaks])]).astype(np.int64),
            breaks=np.concatenate([np.empty(0), *breaks]),
            heights=np.concatenate([np.empty((n_outputs, 0)), *heights], axis=1),
            missing=np.array(missing).T.reshape(n_outputs, len(used)).copy(),
            constant=leaf_values[:, root < 0, 0].sum(axis=1),
        )

    def add_to(self, values: np.ndarray, votes: np.ndarray) -> None:
        """Add the value of every row of a block of columns to ``votes`` (outputs, rows)."""
        votes += self.constant[:, np.newaxis]
        add_steps(values, self.features, self.starts, self.breaks, self.heights, self.missing, votes)


def count_steps(forest: VotingForest, n_outputs: int) -> tuple[int, int]:
    """At most so many numbers are in the step functions of stumps, and so many are added up to make them."""
    root, thresholds = forest.features[:, 0], forest.thresholds[:, 0]
    order = np.lexsort((thresholds, root))
    root, thresholds = root[order], thresholds[order]
    is_new = np.append(True, (root[1:] != root[:-1]) | (thresholds[1:] != thresholds[:-1]))
    features, first, n_stumps = np.unique(root, return_index=True, return_counts=True)
    n_cuts = np.add.reduceat(is_new & ~np.isnan(thresholds), first) + N_CODES * np.isnan(
        thresholds[first + n_stumps - 1]
    )
    n_points = 2 * (n_cuts + 1)[features >= 0]  # padded to a power of two
    n_sums = int((n_points * n_stumps[features >= 0]).sum())
    return n_outputs * (2 * len(root) + int(n_points.sum())), n_outputs * n_sums


def _heights(forest: VotingForest, leaf_values: np.ndarray, stumps: list[int], points: np.ndarray) -> np.ndarray:
    """The sum of some stumps (outputs, points)."""
    parts = (leaf_values[:, stump][:, _side(forest, stump, points)] for stump in stumps)
    if len(points) == 1:
        return np.sum(list(parts), axis=0)
    out = np.zeros((len(leaf_values), len(points)))
    for part in parts:  # not all at once: one column may have all stumps, and as many points
        out += part
    return out


def _jumps(forest: VotingForest, stump: int) -> np.ndarray:
    """Where the vote of the stump may change: at its threshold, or around the codes of a set."""
    if not np.isnan(forest.thresholds[stump, 0]):
        return forest.thresholds[stump]
    right = set_bits(forest.sets[stump, 0])
    return np.flatnonzero(right[1:] != right[:-1]) + 0.5


def _side(forest: VotingForest, stump: int, points: np.ndarray) -> np.ndarray:
    """0 or 1: the side of the stump on which each of the intervals that end at ``points`` lies."""
    if not np.isnan(forest.thresholds[stump, 0]):
        return (points > forest.thresholds[stump, 0]).astype(np.int64)
    codes = np.minimum(points, 255).astype(np.int64)  # an interval of codes ends half a code after its last
    return set_bits(forest.sets[stump, 0])[codes].astype(np.int64)


@kernel
def add_steps(values, features, starts, breaks, heights, missing, votes):
    """Read the block (columns, rows) and add the step function of each feature to ``votes``.

    As in the binned table, a batch of values is searched at a time, without branches.
    """
    place = np.empty(BATCH, np.int64)
    for k in range(features.shape[0]):
        table = breaks[starts[k] : starts[k + 1]]
        for start in range(0, values.shape[1], BATCH):
            column = values[features[k], start : start + BATCH]
            n = column.shape[0]
            place[:] = 0
            step = table.shape[0] // 2
            while step > 0:
                after = table[step - 1 :]
                for i in range(n):
                    place[i] += step * (after[place[i]] < column[i])
                step //= 2
            for output in range(votes.shape[0]):
                height = heights[output, starts[k] : starts[k + 1]]
                out = votes[output, start : start + n]
                if_missing = missing[output, k]
                for i in range(n):
                    out[i] += if_missing if np.isnan(column[i]) else height[place[i]]
