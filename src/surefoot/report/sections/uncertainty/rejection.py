"""What is left of the loss when the most uncertain rows are handed to someone who knows."""

from collections.abc import Iterable

import numpy as np

from surefoot.metrics import rejection_curve
from surefoot.metrics.rejection import RejectionCurve
from surefoot.report.sections.uncertainty.findings import Rejection
from surefoot.report.statistics import rejection_ratio_interval
from surefoot.report.statistics.estimates import Estimate

GRID = np.linspace(0, 1, 101)


def rejection_of(losses: np.ndarray, uncertainty: np.ndarray, is_classes: bool, groups: np.ndarray | None) -> Rejection:
    """The rejection curve of row losses on a grid of shares."""
    curve = _curve(losses, uncertainty, is_classes)
    error, random, oracle = (
        np.interp(GRID, curve.rejected, line) for line in (curve.error, curve.random, curve.oracle)
    )
    kept = np.divide(error, 1 - GRID, out=np.zeros(len(GRID)), where=GRID < 1)
    kept = kept if is_classes else np.sqrt(kept)
    interval = rejection_ratio_interval(losses, uncertainty, groups)
    threshold = np.quantile(uncertainty, 1 - GRID)
    shares, *lines = (tuple(line.tolist()) for line in (GRID, error, kept, threshold, random, oracle))
    return Rejection(shares, lines[0], lines[1], lines[2], lines[3], lines[4], interval)


def claimed_ratio(draws: Iterable[np.ndarray], uncertainty: np.ndarray, is_classes: bool) -> Estimate | None:
    """The mean ratio, and the range of 95%, of losses as they would be if targets were what was predicted of them."""
    found = np.array([_ratio(losses, uncertainty, is_classes) for losses in draws])
    found = found[np.isfinite(found)]
    return Estimate(float(found.mean()), *map(float, np.quantile(found, [0.025, 0.975]))) if len(found) else None


def _ratio(losses: np.ndarray, uncertainty: np.ndarray, is_classes: bool) -> float:
    found = _curve(losses, uncertainty, is_classes).ratio
    return float("nan") if found is None else found


def _curve(losses: np.ndarray, uncertainty: np.ndarray, is_classes: bool) -> RejectionCurve:
    """Of rows that are wrong or right, or of squared errors."""
    kind, shown = ("zero_one", losses) if is_classes else ("squared_error", np.sqrt(losses))
    return rejection_curve(np.zeros(len(losses)), shown, uncertainty, loss=kind)
