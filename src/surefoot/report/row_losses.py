"""The losses of the audited model on blocks of held-out rows: two audits of the same rows are compared by their blocks.

A block is a row, if there are at most a thousand; otherwise it is a run of rows, or of whole groups, in their order.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun

MAX_BLOCKS = 1000  # more would hardly make an interval narrower, and the JSON larger
DIGITS = 6


@dataclass(frozen=True)
class RowLosses:
    """Mean losses of the audited model on blocks of held-out rows."""

    rows: str  # identifies the held-out rows: a hash of their places, targets and groups
    by_groups: bool  # whether blocks are made of whole groups, or runs of rows in time
    counts: tuple[int, ...]  # rows of each block
    errors: tuple[float, ...]  # fraction of wrong labels, or mean squared error
    log_losses: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None  # sum of the weights of each block's rows, if rows have weights

    @classmethod
    def of(cls, run: "AuditRun") -> "RowLosses":
        """The losses of the audited model, as means over the draws of the folds."""
        outcomes = [compared.audited.outcome for compared in run.comparisons]
        held_out, units = run.audited.splits.held_out, run.audited.splits.held_out_units
        blocks = blocks_of(len(held_out), units)
        logs = [each.log_losses for each in outcomes if each.log_losses is not None]
        errors = np.mean([each.losses.astype(np.float64) for each in outcomes], axis=0)
        weights = run.table.weights_of(held_out)
        return cls(
            rows=_fingerprint(run.table.target.labels[held_out].astype(str), held_out, units),
            by_groups=units is not None,
            counts=tuple(np.bincount(blocks).tolist()),
            errors=_block_means(errors, blocks, weights),
            log_losses=_block_means(np.mean(logs, axis=0), blocks, weights) if logs else None,
            weights=None if weights is None else _rounded(np.bincount(blocks, weights)),
        )


def blocks_of(n_rows: int, units: np.ndarray | None) -> np.ndarray:
    """The number of the block of each row; blocks are of about as many rows, or groups."""
    places = np.arange(n_rows)
    if units is not None:
        first, codes = np.unique(units, return_index=True, return_inverse=True)[1:]
        places = np.argsort(np.argsort(first))[codes.ravel()]  # groups in the order of their first rows
    n_units = int(places.max(initial=0)) + 1
    return places * min(n_units, MAX_BLOCKS) // n_units


def _fingerprint(labels: np.ndarray, held_out: np.ndarray, units: np.ndarray | None) -> str:
    """A hash of the held-out rows; equal rows of a table with other columns have the same."""
    codes = np.empty(0) if units is None else np.unique(units, return_inverse=True)[1]
    parts = ["\n".join(labels).encode(), held_out.astype(np.int64).tobytes(), codes.astype(np.int64).tobytes()]
    return sha256(b"\0".join(parts)).hexdigest()[:16]


def _block_means(losses: np.ndarray, blocks: np.ndarray, weights: np.ndarray | None) -> tuple[float, ...]:
    """The mean of each block, with six digits."""
    weighted = losses if weights is None else losses * weights
    return _rounded(np.bincount(blocks, weighted) / np.bincount(blocks, weights))


def _rounded(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(f"{value:.{DIGITS}g}") for value in values.tolist())
