"""The rows of a table that were not drawn for its audit: they test a model of the drawn rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot._parallel import row_blocks
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import Target, as_objects
from surefoot.selection.table import take_rows

PART_ROWS = 100_000


@dataclass(frozen=True)
class OtherRows:
    """The rows with a target that were not drawn, as they were passed.

    Attributes
    ----------
    n_rows : int
    parts : callable
        Starts a new pass over parts of these rows: a table, its target, and the weights of its rows, or None.
    """

    n_rows: int
    parts: Callable[[], Iterator[tuple[Any, Any, np.ndarray | None]]]

    @classmethod
    def of_table(cls, X: Any, y: Any, is_audited: np.ndarray, weights: np.ndarray | None = None) -> "OtherRows":
        """The other rows of a table in memory."""
        is_other = Target.has_value(y, len(is_audited)) & ~is_audited
        rows = np.flatnonzero(is_other if weights is None else is_other & (weights > 0))
        values = as_objects(y) if isinstance(y, list | tuple) else y

        def parts() -> Iterator[tuple[Any, Any, np.ndarray | None]]:
            for start, stop in row_blocks(len(rows), PART_ROWS):
                part = rows[start:stop]
                yield take_rows(X, part), take_rows(values, part), None if weights is None else weights[part]

        return cls(len(rows), parts)

    def read_by(self, table: AuditTable) -> Iterator[DeploymentData]:
        """The parts, read as the drawn rows were."""
        for X, y, weights in self.parts():
            yield replace(DeploymentData.of_new_rows(table, X, None, None, weights), truth=as_objects(y))
