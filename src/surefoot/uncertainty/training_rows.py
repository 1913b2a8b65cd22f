"""Rows that a model is trained on, and rows that it is watched by."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TrainingRows:
    """The internal target of every row of the table, its weight, and which rows are for what."""

    y: np.ndarray
    weights: np.ndarray | None
    train: np.ndarray  # uint32
    held_out: np.ndarray  # uint32
