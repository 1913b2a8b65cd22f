"""How far a number may be from a prediction, as a multiple of what the model itself expects in that row."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ABSOLUTE, NORMALIZED, QUANTILE = "absolute", "normalized", "quantile"


@dataclass(frozen=True)
class RowScales:
    """For every row a centre, and the lengths of one unit below and above it.

    The score of a number is its distance from the centre in these units. So the numbers up to a given score are an
    interval, and scores of rows with different noise can be compared.
    """

    centre: np.ndarray
    below: np.ndarray
    above: np.ndarray

    def __getitem__(self, rows: Any) -> "RowScales":
        return RowScales(self.centre[rows], self.below[rows], self.above[rows])

    @classmethod
    def stacked(cls, parts: Sequence["RowScales"]) -> "RowScales":
        """The scales of several models for the same rows: (n_rows, n_models)."""
        names = ("centre", "below", "above")
        return cls(*(np.column_stack([getattr(part, name) for part in parts]) for name in names))

    def scores(self, y: np.ndarray) -> np.ndarray:
        """The distances of numbers from the centres; infinite where a model expects no distance at all."""
        distance = np.abs(y - self.centre)
        unit = np.where(y < self.centre, self.below, self.above)
        with np.errstate(over="ignore"):  # infinite too
            scores = np.divide(distance, unit, out=np.full(len(distance), np.inf), where=unit > 0)
        return np.where(distance == 0, 0.0, scores)

    def ends(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The interval of all numbers up to a score."""
        below, above = (np.where(np.isinf(scores), np.inf, _product(scores, unit)) for unit in (self.below, self.above))
        return self.centre - below, self.centre + above


def _product(scores: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(scores), 0.0, scores) * unit


def resolved_score(name: str, model: Any) -> str:
    """The score that "auto" stands for: the one that uses most of what the model predicts."""
    if name != "auto":
        return name
    return QUANTILE if hasattr(model, "predict_distribution") else NORMALIZED if takes_std(model) else ABSOLUTE


def takes_std(model: Any) -> bool:
    """Whether ``predict(X, return_std=True)`` is possible; of a pipeline, by its last step."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    try:
        return "return_std" in inspect.signature(last.predict).parameters
    except (AttributeError, TypeError, ValueError):
        return False


def scales_of(model: Any, X: Any, score: str, level: float) -> RowScales:
    """The scales that a fitted model predicts for the rows of a table."""
    if score == QUANTILE:
        distribution = model.predict_distribution(X)
        median, (low, high) = distribution.quantile(0.5), distribution.interval(level)
        step = 0.5 if getattr(distribution, "is_discrete", False) else 0.0  # a count covers the numbers around it
        return RowScales(median, median - low + step, high - median + step)
    if score == NORMALIZED:
        mean, std = (np.asarray(each, dtype=np.float64) for each in model.predict(X, return_std=True))
        return RowScales(mean, std, std)
    mean = np.asarray(model.predict(X), dtype=np.float64)
    return RowScales(mean, np.ones(len(mean)), np.ones(len(mean)))
