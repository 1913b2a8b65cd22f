"""Whether the order of the rows matters: a model of the first rows on the last ones, and neighbours that are alike."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr, t

from surefoot.uncertainty import GradientBoostingClassifier, GradientBoostingRegressor

MIN_ROWS = 100
MAX_ROWS = 10_000
BLOCK = 100  # neighbouring rows that are drawn together from larger tables
LAST = 0.2
N_FOLDS = 5
N_BLOCKS = 10  # of the last rows, whose means tell how sure the difference is
MUCH_WORSE = 0.25
MIN_CORRELATION = 0.1
MIN_Z = 4.0
SORTED = 0.97  # rank correlation of the target with the row number
SHARE_OF_CHANGES = 0.05  # changes of class from row to row, as a fraction of what a random order has
TREES = 60


@dataclass(frozen=True)
class RowOrder:
    """A model of the first four fifths of the rows on the last fifth, beside models of random rows.

    Losses are Brier scores (classes: the squared error of the probabilities) or squared errors; ``shuffled`` is the
    mean over all rows, each predicted by a model of a random four fifths, ``shuffled_there`` the same over the last
    fifth. Intervals are of 95%; that of the difference is from blocks of rows. Where the rows are sorted by the
    target, only ``sorted_by_target`` is set: no split by order could tell anything then.
    """

    in_order: float
    shuffled: float
    shuffled_there: float
    difference: float  # in_order less shuffled
    difference_low: float
    difference_high: float
    error_in_order: float  # error rate or root mean squared error
    error_shuffled: float
    matters: bool
    neighbour_correlation: float  # of the residuals of neighbouring rows
    neighbours_alike: bool
    sorted_by_target: bool
    sorted_by: str | None  # a column by which the rows are sorted
    sentence: str


def check_row_order(frame: Any, target: Any, seed: int = 0, n_jobs: int | None = None) -> RowOrder | None:
    """Compare a split by order with random ones; None if there are too few rows. ``target`` is a ``Target``."""
    if len(frame) < MIN_ROWS:
        return None
    if sorted_by_target(target.y, target.is_classes):
        return _nothing_to_tell(target)
    rows = _rows_in_order(len(frame))
    part, y = frame.iloc[rows].reset_index(drop=True), target.y[rows]
    n_first = int((1 - LAST) * len(rows))
    fold = np.random.default_rng(seed).permutation(len(rows)) % N_FOLDS
    model = _Model(target.is_classes, len(target.classes), seed, n_jobs)
    residuals = np.empty((len(rows), model.width))
    for k in range(N_FOLDS):
        residuals[fold == k] = model.residuals(part, y, np.flatnonzero(fold != k), np.flatnonzero(fold == k))
    last = model.residuals(part, y, np.arange(n_first), np.arange(n_first, len(rows)))
    return _compare(residuals, last, _sorting_column(frame), target)


class _Model:
    """A quick booster, and what it leaves of the target: one column for each class, or one."""

    def __init__(self, is_classes: bool, n_classes: int, seed: int, n_jobs: int | None) -> None:
        kind = GradientBoostingClassifier if is_classes else GradientBoostingRegressor
        self.make = lambda: kind(
            n_estimators=TREES, max_depth=5, early_stopping=False, random_state=seed, n_jobs=n_jobs
        )
        self.is_classes, self.width = is_classes, n_classes if is_classes else 1

    def residuals(self, frame: Any, y: np.ndarray, fit: np.ndarray, judge: np.ndarray) -> np.ndarray:
        if self.is_classes:
            truth = np.eye(self.width)[y[judge]]
            known = np.unique(y[fit])
            probabilities = np.zeros((len(judge), self.width))
            if len(known) < 2:
                probabilities[:, known] = 1.0
            else:
                probabilities[:, known] = self._fitted(frame, y, fit).predict_proba(frame.iloc[judge])
            return truth - probabilities
        return np.asarray(y[judge] - self._fitted(frame, y, fit).predict(frame.iloc[judge]))[:, np.newaxis]

    def _fitted(self, frame: Any, y: np.ndarray, rows: np.ndarray) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make().fit(frame.iloc[rows], y[rows])


def sorted_by_target(y: np.ndarray, is_classes: bool) -> bool:
    """Whether rows stand in the order of their target: blocks of classes, or growing or falling numbers."""
    if not is_classes:
        return bool(abs(spearmanr(y, np.arange(len(y))).statistic) > SORTED)
    shares = np.bincount(y) / len(y)
    expected = (len(y) - 1) * (1 - (shares**2).sum())
    changes = int((np.diff(y) != 0).sum())
    return bool(changes <= max(2 * (len(shares) - 1), SHARE_OF_CHANGES * expected))


def _rows_in_order(n: int) -> np.ndarray:
    """All rows, or blocks of neighbours from all over the table, in their order."""
    if n <= MAX_ROWS:
        return np.arange(n)
    starts = np.linspace(0, n - BLOCK, MAX_ROWS // BLOCK).astype(np.int64)
    return np.asarray((starts[:, np.newaxis] + np.arange(BLOCK)).ravel())


def _sorting_column(frame: Any) -> str | None:
    """The first column of numbers, with more than a few values, by which the rows are sorted."""
    for name in frame.columns:
        if frame[name].dtype.kind == "f":
            steps = np.diff(frame[name].to_numpy())
            if not np.isnan(steps).any() and (np.all(steps >= 0) or np.all(steps <= 0)) and (steps != 0).sum() >= 20:
                return str(name)
    return None


def _compare(residuals: np.ndarray, last: np.ndarray, sorting: str | None, target: Any) -> RowOrder:
    losses, last_losses = (residuals**2).sum(axis=1), (last**2).sum(axis=1)
    blocks = np.array([block.mean() for block in np.array_split(last_losses, N_BLOCKS)])
    others = np.array([block.mean() for block in np.array_split(losses, 5 * N_BLOCKS)])
    error = np.sqrt(blocks.var(ddof=1) / len(blocks) + others.var(ddof=1) / len(others))
    difference = float(last_losses.mean() - losses.mean())
    width = float(t.ppf(0.975, N_BLOCKS - 1) * error)
    correlation, z = _neighbour_correlation(residuals)
    matters = difference >= MUCH_WORSE * losses.mean() and difference - width > 0
    numbers = {
        "in_order": float(last_losses.mean()), "shuffled": float(losses.mean()),
        "shuffled_there": float(losses[-len(last) :].mean()), "difference": difference,
        "difference_low": difference - width, "difference_high": difference + width,
        "error_in_order": _error(last, target.is_classes), "error_shuffled": _error(residuals, target.is_classes),
        "matters": bool(matters), "neighbour_correlation": correlation,
        "neighbours_alike": bool(correlation >= MIN_CORRELATION and z >= MIN_Z),
        "sorted_by_target": False, "sorted_by": sorting,
    }  # fmt: skip
    return RowOrder(**numbers, sentence=_sentence(numbers, target.is_classes))  # type: ignore[arg-type]


def _neighbour_correlation(residuals: np.ndarray) -> tuple[float, float]:
    """Correlation of the residuals of a row with the next row's, and its z score under a random order."""
    centred = residuals - residuals.mean(axis=0)
    products = (centred[1:] * centred[:-1]).sum(axis=1)
    norm = (centred**2).sum(axis=1)
    spread = np.sqrt((norm[1:] * norm[:-1]).mean())
    correlation = float(products.mean() / norm.mean()) if norm.mean() > 0 else 0.0
    deviation = products.std() or spread
    return correlation, float(products.mean() / deviation * np.sqrt(len(products))) if deviation > 0 else 0.0


