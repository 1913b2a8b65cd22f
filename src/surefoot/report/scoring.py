"""Losses of predictions, as the numbers that an audit reports."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot.report.answers import Estimate, ModelScore
from surefoot.report.intervals import (
    auc_interval,
    bootstrap_interval,
    mean_interval,
    paired_auc_difference,
    paired_share_difference,
    root_of,
    share_interval,
    within,
)
from surefoot.report.row_parts import RowParts
from surefoot.report.target import BINARY, Target

ERROR_RATE, RMSE, RANKING_ERROR = "error rate", "RMSE", "ranking error"
RATES = (ERROR_RATE, RANKING_ERROR)  # measures that are shares
FEWEST_RARE = 10  # rows of a rare class in either part, for models to be compared by how they rank them
UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"))


@dataclass(frozen=True)
class Outcome:
    """What a model makes of some rows: the loss of each, and of two classes also how it ranks them.

    ``scores`` rise with the chance of the second class, None if it gives none; ``second`` and ``said_second`` tell
    which rows are of it, and which are said to be. ``groups`` are those that were held out whole.
    """

    losses: np.ndarray
    second: np.ndarray | None = None
    said_second: np.ndarray | None = None
    scores: np.ndarray | None = None
    groups: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        target: Target,
        predicted: np.ndarray,
        rows: np.ndarray,
        scores: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> "Outcome":
        """That of labels or numbers predicted for ``rows``; ``groups`` are of all rows."""
        losses, own = target.losses(predicted, rows), None if groups is None else groups[rows]
        if target.task != BINARY:
            return cls(losses, groups=own)
        return cls(losses, target.y[rows] == 1, predicted == target.classes[1], scores, own)

    @property
    def auc(self) -> Estimate | None:
        """Chance that a row of the second class scores higher than one of the first; None if either has no row."""
        return None if self.scores is None else self.ranking_auc

    @cached_property
    def ranking_auc(self) -> Estimate | None:
        """The same, of labels too; of groups it is a bootstrap, so that it is kept."""
        return auc_interval(*self.ranking, self.groups)

    @property
    def ranking(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores, and which rows are of the second class; without scores, labels put rows in two heaps."""
        assert self.second is not None
        assert self.said_second is not None
        return self.said_second if self.scores is None else self.scores, self.second


@dataclass(frozen=True)
class Predictions:
    """Labels or numbers that someone has predicted for the rows of the table, and scores if they were probabilities."""

    values: np.ndarray
    scores: np.ndarray | None

    def outcome(self, target: Target, rows: np.ndarray, groups: np.ndarray | None) -> Outcome:
        """What they make of some rows."""
        return Outcome.of(target, self.values[rows], rows, None if self.scores is None else self.scores[rows], groups)


def measure_of(target: Target) -> str:
    """What the loss of rows is called."""
    return ERROR_RATE if target.is_classes else RMSE


def main_measure(target: Target, parts: RowParts) -> str:
    """What models are compared by: of a rare class, errors tell little, and the order in which rows are put more."""
    if target.rare is not None and enough(target.y[parts.train] == 1) and enough(target.y[parts.test] == 1):
        return RANKING_ERROR
    return measure_of(target)


def enough(second: np.ndarray) -> bool:
    """Whether the rows of either class are enough to tell how they are ranked, or how likely they were."""
    return min(np.sum(second), np.sum(~second)) >= FEWEST_RARE


def loss_of(outcome: Outcome, measure: str) -> Estimate:
    """Share of errors, share of pairs in the wrong order, or root mean squared error."""
    if measure == RANKING_ERROR:
        auc = outcome.ranking_auc
        return UNKNOWN if auc is None else Estimate(1 - auc.value, 1 - auc.high, 1 - auc.low)
    losses, groups = outcome.losses, outcome.groups
    return share_interval(losses, groups) if measure == ERROR_RATE else root_of(mean_interval(losses, groups))


def gain_over(outcome: Outcome, base: Outcome, measure: str, seed: int) -> Estimate:
    """How much less the loss is than that of a ``base`` on the same rows: in points, or as a share of variance."""
    if measure == RANKING_ERROR:  # a constant is wrong on half of the pairs, whatever the rows
        loss = loss_of(outcome, measure)
        return Estimate(0.5 - loss.value, 0.5 - loss.high, 0.5 - loss.low)
    if measure == ERROR_RATE:
        return difference_of(base, outcome, measure)
    losses, below = outcome.losses, base.losses
    if below.sum() == 0:
        return Estimate(0.0, 0.0, 0.0)

    def explained(rows: np.ndarray) -> float:
        worst = below[rows].sum()
        return 1 - losses[rows].sum() / worst if worst > 0 else float("nan")

    return within(bootstrap_interval(explained, len(losses), seed, groups=outcome.groups), -np.inf, 1.0)


def difference_of(first: Outcome, second: Outcome, measure: str) -> Estimate:
    """Loss of the first less that of the second on the same rows: points, or difference of RMSEs.

    That of RMSEs has the interval of the difference of mean squares, divided by the sum of the RMSEs.
    """
    if measure == RANKING_ERROR:
        return paired_auc_difference(second.ranking[0], *first.ranking, first.groups) or UNKNOWN
    if measure == ERROR_RATE:
        return paired_share_difference(first.losses.astype(bool), second.losses.astype(bool), first.groups)
    both = float(np.sqrt(first.losses.mean()) + np.sqrt(second.losses.mean())) or 1.0
    squares = mean_interval(first.losses - second.losses, first.groups)
    return Estimate(squares.value / both, squares.low / both, squares.high / both)


def scores_of(model: Any, X: Any, target: Target) -> np.ndarray | None:
    """Numbers by which a classifier of two classes ranks rows; None if it gives none."""
    if target.task != BINARY:
        return None
    if hasattr(model, "predict_proba"):
        probabilities = probabilities_of(model, X, target)
        return None if probabilities is None else probabilities[:, 1]
    return np.asarray(model.decision_function(X)) if hasattr(model, "decision_function") else None


def probabilities_of(model: Any, X: Any, target: Target) -> np.ndarray | None:
    """Probabilities of a target's classes, in their order; None if a classifier gives none or has other classes."""
    if not target.is_classes or not hasattr(model, "predict_proba"):
        return None
    places = target.places_among(getattr(model, "classes_", target.classes))
    if places is None:
        return None
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)[:, places]
    if not np.isfinite(probabilities).all():
        raise DataError("predict_proba of the model gives values that are no numbers: mend the model, or its input.")
    return probabilities


def score(name: str, what: str, outcome: Outcome, base: Outcome, measure: str, seed: int, **others: Any) -> ModelScore:
    """A line of the table of models; ``others`` are fields that differ from the usual."""
    fields = {"cv_loss": float("nan"), "auc": None, "seconds": float("nan"), "chosen": False, "yours": False, **others}
    gain = gain_over(outcome, base, measure, seed)
    error_rate = loss_of(outcome, ERROR_RATE) if measure == RANKING_ERROR else None
    return ModelScore(name=name, what=what, loss=loss_of(outcome, measure), gain=gain, error_rate=error_rate, **fields)
