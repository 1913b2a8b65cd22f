"""Partial dependence of the audited model on its most important columns, by every model of the folds.

`sklearn.inspection.partial_dependence` is of one fitted model; here the spread over the models of the folds matters. A
value is that of a row of the table, so that a user's own model gets it as it was passed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot._formatting import number
from surefoot.report.inputs.column_readers import CATEGORY, DATE
from surefoot.report.inputs.target import BINARY
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.sections.importance.findings import PartialDependence
from surefoot.report.sections.stability.leading_column import table_of, taken_columns
from surefoot.report.statistics import mean_of

MAX_VALUES, MAX_CATEGORIES = 12, 8
RANGE = (0.02, 0.98)  # quantiles: beyond them few rows support a curve
MAX_ROWS = 100  # for each model
MAX_WHOLE = 1e7


def measure_dependence(audited: CrossFitted, columns: Sequence[str]) -> tuple[str, tuple[PartialDependence, ...]]:
    """What the curves are of, and the curve of each column."""
    of_class = class_of(audited)
    target = audited.table.target
    output = f"prediction of {target.name}" if of_class is None else f"probability of {target.classes[of_class]}"
    if of_class is not None and audited.predictions.probabilities is None:
        output = f"fraction of rows predicted to be {target.classes[of_class]}"
    by_name = {str(reader.name): reader for reader in audited.table.readers}
    curves = (_of_column(audited, by_name[name], of_class) for name in columns)
    return output, tuple(curve for curve in curves if curve is not None)


def class_of(audited: CrossFitted) -> int | None:
    """The class whose probability is shown: the second of two, the rare one, or the most frequent of several."""
    target = audited.table.target
    if not target.is_classes:
        return None
    if target.task == BINARY:
        return 1 if target.rare is None else target.rare
    return int(target.class_fractions().argmax())


def _of_column(audited: CrossFitted, reader: Any, of_class: int | None) -> PartialDependence | None:
    """The curve of a column; None if it is missing in every held-out row."""
    sources, values, positions = grid_of(audited, reader)
    if not len(sources):
        return None
    curves = np.array(
        [_curve(audited, k, str(reader.name), sources, of_class) for k in range(len(audited.fold_models))]
    )
    return PartialDependence(
        column=str(reader.name),
        is_category=reader.kind == CATEGORY,
        values=values,
        positions=positions,
        mean=tuple(curves.mean(axis=0).tolist()),
        low=tuple(curves.min(axis=0).tolist()),
        high=tuple(curves.max(axis=0).tolist()),
    )


def grid_of(audited: CrossFitted, reader: Any) -> tuple[np.ndarray, tuple[str, ...], tuple[float, ...]]:
    """Rows of the table whose values are the grid, and these values: quantiles, or the most frequent categories."""
    held_out = audited.splits.held_out
    column = audited.table.frame[reader.name].iloc[held_out]
    if reader.kind == CATEGORY:
        kinds, first, counts = np.unique(column.cat.codes.to_numpy(), return_index=True, return_counts=True)
        known = np.flatnonzero(kinds >= 0)
        chosen = first[known[np.argsort(-counts[known], kind="stable")[:MAX_CATEGORIES]]]
        return held_out[chosen], tuple(str(column.iloc[i]) for i in chosen), tuple(map(float, range(len(chosen))))
    numbers = column.to_numpy(np.float64)
    known = np.flatnonzero(np.isfinite(numbers))
    ordered = known[np.argsort(numbers[known], kind="stable")]
    places = np.unique((np.linspace(*RANGE, MAX_VALUES) * max(len(ordered) - 1, 0)).round().astype(int))[: len(ordered)]
    found, first = np.unique(numbers[ordered[places]], return_index=True)
    chosen = ordered[places[first]]
    return held_out[chosen], tuple(_written(value, reader.kind) for value in found), tuple(found.tolist())


def _written(value: float, kind: str) -> str:
    if kind == DATE:
        return str(np.datetime64(0, "D") + np.timedelta64(int(value), "D"))
    return f"{value:.0f}" if value == round(value) and abs(value) < MAX_WHOLE else number(value)


def _curve(audited: CrossFitted, fold: int, name: str, sources: np.ndarray, of_class: int | None) -> np.ndarray:
    """The mean prediction of one model for its test rows, with each of the values in the column."""
    test = audited.splits.folds[fold][1]
    rows = test[np.linspace(0, len(test) - 1, min(MAX_ROWS, len(test))).astype(int)]
    X = table_of(audited, np.concatenate([rows, sources]))
    every = np.tile(np.arange(len(rows)), len(sources))
    changed = taken_columns(X, every, {name: np.repeat(len(rows) + np.arange(len(sources)), len(rows))})
    target = audited.table.target
    predictions = audited.candidate.predict_table(audited.fold_models[fold], changed, target)
    if of_class is None:
        values = predictions.values.astype(np.float64)
    elif predictions.probabilities is not None:
        values = predictions.probabilities[:, of_class]
    else:
        values = (predictions.values == target.classes[of_class]).astype(np.float64)
    weights = audited.table.weights_of(rows)
    return np.array([mean_of(of_value, weights) for of_value in values.reshape(len(sources), len(rows))])
