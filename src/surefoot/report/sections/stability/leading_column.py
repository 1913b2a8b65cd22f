"""Permutation importance of the columns for the audited model: the rise of its loss on each row.

`sklearn.inspection.permutation_importance` returns the mean over the rows; the bags need the losses of single rows. It
also predicts one column at a time, which is slower here, where a call costs more than its rows.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.predictions import probabilities_of
from surefoot.report.models.scoring import class_positions, log_losses_of
from surefoot.report.sections.stability.bags import BAG_SEED
from surefoot.selection.table import take_rows

MAX_ROWS, MAX_COLUMNS = 2000, 30
N_PERMUTATIONS = 5
N_BINS = 10  # of a column, to measure how informative it is by itself
MAX_CELLS = 500_000  # cells of the table that is predicted at once


@dataclass(frozen=True)
class LossIncreases:
    """By how much the loss of some held-out rows rises when a column is permuted.

    Attributes
    ----------
    columns : tuple of str
    rows : array
        Positions of the rows among the held-out ones.
    increases : array of shape (n_rows, n_columns)
        Means over several permutations; each row is predicted by a model that was not trained on it.
    remarks : tuple of str
    """

    columns: tuple[str, ...]
    rows: np.ndarray
    increases: np.ndarray
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, audited: CrossFitted) -> "LossIncreases":
        held_out = audited.splits.held_out
        drawn = np.random.default_rng(BAG_SEED).permutation(len(held_out))[:MAX_ROWS]
        names, remarks = _columns_of(audited.table, held_out[drawn])
        rows, increases = increases_of(audited, drawn, [(name,) for name in names])
        return cls(tuple(map(str, names)), rows, increases, remarks)

    @classmethod
    def mean_of(cls, draws: Sequence["LossIncreases"]) -> "LossIncreases":
        """The mean over the draws of the folds with the same held-out rows."""
        first = draws[0]
        increases = [each.increases for each in draws if np.array_equal(each.rows, first.rows)]
        return replace(first, increases=np.mean(increases, axis=0))


@dataclass(frozen=True)
class _Losses:
    """The losses of a fold's model on its test rows, for any permutation of the table."""

    audited: CrossFitted
    model: Any
    truth: np.ndarray

    def of(self, X: Any, n_times: int) -> np.ndarray:
        """Losses of shape (n_times, n_rows) for a table that contains the rows ``n_times``."""
        target, candidate = self.audited.table.target, self.audited.candidate
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            probabilities = probabilities_of(self.model, X, target)
            if probabilities is not None:
                return log_losses_of(probabilities, np.tile(self._positions, n_times)).reshape(n_times, -1)
            values = np.asarray(self.model.predict(X))
        if candidate.raw:
            values = target.read_predictions(values, len(values), candidate.name)
        losses = target.losses(values, np.tile(self.truth, n_times))
        return losses.astype(np.float64).reshape(n_times, -1)

    @cached_property
    def _positions(self) -> np.ndarray:
        return class_positions(self.audited.table.target, self.truth)


def increases_of(
    audited: CrossFitted, drawn: np.ndarray, sets: Sequence[tuple[Any, ...]]
) -> tuple[np.ndarray, np.ndarray]:
    """The rows among the drawn ones that have an increase, in order, and it: (n_rows, n_sets).

    The columns of a set are permuted together.
    """
    splits, target = audited.splits, audited.table.target
    rows, parts = [], []
    for model, (_, test) in zip(audited.fold_models, splits.folds, strict=True):
        own = np.sort(drawn[np.isin(splits.held_out[drawn], test)])
        if len(own) > 1:
            X = table_of(audited, splits.held_out[own])
            losses = _Losses(audited, model, target.labels[splits.held_out[own]])
            parts.append(_increases(X, sets, losses, audited.outcome.proper[own]))
            rows.append(own)
    if not rows:  # by time, every fold may have a single row
        return np.empty(0, dtype=np.int64), np.empty((0, len(sets)))
    order = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(rows)[order], np.concatenate(parts)[order]


