"""A metric of scikit-learn, or a scorer of the user's own, on cross-fitted predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.metaestimators import available_if

from surefoot._exceptions import ParameterError
from surefoot.report.inputs.target import Target
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.models.predictions import ModelPredictions
from surefoot.report.sections.own_measure.findings import MetricFindings, MetricScore
from surefoot.report.statistics import Estimate, withheld
from surefoot.report.statistics.standard_errors import spread_of

N_DRAWS, ROWS_OF_DRAWS = (200, 1000), 4_000_000  # draws of the bootstrap: fewer in large tables
MAX_FAILED = 0.05  # fraction of the draws for which a metric may be undefined
CONFIDENCE = 0.95
NEGATED = "neg_"
Scorer = Callable[[Any, Any, Any], float]


class StoredPredictions(BaseEstimator):
    """A fitted model that knows the predictions of numbered rows: scorers call it with the numbers."""

    def __init__(self, predictions: ModelPredictions, target: Target) -> None:
        self.predictions = predictions
        self.target = target

    def predict(self, X: Any) -> np.ndarray:
        """The predicted numbers, or the codes of the predicted labels."""
        values = self.predictions.values[X]
        return np.searchsorted(self.target.classes, values) if self.target.is_classes else values

    @available_if(lambda self: self.predictions.probabilities is not None)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The predicted probabilities."""
        return np.asarray(self.predictions.probabilities)[X]

    @available_if(lambda self: self.predictions.scores is not None)
    def decision_function(self, X: Any) -> np.ndarray:
        """Numbers that increase with the probability of the second class."""
        return np.asarray(self.predictions.scores)[X]


class StoredLabels(ClassifierMixin, StoredPredictions):
    """Stored predictions of a classifier; its classes are codes."""

    @property
    def classes_(self) -> np.ndarray:
        """The codes of the labels."""
        return np.arange(len(self.target.classes))


class StoredNumbers(RegressorMixin, StoredPredictions):
    """Stored predictions of a regressor."""


@dataclass(frozen=True)
class WeightedScorer:
    """Passes the weights of the rows to a scorer; ``rows`` are those of the predictions, in the order of the table."""

    scorer: Callable[..., float]
    weights: np.ndarray

    def __call__(self, model: Any, rows: Any, y: Any) -> float:
        return self.scorer(model, rows, y, sample_weight=self.weights[rows])

    def of(self, held_out: np.ndarray) -> "WeightedScorer":
        """The scorer of some rows, which are numbered from 0."""
        return WeightedScorer(self.scorer, self.weights[held_out])


def stored(predictions: ModelPredictions, target: Target) -> StoredPredictions:
    """Predictions as a model for scorers."""
    return (StoredLabels if target.is_classes else StoredNumbers)(predictions, target)


def read_metric(metric: Any, target: Target) -> tuple[str, bool, Scorer]:
    """Name, direction and scorer of a metric; one that cannot score predictions of this target is refused.

    The score of a scorer is better if it is larger. Those that scikit-learn has negated are shown as they are defined.
    """
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", type(metric).__name__)
    if isinstance(metric, str):
        if metric not in get_scorer_names():
            names = ", ".join(get_close_matches(metric.lower(), get_scorer_names()))
            message = f"metric {metric!r} is not a scorer of scikit-learn{f'; similar are {names}' if names else ''}."
            raise ParameterError(message, argument="metric")
        scorer = get_scorer(metric)
    elif callable(metric):
        scorer = metric
    else:
        message = "metric must be the name of a scorer of scikit-learn, or a function of a model, X and y."
        raise ParameterError(message, argument="metric")
    if target.weights is not None:
        scorer = WeightedScorer(scorer, target.weights)
    _try(name, scorer, target)
    negated = name.startswith(NEGATED)
    return (name.removeprefix(NEGATED) if negated else name).replace("_", " "), not negated, scorer


