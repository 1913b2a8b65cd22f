"""Which columns are so strongly associated that a model may use either."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.table import AuditTable

STRONG = 0.8  # absolute correlation of ranks, or the root of the variance between categories
RELATED = 0.5
MAX_ROWS = 2000
Neighbours = dict[str, tuple[str, ...]]


def neighbours_of(
    table: AuditTable, names: tuple[str, ...], rows: np.ndarray, levels: tuple[float, ...] = (STRONG, RELATED)
) -> tuple[Neighbours, ...]:
    """For each of these columns the others with an association of at least each level, on some of the rows."""
    readers = [reader for reader in table.readers if str(reader.name) in names]
    rows = rows[np.linspace(0, len(rows) - 1, min(MAX_ROWS, len(rows))).astype(int)]
    parts = [_standard(table.frame[reader.name].iloc[rows], reader.kind) for reader in readers]
    strength = np.array([[_association(one, other) for other in parts] for one in parts])
    strength = np.maximum(strength, strength.T)
    np.fill_diagonal(strength, 0.0)
    columns = np.array([str(reader.name) for reader in readers], dtype=object)
    return tuple(
        {str(name): tuple(columns[strong >= level]) for name, strong in zip(columns, strength, strict=True)}
        for level in levels
    )


def _standard(column: Any, kind: str) -> np.ndarray:
    """Orthonormal columns with mean 0 that span the values: ranks of numbers, or indicators of categories."""
    if kind != CATEGORY:
        values = column.to_numpy(np.float64)
        ranks = rankdata(np.where(np.isnan(values), np.nanmedian(values) if (~np.isnan(values)).any() else 0, values))
        centred = (ranks - ranks.mean())[:, np.newaxis]
        return np.asarray(centred / (np.linalg.norm(centred) or 1.0))
    codes = np.unique(column.cat.codes.to_numpy(), return_inverse=True)[1].ravel()
    counts = np.bincount(codes)
    frequent = np.flatnonzero(counts > max(len(codes) / 100, 1))  # rare ones fit anything by chance
    indicators = (codes[:, np.newaxis] == frequent) - counts[frequent] / len(codes)
    left, sizes, _ = np.linalg.svd(indicators, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-9 * max(len(codes), 1)])


def _association(one: np.ndarray, other: np.ndarray) -> float:
    """The root of the fraction of variance of the second that the first explains, the mean over its dimensions."""
    if not one.shape[1] or not other.shape[1]:
        return 0.0
    return float(np.sqrt(np.square(one.T @ other).sum() / other.shape[1]))
