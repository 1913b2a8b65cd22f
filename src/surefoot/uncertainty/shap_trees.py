"""A fitted model as dictionaries of trees in the format of shap's TreeExplainer, one for each raw output."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.data.columns import Schema
from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.reached_nodes import ReachedNodes
from surefoot.uncertainty.training_table import Encoding


def shap_models(
    member: Member, schema: Schema, outputs: Sequence[Hashable], columns: Sequence[str] | None
) -> dict[Hashable, dict[str, Any]]:
    """The model that TreeExplainer takes for each of the ``outputs``; an error message uses the names ``columns``."""
    forest = member.trees.forest
    _check_splits(forest, member.encoding, schema, columns)
    nodes = ReachedNodes.of(forest, member.encoding)
    return {
        name: {"trees": _trees(nodes, member.encoding, output), "base_offset": float(member.trees.start[output])}
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


def _trees(nodes: ReachedNodes, encoding: Encoding, output: int) -> list[dict[str, np.ndarray]]:
    """Trees of one output; every array is a copy, because shap writes to its input."""
    columns = np.array([source[0] for source in encoding.sources], dtype=np.int32)
    parts = {
        "children_left": nodes.left,
        "children_right": nodes.right,
        "children_default": np.where(nodes.missing_left, nodes.left, nodes.right),
        "features": np.where(nodes.features < 0, np.int32(-1), columns[nodes.features]),
        "thresholds": nodes.thresholds,
        "values": nodes.values[:, output : output + 1],  # 0 except at leaves: shap computes the others
        "node_sample_weight": nodes.weights,
    }
    return [
        {name: part[start:stop].copy() for name, part in parts.items()}
        for start, stop in zip(nodes.first[:-1], nodes.first[1:], strict=True)
    ]
