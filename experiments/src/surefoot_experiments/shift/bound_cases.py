"""Targets whose V-matrix is known exactly: independent features with given distributions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot_experiments.shift.protocol import BOUND_ROWS

CONTINUOUS, TIES = "one feature, continuous", "one feature, with ties"
THREE, EIGHT = "three features", "eight features"
NOISE, ONE_SIGN = "noise", "one sign"
RESIDUALS = (NOISE, ONE_SIGN)
CASES = (CONTINUOUS, TIES, THREE, EIGHT)


@dataclass(frozen=True)
class BoundCase:
    """Training rows, the distributions of the target's features, and residuals that depend on neither."""

    name: str
    X: np.ndarray
    distributions: list[Any]
    residuals: dict[str, np.ndarray]

    @classmethod
    def make(cls, name: str) -> "BoundCase":
        """Rows from elsewhere than the target, so that there is a shift; from a fixed seed."""
        training, target = _distributions(name)
        rng = np.random.default_rng([0, CASES.index(name)])
        X = np.column_stack([entry.rvs(BOUND_ROWS, random_state=rng) for entry in training]).astype(np.float64)
        residuals = {NOISE: rng.standard_normal(BOUND_ROWS), ONE_SIGN: np.ones(BOUND_ROWS)}
        return cls(name, X, target, residuals)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def draw_target(self, n_target: int, draw: int) -> np.ndarray:
        """Independent rows of the target."""
        rng = np.random.default_rng([1, CASES.index(self.name), n_target, draw])
        return np.column_stack([entry.rvs(n_target, random_state=rng) for entry in self.distributions]).astype(float)


def _distributions(name: str) -> tuple[list[Any], list[Any]]:
    """Of the training rows, and of the target."""
    from scipy.stats import beta, expon, norm, poisson, uniform

    if name == CONTINUOUS:
        return [norm(1, 1)], [norm()]
    if name == TIES:
        return [poisson(5)], [poisson(3)]
    if name == THREE:
        return [norm(1, 1), expon(scale=0.5), poisson(3)], [norm(), expon(), poisson(3)]
    return [beta(1, 6)] * 8, [uniform()] * 8  # low enough that target rows reach them in all eight at once
