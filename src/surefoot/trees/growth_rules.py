"""The parameters that decide where a tree is split."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GrowthRules:
    """How a tree is grown; columns of ``constraints`` and ``sources`` are those that trees read.

    ``interactions`` are groups of columns of the table: a path from the root to a leaf has columns of one group only. A
    whole number is the maximum number of columns on a path instead. ``sources`` lists, for each column that trees read,
    the columns of the table that it is made from; None: it is a column of the table.
    """

    depth: int = 6
    symmetric: bool = True
    min_samples_leaf: int = 1
    l2: float = 3.0
    constraints: tuple[int, ...] | None = None  # per column -1, 0, 1: the first output falls, is free, or rises
    max_features: float = 1.0  # fraction of the columns of the table that each tree may use
    max_leaf_nodes: int | None = None  # only the best splits are kept; None: all
    interactions: tuple[tuple[int, ...], ...] | int | None = None
    sources: tuple[tuple[int, ...], ...] | None = None

    @property
    def limits_columns(self) -> bool:
        """Whether some trees or nodes may not use some columns."""
        return self.max_features < 1.0 or self.interactions is not None
