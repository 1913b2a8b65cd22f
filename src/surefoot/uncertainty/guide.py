"""What models on trial tell those that learn from all rows."""

from dataclasses import dataclass, field

import numpy as np

from surefoot.uncertainty.recalibration import Recalibration


@dataclass(frozen=True)
class Guide:
    """What only held-out rows can tell of the scale; a model that follows it needs none."""

    honesties: np.ndarray  # of every round in which the scale learns
    levels: np.ndarray = field(default_factory=lambda: np.empty(0))  # steps of the whole scale in the rounds after them
    recalibration: Recalibration = field(default_factory=Recalibration)
