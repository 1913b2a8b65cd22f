"""The rows that an ensemble knows least about, and the columns that this is due to."""

from typing import Any

import numpy as np

from surefoot.report.answers import LeastKnown
from surefoot.report.column_readers import CATEGORY, DATE
from surefoot.report.table import AuditTable
from surefoot.uncertainty import Uncertainty

SHOWN_ROWS = 10
SHOWN_COLUMNS = 8
COLUMNS_PER_ROW = 3
MOST_CELLS = 40_000  # rows that are looked at with one column changed
STRANGE = 0.05  # share of the held-out rows that counts as strange


def least_known(
    ensemble: Any, table: AuditTable, X: Any, names: np.ndarray, truth: np.ndarray | None, found: Uncertainty
) -> tuple[LeastKnown, ...]:
    """The rows of most knowledge uncertainty, each with the columns behind it."""
    chosen = np.argsort(-found.knowledge, kind="stable")[:SHOWN_ROWS]
    rows = X.iloc[chosen]
    falls = falls_by_column(ensemble, table, rows, found.knowledge[chosen])
    predicted = np.asarray(ensemble.predict(rows))
    return tuple(
        LeastKnown(
            row=str(names[i]),
            prediction=_text(predicted[k]),
            truth="" if truth is None else _text(truth[i]),
            knowledge=float(found.knowledge[i]),
            total=float(found.total[i]),  # type: ignore[index]
            behind=_behind(table, rows.iloc[k], falls[:, k]),
        )
        for k, i in enumerate(chosen)
    )


def columns_behind(ensemble: Any, table: AuditTable, X: Any, knowledge: np.ndarray) -> tuple[tuple[str, float], ...]:
    """By what share the knowledge uncertainty of the strangest rows falls if a column had its usual value."""
    n_rows = max(1, min(int(STRANGE * len(X)) + 1, MOST_CELLS // len(table.readers)))
    chosen = np.argsort(-knowledge, kind="stable")[:n_rows]
    falls = falls_by_column(ensemble, table, X.iloc[chosen], knowledge[chosen])
    shares = falls.mean(axis=1) / max(float(knowledge[chosen].mean()), 1e-300)
    order = np.argsort(-shares, kind="stable")[:SHOWN_COLUMNS]
    return tuple((str(table.readers[j].name), float(shares[j])) for j in order if shares[j] > 0)


def falls_by_column(ensemble: Any, table: AuditTable, rows: Any, knowledge: np.ndarray) -> np.ndarray:
    """How much less each row's knowledge uncertainty is (columns, rows) if one column had its usual value.

    The usual value is the median of the table, or its most frequent category.
    """
    falls = np.empty((len(table.readers), len(rows)))
    for j, reader in enumerate(table.readers):
        column = table.frame[reader.name]
        changed = rows.copy()
        usual = column.mode().iloc[0] if reader.kind == CATEGORY else column.median()
        changed[reader.name] = usual
        if reader.kind == CATEGORY:
            changed[reader.name] = changed[reader.name].astype(rows[reader.name].dtype)
        falls[j] = knowledge - ensemble.predict_uncertainty(changed).knowledge
    return falls


def _behind(table: AuditTable, row: Any, falls: np.ndarray) -> tuple[str, ...]:
    order = np.argsort(-falls, kind="stable")[:COLUMNS_PER_ROW]
    return tuple(_cell(table.readers[j], row[table.readers[j].name]) for j in order if falls[j] > 0)


def _cell(reader: Any, value: Any) -> str:
    if value is None or value != value:
        return f"{reader.name} missing"
    if reader.kind == DATE:
        return f"{reader.name} = {np.datetime64(0, 'D') + np.timedelta64(int(value), 'D')}"
    return f"{reader.name} = {_text(value)}"


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
