"""Boost trees on the blended loss: trial models find the number of trees, then the model gets all rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot._parallel import Cancellation, RowThreads, count_jobs
from surefoot._progress import MemberProgress, Progress
from surefoot.data.held_out import count_trials, split_held_out
from surefoot.shift.gram import DenseGram, Gram
from surefoot.shift.leafwise_grower import CodedTable, LeafRules, LeafwiseGrower
from surefoot.shift.leafwise_tree import LeafwiseTree, make_forest
from surefoot.shift.objective import Objective
from surefoot.trees.vector_forest import VectorForest

MAX_WRITTEN_OUT = 500  # up to this many rows, growing is faster on a matrix that is written out (2 MB)
TRIAL = -1  # in place of the number of a sequence of trees, for progress messages


@dataclass(frozen=True)
class BoostingConfig:
    """How many trees, how large their steps are, and how they are grown."""

    n_estimators: int
    learning_rate: float
    rules: LeafRules
    patience: int  # rounds without a lower held-out loss before the trial models stop


@dataclass(frozen=True)
class HoldOut:
    """Which rows the trial models hold out."""

    fraction: float
    key: np.uint64
    strata: np.ndarray | None  # the class of each row

    def splits(self, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return training and held-out rows of each trial model; none for a table that is too small to split."""
        splits: list[tuple[np.ndarray, np.ndarray]] = []
        n_trials = 1
        while len(splits) < n_trials:
            train, held_out = split_held_out(rows, self.key, self.fraction, strata=self.strata, part=len(splits))
            if not len(held_out):
                return []
            n_trials = count_trials(len(held_out), self.fraction)
            splits.append((train, held_out))
        return splits


@dataclass(frozen=True)
class BoostingTable:
    """The table that trees are grown on: the codes of all rows, their weights, and the matrix of the loss."""

    codes: np.ndarray  # (columns, rows)
    missing: np.ndarray  # the code of missing values in each column
    is_categorical: np.ndarray
    weights: np.ndarray | None
    gram: Gram | None
    blend: float

    @property
    def rows(self) -> np.ndarray:
        """The rows to train on: rows without weight are left out."""
        return np.arange(self.codes.shape[1]) if self.weights is None else np.flatnonzero(self.weights > 0)

    def part(self, train: np.ndarray, held_out: np.ndarray, threads: RowThreads) -> "TrainingPart":
        """Return what a model needs that is trained on some rows and holds out others."""
        table = CodedTable(
            codes=self._codes_of(train),
            held_out=self._codes_of(held_out),
            missing=self.missing,
            is_categorical=self.is_categorical,
        )
        return TrainingPart(
            train=train,
            held_out=held_out,
            table=table,
            objective=self._objective(train, threads),
            held_out_objective=self._objective(held_out, threads) if len(held_out) else None,
        )

    def _codes_of(self, rows: np.ndarray) -> np.ndarray:
        return self.codes if len(rows) == self.codes.shape[1] else np.ascontiguousarray(self.codes[:, rows])

    def _objective(self, rows: np.ndarray, threads: RowThreads) -> Objective:
        weights = np.ones(len(rows)) if self.weights is None else self.weights[rows]
        return Objective(None if self.gram is None else self._gram_of(self.gram, rows), self.blend, weights, threads)

    def _gram_of(self, gram: Gram, rows: np.ndarray) -> Gram:
        if len(rows) <= MAX_WRITTEN_OUT:
            return DenseGram(gram.submatrix(rows), is_symmetric=True)
        return gram if len(rows) == gram.n_rows else gram.subset(rows)


@dataclass(frozen=True)
class TrainingPart:
    """The rows that a model is trained on and those that it holds out, with their codes and losses."""

    train: np.ndarray
    held_out: np.ndarray
    table: CodedTable
    objective: Objective
    held_out_objective: Objective | None

    @property
    def is_usable(self) -> bool:
        """Whether both losses depend on some row: with ``blend`` 1 only those count that the target dominates."""
        objectives = (self.objective, self.held_out_objective)
        return not any(objective is not None and objective.is_constant for objective in objectives)


@dataclass(frozen=True)
class ScaledTarget:
    """A target divided by a power of two, exactly: squares of large numbers overflow, those of small ones vanish."""

    y: np.ndarray
    exponent: int

    @classmethod
    def of(cls, y: np.ndarray, rows: np.ndarray) -> "ScaledTarget":
        """Scale by the largest value of some rows."""
        return cls(y, int(np.frexp(np.abs(y[rows]).max())[1]))

    def values(self, rows: np.ndarray) -> np.ndarray:
        return np.ldexp(self.y[rows], -self.exponent)

    def rules(self, rules: LeafRules) -> LeafRules:
        """Return the rules for the scaled target."""
        with np.errstate(over="ignore"):
            return replace(rules, min_gain=float(np.ldexp(rules.min_gain, -2 * self.exponent)))

    def unscaled_loss(self, loss: float) -> float:
        with np.errstate(over="ignore"):
            return float(np.ldexp(loss, 2 * self.exponent))


