"""What would have been selected without a row, for every row."""

from dataclasses import dataclass

import numpy as np

from surefoot.selection.rules import InclusionProbability, SelectionRule


@dataclass(frozen=True)
class LeaveOneOut:
    """How the selected models change when a row is left out.

    Attributes
    ----------
    instability : float
        The share of the rows without which none of the selected models would have been selected.
    set_sizes : array of shape (n_rows,)
        How many models are selected without each row.
    disjoint_rows : array of int
        The rows without which none of the selected models would have been selected.
    """

    instability: float
    set_sizes: np.ndarray
    disjoint_rows: np.ndarray

    @classmethod
    def of(cls, disjoint: np.ndarray, set_sizes: np.ndarray) -> "LeaveOneOut":
        return cls(float(disjoint.mean()), set_sizes, np.flatnonzero(disjoint))


def compare_with_full(
    rule: SelectionRule, full: np.ndarray, left_out: np.ndarray, members: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Which weightings ``left_out`` (sets, models) select nothing that ``full`` selects, and how many they select."""
    if isinstance(rule, InclusionProbability):
        assert members is not None
        chosen = rule.chosen_items(full, members)[0]
        others = np.stack([rule.chosen_items(weights, members)[0] for weights in left_out])
        return (others != chosen).any(axis=1), np.ones(len(left_out), dtype=np.int64)
    chosen = rule.choose_many(full[np.newaxis])[0]
    others = rule.choose_many(left_out)
    return ~(others & chosen).any(axis=1), others.sum(axis=1)
