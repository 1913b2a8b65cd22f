"""V-matrix boosters."""

from typing import Any

import numpy as np

from surefoot.data import Binner
from surefoot.model_io.binner import BINNER
from surefoot.model_io.columns import COLUMNS, FittedColumns
from surefoot.model_io.fields import Array, Many, Maybe, Record, Scalar
from surefoot.model_io.labels import Classes
from surefoot.model_io.model_json import require
from surefoot.model_io.vector_forest import VECTOR_FOREST, check_sums
from surefoot.shift import VMatrixBoostingClassifier
from surefoot.shift.training import Boosted
from surefoot.trees.vector_forest import VectorForest


def _make_boosted(start: float, forest: VectorForest, held_out_loss: np.ndarray) -> Boosted:
    require(forest.n_outputs == 1, "leaves have more than one value")
    check_sums(np.array([start]), forest)
    return Boosted(start=start, forest=forest, held_out_loss=held_out_loss)


def _take(model: Any) -> dict[str, Any]:
    return {
        "columns": FittedColumns.of(model),
        "classes": getattr(model, "classes_", None),
        "binner": model._binner,
        "boosted": model._boosted,
        "coverage": model.coverage_,
    }


def _adopt(
    model: Any,
    columns: FittedColumns,
    classes: np.ndarray | None,
    binner: Binner,
    boosted: list[Boosted],
    coverage: float,
) -> None:
    is_classifier = isinstance(model, VMatrixBoostingClassifier)
    require(is_classifier == (classes is not None), "classes are not those of such a model")
    n_sequences = 1 if classes is None or len(classes) == 2 else len(classes)
    require(len(boosted) == n_sequences, "there is not one sequence of trees for each class")
    columns.check_bins(binner, range(columns.n_columns))
    for one in boosted:
        require(one.forest.features.max() < columns.n_columns, "there are splits on columns that do not exist")
    columns.set_on(model, classes)
    model._binner, model._boosted, model.coverage_ = binner, boosted, coverage
    model.n_iter_ = max(one.forest.n_trees for one in boosted)
    losses = [one.held_out_loss for one in boosted]
    model.validation_loss_ = losses[0] if n_sequences == 1 else losses


BOOSTED = Record(
    {"start": Scalar(float), "forest": VECTOR_FOREST, "held_out_loss": Array(np.float64, 1)}, make=_make_boosted
)
VMATRIX = Record(
    {
        "columns": COLUMNS,
        "classes": Maybe(Classes()),
        "binner": BINNER,
        "boosted": Many(BOOSTED),
        "coverage": Scalar(float, 0.0, 1.0),
    },
    make=_adopt,
    take=_take,
)
