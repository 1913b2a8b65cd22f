"""Whether the order of the rows matters: models without one end of the table on that end, and similar neighbours."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr, t

from surefoot.report.checks.split_comparison import SplitComparison, as_fraction, is_ruled_out, is_shown
from surefoot.report.page.numbers import between, percent
from surefoot.report.statistics import Estimate, withheld

N_BLOCKS = 10  # of the last rows; intervals count blocks
MUCH_WORSE = 0.25
MIN_CORRELATION = 0.1
MIN_Z = 4.0
SORTED = 0.97  # rank correlation of the target with the row number
MAX_CHANGES = 0.05  # changes of class from row to row, as a fraction of those in a random order


@dataclass(frozen=True)
class RowOrder:
    """Models without the first or the last fifth of the rows, on that fifth, compared with models of random rows.

    Losses are Brier scores (classes: the squared error of the probabilities) or squared errors. If the rows are sorted
    by the target, only ``sorted_by_target`` is set: no split by order would be informative then.

    Attributes
    ----------
    excess : Estimate
        By what fraction the loss on both ends is higher than that of models of as many random rows, on the same rows.
    later : Estimate
        By what fraction the loss of a model of the first four fifths, on the last fifth, is higher than that of models
        of random rows on all rows: later rows may be harder even if the rule does not change.
    error_in_order, error_shuffled : float
        Error rate or root mean squared error of a model of the first four fifths on the last fifth, and of models of
        random rows on all rows.
    neighbour_correlation : float
        Correlation of the residuals of neighbouring rows.
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
        """Whether it is shown neither that the order matters nor that it does not matter."""
        return not self.matters and not is_ruled_out(self.excess)


def _matters(excess: Estimate, later: Estimate) -> bool:
    return is_shown(excess) or (later.low > 0 and later.value >= MUCH_WORSE)


def check_row_order(comparison: SplitComparison, frame: Any, target: Any) -> RowOrder | None:
    """Compare splits by order with random ones; None if there are too few rows. ``frame`` has all rows."""
    if not comparison.is_enough:
        return None
    if sorted_by_target(target.y, target.is_classes):
        return _not_testable(target)
    return _compare(comparison, _sorting_column(frame), target.is_classes)


def sorted_by_target(y: np.ndarray, is_classes: bool) -> bool:
    """Whether rows are ordered by their target: blocks of classes, or increasing or decreasing numbers."""
    if not is_classes:
        return bool(abs(spearmanr(y, np.arange(len(y))).statistic) > SORTED)
    fractions = np.bincount(y) / len(y)
    expected = (len(y) - 1) * (1 - (fractions**2).sum())
    n_changes = int((np.diff(y) != 0).sum())
    return bool(n_changes <= max(2 * (len(fractions) - 1), MAX_CHANGES * expected))


def _sorting_column(frame: Any) -> str | None:
    """The first column of numbers, with more than a few values, by which the rows are sorted."""
    for name in frame.columns:
        if frame[name].dtype.kind == "f":
            steps = np.diff(frame[name].to_numpy())
            if not np.isnan(steps).any() and (np.all(steps >= 0) or np.all(steps <= 0)) and (steps != 0).sum() >= 20:
                return str(name)
    return None


def _compare(comparison: SplitComparison, sorting: str | None, is_classes: bool) -> RowOrder:
    shuffled, (_, last) = comparison.shuffled, comparison.ends
    correlation, z = _neighbour_correlation(shuffled)
    alike = bool(correlation >= MIN_CORRELATION and z >= MIN_Z)
    excess = comparison.excess_of_ends()
    later = _later((shuffled**2).sum(axis=1), (last**2).sum(axis=1))
    errors = _error(last, is_classes), _error(shuffled, is_classes)
    return RowOrder(
        excess=excess,
        later=later,
        error_in_order=errors[0],
        error_shuffled=errors[1],
        neighbour_correlation=correlation,
        neighbours_alike=alike,
        sorted_by_target=False,
        sorted_by=sorting,
        sentence=_sentence(excess, later, errors, correlation if alike else None, sorting, is_classes),
    )


def _later(shuffled: np.ndarray, last: np.ndarray) -> Estimate:
    """How much harder the last rows are for a model of the others than all rows are for models of random rows."""
    blocks = np.array([block.mean() for block in np.array_split(last, N_BLOCKS)])
    others = np.array([block.mean() for block in np.array_split(shuffled, 5 * N_BLOCKS)])
    error = np.sqrt(blocks.var(ddof=1) / len(blocks) + others.var(ddof=1) / len(others))
    value, width = float(last.mean() - shuffled.mean()), float(t.ppf(0.975, N_BLOCKS - 1) * error)
    return as_fraction(Estimate(value, value - width, value + width), float(shuffled.mean()))


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
    truth = residuals.max(axis=1)  # 1 minus the probability of the true class; the others are minus theirs
    return float((1 - truth < -residuals.min(axis=1)).mean())


def _in_words(error: float, is_classes: bool) -> str:
    return f"an error rate of {error:.1%}" if is_classes else f"a root mean squared error of {error:.4g}"


def _sentence(
    excess: Estimate,
    later: Estimate,
    errors: tuple[float, float],
    correlation: float | None,
    sorting: str | None,
    is_classes: bool,
) -> str:
    """The result; ``errors`` are those in order and of random rows, ``correlation`` that of similar neighbours."""
    in_order, shuffled = (_in_words(error, is_classes) for error in errors)
    matters = _matters(excess, later)
    sentence = "The order of the rows matters" if matters else "The order of the rows does not matter much"
    if not matters and not is_ruled_out(excess):
        sentence = "Whether the order of the rows matters is not known"
    sentence += (
        f": a quick model of the first four fifths has {in_order} on the last fifth; models of random rows have "
        f"{shuffled}. On the first and the last fifth, the loss of models without these rows is "
        f"{percent(excess.value)} ({between(excess, percent)}) higher than that of models of random rows."
    )
    if correlation is not None:
        sentence += (
            f" Errors of neighbouring rows are correlated ({correlation:.2f}), so errors under random splits are "
            "smaller than errors on new rows will be."
        )
    if matters or correlation is not None:
        by = f" The rows are sorted by {sorting}." if sorting else ""
        sentence += (
            f"{by} Are the rows in order of time, or do neighbours belong together? Then name the column with --time "
            "or --group (time= or groups= in Python)."
        )
    return sentence


def _not_testable(target: Any) -> RowOrder:
    nan = float("nan")
    sentence = f"The rows are sorted by the target {target.name}, so whether their order matters cannot be tested."
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