class LeafwiseBoosting:
    """Trees that are boosted one after another on some rows of the table; other rows may be held out."""

    def __init__(self, part: TrainingPart, target: ScaledTarget, config: BoostingConfig, threads: RowThreads) -> None:
        self.grower = LeafwiseGrower(part.table, part.objective, target.rules(config.rules), threads)
        self.learning_rate, self.held_out_objective = config.learning_rate, part.held_out_objective
        self.y, self.y_held_out = target.values(part.train), target.values(part.held_out)
        self.start = part.objective.best_constant(self.y)
        self.fitted, self.fitted_held_out = np.full(len(self.y), self.start), np.full(len(self.y_held_out), self.start)
        self.trees: list[LeafwiseTree] = []
        self.held_out_loss = float("nan")

    @property
    def is_finished(self) -> bool:
        """Whether the last tree has no split: all further trees would be like it."""
        return bool(self.trees) and not self.trees[-1].splits

    def step(self) -> None:
        """Add a tree."""
        tree, step, step_held_out = self.grower.grow(self.y - self.fitted)
        self.fitted += self.learning_rate * step
        self.trees.append(tree)
        if self.held_out_objective is not None:
            self.fitted_held_out += self.learning_rate * step_held_out
            self.held_out_loss = self.held_out_objective.loss(self.y_held_out - self.fitted_held_out)


@dataclass(frozen=True)
class StoppingPoint:
    """The number of trees that the trial models have found, and their mean held-out loss after each round."""

    n_trees: int
    losses: np.ndarray


@dataclass(frozen=True)
class Boosted:
    """A constant and trees; ``held_out_loss`` is the mean loss of the trial models after each round."""

    start: float
    forest: VectorForest
    held_out_loss: np.ndarray


def boost(
    table: BoostingTable,
    outputs: Sequence[np.ndarray],
    config: BoostingConfig,
    hold_out: HoldOut | None,
    threads: RowThreads,
    n_jobs: int | None,
    progress: Progress,
) -> list[Boosted]:
    """Train one sequence of trees for each of the ``outputs``."""
    targets = [ScaledTarget.of(y, table.rows) for y in outputs]
    results = [StoppingPoint(config.n_estimators, np.empty(0))] * len(targets)
    if hold_out is not None:
        results = _run_trials(table, targets, config, hold_out, threads, n_jobs, progress) or results
    whole = table.part(table.rows, table.rows[:0], threads)
    boosted = []
    for k, (target, result) in enumerate(zip(targets, results, strict=True)):
        sequence = LeafwiseBoosting(whole, target, config, threads)
        _run_rounds(sequence, result.n_trees, progress.of_member(k, result.n_trees, Cancellation()))
        forest = make_forest(sequence.trees, table.missing, table.is_categorical)
        forest.leaves[...] = np.ldexp(config.learning_rate * forest.leaves, target.exponent)
        start = float(np.ldexp(sequence.start, target.exponent))
        boosted.append(Boosted(start=start, forest=forest, held_out_loss=result.losses))
    return boosted


def _run_rounds(sequence: LeafwiseBoosting, n_trees: int, progress: MemberProgress) -> None:
    """Add trees up to their number, or as long as there is something to split."""
    while len(sequence.trees) < n_trees and not sequence.is_finished:
        sequence.step()
        progress(len(sequence.trees), float("nan"))
    progress.finish(len(sequence.trees), float("nan"))


def _run_trials(
    table: BoostingTable,
    targets: Sequence[ScaledTarget],
    config: BoostingConfig,
    hold_out: HoldOut,
    threads: RowThreads,
    n_jobs: int | None,
    progress: Progress,
) -> list[StoppingPoint]:
    """Find the number of trees for each target; return nothing if no rows can be held out.

    All trials take their rounds together, because their losses together decide when to stop. There is more than one
    trial only if tables are small (see ``count_trials``), so their matrices fit side by side.
    """
    parts = [table.part(train, held_out, threads) for train, held_out in hold_out.splits(table.rows)]
    parts = [part for part in parts if part.is_usable]
    if not parts:
        return []
    n_side_by_side = min(count_jobs(n_jobs), len(parts)) if threads.n_threads == 1 else 1
    results = []
    with RowThreads(n_side_by_side) as side_by_side:
        for target in targets:
            trials = [LeafwiseBoosting(part, target, config, threads) for part in parts]
            member = progress.of_member(TRIAL, config.n_estimators, Cancellation())
            results.append(_run_trials_of_target(trials, target, config, side_by_side, member))
    return results


def _run_trials_of_target(
    trials: list[LeafwiseBoosting],
    target: ScaledTarget,
    config: BoostingConfig,
    threads: RowThreads,
    progress: MemberProgress,
) -> StoppingPoint:
    """Add a tree to every trial, round after round, until the mean held-out loss no longer falls."""
    losses: list[float] = []
    best = 0  # the round with the lowest loss
    while len(losses) < config.n_estimators and len(losses) - best < config.patience:
        threads.each(LeafwiseBoosting.step, trials)
        losses.append(sum(trial.held_out_loss for trial in trials) / len(trials))
        best = len(losses) if losses[-1] < losses[best - 1] or best == 0 else best
        progress(len(losses), target.unscaled_loss(losses[-1]))
        if all(trial.is_finished for trial in trials):
            break
    progress.finish(best, target.unscaled_loss(losses[best - 1]))
    return StoppingPoint(best, np.array([target.unscaled_loss(loss) for loss in losses]))
