"""A record of arrays that have one entry for each row."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np


@dataclass(frozen=True)
class RowRecord:
    """Every field is an array whose first axis is the rows, or None."""

    def __getitem__(self, rows: Any) -> Self:
        """The record of some of the rows."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self)(**{key: None if each is None else each[rows] for key, each in parts.items()})

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """One after the other; what one part lacks, all lack."""
        columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(cls)}
        return cls(
            **{
                key: None if any(each is None for each in values) else np.concatenate(values)
                for key, values in columns.items()
            }
        )
