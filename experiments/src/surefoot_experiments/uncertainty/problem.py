"""One split of one dataset: training rows, test rows, and out-of-domain rows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot_experiments.uncertainty.datasets import REGRESSION, LoadedDataset
from surefoot_experiments.uncertainty.out_of_domain import draw_rows, read_standardized, sources_for

VALIDATION_FRACTION = 0.2


@dataclass(frozen=True)
class Problem:
    """The rows of one split; ``out_of_domain`` are two sets of out-of-domain rows, each as large as the test set."""

    name: str
    split: int
    is_regression: bool
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    out_of_domain: tuple[Any, Any]

    @classmethod
    def from_table(cls, table: LoadedDataset, split: int, folder: Path) -> "Problem":
        train, test = table.splits[split]
        X, name = table.X.iloc[train], table.dataset.name
        drawn = [
            draw_rows(X, len(test), read_standardized(source, folder), (split, name, which))
            for which, source in enumerate(sources_for(table.dataset, folder))
        ]
        return cls(
            name=name,
            split=split,
            is_regression=table.dataset.task == REGRESSION,
            X=X,
            y=table.y[train],
            X_test=table.X.iloc[test],
            y_test=table.y[test],
            out_of_domain=(drawn[0], drawn[1]),
        )

    def split_for_validation(self) -> tuple[np.ndarray, np.ndarray]:
        """Four fifths of the training rows, and a fifth to choose settings by, stratified by class."""
        from sklearn.model_selection import train_test_split

        rows = np.arange(len(self.y))
        strata = None if self.is_regression else self.y
        train, validation = train_test_split(
            rows, test_size=VALIDATION_FRACTION, random_state=self.split, stratify=strata
        )
        return np.sort(train), np.sort(validation)
