"""What the families of classes share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from surefoot.uncertainty.families.base import rows_with_weight

MIN_FRACTION = 1e-9  # a class without weight starts with this fraction: its log is finite


@dataclass(frozen=True, kw_only=True)
class ClassificationFamily(ABC):
    """Probabilities of classes from raw outputs of trees; ``raw`` has shape (n_outputs, n_rows).

    The Fisher information of several classes is singular. Steps are therefore plain gradients, and the diagonal
    of the information is written separately.
    """

    name: ClassVar[str]
    natural: ClassVar[bool] = False
    has_scale: ClassVar[bool] = False
    constrained_outputs: ClassVar[tuple[int, ...]] = (0,)

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """Names of the outputs."""

    @property
    def n_outputs(self) -> int:
        return len(self.parameters)

    @abstractmethod
    def start(self, y: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
        """The constant outputs (n_outputs,) that give each class its fraction of the weight."""

    @abstractmethod
    def start_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> np.ndarray:
        """The same, if outputs of rows have an ``offset`` of shape (n_outputs, n_rows)."""

    @abstractmethod
    def gradients(
        self, raw: np.ndarray, y: np.ndarray, rows: tuple[int, int], steps: np.ndarray, information: np.ndarray
    ) -> None:
        """Write ``1[y = k] - p_k`` into ``steps`` and ``p_k (1 - p_k)`` into ``information``, for a range of rows."""

    @abstractmethod
    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Minus the log of the probability of each row's class."""

    @abstractmethod
    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, (n_rows, n_classes)."""


def class_fractions(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Each class's fraction of the weight, or a tiny fraction for a class without weight."""
    kept, fractions = rows_with_weight(codes.astype(np.int64), weights)
    return np.maximum(np.bincount(kept, weights=fractions, minlength=n_classes), MIN_FRACTION)
