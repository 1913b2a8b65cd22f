"""What a fit consists of: how models are trained, on which rows, and everything that all members share."""

from dataclasses import dataclass, field

import numpy as np

from surefoot._progress import Progress
from surefoot.data import Columns
from surefoot.trees.gradient_grower import GrowthRules
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.recalibration import Recalibration


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained; the same for all members of an ensemble."""

    n_estimators: int
    learning_rate: float
    rules: GrowthRules
    subsample: float = 1.0
    langevin: bool = False
    temperature: float | None = None  # None: one over the number of rows, as in the paper
    patience: int | None = None  # rounds without a better held-out likelihood before it stops; None: never
    runs_its_length: bool = True  # whatever held-out rows say

    @property
    def differs_by_seed(self) -> bool:
        """Whether models of other seeds shall differ; one that is alone is the same for all of them."""
        return self.langevin or self.subsample < 1.0


@dataclass(frozen=True)
class InflationSchedule:
    """How far residuals are inflated in each round, learned from held-out rows; a model that follows it needs none."""

    residual_inflations: np.ndarray  # of every round in which the scale learns
    levels: np.ndarray = field(default_factory=lambda: np.empty(0))  # steps of the whole scale in the rounds after them
    recalibration: Recalibration = field(default_factory=Recalibration)


@dataclass(frozen=True)
class TrainingRows:
    """The internal target of every row of the table, its weight, and which rows are for what."""

    y: np.ndarray
    weights: np.ndarray | None
    train: np.ndarray  # uint32
    held_out: np.ndarray  # uint32


MAX_TARGETS = 8  # of many classes, the most frequent


@dataclass(frozen=True)
class FitSpec:
    """A table with its target and everything that all members share.

    Rows from ``n_training_rows`` on are the validation rows that the user gave.
    """

    columns: Columns
    validation: Columns | None
    y: np.ndarray
    weights: np.ndarray | None
    family: RegressionFamily | ClassificationFamily
    strata: np.ndarray | None  # classes, each of which is held out in proportion
    config: TrainingConfig
    max_bins: int
    hold_out: float  # share of the rows, 0 for none
    seed: int
    n_jobs: int | None
    progress: Progress
    inflation_schedule: InflationSchedule | None = None  # from the held-out rows of trial models
    history: tuple[float, ...] = ()  # and their losses, round by round

    @property
    def n_training_rows(self) -> int:
        return self.columns.n_rows

    def targets(self) -> np.ndarray:
        """What categories are told apart by, (targets, rows): the target, or for several classes whether it is each."""
        if self.family.n_outputs == 1 or self.family.natural:
            return self.y[np.newaxis].astype(np.float64)
        return (self.y == self.informative_outputs[:, np.newaxis]).astype(np.float64)

    @property
    def informative_outputs(self) -> np.ndarray:
        """The outputs that categories tell something of: the first parameter, or the most frequent classes."""
        if self.family.n_outputs == 1 or self.family.natural:
            return np.array([0])
        return np.argsort(-np.bincount(self.y[: self.n_training_rows]), kind="stable")[:MAX_TARGETS]

    def start(self, rows: np.ndarray) -> np.ndarray:
        """The constant outputs that suit some rows best."""
        weights = None if self.weights is None else self.weights[rows]
        if isinstance(self.family, RegressionFamily):
            return self.family.start(self.y[rows], weights)
        return self.family.start(self.y[rows], weights, max(2, self.family.n_outputs))
