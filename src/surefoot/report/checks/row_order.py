"""Whether the order of the rows matters: models without one end of the table on that end, and neighbours alike."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr, t

from surefoot.report.answers import Estimate
from surefoot.report.page_numbers import between, percent
from surefoot.report.statistics.estimates import withheld
from surefoot.report.statistics.means import paired_mean_difference
from surefoot.uncertainty import GradientBoostingClassifier, GradientBoostingRegressor

MIN_ROWS = 100
MAX_ROWS = 10_000
BLOCK = 100  # neighbouring rows that are drawn together from larger tables
END = 0.2  # fraction of the rows at each end of the table
N_FOLDS = 5
N_BLOCKS = 10  # of the rows of an end: neighbours may be alike, so that blocks are what was drawn
MIN_EXCESS = 0.1  # of the loss: an order that costs less does not matter, however sure it is
MAX_EXCESS = 0.15  # of the loss: where the order may cost more, it is not known whether it matters
MUCH_WORSE = 0.25
MIN_CORRELATION = 0.1
MIN_Z = 4.0
SORTED = 0.97  # rank correlation of the target with the row number
SHARE_OF_CHANGES = 0.05  # changes of class from row to row, as a fraction of what a random order has
TREES = 60


@dataclass(frozen=True)
class RowOrder:
    """Models that lack the first or the last fifth of the rows, on that fifth, beside models of random rows.

    Losses are Brier scores (classes: the squared error of the probabilities) or squared errors. Where the rows are
    sorted by the target, only ``sorted_by_target`` is set: no split by order could tell anything then.

    Attributes
    ----------
    excess : Estimate
        By what fraction the loss on both ends is higher than that of models of as many random rows, on the same rows.
    later : Estimate
        By what fraction the loss of a model of the first four fifths, on the last fifth, is higher than that of models
        of random rows on all rows: rows that come later may be harder even where the rule stays.
    error_in_order, error_shuffled : float
        Error rate or root mean squared error of a model of the first four fifths on the last fifth, and of models of
        random rows on all rows.
    neighbour_correlation : float
        Of the residuals of neighbouring rows.
    sorted_by : str or None
        A column by which the rows are sorted.
    """

    excess: Estimate
    later: Estimate
    error_in_order: float
    error_shuffled: float
    neighbour_correlation: float
    neighbours_alike: bool
    sorted_by_target: bool
    sorted_by: str | None
    sentence: str

    @property
    def matters(self) -> bool:
        """Whether it is shown that the order of the rows matters."""
        return _matters(self.excess, self.later)

    @property
    def undecided(self) -> bool:
        """Whether it is neither shown that the order matters nor that it does not."""
        return not (self.sorted_by_target or self.matters) and not self.excess.high <= MAX_EXCESS


def _matters(excess: Estimate, later: Estimate) -> bool:
    is_worse = excess.low > 0 and excess.value >= MIN_EXCESS
    return is_worse or (later.low > 0 and later.value >= MUCH_WORSE)


def check_row_order(
    frame: Any, target: Any, copies: np.ndarray | None = None, seed: int = 0, n_jobs: int | None = None
) -> RowOrder | None:
    """Compare splits by order with random ones; None if there are too few rows.

    Parameters
    ----------
    target : Target
    copies : array of shape (n_rows,), default=None
        Equal for rows that are copies of each other. Of these only the first is looked at: in a random split one would
        give the other away.
    """
    kept = np.arange(len(frame)) if copies is None else np.sort(np.unique(copies, return_index=True)[1])
    if len(kept) < MIN_ROWS:
        return None
    if sorted_by_target(target.y, target.is_classes):
        return _nothing_to_tell(target)
    rows = kept[_rows_in_order(len(kept))]
    part, y, n = frame.iloc[rows].reset_index(drop=True), target.y[rows], len(rows)
    fold = np.random.default_rng(seed).permutation(n) % N_FOLDS
    model = _Model(target.is_classes, len(target.classes), seed, n_jobs)
    shuffled = np.empty((n, model.width))
    for k in range(N_FOLDS):
        shuffled[fold == k] = model.residuals(part, y, np.flatnonzero(fold != k), np.flatnonzero(fold == k))
    n_end, places = int(END * n), np.arange(n)
    first = model.residuals(part, y, places[n_end:], places[:n_end])
    last = model.residuals(part, y, places[:-n_end], places[-n_end:])
    return _compare(shuffled, first, last, _sorting_column(frame), target)


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


def _compare(shuffled: np.ndarray, first: np.ndarray, last: np.ndarray, sorting: str | None, target: Any) -> RowOrder:
    correlation, z = _neighbour_correlation(shuffled)
    alike = bool(correlation >= MIN_CORRELATION and z >= MIN_Z)
    losses, first_losses, last_losses = ((each**2).sum(axis=1) for each in (shuffled, first, last))
    excess = _excess(losses, np.concatenate([first_losses, last_losses]))
    later = _later(losses, last_losses)
    errors = _error(last, target.is_classes), _error(shuffled, target.is_classes)
    sentence = _sentence(excess, later, errors, correlation if alike else None, sorting, target.is_classes)
    return RowOrder(
        excess=excess,
        later=later,
        error_in_order=errors[0],
        error_shuffled=errors[1],
        neighbour_correlation=correlation,
        neighbours_alike=alike,
        sorted_by_target=False,
        sorted_by=sorting,
        sentence=sentence,
    )


def _excess(shuffled: np.ndarray, in_order: np.ndarray) -> Estimate:
    """What the order costs on the rows of both ends, as a fraction of the loss there; from blocks of rows."""
    n_end = len(in_order) // 2
    there = np.concatenate([shuffled[:n_end], shuffled[-n_end:]])
    blocks = np.arange(2 * n_end) * 2 * N_BLOCKS // (2 * n_end)
    apart, loss = paired_mean_difference(in_order, there, blocks), float(there.mean())
    return _as_fraction(apart, loss)


def _later(shuffled: np.ndarray, last: np.ndarray) -> Estimate:
    """How much harder the last rows are for a model of the others than all rows are for models of random rows."""
    blocks = np.array([block.mean() for block in np.array_split(last, N_BLOCKS)])
    others = np.array([block.mean() for block in np.array_split(shuffled, 5 * N_BLOCKS)])
    error = np.sqrt(blocks.var(ddof=1) / len(blocks) + others.var(ddof=1) / len(others))
    value, width = float(last.mean() - shuffled.mean()), float(t.ppf(0.975, N_BLOCKS - 1) * error)
    return _as_fraction(Estimate(value, value - width, value + width), float(shuffled.mean()))


def _as_fraction(difference: Estimate, loss: float) -> Estimate:
    if loss <= 0:  # no errors at all: any that the order causes are infinitely many more
        return Estimate(0.0, 0.0, 0.0) if difference.value <= 0 else Estimate(np.inf, np.inf, np.inf)
    return Estimate(difference.value / loss, difference.low / loss, difference.high / loss)


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


def _sentence(
    excess: Estimate,
    later: Estimate,
    errors: tuple[float, float],
    correlation: float | None,
    sorting: str | None,
    is_classes: bool,
) -> str:
    """``errors`` are those in order and of random rows; ``correlation`` that of neighbours, if they are alike."""
    in_order, shuffled = (_shown(error, is_classes) for error in errors)
    matters = _matters(excess, later)
    sentence = "The order of the rows matters" if matters else "The order of the rows does not matter much"
    if not matters and not excess.high <= MAX_EXCESS:
        sentence = "Whether the order of the rows matters is not known"
    sentence += (
        f": a quick model of the first four fifths has {in_order} on the last fifth; models of random rows have "
        f"{shuffled}. On the first and the last fifth, models without these rows have a loss that is "
        f"higher by {percent(excess.value)} ({between(excess, percent)}) than that of models of random rows."
    )
    if correlation is not None:
        sentence += (
            f" Errors of neighbouring rows are alike (correlation {correlation:.2f}), so that "
            "random splits look better than new rows will."
        )
    if matters or correlation is not None:
        by = f" They are sorted by {sorting}." if sorting else ""
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
    return RowOrder(
        excess=withheld(nan),
        later=withheld(nan),
        error_in_order=nan,
        error_shuffled=nan,
        neighbour_correlation=nan,
        neighbours_alike=False,
        sorted_by_target=True,
        sorted_by=None,
        sentence=sentence,
    )