def _increases(X: Any, sets: Sequence[tuple[Any, ...]], losses: _Losses, before: np.ndarray) -> np.ndarray:
    """The loss increases of all sets of columns; several sets are permuted in one call."""
    n_rows, generator = len(before), np.random.default_rng(BAG_SEED)
    orders = np.concatenate([generator.permutation(n_rows) for _ in range(N_PERMUTATIONS)])
    at_once = max(1, MAX_CELLS // (N_PERMUTATIONS * n_rows * max(len(sets), 1)))
    out = np.empty((n_rows, len(sets)))
    for start in range(0, len(sets), at_once):
        block = sets[start : start + at_once]
        n_times = len(block) * N_PERMUTATIONS
        after = losses.of(_permuted(X, block, orders), n_times).reshape(len(block), N_PERMUTATIONS, n_rows)
        out[:, start : start + len(block)] = after.mean(axis=1).T - before[:, np.newaxis]
    return out


def table_of(audited: CrossFitted, rows: np.ndarray) -> Any:
    """The rows as the model reads them."""
    table = audited.table
    return take_rows(table.raw, rows) if audited.candidate.raw else table.frame.iloc[rows]


def _permuted(X: Any, sets: Sequence[tuple[Any, ...]], orders: np.ndarray) -> Any:
    """The rows several times for each set of columns, with the values of these columns in other orders."""
    n_each, every = len(orders), np.arange(len(X))
    rows = np.tile(every, len(sets) * n_each // len(every))
    taken: dict[str, np.ndarray] = {}
    for k, names in enumerate(sets):
        for name in names:
            taken.setdefault(str(name), rows.copy())[k * n_each : (k + 1) * n_each] = orders
    return taken_columns(X, rows, taken)


def taken_columns(X: Any, rows: np.ndarray, of_columns: dict[str, np.ndarray]) -> Any:
    """Rows of a table by position; some columns, by name, take their values from rows of their own.

    Columns of arrays are named by their positions: x0, x1, ...
    """
    native = nw.from_native(X, pass_through=True)
    if isinstance(native, nw.DataFrame):
        columns = [native[name][of_columns.get(str(name), rows)] for name in native.columns]
        return columns[0].to_frame().with_columns(*columns[1:]).to_native()
    changed = np.asarray(X)[rows]
    for name, order in of_columns.items():
        changed[:, int(name[1:])] = np.asarray(X)[order, int(name[1:])]
    return changed


def _columns_of(table: AuditTable, rows: np.ndarray) -> tuple[list[Any], tuple[str, ...]]:
    """All columns; if there are many, those that are most informative about the target by themselves."""
    names = [reader.name for reader in table.readers]
    if len(names) <= MAX_COLUMNS:
        return names, ()
    explained = [_explained(table.frame[reader.name].iloc[rows], reader.kind, table, rows) for reader in table.readers]
    kept = np.sort(np.argsort(explained, kind="stable")[-MAX_COLUMNS:])
    remark = (
        f"The {MAX_COLUMNS} of {len(names)} columns that explain most of the target by themselves were permuted "
        f"(measured by the variance between {N_BINS} bins of each)."
    )
    return [names[j] for j in kept], (remark,)


def _explained(column: Any, kind: str, table: AuditTable, rows: np.ndarray) -> float:
    """The fraction of the target's variance between bins of a column, or its categories."""
    if kind == CATEGORY:
        codes = column.cat.codes.to_numpy() + 1
    else:
        values = column.to_numpy(np.float64)
        edges = np.nanquantile(values, np.linspace(0, 1, N_BINS + 1)[1:-1]) if np.isfinite(values).any() else []
        codes = np.where(np.isnan(values), 0, 1 + np.searchsorted(edges, values, side="right"))
    y = table.target.y[rows]
    Y = np.eye(len(table.target.classes))[y] if table.target.is_classes else y[:, np.newaxis]
    counts = np.bincount(codes)
    means = np.stack([np.bincount(codes, each) / np.maximum(counts, 1) for each in (Y - Y.mean(axis=0)).T], axis=1)
    # correct for bins of few rows: their means vary by chance
    between = (counts[:, np.newaxis] * means**2).sum() - float(np.sum(counts > 0)) * Y.var(axis=0).sum()
    return float(between / max(len(rows) * Y.var(axis=0).sum(), 1e-300))
