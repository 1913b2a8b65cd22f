"""The part on biased samples: every method, on every split and selection, with every budget."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot import SurefootWarning
from surefoot._parallel import Cancellation, run_tasks
from surefoot_experiments.shift.biased_sample import BiasedSample
from surefoot_experiments.shift.lines import ResultLine, SampleUnit
from surefoot_experiments.shift.methods import fit_method, methods
from surefoot_experiments.shift.protocol import SELECTIONS, Budget, ShiftSettings
from surefoot_experiments.shift.tables import Tables
from surefoot_experiments.skeleton.run import RESULTS, ProgressCallback
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.uncertainty.datasets import Dataset, load_table


@dataclass(frozen=True)
class SampleSpec:
    """Which biased sample to draw."""

    dataset: Dataset
    split: int
    selection: str

    def units(self, budgets: Sequence[Budget], names: Sequence[str]) -> list[SampleUnit]:
        """Return the keys of its lines."""
        return [
            SampleUnit(self.dataset.name, self.split, self.selection, budget.name, name)
            for budget in budgets
            for name in names
        ]

    @property
    def label(self) -> str:
        return f"{self.dataset.title}, split {self.split}: biased by {self.selection}"


def plan(datasets: Sequence[Dataset], n_splits: int) -> list[SampleSpec]:
    """Return all samples, dataset by dataset and split by split."""
    return [
        SampleSpec(dataset, split, selection)
        for dataset in datasets
        for split in range(min(n_splits, dataset.n_splits))
        for selection in SELECTIONS
    ]


def run_study(
    folder: Path, tables: Tables, n_splits: int, settings: ShiftSettings, n_jobs: int | None, callback: ProgressCallback
) -> None:
    """Fit what is not in the file of results yet; lines are written as soon as a sample is finished."""
    file, names, specs = GrowingCsv(folder / RESULTS, ResultLine), methods(), plan(tables.datasets, n_splits)
    missing = {spec: [unit for unit in spec.units(settings.budgets, names) if unit not in file.lines] for spec in specs}
    waiting = [spec for spec in specs if missing[spec]]
    done = len(specs) - len(waiting)
    for spec, sample in _draw_samples(waiting, tables):
        callback(done, len(specs), spec.label)
        file.append(fit_sample(sample, missing[spec], settings.budgets, n_jobs))
        done += 1


def fit_sample(
    sample: BiasedSample, units: Sequence[SampleUnit], budgets: Sequence[Budget], n_jobs: int | None
) -> list[ResultLine]:
    """Fit the budgets and methods of some lines to one biased sample."""
    by_name = {budget.name: budget for budget in budgets}

    def fit_one(unit: SampleUnit, cancellation: Cancellation) -> ResultLine:
        cancellation.check()
        return fit_method(sample, by_name[unit.budget], unit.method)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefootWarning)  # low coverage: the lines contain it
        return run_tasks(fit_one, units, n_jobs)


def _draw_samples(specs: Sequence[SampleSpec], tables: Tables) -> Iterator[tuple[SampleSpec, BiasedSample]]:
    """Draw each sample; a table is read once for consecutive samples."""
    table = None
    for spec in specs:
        if table is None or table.dataset != spec.dataset:
            table = load_table(spec.dataset, tables.folder)
        yield spec, BiasedSample.from_table(table, spec.split, spec.selection)
