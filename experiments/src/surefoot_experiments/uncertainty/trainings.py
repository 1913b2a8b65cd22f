"""The trainings of a run: those of methods without results, with tuning first."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot_experiments.skeleton.run import RESULTS, ProgressCallback
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.uncertainty.boosters import train_boosters
from surefoot_experiments.uncertainty.datasets import Dataset, load_table
from surefoot_experiments.uncertainty.forests import train_forests
from surefoot_experiments.uncertainty.lines import TUNING, MethodLine, MethodUnit, TuningLine
from surefoot_experiments.uncertainty.measures import Predictor, measure
from surefoot_experiments.uncertainty.methods import (
    BOOSTER_TRAININGS,
    FOREST_SPLITS,
    FOREST_TRAININGS,
    UncertaintySettings,
)
from surefoot_experiments.uncertainty.problem import Problem
from surefoot_experiments.uncertainty.tuning import best_line, tune


@dataclass(frozen=True)
class Training:
    """One training on one split, and the methods whose results it gives."""

    dataset: Dataset
    split: int
    name: str
    methods: tuple[str, ...]

    @property
    def units(self) -> list[MethodUnit]:
        return [MethodUnit(self.dataset.name, self.split, method) for method in self.methods]

    @property
    def label(self) -> str:
        return f"{self.dataset.title}, split {self.split}: {self.name}"


class TrainingRun:
    """The trainings of a run, and the two files of their results."""

    def __init__(self, folder: Path, data: Path, settings: UncertaintySettings, n_jobs: int | None) -> None:
        self.data, self.settings, self.n_jobs = data, settings, n_jobs
        self.results = GrowingCsv(folder / RESULTS, MethodLine)
        self.tuning = GrowingCsv(folder / TUNING, TuningLine)

    def run(self, trainings: Sequence[Training], callback: ProgressCallback) -> None:
        """Run every training without results; results are written as soon as a training ends."""
        waiting = [training for training in trainings if any(unit not in self.results.lines for unit in training.units)]
        done = len(trainings) - len(waiting)
        for training, problem in self._problems(waiting):
            callback(done, len(trainings), training.label)
            self._train(training, problem)
            done += 1

    def _problems(self, trainings: Sequence[Training]) -> Iterator[tuple[Training, Problem]]:
        """Each training with its split; consecutive trainings share the table and the split."""
        table, problem = None, None
        for training in trainings:
            if table is None or table.dataset != training.dataset:
                table, problem = load_table(training.dataset, self.data), None
            if problem is None or problem.split != training.split:
                problem = Problem.from_table(table, training.split, self.data)
            yield training, problem

    def _train(self, training: Training, problem: Problem) -> None:
        chosen = self._tune(training, problem) if training.name in BOOSTER_TRAININGS else None
        started = time.perf_counter()
        if chosen is not None:
            predictors = train_boosters(problem, training.name, chosen, self.settings, self.n_jobs)
            shape = (chosen.depth, chosen.rate, chosen.trees)
        else:
            predictors = train_forests(problem, training.name, self.settings, self.n_jobs)
            shape = (self.settings.forest_depth, float("nan"), self.settings.forest_trees)
        self.results.append(_measure_all(problem, predictors, shape, started))

    def _tune(self, training: Training, problem: Problem) -> TuningLine:
        """The best settings on this split; tries them if they are not in the file yet."""
        settings = self.settings
        lines = [
            line for line in self.tuning.lines.values() if line.unit[:3] == (problem.name, problem.split, training.name)
        ]
        if len(lines) < len(settings.depths) * len(settings.rates):
            lines = tune(problem, training.name, settings, self.n_jobs)
            self.tuning.append(lines)
        return best_line(lines)


def plan_trainings(datasets: Sequence[Dataset], n_splits: int, *, boosters: bool, forests: bool) -> list[Training]:
    """All trainings, dataset by dataset and split by split."""

    def trainings(dataset: Dataset, split: int) -> dict[str, tuple[str, ...]]:
        with_forests = forests and split < FOREST_SPLITS
        return {**(BOOSTER_TRAININGS if boosters else {}), **(FOREST_TRAININGS if with_forests else {})}

    return [
        Training(dataset, split, name, methods)
        for dataset in datasets
        for split in range(min(n_splits, dataset.n_splits))
        for name, methods in trainings(dataset, split).items()
    ]


def _measure_all(
    problem: Problem, predictors: dict[str, Predictor], shape: tuple[int, float, int], started: float
) -> list[MethodLine]:
    """A line for each method; the time of the training is divided evenly among them."""
    measures = {method: measure(problem, predict) for method, predict in predictors.items()}
    depth, rate, trees = shape
    seconds = (time.perf_counter() - started) / len(predictors)
    return [
        MethodLine(
            dataset=problem.name,
            split=problem.split,
            method=method,
            **values,
            depth=depth,
            rate=rate,
            trees=trees,
            train_rows=len(problem.y),
            test_rows=len(problem.y_test),
            seconds=seconds,
        )
        for method, values in measures.items()
    ]
