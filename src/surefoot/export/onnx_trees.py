"""The trees of a model as operators of ONNX, which sum their leaves in double precision.

An operator has one number in a leaf, not a vector: a tree is written once for each output for which its leaves differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot.export.onnx_graph import OnnxGraph, OnnxValue
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.reached_nodes import ReachedNodes

SUM, NO_TRANSFORM = 1, 0
MAX_TREES = 500  # of an operator: the time that onnxruntime needs to read one grows with the square of its trees
UP_TO, MEMBER = 0, 6  # modes of nodes: the true branch is for values up to a number, or for members of a set


@dataclass(frozen=True)
class OnnxTrees:
    """Inner nodes and leaves of some trees, for one output of one member; a child is numbered among either."""

    roots: np.ndarray
    features: np.ndarray  # columns of the matrix that the operator reads
    modes: np.ndarray
    splits: np.ndarray
    missing_true: np.ndarray
    true_ids: np.ndarray
    true_is_leaf: np.ndarray
    false_ids: np.ndarray
    false_is_leaf: np.ndarray
    sets: list[np.ndarray]  # the members of each set, in the order of the nodes
    leaves: np.ndarray

    @classmethod
    def of(cls, nodes: ReachedNodes, tables: np.ndarray, missing: np.ndarray, places: np.ndarray) -> "OnnxTrees":
        """Trees with at least one split; ``places`` are the columns of the matrix for the features of the member."""
        size = np.diff(nodes.first)
        tree = np.repeat(np.arange(len(size)), size)
        kept = size[tree] > 1
        is_leaf, root = (nodes.left < 0)[kept], np.repeat(nodes.first[:-1], size)[kept]
        number = np.zeros(len(tree), dtype=np.int64)
        number[kept] = np.where(is_leaf, np.cumsum(is_leaf), np.cumsum(~is_leaf)) - 1
        inner = np.flatnonzero(kept)[~is_leaf]
        left, right = (side[inner] + root[~is_leaf] for side in (nodes.left, nodes.right))
        by_set = nodes.sets[inner] >= 0
        sets, swapped = _members(nodes, tables, missing, inner[by_set])
        swap = np.zeros(len(inner), dtype=np.bool_)
        swap[by_set] = swapped
        true, false = np.where(swap, right, left), np.where(swap, left, right)
        return cls(
            roots=number[nodes.first[:-1][size > 1]],
            features=places[nodes.features[inner]],
            modes=np.where(by_set, MEMBER, UP_TO).astype(np.uint8),
            splits=np.where(by_set, 0.0, nodes.thresholds[inner]),
            missing_true=nodes.missing_left[inner] & ~by_set,
            true_ids=number[true],
            true_is_leaf=nodes.left[true] < 0,
            false_ids=number[false],
            false_is_leaf=nodes.left[false] < 0,
            sets=sets,
            leaves=nodes.values[kept, 0][is_leaf],
        )


def _members(
    nodes: ReachedNodes, tables: np.ndarray, missing: np.ndarray, inner: np.ndarray
) -> tuple[list[np.ndarray], list[bool]]:
    """For each node that splits by categories the smaller side, as numbers from 1, and whether that is the right one.

    Codes are increased by 1, because runtimes hold sets of whole numbers from 1 to 63 in the bits of one number.
    """
    sets, swapped = [], []
    for node in inner:
        goes_right = tables[nodes.sets[node], : missing[nodes.features[node]] + 1] == 1
        right, left = np.flatnonzero(goes_right) + 1.0, np.flatnonzero(~goes_right) + 1.0
        takes_right = len(left) == 0 or 0 < len(right) < len(left)
        sets.append(right if takes_right else left)
        swapped.append(takes_right)
    return sets, swapped


def tree_sums(
    graph: OnnxGraph, matrix: OnnxValue, members: Sequence[Member], places: Sequence[np.ndarray]
) -> list[OnnxValue]:
    """Each raw output (rows, members), before the bounds of the last.

    ``places`` has, for each member, the column of ``matrix`` of every feature that it reads.
    """
    read = list(zip(members, places, strict=True))
    return [
        graph.concatenated([_column(graph, matrix, member, output, place) for member, place in read])
        for output in range(members[0].trees.forest.n_outputs)
    ]


def _column(graph: OnnxGraph, matrix: OnnxValue, member: Member, output: int, places: np.ndarray) -> OnnxValue:
    """One raw output (rows, 1) of one member."""
    forest, total = member.trees.forest, float(member.trees.start[output])
    forest = replace(forest, leaves=forest.leaves[:, :, output : output + 1])
    sums = []
    for start in range(0, forest.n_trees, MAX_TREES):
        part = forest.part(start, start + MAX_TREES)
        nodes = ReachedNodes.of(part, member.encoding)
        alone = nodes.first[:-1][np.diff(nodes.first) == 1]  # a tree without a split adds the same to every row
        total += float(nodes.values[alone, 0].sum())
        if len(alone) < part.n_trees:
            sums.append(_operator(graph, matrix, OnnxTrees.of(nodes, part.tables, member.encoding.missing, places)))
    if not sums:
        first = matrix.take([0]) * 0.0  # NaN where a value is missing
        sums = [first.where(first.above(-1.0), 0.0)]
    return (sums[0] if len(sums) == 1 else graph.node("Sum", *sums)) + total


def _operator(graph: OnnxGraph, matrix: OnnxValue, trees: OnnxTrees) -> OnnxValue:
    """The sum of the leaves of some trees, (rows, 1)."""
    ends = [np.append(members, np.nan) for members in trees.sets]  # NaN ends each set
    return graph.ml_node(
        "TreeEnsemble",
        matrix,
        aggregate_function=SUM,
        post_transform=NO_TRANSFORM,
        n_targets=1,
        tree_roots=trees.roots.tolist(),
        nodes_featureids=trees.features.tolist(),
        nodes_modes=trees.modes,
        nodes_splits=trees.splits,
        nodes_missing_value_tracks_true=trees.missing_true.astype(int).tolist(),
        nodes_truenodeids=trees.true_ids.tolist(),
        nodes_trueleafs=trees.true_is_leaf.astype(int).tolist(),
        nodes_falsenodeids=trees.false_ids.tolist(),
        nodes_falseleafs=trees.false_is_leaf.astype(int).tolist(),
        leaf_targetids=[0] * len(trees.leaves),
        leaf_weights=trees.leaves,
        **({"membership_values": np.concatenate(ends)} if ends else {}),
    )
