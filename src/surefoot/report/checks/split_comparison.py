"""The loss of a quick model under random splits and under splits by an order or by groups, on the same rows."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.report.statistics import Estimate, paired_mean_difference
from surefoot.uncertainty import GradientBoostingClassifier, GradientBoostingRegressor

MIN_ROWS, MAX_ROWS = 100, 10_000
BLOCK = 100  # neighbouring rows that are drawn together from larger tables
END = 0.2  # fraction of the rows at each end of an order
N_FOLDS = 5
N_BLOCKS = 10  # of the rows of an end: neighbours may be alike, so intervals count blocks
TOLERANCE = 0.1  # of the loss: a split that costs less does not matter, even if the difference is significant
TREES, DEPTH = 60, 5


def is_shown(excess: Estimate) -> bool:
    """Whether it is shown that a split by an order or by groups has a higher loss than random splits."""
    return excess.low > 0 and excess.value >= TOLERANCE


def is_ruled_out(excess: Estimate) -> bool:
    """Whether it is shown that the loss is not higher, or only a little."""
    return excess.high <= TOLERANCE


@dataclass(frozen=True)
class SplitComparison:
    """Residuals of a quick booster when rows are split in different ways.

    Losses are Brier scores (classes: the squared error of the probabilities) or squared errors.

    Attributes
    ----------
    frame : pandas frame
        The rows in their order; in a large table, blocks of neighbours.
    y : array of shape (n_rows,)
    n_classes : int
        0 for numbers.
    rows : array of shape (n_rows,)
        Their positions in the table.
    """

    frame: Any
    y: np.ndarray
    n_classes: int
    rows: np.ndarray
    seed: int
    n_jobs: int | None

    @classmethod
    def of(cls, frame: Any, target: Any, copies: np.ndarray | None, seed: int, n_jobs: int | None) -> "SplitComparison":
        """The rows of a table; ``copies`` is equal for rows that are copies of each other, of which one is kept.

        In a random split, one copy would reveal the target of the other.
        """
        kept = np.arange(len(frame)) if copies is None else np.sort(np.unique(copies, return_index=True)[1])
        rows = kept[_rows_in_order(len(kept))]
        n_classes = len(target.classes) if target.is_classes else 0
        return cls(frame.iloc[rows].reset_index(drop=True), target.y[rows], n_classes, rows, seed, n_jobs)

    @cached_property
    def shuffled(self) -> np.ndarray:
        """Residuals of every row under a model of random other rows: one column for each class, or one column."""
        fold = np.random.default_rng(self.seed).permutation(len(self.y)) % N_FOLDS
        return self._held_out(fold)

    def _held_out(self, fold: np.ndarray) -> np.ndarray:
        residuals = np.empty((len(self.y), max(self.n_classes, 1)))
        for k in np.unique(fold):
            residuals[fold == k] = self.residuals(np.flatnonzero(fold != k), np.flatnonzero(fold == k))
        return residuals

    @property
    def is_enough(self) -> bool:
        """Whether there are enough rows to compare splits."""
        return len(self.y) >= MIN_ROWS

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of the first and of the last fifth of the rows, each under a model of the other rows."""
        return self._residuals_of_ends(np.arange(len(self.y)))

    def _residuals_of_ends(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_end = int(END * len(order))
        return self.residuals(order[n_end:], order[:n_end]), self.residuals(order[:-n_end], order[-n_end:])

    def excess_of_ends(self, order: np.ndarray | None = None) -> Estimate:
        """By what fraction the loss on both ends of an order is higher under models without that end."""
        positions = np.arange(len(self.y)) if order is None else order
        n_end = int(END * len(positions))
        ends = self.ends if order is None else self._residuals_of_ends(order)
        at_ends = np.concatenate([positions[:n_end], positions[-n_end:]])
        blocks = np.arange(2 * n_end) * N_BLOCKS // n_end
        return _excess(_losses(np.concatenate(ends)), _losses(self.shuffled[at_ends]), blocks)

    def excess_of_groups(self, groups: np.ndarray) -> Estimate:
        """By what fraction the loss is higher under models that were not trained on the group of a row."""
        codes = np.unique(groups, return_inverse=True)[1].ravel()
        fold = (np.random.default_rng(self.seed).permutation(codes.max() + 1) % N_FOLDS)[codes]
        return _excess(_losses(self._held_out(fold)), _losses(self.shuffled), codes)

    def residuals(self, fit: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Truth minus prediction of some rows under a model of others."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for example about unknown groups: their effect is what is measured
            if not self.n_classes:
                return np.asarray(self.y[test] - self._fitted(fit).predict(self.frame.iloc[test]))[:, np.newaxis]
            return np.eye(self.n_classes)[self.y[test]] - self._probabilities(fit, test)

    def _probabilities(self, fit: np.ndarray, test: np.ndarray) -> np.ndarray:
        known = np.unique(self.y[fit])
        probabilities = np.zeros((len(test), self.n_classes))
        probabilities[:, known] = 1.0 if len(known) < 2 else self._fitted(fit).predict_proba(self.frame.iloc[test])
        return probabilities

    def _fitted(self, rows: np.ndarray) -> Any:
        kind = GradientBoostingClassifier if self.n_classes else GradientBoostingRegressor
        model = kind(
            n_estimators=TREES, max_depth=DEPTH, early_stopping=False, random_state=self.seed, n_jobs=self.n_jobs
        )
        return model.fit(self.frame.iloc[rows], self.y[rows])


def as_fraction(difference: Estimate, loss: float) -> Estimate:
    """A difference of losses, in units of one of them."""
    if loss <= 0:  # no errors at all: any error that a split causes is an infinite increase
        return Estimate(0.0, 0.0, 0.0) if difference.value <= 0 else Estimate(np.inf, np.inf, np.inf)
    return Estimate(difference.value / loss, difference.low / loss, difference.high / loss)


def _losses(residuals: np.ndarray) -> np.ndarray:
    return np.asarray((residuals**2).sum(axis=1))


def _excess(losses: np.ndarray, shuffled: np.ndarray, units: np.ndarray) -> Estimate:
    return as_fraction(paired_mean_difference(losses, shuffled, units), float(shuffled.mean()))


def _rows_in_order(n: int) -> np.ndarray:
    """All rows, or blocks of neighbours from all over the table, in their order."""
    if n <= MAX_ROWS:
        return np.arange(n)
    starts = np.linspace(0, n - BLOCK, MAX_ROWS // BLOCK).astype(np.int64)
    return np.asarray((starts[:, np.newaxis] + np.arange(BLOCK)).ravel())
