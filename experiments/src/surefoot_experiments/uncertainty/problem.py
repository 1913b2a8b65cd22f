"""One split of one dataset: rows to train on, rows to test on, and rows from elsewhere."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot_experiments.uncertainty.datasets import REGRESSION, Table
from surefoot_experiments.uncertainty.out_of_domain import draw_rows, sources_for, standardised

VALIDATION_SHARE = 0.2


@dataclass(frozen=True)
class Problem:
    """``elsewhere`` are the two sets of out-of-domain rows, as many as test rows each."""

    name: str
    split: int
    is_regression: bool
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    elsewhere: tuple[Any, Any]

    @classmethod
    def from_table(cls, table: Table, split: int, folder: Path) -> "Problem":
        train, test = table.splits[split]
        X, name = table.X.iloc[train], table.dataset.name
        drawn = [
            draw_rows(X, len(test), standardised(source, folder), (split, name, which))
            for which, source in enumerate(sources_for(table.dataset, folder))
        ]
        return cls(
            name, split, table.dataset.task == REGRESSION, X, table.y[train], table.X.iloc[test], table.y[test],
            (drawn[0], drawn[1]),
        )  # fmt: skip

    def part_for_validation(self) -> tuple[np.ndarray, np.ndarray]:
        """A fifth of the training rows to choose settings by, and the others; each class in proportion."""
        from sklearn.model_selection import train_test_split

        rows = np.arange(len(self.y))
        strata = None if self.is_regression else self.y
        train, validation = train_test_split(rows, test_size=VALIDATION_SHARE, random_state=self.split, stratify=strata)
        return np.sort(train), np.sort(validation)
