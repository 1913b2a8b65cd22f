"""Tables 1, 2, 4 to 7 and figures 2 to 4 of "Uncertainty in Gradient Boosting via Ensembles" (Malinin et al. 2021)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from surefoot_experiments.skeleton.run import (
    RESULTS,
    Outputs,
    ProgressCallback,
    check_jobs,
    choose_count,
    choose_parts,
    default_folder,
    find_data_folder,
    folder_lock,
    open_folder,
)
from surefoot_experiments.uncertainty import heart, spiral
from surefoot_experiments.uncertainty.datasets import Dataset, choose_datasets
from surefoot_experiments.uncertainty.lines import TUNING, MethodLine, TuningLine
from surefoot_experiments.uncertainty.maps import write_map
from surefoot_experiments.uncertainty.methods import HELD_OUT_FOR_SCALE, UncertaintySettings
from surefoot_experiments.uncertainty.out_of_domain import check_sources
from surefoot_experiments.uncertainty.report import write_report
from surefoot_experiments.uncertainty.trainings import TrainingRun, plan_trainings

NAME = "uncertainty"
SPLITS, QUICK_SPLITS = 20, 2
FIGURES, BOOSTERS, FORESTS = "figures", "boosters", "forests"
PARTS = (FIGURES, BOOSTERS, FORESTS)
WANTED = "boston.parquet, boston_splits.npz, ..., year_msd_head1176.parquet and higgs_56k.parquet"


@dataclass(frozen=True)
class DataFiles:
    """The folder of the data files, the datasets to run, and the file of each table."""

    folder: Path = Path()
    datasets: list[Dataset] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    @classmethod
    def find(cls, data: str | Path | None, names: Sequence[str] | None, quick: bool) -> "DataFiles":
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
    callback: ProgressCallback = lambda done, total, label: None,
) -> Outputs:
    """Run the trainings without results in ``out``; then draw the figures and write the summary."""
    settings, chosen = UncertaintySettings.make(quick), choose_parts(parts, PARTS)
    splits = choose_count("splits", n_splits, QUICK_SPLITS if quick else SPLITS)
    check_jobs(n_jobs)
    files = DataFiles() if set(chosen) == {FIGURES} else DataFiles.find(data, datasets, quick)
    outputs = Outputs(Path(out) if out is not None else default_folder(NAME, quick))
    open_results(outputs.folder, settings, files.sources)
    with folder_lock(outputs.folder):
        if FIGURES in chosen:
            make_maps(outputs.folder, settings, n_jobs, callback)
        trainings = TrainingRun(outputs.folder, files.folder, settings, n_jobs)
        planned = plan_trainings(files.datasets, splits, boosters=BOOSTERS in chosen, forests=FORESTS in chosen)
        trainings.run(planned, callback)
        callback(1, 1, "drawing")
        write_report(outputs.folder, trainings, settings)
    return outputs


def open_results(folder: Path, settings: UncertaintySettings, sources: dict[str, str]) -> None:
    """Create the folder of the results, or check that its results were made with these settings and data."""
    wanted: dict[str, Any] = {"experiment": NAME, **asdict(settings), "sources": sources}
    wanted |= {"held_out_for_scale": HELD_OUT_FOR_SCALE}
    open_folder(folder, wanted, {RESULTS: MethodLine, TUNING: TuningLine})


def make_maps(folder: Path, settings: UncertaintySettings, n_jobs: int | None, callback: ProgressCallback) -> None:
    """Make the maps of heart and spiral that do not exist yet."""
    makers = {"heart": heart.run, "spiral": spiral.run}
    for done, (name, make) in enumerate(makers.items()):
        path = folder / f"{name}.csv"
        if not path.exists():
            callback(done, len(makers), f"{name.capitalize()}: SGLB")
            write_map(path, make(settings, n_jobs))