def _error(residuals: np.ndarray, is_classes: bool) -> float:
    """Error rate of the most likely class, or the root mean squared error."""
    if not is_classes:
        return float(np.sqrt((residuals**2).mean()))
    truth = residuals.max(axis=1)  # one less its own probability; of the others, the largest is the rival
    return float((1 - truth < -residuals.min(axis=1)).mean())


def _shown(error: float, is_classes: bool) -> str:
    return f"an error rate of {error:.1%}" if is_classes else f"a root mean squared error of {error:.4g}"


def _sentence(numbers: dict[str, Any], is_classes: bool) -> str:
    in_order, shuffled = (_shown(numbers[name], is_classes) for name in ("error_in_order", "error_shuffled"))
    sentence = "The order of the rows does not matter much"
    if numbers["matters"]:
        sentence = "The order of the rows matters"
    sentence += (
        f": a quick model of the first four fifths has {in_order} on the last fifth; models of random rows have "
        f"{shuffled} on the others."
    )
    if numbers["neighbours_alike"]:
        sentence += (
            f" Errors of neighbouring rows are alike (correlation {numbers['neighbour_correlation']:.2f}), so that "
            "random splits look better than new rows will."
        )
    if numbers["matters"] or numbers["neighbours_alike"]:
        by = f" They are sorted by {numbers['sorted_by']}." if numbers["sorted_by"] else ""
        sentence += (
            f"{by} Is the order that of time, or do neighbours belong together? Then name the column with --time or "
            "--group (time= or groups= in Python)."
        )
    return sentence


def _nothing_to_tell(target: Any) -> RowOrder:
    nan = float("nan")
    sentence = (
        f"The rows are sorted by the target {target.name}: their order tells nothing about time, and whether it "
        "matters otherwise cannot be tested."
    )
    return RowOrder(nan, nan, nan, nan, nan, nan, nan, nan, False, nan, False, True, None, sentence)
