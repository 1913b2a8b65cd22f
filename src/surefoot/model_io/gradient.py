"""Gradient boosters: single models and ensembles."""

from typing import Any

import numpy as np

from surefoot.model_io.columns import COLUMNS, FittedColumns
from surefoot.model_io.encoding import ENCODINGS
from surefoot.model_io.family import AnyFamily, Family
from surefoot.model_io.fields import Array, Many, Maybe, Record, Scalar
from surefoot.model_io.labels import Classes
from surefoot.model_io.model_json import require
from surefoot.model_io.vector_forest import VECTOR_FOREST, check_sums
from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.base import SingleBooster
from surefoot.uncertainty.classifier import ClassificationBooster
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import BoostedTrees, Member
from surefoot.uncertainty.training_table import Encoding


def _make_trees(
    start: np.ndarray, forest: VectorForest, shrink: float, held_out_nll: np.ndarray, bounds: np.ndarray
) -> BoostedTrees:
    require(start.shape == (forest.n_outputs,), "start and outputs differ in number")
    require(bounds.shape == (forest.n_trees, 2) and (bounds[:, 0] <= bounds[:, 1]).all(), "bounds are not in order")
    require((bounds[:, 0] < np.inf).all() and (bounds[:, 1] > -np.inf).all(), "bounds are infinite")
    check_sums(start, forest)
    return BoostedTrees(start, forest, shrink, held_out_nll, bounds)


def _take(model: Any) -> dict[str, Any]:
    return {
        "columns": FittedColumns.of(model),
        "classes": getattr(model, "classes_", None),
        "family": model.family_,
        "encodings": [member.encoding for member in model._members],
        "members": [member.trees for member in model._members],
    }


def _adopt(
    model: Any,
    columns: FittedColumns,
    classes: np.ndarray | None,
    family: AnyFamily,
    encodings: list[Encoding],
    members: list[BoostedTrees],
) -> None:
    _check_target(model, classes, family)
    is_single = isinstance(model, SingleBooster)
    require(len(members) == 1 if is_single else len(members) >= 1, "the number of members is not that of such a model")
    if len(encodings) == 1:
        encodings = encodings * len(members)  # not copies: members with the same encoding share it
    require(len(encodings) == len(members), "statistics are not those of the members")
    shared = encodings[0]
    require(len(shared.plain) + len(shared.many) == columns.n_columns, "bins are not those of the columns")
    columns.check_bins(shared.binner, shared.plain)
    require(set(shared.many) <= columns.schema.categories.keys(), "there are statistics of a column of numbers")
    for encoding, trees in zip(encodings, members, strict=True):
        require(trees.forest.n_outputs == family.n_outputs, "outputs are not those of the family")
        require(trees.forest.features.max() < len(encoding.sources), "there are splits on columns that do not exist")
    columns.set_on(model, classes)
    model._adopt(family, [Member(*parts) for parts in zip(encodings, members, strict=True)])


def _check_target(model: Any, classes: np.ndarray | None, family: AnyFamily) -> None:
    if isinstance(model, ClassificationBooster):
        n_classes = getattr(family, "n_classes", 0)
        is_valid = isinstance(family, ClassificationFamily) and classes is not None and len(classes) == n_classes
    else:
        is_valid = isinstance(family, RegressionFamily) and classes is None
    require(is_valid, "family and classes are not those of such a model")


BOOSTED_TREES = Record(
    {
        "start": Array(np.float64, 1, finite=True),
        "forest": VECTOR_FOREST,
        "shrink": Scalar(float, 0.5, 1.0),
        "held_out_nll": Array(np.float64, 1),
        "bounds": Array(np.float64, 2),
    },
    make=_make_trees,
)
GRADIENT = Record(
    {
        "columns": COLUMNS,
        "classes": Maybe(Classes()),
        "family": Family(),
        "encodings": ENCODINGS,
        "members": Many(BOOSTED_TREES),
    },
    make=_adopt,
    take=_take,
)
