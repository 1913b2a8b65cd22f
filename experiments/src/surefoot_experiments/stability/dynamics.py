"""Equations of predators and prey by SINDy: figures 2, 3, 10 and 13, table 3 (5.1 and D.1), and lynx and hare."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import StableSelector
from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.skeleton.run import ProgressCallback
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability import lynx_hare, paper
from surefoot_experiments.stability.dynamics_report import Trajectories, TrialRun, write_section
from surefoot_experiments.stability.equations import NAMES, SEPARATOR, fit_bags, item_names, name_items
from surefoot_experiments.stability.lines import RuleLine, WeightLine, select_trials, weight_lines
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import Sweep
from surefoot_experiments.stability.validation import ValidationLine, grid, validate

FILE = "lotka_volterra_trials.npz"
RESULTS = {False: "dynamics.csv", True: "dynamics-replaced.csv"}  # True: bags are drawn with replacement
WEIGHTS = {False: "dynamics-weights.csv", True: "dynamics-replaced-weights.csv"}
VALIDATION = "dynamics-validation.csv"
MIN_WEIGHT = 1e-3  # lighter models are not stored


class Dynamics:
    """100 trajectories of 21 times, one for cross-validation, and the table of lynx and hare.

    The trials are run twice: with bags drawn without replacement, as in the paper, and with replacement.
    """

    name = "dynamics"
    files: tuple[str, ...] = (FILE, lynx_hare.FILE)
    lines: Mapping[str, type[Any]] = {
        **dict.fromkeys((*RESULTS.values(), lynx_hare.RESULTS), RuleLine),
        **dict.fromkeys((*WEIGHTS.values(), lynx_hare.WEIGHTS), WeightLine),
        VALIDATION: ValidationLine,
    }

    def run(
        self, folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None, callback: ProgressCallback
    ) -> None:
        """Run the units that are not in the files yet."""
        trajectories = read_trajectories(data)
        _run_validation(folder, trajectories, callback)
        callback(0, 1, "dynamics, lynx and hare")
        lynx_hare.run(folder, data, settings, n_jobs)
        for replace in RESULTS:
            _run_trials(folder, trajectories, settings, n_jobs, callback, replace=replace)

    def report(self, folder: Path, data: Path, settings: StabilitySettings) -> Section | None:
        """Draw figures 2, 3, 10 and 13, and write table 3."""
        runs = [_read_run(folder, settings, replace=replace) for replace in RESULTS]
        validation = list(GrowingCsv(folder / VALIDATION, ValidationLine).lines.values())
        if not all(run.results for run in runs):
            return None
        return write_section(folder, data, read_trajectories(data), runs, validation, settings)


def _open_sweep(folder: Path, settings: StabilitySettings, *, replace: bool) -> Sweep:
    """The rules of figure 3 and their file."""
    results = GrowingCsv(folder / RESULTS[replace], RuleLine)
    return Sweep(results, paper.FIGURE_3, settings.dynamics_bags, settings.fewer_bags)


def _read_run(folder: Path, settings: StabilitySettings, *, replace: bool) -> TrialRun:
    """The complete trials."""
    sweep = _open_sweep(folder, settings, replace=replace)
    complete, weights = sweep.complete_trials(), GrowingCsv(folder / WEIGHTS[replace], WeightLine)
    results = select_trials(sweep.results.lines.values(), complete)
    return TrialRun(results, select_trials(weights.lines.values(), complete), replace)


def read_trajectories(data: Path) -> Trajectories:
    """The states of all trials, their times, and the trajectory for cross-validation."""
    with np.load(data / FILE) as arrays:
        return Trajectories(arrays["data"], arrays["t"], arrays["cv"])


def _run_validation(folder: Path, trajectories: Trajectories, callback: ProgressCallback) -> None:
    results, cells = GrowingCsv(folder / VALIDATION, ValidationLine), grid()
    for done, cell in enumerate(cells):
        if cell not in results.lines:
            callback(done, len(cells), f"dynamics, table 3: penalty {cell.penalty:g}, threshold {cell.threshold:g}")
            results.append([validate(trajectories.tuning, trajectories.times, cell)])


def _run_trials(
    folder: Path,
    trajectories: Trajectories,
    settings: StabilitySettings,
    n_jobs: int | None,
    callback: ProgressCallback,
    *,
    replace: bool,
) -> None:
    weights, sweep = GrowingCsv(folder / WEIGHTS[replace], WeightLine), _open_sweep(folder, settings, replace=replace)
    states = trajectories.states[: settings.dynamics_trials]
    true_items = {f"{equation}: {term}" for equation, term in paper.TRUE_EQUATIONS}
    truth = np.array([item in true_items for item in item_names(NAMES)])

    def fit(trial: int, bags: int) -> StableSelector:
        return fit_bags(states[trial], trajectories.times, trial, bags, n_jobs, replace=replace)

    for trial in range(len(states)):
        if not sweep.is_done(trial):
            callback(trial, len(states), f"dynamics, trial {trial}{', with replacement' if replace else ''}")
            stable, lines = sweep.run(trial, fit, "refit", truth)
            models = name_items(stable.weights_)
            weights.append(weight_lines(models, trial, min_weight=MIN_WEIGHT, separator=SEPARATOR))
            sweep.results.append(lines)  # last, because they mark the trial as done
