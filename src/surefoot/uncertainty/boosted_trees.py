"""A trained model."""

from dataclasses import dataclass, replace

import numpy as np

from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.recalibration import Recalibration


@dataclass(frozen=True)
class BoostedTrees:
    """A trained model: outputs are ``start`` plus the sum of the trees.

    The model after t trees is ``shrink ** (t - T)`` times the same with the first t trees alone.
    """

    start: np.ndarray
    forest: VectorForest
    shrink: float
    held_out_nll: np.ndarray  # by round; empty where nobody asked
    bounds: np.ndarray  # (trees, 2): least and most of the last output of the model cut after each tree

    def recalibrated(self, line: Recalibration) -> "BoostedTrees":
        """The same model, corrected: outputs are sums, so the parts of the last are multiplied alike."""
        start, leaves = self.start.copy(), self.forest.leaves.copy()
        start[0] += line.mean_shift
        if len(start) > 1:
            start[-1] = line.shift + line.slope * start[-1]
            leaves[:, :, -1] *= line.slope
        finite = np.where(np.isfinite(self.bounds), self.bounds, 0.0)
        bounds = np.where(np.isfinite(self.bounds), line.shift + line.slope * finite, self.bounds)
        return replace(self, start=start, forest=replace(self.forest, leaves=leaves), bounds=bounds)
