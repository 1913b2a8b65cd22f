"""The target of a table that is read in batches: numbers, or labels as codes."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.data.arrow_columns import CATEGORY, NUMBER, TEXT, VALUES, CategoryLabels, kinds_of_columns
from surefoot.data.record_batches import RecordBatches


@dataclass(frozen=True)
class StoredTarget:
    """``values`` as they are, or as codes into ``labels`` (-1: missing)."""

    values: np.ndarray
    labels: tuple[Hashable, ...] | None = None

    def raw(self) -> np.ndarray:
        """The values as a column of a frame has them: labels as objects, None where missing."""
        if self.labels is None:
            return self.values
        if set(self.labels) <= {True, False} and (self.values >= 0).all():
            return np.array(self.labels, dtype=np.bool_)[self.values]
        labels = np.empty(len(self.labels) + 1, dtype=object)
        labels[:-1], labels[-1] = self.labels, None
        return labels[self.values]


class GrowingArray:
    """One value for each row, batch by batch; where the number of rows is known, nothing is copied twice."""

    def __init__(self, n_rows: int | None) -> None:
        self._values = np.empty(n_rows or 0, dtype=np.bool_)
        self._n = 0

    def append(self, values: np.ndarray) -> None:
        """Add values; the type widens as in ``np.concatenate``."""
        dtype = np.result_type(self._values[: self._n], values) if self._n else values.dtype
        stop = self._n + len(values)
        if dtype != self._values.dtype or stop > len(self._values):
            grown = np.empty(max(len(self._values), 2 * stop if self._n else stop), dtype)
            grown[: self._n] = self._values[: self._n]
            self._values = grown
        self._values[self._n : stop] = values
        self._n = stop

    def result(self) -> np.ndarray:
        """All values that were added."""
        return self._values[: self._n]


class TargetReader:
    """Collects the target from batches."""

    def __init__(self, batches: RecordBatches, name: str) -> None:
        import pyarrow as pa

        kind = kinds_of_columns(batches, [name])[0]
        if kind not in (NUMBER, TEXT, CATEGORY, VALUES):
            raise DataError(f"y is {kind}: choose a target that is numbers or labels.", argument="target")
        types = [schema.field(name).type for schema in batches.schemas]
        has_labels = kind != NUMBER or all(map(pa.types.is_boolean, types))
        self._labels = CategoryLabels(is_sorted=False) if has_labels else None
        self._values = GrowingArray(batches.n_rows)

    def add(self, column: Any) -> None:
        """Add the rows of a batch."""
        import pyarrow as pa

        if self._labels is not None:
            self._values.append(self._labels.numbers_of(column).astype(np.int32))
            return
        if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
            column = column.cast(pa.float64())
        self._values.append(column.to_numpy(zero_copy_only=False))

    def result(self) -> StoredTarget:
        """The target of all rows that were added."""
        return StoredTarget(self._values.result(), None if self._labels is None else self._labels.in_order())
