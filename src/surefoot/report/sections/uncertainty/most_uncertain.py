"""The rows with the highest knowledge uncertainty of an ensemble, and the columns behind it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot._formatting import significant
from surefoot.report.inputs.column_readers import CATEGORY, DATE
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.sections.uncertainty.findings import UncertainRow

SHOWN_ROWS = 10
SHOWN_COLUMNS = 8
COLUMNS_PER_ROW = 3
MAX_CELLS = 20_000  # rows that are predicted with one column changed
CELLS_AT_ONCE = 500_000
TOP_FRACTION = 0.05  # of the held-out rows, those with the highest knowledge uncertainty


def most_uncertain(ensemble: CrossFitted) -> tuple[UncertainRow, ...]:
    """The held-out rows with the highest knowledge uncertainty, each with the columns behind it."""
    table, predictions = ensemble.table, ensemble.predictions
    assert predictions.knowledge is not None
    assert predictions.total is not None
    chosen = np.argsort(-predictions.knowledge, kind="stable")[:SHOWN_ROWS]
    falls = _falls(ensemble, chosen)
    rows = ensemble.splits.held_out[chosen]
    return tuple(
        UncertainRow(
            row=str(table.rows[row]),
            prediction=significant(predictions.values[i]),
            truth=significant(table.target.labels[row]),
            knowledge=float(predictions.knowledge[i]),
            total=float(predictions.total[i]),
            behind=cells_behind(table, table.frame.iloc[row], falls[:, k]),
        )
        for k, (i, row) in enumerate(zip(chosen, rows, strict=True))
    )


def columns_behind(ensemble: CrossFitted) -> tuple[tuple[str, float], ...]:
    """By what fraction the knowledge uncertainty of the most uncertain rows falls if a column had its usual value."""
    table, knowledge = ensemble.table, ensemble.predictions.knowledge
    assert knowledge is not None
    n_rows = max(1, min(int(TOP_FRACTION * len(knowledge)) + 1, MAX_CELLS // len(table.readers)))
    chosen = np.argsort(-knowledge, kind="stable")[:n_rows]
    fractions = _falls(ensemble, chosen).mean(axis=1) / max(float(knowledge[chosen].mean()), 1e-300)
    order = np.argsort(-fractions, kind="stable")[:SHOWN_COLUMNS]
    return tuple((str(table.readers[j].name), float(fractions[j])) for j in order if fractions[j] > 0)


def _falls(ensemble: CrossFitted, chosen: np.ndarray) -> np.ndarray:
    """The falls of some held-out rows (columns, rows), each by the model that was not trained on the row."""
    table, splits, knowledge = ensemble.table, ensemble.splits, ensemble.predictions.knowledge
    assert knowledge is not None
    falls = np.zeros((len(table.readers), len(chosen)))
    for model, (_, test) in zip(ensemble.fold_models, splits.folds, strict=True):
        inside = np.isin(splits.held_out[chosen], test)
        if inside.any():
            X = table.frame.iloc[splits.held_out[chosen[inside]]]
            falls[:, inside] = falls_by_column(model, table, X, knowledge[chosen[inside]])
    return falls


def falls_by_column(ensemble: Any, table: AuditTable, rows: Any, knowledge: np.ndarray) -> np.ndarray:
    """How much lower each row's knowledge uncertainty is (columns, rows) if one column has its usual value.

    The usual value is the median of the table, or its most frequent category.
    """
    n_rows, readers = len(rows), table.readers
    at_once = max(1, CELLS_AT_ONCE // max(1, n_rows * len(readers)))  # several columns: a call costs more than its rows
    parts = []
    for start in range(0, len(readers), at_once):
        changed = _with_usual_values(table, rows, readers[start : start + at_once])
        parts.append(knowledge - ensemble.predict_uncertainty(changed).knowledge.reshape(-1, n_rows))
    return np.concatenate(parts)


def _with_usual_values(table: AuditTable, rows: Any, readers: Sequence[Any]) -> Any:
    """The rows once for each of the columns, with the usual value of that column."""
    import pandas as pd

    changed = pd.concat([rows] * len(readers), ignore_index=True)
    for j, reader in enumerate(readers):
        column, is_category = table.frame[reader.name], reader.kind == CATEGORY
        values = changed[reader.name].astype(object if is_category else np.float64).to_numpy(copy=True)
        values[j * len(rows) : (j + 1) * len(rows)] = column.mode().iloc[0] if is_category else column.median()
        changed[reader.name] = _as_categories(values, column.dtype) if is_category else values
    return changed


def _as_categories(values: np.ndarray, dtype: Any) -> Any:
    """Values as categories of the training data; models read any other category as missing."""
    import pandas as pd

    series = pd.Series(values)
    return series.where(series.isin(dtype.categories), None).astype(dtype)


def cells_behind(table: AuditTable, row: Any, falls: np.ndarray) -> tuple[str, ...]:
    """The cells of a row whose usual value would lower its knowledge uncertainty most, such as "age = 21"."""
    order = np.argsort(-falls, kind="stable")[:COLUMNS_PER_ROW]
    return tuple(_cell(table.readers[j], row[table.readers[j].name]) for j in order if falls[j] > 0)


def _cell(reader: Any, value: Any) -> str:
    if value is None or value != value:
        return f"{reader.name} missing"
    if reader.kind == DATE:
        return f"{reader.name} = {np.datetime64(0, 'D') + np.timedelta64(int(value), 'D')}"
    return f"{reader.name} = {significant(value)}"
