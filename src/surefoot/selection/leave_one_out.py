"""What would be selected without a row, for every row."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from surefoot.selection.rules import InclusionProbability, SelectionRule


@dataclass(frozen=True)
class LeftOutWeights:
    """Weights of the same models: from all rows, and without each of some rows."""

    full: np.ndarray  # (models,)
    left_out: np.ndarray  # (rows, models)
    members: np.ndarray | None  # (models, items): which items each model has, if models are sets


@dataclass(frozen=True)
class LeaveOneOut:
    """How the selected models change when a row is left out.

    Parameters
    ----------
    instability : float
        The fraction of the rows without which none of the selected models would be selected.
    set_sizes : array of shape (n_rows,)
        How many models are selected without each row.
    disjoint_rows : array of int
        The rows without which none of the selected models would be selected.
    """

    instability: float
    set_sizes: np.ndarray
    disjoint_rows: np.ndarray

    @classmethod
    def of(cls, rule: SelectionRule, weights: Iterable[LeftOutWeights]) -> "LeaveOneOut":
        """Apply a rule to the weights without each row.

        Parameters
        ----------
        rule : SelectionRule
            Decides which models are selected.
        weights : iterable of LeftOutWeights
            The weights without each row, in blocks of rows.

        Returns
        -------
        LeaveOneOut
            The changes, over all rows.
        """
        blocks = [compare_with_full(rule, block) for block in weights]
        disjoint, set_sizes = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return cls(instability=float(disjoint.mean()), set_sizes=set_sizes, disjoint_rows=np.flatnonzero(disjoint))


def compare_with_full(rule: SelectionRule, weights: LeftOutWeights) -> tuple[np.ndarray, np.ndarray]:
    """For each left-out row: whether no model selected from all rows is selected, and how many models are."""
    if isinstance(rule, InclusionProbability):
        assert weights.members is not None
        chosen = rule.chosen_items(weights.full, weights.members)[0]
        others = np.stack([rule.chosen_items(row, weights.members)[0] for row in weights.left_out])
        return (others != chosen).any(axis=1), np.ones(len(others), dtype=np.int64)
    chosen = rule.choose_many(weights.full[np.newaxis])[0]
    others = rule.choose_many(weights.left_out)
    return ~(others & chosen).any(axis=1), others.sum(axis=1)
