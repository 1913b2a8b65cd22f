"""One trial: a learner trained on one dataset with one seed, and its test accuracy for each number of members."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from surefoot import ManyMembersWarning
from surefoot.boosting import (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
)
from surefoot.boosting.larsen_ritzert import subsample_levels
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.weak_to_strong import adversarial
from surefoot_experiments.weak_to_strong.datasets import LoadedTable


class VoteUnit(NamedTuple):
    """Identifies a `Result`."""

    dataset: str
    seed: int
    learner: str
    n_members: int


@dataclass(frozen=True)
class Result:
    """One line of the results; ``seconds`` is the time of this unit."""

    dataset: str
    seed: int
    learner: str
    n_members: int
    accuracy: float
    seconds: float
    rows: int
    note: str

    @property
    def unit(self) -> VoteUnit:
        return VoteUnit(self.dataset, self.seed, self.learner, self.n_members)


class ResultsFile(GrowingCsv[Result]):
    """The results of a run."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Result)

    @property
    def results(self) -> dict[VoteUnit, Result]:
        return self.lines


ADABOOST, MAJORITY, BAGGED, LARSEN_RITZERT = "AdaBoost", "Majority-of-X", "Bagged AdaBoost", "Larsen-Ritzert"
BAGGED_FRACTION = 0.95  # fraction of rows drawn for each bagged member, with replacement, as in the paper
TEST_FRACTION = 0.2


@dataclass(frozen=True)
class Split:
    """Training rows and test rows; ``estimator`` is the weak learner (None: a stump)."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    estimator: Any = None


@dataclass(frozen=True)
class TrialDataset:
    """The data of trials; ``split(seed)`` shuffles the rows and holds out the test rows."""

    name: str
    title: str
    large: bool
    rows: int
    train_rows: int
    note: str
    split: Callable[[int], Split]


@dataclass(frozen=True)
class Trial:
    """One learner to train; ``counts`` are the numbers of members to evaluate, from a single training."""

    dataset: str
    seed: int
    learner: str
    counts: tuple[int, ...]


def table_dataset(table: LoadedTable, max_rows: int | None) -> TrialDataset:
    """A table of the paper; each seed uses at most ``max_rows`` of its shuffled rows."""
    rows = len(table.y) if max_rows is None else min(len(table.y), max_rows)
    n_test = round(TEST_FRACTION * rows)

    def split(seed: int) -> Split:
        order = np.random.default_rng([seed, 1]).permutation(len(table.y))[:rows]
        test, train = order[:n_test], order[n_test:]
        return Split(X=table.X[train], y=table.y[train], X_test=table.X[test], y_test=table.y[test])

    source = table.source
    notes = [f"part of the paper's {source.paper_rows:,} rows"] if rows < source.paper_rows else []
    return TrialDataset(
        name=source.name,
        title=source.title,
        large=source.large,
        rows=rows,
        train_rows=rows - n_test,
        note="; ".join([table.file, *notes]),
        split=split,
    )


def adversarial_dataset(gamma: float, n_hypotheses: int) -> TrialDataset:
    """The adversarial instance: every seed draws its own rows and hypotheses; the test set is the whole universe."""

    def split(seed: int) -> Split:
        learner = adversarial.AdversarialLearner(gamma=gamma, n_hypotheses=n_hypotheses, hypothesis_seed=seed)
        (X, y), (X_test, y_test) = adversarial.draw_sample(seed), adversarial.whole_universe()
        return Split(X=X, y=y, X_test=X_test, y_test=y_test, estimator=learner)

    return TrialDataset(
        name="adversarial",
        title="Adversarial",
        large=False,
        rows=adversarial.N_SAMPLES,
        train_rows=adversarial.N_SAMPLES,
        note=f"gamma {gamma:g} and {n_hypotheses:,} hypotheses, our choice",
        split=split,
    )


def plan_trials(dataset: TrialDataset, seed: int, members: tuple[int, ...]) -> list[Trial]:
    """All trials of one dataset and seed, cheapest first."""
    majority = [Trial(dataset.name, seed, MAJORITY, (count,)) for count in members]
    n_subsamples = 3 ** subsample_levels(dataset.train_rows)
    drawn = tuple(count for count in members if count <= n_subsamples) if dataset.large else ()
    return [
        Trial(dataset.name, seed, ADABOOST, (1,)),
        *majority,
        Trial(dataset.name, seed, BAGGED, members),
        Trial(dataset.name, seed, LARSEN_RITZERT, drawn or (n_subsamples,)),
    ]


def units_of(trial: Trial) -> list[VoteUnit]:
    """The units that a trial gives results for."""
    return [VoteUnit(trial.dataset, trial.seed, trial.learner, count) for count in trial.counts]


def results_of(trial: Trial, dataset: TrialDataset, accuracies: list[float], seconds: list[float]) -> list[Result]:
    """The lines of the results of a trial."""
    return [
        Result(**unit._asdict(), accuracy=accuracy, seconds=added, rows=dataset.rows, note=dataset.note)
        for unit, accuracy, added in zip(units_of(trial), accuracies, seconds, strict=True)
    ]


def run_trial(trial: Trial, split: Split, n_rounds: int, n_jobs: int | None) -> tuple[list[float], list[float]]:
    """Test accuracy for each number of members, and the time that each number added."""
    started = time.perf_counter()
    booster = _make_booster(trial, split, n_rounds, n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManyMembersWarning)
        booster.fit(split.X, split.y)
    members = [booster] if trial.learner == ADABOOST else booster.estimators_
    accuracies = prefix_accuracies(members, split, trial.counts)
    fractions = np.diff(trial.counts, prepend=0) / trial.counts[-1]
    return accuracies, list((time.perf_counter() - started) * fractions)


def prefix_accuracies(members: list[Any], split: Split, counts: tuple[int, ...]) -> list[float]:
    """Accuracy of the vote of the first ``k`` members, for each ``k`` in ``counts``; a tie counts as +1.

    The first members of an ensemble do not depend on the number of members, so one training is enough.
    """
    if len(members) != counts[-1]:
        raise AssertionError(f"{counts[-1]} members expected, {len(members)} trained")
    votes = np.zeros(len(split.y_test), dtype=np.int64)
    accuracies = []
    for k, member in enumerate(members, start=1):
        votes += member.predict(split.X_test)
        if k in counts:
            accuracies.append(float(np.mean(np.where(votes >= 0, 1, -1) == split.y_test)))
    return accuracies


def _make_booster(trial: Trial, split: Split, n_rounds: int, n_jobs: int | None) -> Any:
    shared = {"estimator": split.estimator, "n_estimators": n_rounds, "random_state": trial.seed, "n_jobs": n_jobs}
    shared["calibrate"] = False  # the experiment compares votes, not probabilities
    n_members = trial.counts[-1]
    if trial.learner == ADABOOST:
        return AdaBoostClassifier(**shared)
    if trial.learner == MAJORITY:
        return MajorityBoostClassifier(n_members=n_members, **shared)
    if trial.learner == BAGGED:
        return BaggedBoostClassifier(n_members=n_members, max_samples=BAGGED_FRACTION, **shared)
    uses_all = n_members == 3 ** subsample_levels(len(split.y))
    return LarsenRitzertClassifier(n_members=None if uses_all else n_members, **shared)
