"""Tables 1, 2, 4 to 7 and figures 2 to 4 of "Uncertainty in Gradient Boosting via Ensembles" (Malinin et al. 2021)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from surefoot import ParameterError
from surefoot_experiments.skeleton.run import (
    RESULTS,
    Outputs,
    Watcher,
    check_jobs,
    choose_parts,
    default_folder,
    find_data_folder,
    folder_lock,
    open_folder,
)
from surefoot_experiments.uncertainty import heart, spiral
from surefoot_experiments.uncertainty.datasets import Dataset, choose_datasets
from surefoot_experiments.uncertainty.lines import TUNING, ResultLine, TuningLine
from surefoot_experiments.uncertainty.maps import write_map
from surefoot_experiments.uncertainty.methods import HELD_OUT_FOR_SCALE, UncertaintySettings
from surefoot_experiments.uncertainty.out_of_domain import check_sources
from surefoot_experiments.uncertainty.report import write_report
from surefoot_experiments.uncertainty.trials import Trials, plan

NAME = "uncertainty"
SPLITS, QUICK_SPLITS = 20, 2
FIGURES, BOOSTERS, FORESTS = "figures", "boosters", "forests"
PARTS = (FIGURES, BOOSTERS, FORESTS)
WANTED = "boston.parquet, boston_splits.npz, ..., year_msd_head1176.parquet and higgs_56k.parquet"


@dataclass(frozen=True)
class Tables:
    """The folder of the data files, the datasets to run, and the file that each table is read from."""

    folder: Path = Path()
    datasets: list[Dataset] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    @classmethod
    def find(cls, data: str | Path | None, names: Sequence[str] | None, quick: bool) -> "Tables":
        folder = find_data_folder(data, WANTED)
        datasets = choose_datasets(names, folder, quick)
        return cls(folder, datasets, {**check_sources(folder), **{dataset.name: dataset.file for dataset in datasets}})


def run(
    *,
    data: str | Path | None = None,
    out: str | Path | None = None,
    quick: bool = False,
    datasets: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    n_splits: int | None = None,
    n_jobs: int | None = None,
    watch: Watcher = lambda done, total, label: None,
) -> Outputs:
    """Run what is not yet in the results of ``out``; then draw and write about everything that is there."""
    settings, splits, parts = (
        UncertaintySettings.make(quick),
        _count_splits(n_splits, quick),
        choose_parts(parts, PARTS),
    )
    check_jobs(n_jobs)
    tables = Tables() if set(parts) == {FIGURES} else Tables.find(data, datasets, quick)
    outputs = Outputs(Path(out) if out is not None else default_folder(NAME, quick))
    _open(outputs, settings, tables.sources)
    with folder_lock(outputs.folder):
        if FIGURES in parts:
            make_maps(outputs.folder, settings, n_jobs, watch)
        trials = Trials(outputs.folder, tables.folder, settings, n_jobs)
        trials.run(plan(tables.datasets, splits, boosters=BOOSTERS in parts, forests=FORESTS in parts), watch)
        watch(1, 1, "drawing")
        write_report(outputs.folder, trials, settings)
    return outputs


def make_maps(folder: Path, settings: UncertaintySettings, n_jobs: int | None, watch: Watcher) -> None:
    """Heart and spiral, unless they are there."""
    makers = {"heart": heart.run, "spiral": spiral.run}
    for done, (name, make) in enumerate(makers.items()):
        path = folder / f"{name}.csv"
        if not path.exists():
            watch(done, len(makers), f"{name.capitalize()}: SGLB")
            write_map(path, make(settings, n_jobs))


def _open(outputs: Outputs, settings: UncertaintySettings, sources: dict[str, str]) -> None:
    wanted: dict[str, Any] = {"experiment": NAME, **asdict(settings), "sources": sources}
    wanted |= {"depths": list(settings.depths), "rates": list(settings.rates)}
    wanted |= {"held_out_for_scale": list(HELD_OUT_FOR_SCALE)}
    open_folder(outputs.folder, wanted, {RESULTS: ResultLine, TUNING: TuningLine})


def _count_splits(n_splits: int | None, quick: bool) -> int:
    if n_splits is None:
        return QUICK_SPLITS if quick else SPLITS
    if n_splits < 1:
        raise ParameterError(f"splits must be 1 or more, got {n_splits}.")
    return n_splits
