"""The part on biased samples: every method, on every split and selection, with every budget."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot import SurefootWarning
from surefoot._parallel import Cancellation, run_tasks
from surefoot_experiments.shift.biased_sample import Task
from surefoot_experiments.shift.lines import ResultLine, SampleUnit
from surefoot_experiments.shift.methods import fit_method, methods
from surefoot_experiments.shift.protocol import SELECTIONS, Budget, ShiftSettings
from surefoot_experiments.shift.tables import Tables
from surefoot_experiments.skeleton.run import RESULTS, Watcher
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.uncertainty.datasets import Dataset, load_table


@dataclass(frozen=True)
class Sample:
    """What is run in one go: one biased sample, with every budget and method."""

    dataset: Dataset
    split: int
    selection: str

    def units(self, budgets: Sequence[Budget], names: Sequence[str]) -> list[SampleUnit]:
        """The lines that it gives."""
        return [
            SampleUnit(self.dataset.name, self.split, self.selection, budget.name, name)
            for budget in budgets
            for name in names
        ]

    @property
    def label(self) -> str:
        return f"{self.dataset.title}, split {self.split}: biased by {self.selection}"


def plan(datasets: Sequence[Dataset], n_splits: int) -> list[Sample]:
    """All samples, dataset by dataset and split by split."""
    return [
        Sample(dataset, split, selection)
        for dataset in datasets
        for split in range(min(n_splits, dataset.n_splits))
        for selection in SELECTIONS
    ]


def run_study(
    folder: Path, tables: Tables, n_splits: int, settings: ShiftSettings, n_jobs: int | None, watch: Watcher
) -> None:
    """The samples whose lines are not all there; lines are written as soon as a sample is done."""
    file, names, samples = GrowingCsv(folder / RESULTS, ResultLine), methods(), plan(tables.datasets, n_splits)
    waiting = [
        sample for sample in samples if any(unit not in file.lines for unit in sample.units(settings.budgets, names))
    ]
    done = len(samples) - len(waiting)
    for sample, task in _tasks(waiting, tables):
        watch(done, len(samples), sample.label)
        file.append(fit_sample(task, settings.budgets, names, n_jobs))
        done += 1


def fit_sample(task: Task, budgets: Sequence[Budget], names: Sequence[str], n_jobs: int | None) -> list[ResultLine]:
    """Every budget and method on one biased sample."""

    def fit_one(pair: tuple[Budget, str], cancellation: Cancellation) -> ResultLine:
        cancellation.check()
        return fit_method(task, *pair)

    pairs = [(budget, name) for budget in budgets for name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefootWarning)  # of rows that the target does not see: lines have their share
        return run_tasks(fit_one, pairs, n_jobs)


def _tasks(samples: Sequence[Sample], tables: Tables) -> Iterator[tuple[Sample, Task]]:
    """Each sample with its rows; a table is read once for all that follow one another."""
    table = None
    for sample in samples:
        if table is None or table.dataset != sample.dataset:
            table = load_table(sample.dataset, tables.folder)
        yield sample, Task.from_table(table, sample.split, sample.selection)