def _try(name: str, scorer: Scorer, target: Target) -> None:
    """Score the best possible predictions of all rows."""
    probabilities = np.eye(len(target.classes))[target.y] if target.is_classes else None
    scores = probabilities[:, 1] if probabilities is not None and probabilities.shape[1] == 2 else None
    perfect = ModelPredictions(values=target.labels, probabilities=probabilities, scores=scores)
    try:
        float(scorer(stored(perfect, target), np.arange(len(target.y)), target.y))
    except Exception as error:  # a metric may raise anything
        reason = " ".join(str(error).split())[:200]
        what = "this target" if target.weights is None else "this target with weights (sample_weight)"
        message = f"metric {name!r} cannot score {what}: {type(error).__name__}: {reason}"
        raise ParameterError(message, argument="metric") from error


def measure_metric(
    metric: Any, audited: CrossFitted, fitted: Sequence[CrossFitted], seed: int
) -> MetricFindings | None:
    """The audited model by the user's metric, with an interval, and beside the others; None if it has no score."""
    target, splits = audited.table.target, audited.splits
    name, is_larger, scorer = read_metric(metric, target)
    sign, y = 1.0 if is_larger else -1.0, target.y[splits.held_out]
    scorer = scorer.of(splits.held_out) if isinstance(scorer, WeightedScorer) else scorer
    every = [audited, *(each for each in fitted if each is not audited)]
    scores = {each.name: score_of(scorer, each, np.arange(len(y)), y) for each in every}
    if not np.isfinite(scores[audited.name]):
        return None
    known = sorted((each for each in every if np.isfinite(scores[each.name])), key=lambda each: -scores[each.name])
    rival = next((each for each in known if each is not audited), None)
    draws = bootstrap(len(y), splits.held_out_units, seed)
    own = np.array([score_of(scorer, audited, rows, y[rows]) for rows in draws])
    ahead = None
    if rival is not None:
        others = np.array([score_of(scorer, rival, rows, y[rows]) for rows in draws])
        ahead = interval(scores[audited.name] - scores[rival.name], own - others)
    return MetricFindings(
        name=name,
        larger_is_better=is_larger,
        audited=interval(sign * scores[audited.name], sign * own),
        models=tuple(
            MetricScore(each.name, sign * scores[each.name], each is audited, each.candidate.raw) for each in known
        ),
        rival=None if rival is None else rival.name,
        ahead=ahead,
    )


def score_of(scorer: Scorer, fitted: CrossFitted, rows: np.ndarray, y: np.ndarray) -> float:
    """The score of some held-out rows; not a number where it is not defined."""
    try:
        return float(scorer(stored(fitted.predictions, fitted.table.target), rows, y))
    except (ValueError, AttributeError, ZeroDivisionError):  # rows of one class, or a model without probabilities
        return float("nan")


def bootstrap(n_rows: int, units: np.ndarray | None, seed: int) -> list[np.ndarray]:
    """Rows drawn again with replacement, many times; whole units, where rows belong together. Empty: too few units."""
    if spread_of(np.arange(float(n_rows)), units) is None:
        return []
    generator = np.random.default_rng(seed)
    n_draws = int(np.clip(ROWS_OF_DRAWS // n_rows, *N_DRAWS))
    if units is None:
        return [generator.integers(0, n_rows, n_rows) for _ in range(n_draws)]
    codes = np.unique(units, return_inverse=True)[1].ravel()
    rows_of = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    drawn = generator.integers(0, len(rows_of), (n_draws, len(rows_of)))
    return [np.concatenate([rows_of[unit] for unit in units_drawn]) for units_drawn in drawn]


def interval(value: float, draws: np.ndarray) -> Estimate:
    """The 95% interval of the bootstrap's quantiles; withheld where the metric is often undefined."""
    finite = draws[np.isfinite(draws)]
    if not len(draws) or len(finite) < (1 - MAX_FAILED) * len(draws):
        return withheld(value)
    low, high = np.quantile(finite, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(value, min(float(low), value), max(float(high), value))
