"""Trees with vector leaves: of symmetric trees, one node per level is stored; sets of categories are bits."""

from typing import Any

import numpy as np

from surefoot.model_io.fields import Array, Record, Scalar
from surefoot.model_io.model_json import require
from surefoot.trees.vector_forest import ALL_LEFT, VectorForest

MAX_DEPTH = 16  # no tree is as deep, and kernels use 16 bits for leaves
NODE_FIELDS = ("features", "shifts", "limits", "sets", "gains")
SET_BYTES = 32


def _take(forest: VectorForest) -> dict[str, Any]:
    nodes = (1 << np.arange(forest.depth)) - 1 if forest.symmetric else slice(None)
    return {
        "symmetric": forest.symmetric,
        **{name: getattr(forest, name)[:, nodes] for name in NODE_FIELDS},
        "tables": np.packbits(forest.tables, axis=1, bitorder="little"),
        "covers": forest.covers,
        "leaves": forest.leaves,
    }


def _make(
    symmetric: bool, tables: np.ndarray, covers: np.ndarray, leaves: np.ndarray, **nodes: np.ndarray
) -> VectorForest:
    n_trees, n_leaves, n_outputs = leaves.shape
    depth = n_leaves.bit_length() - 1
    require(
        n_trees >= 1 and n_outputs >= 1 and 1 <= depth <= MAX_DEPTH, f"trees cannot have leaves of shape {leaves.shape}"
    )
    require(n_leaves == 1 << depth and covers.shape == (n_trees, n_leaves), "leaves are not those of perfect trees")
    n_nodes = depth if symmetric else n_leaves - 1
    require(all(part.shape == (n_trees, n_nodes) for part in nodes.values()), "nodes are not those of perfect trees")
    features, sets = nodes["features"], nodes["sets"]
    require(features.min() >= -1, "there are splits on columns that do not exist")
    require(tables.shape[1:] == (SET_BYTES,), f"sets of categories do not have {SET_BYTES} bytes")
    require((covers >= 0).all(), "there are leaves with a negative number of rows")
    require(sets.min() >= -1 and sets.max() < len(tables), "there are splits by sets that do not exist")
    require(len(tables) <= (sets >= 0).sum(), "there are sets of categories that no split uses")
    goes_left = (nodes["limits"] == ALL_LEFT) & (sets == -1)
    require(goes_left[features < 0].all(), "a node without a split sends rows to the right")
    if symmetric:  # by indices, as in training: kernels would be compiled again for another order of axes
        level = np.repeat(np.arange(depth), 1 << np.arange(depth))
        nodes = {name: part[:, level] for name, part in nodes.items()}
    tables = np.unpackbits(tables, axis=1, bitorder="little")
    return VectorForest(symmetric=symmetric, tables=tables, covers=covers, leaves=leaves, **nodes)


def check_sums(start: np.ndarray, forest: VectorForest) -> None:
    """Refuse leaves whose sum may be infinite: its difference from another infinity would be NaN."""
    with np.errstate(over="ignore"):
        size = np.abs(start)
        for leaves in forest.leaves:
            size = size + np.maximum(leaves.max(axis=0), -leaves.min(axis=0))
    require(np.isfinite(size).all(), "the sums of its leaves are not finite")


VECTOR_FOREST = Record(
    {
        "symmetric": Scalar(bool),
        "features": Array(np.int32, 2),
        "shifts": Array(np.uint8, 2),
        "limits": Array(np.uint8, 2),
        "sets": Array(np.int32, 2),
        "gains": Array(np.float32, 2),
        "tables": Array(np.uint8, 2),
        "covers": Array(np.float64, 2, finite=True),
        "leaves": Array(np.float64, 3, finite=True),
    },
    make=_make,
    take=_take,
)
