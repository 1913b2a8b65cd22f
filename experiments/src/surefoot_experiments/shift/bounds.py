"""The part on bounds: the error of rho^2 by a sample of target rows, and the bounds of the theorems."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import VMatrix, vmatrix_error
from surefoot._parallel import Cancellation, run_tasks
from surefoot_experiments.shift.lines import BOUNDS_FILE, BoundLine, BoundUnit
from surefoot_experiments.shift.protocol import BOUND_ROWS, CONFIDENCE, ShiftSettings
from surefoot_experiments.skeleton.run import ProgressCallback
from surefoot_experiments.skeleton.unit import GrowingCsv

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
        """Draw training rows from another distribution than the target, with a fixed seed."""
        training, target = _distributions(name)
        rng = np.random.default_rng([0, CASES.index(name)])
        X = np.column_stack([entry.rvs(BOUND_ROWS, random_state=rng) for entry in training]).astype(np.float64)
        residuals = {NOISE: rng.standard_normal(BOUND_ROWS), ONE_SIGN: np.ones(BOUND_ROWS)}
        return cls(name, X, target, residuals)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def draw_target(self, n_target: int, draw: int) -> np.ndarray:
        """Draw independent rows of the target."""
        rng = np.random.default_rng([1, CASES.index(self.name), n_target, draw])
        return np.column_stack([entry.rvs(n_target, random_state=rng) for entry in self.distributions]).astype(float)


def _distributions(name: str) -> tuple[list[Any], list[Any]]:
    """Return the distributions of the training rows and of the target."""
    from scipy.stats import beta, expon, norm, poisson, uniform

    if name == CONTINUOUS:
        return [norm(1, 1)], [norm()]
    if name == TIES:
        return [poisson(5)], [poisson(3)]
    if name == THREE:
        return [norm(1, 1), expon(scale=0.5), poisson(3)], [norm(), expon(), poisson(3)]
    return [beta(1, 6)] * 8, [uniform()] * 8  # low enough for target rows to dominate them in all eight at once


DRAWS_PER_TASK = 50
NO_BOUND = float("nan")


def run_bounds(folder: Path, settings: ShiftSettings, n_jobs: int | None, callback: ProgressCallback) -> None:
    """Measure the cases and numbers of target rows that are not in the file yet."""
    file = GrowingCsv(folder / BOUNDS_FILE, BoundLine)
    units = [(name, n_target) for name in CASES for n_target in settings.target_sizes]
    for done, (name, n_target) in enumerate(units):
        if any(BoundUnit(name, residuals, n_target) not in file.lines for residuals in RESIDUALS):
            callback(done, len(units), f"bounds: {name}, {n_target:,} target rows")
            file.append(measure(BoundCase.make(name), n_target, settings.draws, n_jobs))


def measure(case: BoundCase, n_target: int, draws: int, n_jobs: int | None) -> list[BoundLine]:
    """Return a line for each kind of residuals, over the same draws of target rows; the seconds are divided."""
    started = time.perf_counter()
    known = VMatrix.from_distributions(case.X, case.distributions)
    truth = {name: rho_squared(known, residuals) for name, residuals in case.residuals.items()}

    def errors_of(first: int, cancellation: Cancellation) -> np.ndarray:
        errors = []
        for draw in range(first, min(first + DRAWS_PER_TASK, draws)):
            cancellation.check()
            sampled = VMatrix.from_target(case.X, case.draw_target(n_target, draw), kind="joint")
            errors.append([rho_squared(sampled, case.residuals[name]) - truth[name] for name in RESIDUALS])
        return np.abs(errors)

    errors = np.concatenate(run_tasks(errors_of, range(0, draws, DRAWS_PER_TASK), n_jobs))
    seconds = (time.perf_counter() - started) / len(RESIDUALS)
    return [
        _line(case, name, n_target, truth[name], errors[:, column], seconds) for column, name in enumerate(RESIDUALS)
    ]


def rho_squared(v: VMatrix, residuals: np.ndarray) -> float:
    """Return the loss on the target."""
    return v.quadratic(residuals) / len(residuals) ** 2


def _line(case: BoundCase, name: str, n_target: int, rho: float, errors: np.ndarray, seconds: float) -> BoundLine:
    residuals, is_one = case.residuals[name], case.n_features == 1
    several = vmatrix_error(residuals, n_target=n_target, confidence=CONFIDENCE)
    one = printed = NO_BOUND
    if is_one:
        one = vmatrix_error(residuals, n_target=n_target, one_feature=True, confidence=CONFIDENCE)
        printed_confidence = 1 - 2 / n_target**2
        printed = vmatrix_error(residuals, n_target=n_target, one_feature=True, confidence=printed_confidence)
    return BoundLine(
        case.name, name, n_target, len(residuals), case.n_features, len(errors), rho,
        float(errors.mean()), float(np.quantile(errors, 0.95)), float(errors.max()),
        one, _fraction_above(errors, one), printed, _fraction_above(errors, printed),
        several, _fraction_above(errors, several),
        seconds,
    )  # fmt: skip


def _fraction_above(errors: np.ndarray, bound: float) -> float:
    return NO_BOUND if np.isnan(bound) else float(np.mean(errors > bound))
