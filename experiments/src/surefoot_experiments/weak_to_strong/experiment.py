"""Figures 1 and 2 of "The Many Faces of Optimal Weak-to-Strong Learning" (Høgsgaard, Larsen & Mathiasen 2024).

Test accuracy of Majority-of-X, Bagged AdaBoost and Larsen-Ritzert by their number of members, with plain AdaBoost as a
horizontal line: 300 rounds of stumps, five seeds, a fifth of the rows held out for testing. Larsen-Ritzert uses all its
sub-samples on the two small datasets and randomly drawn ones on the large datasets.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from surefoot import ParameterError
from surefoot_experiments.skeleton.report import QUICK_MARK, write_text
from surefoot_experiments.skeleton.run import (
    RESULTS,
    Outputs,
    ProgressCallback,
    check_jobs,
    choose_count,
    default_folder,
    folder_lock,
    open_folder,
)
from surefoot_experiments.weak_to_strong.adversarial import DEFAULT_GAMMA, DEFAULT_HYPOTHESES
from surefoot_experiments.weak_to_strong.adversarial_grid import GRID, grid_differences, grid_trials
from surefoot_experiments.weak_to_strong.comparison import Accuracies
from surefoot_experiments.weak_to_strong.datasets import LoadedTable, PaperTable, data_folder, load_tables
from surefoot_experiments.weak_to_strong.figures import draw_figure
from surefoot_experiments.weak_to_strong.summary import write_summary
from surefoot_experiments.weak_to_strong.trials import (
    Result,
    ResultsFile,
    TrialDataset,
    adversarial_dataset,
    plan_trials,
    results_of,
    run_trial,
    table_dataset,
    units_of,
)

NAME = "weak-to-strong"
SEEDS, QUICK_SEEDS = 5, 5
TITLE = "The Many Faces of Optimal Weak-to-Strong Learning, figures 1 and 2"


@dataclass(frozen=True)
class WeakToStrongSettings:
    """All settings that the results depend on, apart from the seeds, which are independent of each other."""

    quick: bool = False
    rounds: int = 300
    members: tuple[int, ...] = tuple(range(3, 30, 2))
    max_rows: int | None = None
    gamma: float = DEFAULT_GAMMA
    hypotheses: int = DEFAULT_HYPOTHESES

    @classmethod
    def make(cls, quick: bool, gamma: float, hypotheses: int) -> "WeakToStrongSettings":
        if not 0 < gamma < 0.5:
            raise ParameterError(f"gamma must lie between 0 and 0.5, got {gamma:g}.")
        if hypotheses < 1:
            raise ParameterError(f"hypotheses must be 1 or more, got {hypotheses}.")
        if quick:
            members = (3, 5, 9, 15)
            return cls(quick=True, rounds=100, members=members, max_rows=12_000, gamma=gamma, hypotheses=hypotheses)
        return cls(gamma=gamma, hypotheses=hypotheses)


def run(
    *,
    data: str | Path | None = None,
    out: str | Path | None = None,
    quick: bool = False,
    n_seeds: int | None = None,
    gamma: float = DEFAULT_GAMMA,
    hypotheses: int = DEFAULT_HYPOTHESES,
    n_jobs: int | None = None,
    callback: ProgressCallback = lambda done, total, label: None,
) -> Outputs:
    """Run the trials without results in ``out``; then draw the figures and write the summary."""
    settings = WeakToStrongSettings.make(quick, gamma, hypotheses)
    seeds = range(choose_count("seeds", n_seeds, QUICK_SEEDS if quick else SEEDS))
    check_jobs(n_jobs)
    tables, missing = load_tables(data_folder(data))
    outputs = Outputs(Path(out) if out is not None else default_folder(NAME, quick))
    sources = {table.source.name: f"{table.file}, {len(table.y)} rows" for table in tables}
    open_results(outputs.folder, settings, sources)
    datasets = make_datasets(tables, settings)
    with folder_lock(outputs.folder):
        results = ResultsFile(outputs.folder / RESULTS)
        run_trials(datasets, settings, seeds, results, n_jobs, callback)
        run_grid(outputs.folder, settings, seeds, n_jobs, callback)
        write_report(outputs, results, datasets, settings, seeds, _remarks(tables, missing, settings))
    return outputs


def open_results(folder: Path, settings: WeakToStrongSettings, sources: dict[str, str]) -> None:
    """Create the folder of the results, or check that its results were made with these settings and data."""
    wanted: dict[str, Any] = {"experiment": NAME, **asdict(settings), "sources": sources}
    open_folder(folder, wanted, {RESULTS: Result, GRID: Result})


def make_datasets(tables: Sequence[LoadedTable], settings: WeakToStrongSettings) -> list[TrialDataset]:
    """The tables and the adversarial instance."""
    return [
        *(table_dataset(table, settings.max_rows) for table in tables),
        adversarial_dataset(settings.gamma, settings.hypotheses),
    ]


def run_trials(
    datasets: Sequence[TrialDataset],
    settings: WeakToStrongSettings,
    seeds: Sequence[int],
    results: ResultsFile,
    n_jobs: int | None,
    callback: ProgressCallback,
) -> None:
    """Run every trial without results; results are written as soon as a trial ends."""
    plans = [(dataset, seed, plan_trials(dataset, seed, settings.members)) for dataset in datasets for seed in seeds]
    total = sum(len(trial.counts) for _, _, trials in plans for trial in trials)
    done = 0
    for dataset, seed, trials in plans:
        waiting = [trial for trial in trials if any(unit not in results.results for unit in units_of(trial))]
        done += sum(len(trial.counts) for trial in trials if trial not in waiting)
        split = dataset.split(seed) if waiting else None
        for trial in waiting:
            callback(done, total, f"{dataset.title}, seed {seed}: {trial.learner}")
            assert split is not None
            accuracies, seconds = run_trial(trial, split, settings.rounds, n_jobs)
            results.append(results_of(trial, dataset, accuracies, seconds))
            done += len(trial.counts)
    callback(total, total, "adversarial instances")


def run_grid(
    folder: Path, settings: WeakToStrongSettings, seeds: Sequence[int], n_jobs: int | None, callback: ProgressCallback
) -> None:
    """Run the adversarial instance with other parameters; their results have a file of their own."""
    results = ResultsFile(folder / GRID)
    trials = grid_trials(seeds, settings.members)
    for done, (dataset, trial) in enumerate(trials):
        if any(unit not in results.results for unit in units_of(trial)):
            callback(done, len(trials), f"Adversarial, {dataset.name}, seed {trial.seed}: {trial.learner}")
            accuracies, seconds = run_trial(trial, dataset.split(trial.seed), settings.rounds, n_jobs)
            results.append(results_of(trial, dataset, accuracies, seconds))
    callback(len(trials), len(trials), "drawing")


def write_report(
    outputs: Outputs,
    results: ResultsFile,
    datasets: Sequence[TrialDataset],
    settings: WeakToStrongSettings,
    seeds: Sequence[int],
    remarks: Sequence[str],
) -> None:
    """Draw both figures and write the summary, from the results of these datasets and seeds."""
    names = {dataset.name for dataset in datasets}
    used = [result for result in results.results.values() if result.dataset in names and result.seed in seeds]
    accuracies = Accuracies(used, seeds)
    mark = f" ({QUICK_MARK})" if settings.quick else ""
    figures = [outputs.folder / f"figure-{number}.png" for number in (1, 2)]
    for number, path, large in zip((1, 2), figures, (True, False), strict=True):
        shown = [dataset for dataset in datasets if dataset.large == large]
        kind = "large tables" if large else "small datasets"
        title = f"Figure {number}, {kind}: {settings.rounds} rounds, seeds: {len(seeds)}{mark}"
        draw_figure(path, accuracies, shown, title)
    others = ResultsFile(outputs.folder / GRID).results.values()
    seconds = sum(result.seconds for result in [*used, *(other for other in others if other.seed in seeds)])
    text = write_summary(
        accuracies,
        datasets,
        title=TITLE + mark,
        command=_command(settings, len(seeds)),
        seconds=seconds,
        remarks=remarks,
        figures=[path.name for path in figures],
        grid=grid_differences(others, seeds),
    )
    write_text(outputs.summary, text)


def _command(settings: WeakToStrongSettings, n_seeds: int) -> str:
    quick = " --quick" if settings.quick else ""
    return (
        f"surefoot reproduce {NAME} --data DIR{quick} --seeds {n_seeds} "
        f"--gamma {settings.gamma:g} --hypotheses {settings.hypotheses}"
    )


def _remarks(tables: Sequence[LoadedTable], missing: Sequence[PaperTable], settings: WeakToStrongSettings) -> list[str]:
    """Remarks on the comparison with the paper."""
    remarks = [
        f"{table.source.title} is PARTIAL: {table.file} has {len(table.y):,} of the {table.source.paper_rows:,} rows."
        for table in tables
        if table.is_partial
    ]
    remarks += [f"{source.title} is not available ({' or '.join(source.files)}) and left out." for source in missing]
    remarks.append(
        f"The paper gives neither gamma nor the number of hypotheses of the adversarial weak learner: "
        f"{settings.gamma:g} and {settings.hypotheses:,} are our choice, so that the effect is visible. The last table "
        "has the results of other pairs."
    )
    if settings.quick:
        remarks.insert(
            0,
            f"{QUICK_MARK}: {settings.rounds} rounds, at most {settings.max_rows:,} rows, "
            f"members {', '.join(map(str, settings.members))}.",
        )
    return remarks
