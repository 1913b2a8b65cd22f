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
        Starts a new pass over parts of these rows: pairs of a table and its target.
    """

    n_rows: int
    parts: Callable[[], Iterator[tuple[Any, Any]]]

    @classmethod
    def of_table(cls, X: Any, y: Any, is_audited: np.ndarray) -> "OtherRows":
        """The other rows of a table in memory."""
        rows = np.flatnonzero(Target.has_value(y, len(is_audited)) & ~is_audited)
        values = as_objects(y) if isinstance(y, list | tuple) else y

        def parts() -> Iterator[tuple[Any, Any]]:
            for start, stop in row_blocks(len(rows), PART_ROWS):
                yield take_rows(X, rows[start:stop]), take_rows(values, rows[start:stop])

        return cls(len(rows), parts)

    def read_by(self, table: AuditTable) -> Iterator[DeploymentData]:
        """The parts, read as the drawn rows were."""
        for X, y in self.parts():
            yield replace(DeploymentData.of_new_rows(table, X, None, None), truth=as_objects(y))
