"""Variables selected by the LASSO when some are nearly identical: figures 6, 7, 8 and 12 (appendix C)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import StableSelector
from surefoot.selection import Argmax, LassoSelector
from surefoot_experiments.skeleton.report import Section
from surefoot_experiments.skeleton.run import ProgressCallback
from surefoot_experiments.skeleton.unit import GrowingCsv
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.correlated import RELEVANT, covariate_names
from surefoot_experiments.stability.lines import RuleLine, WeightLine, select_trials, weight_lines
from surefoot_experiments.stability.regression_report import write_section
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import Sweep

FILE = "correlated_regression_trials.npz"
RESULTS, WEIGHTS = "regression.csv", "regression-weights.csv"


class Regression:
    """200 tables of 30 rows and 20 covariates."""

    name = "regression"
    files: tuple[str, ...] = (FILE,)
    lines: Mapping[str, type[Any]] = {RESULTS: RuleLine, WEIGHTS: WeightLine}

    def run(
        self, folder: Path, data: Path, settings: StabilitySettings, n_jobs: int | None, callback: ProgressCallback
    ) -> None:
        """Run the trials that are not complete in the files."""
        tables = read_trials(data)[: settings.regression_trials]
        weights, sweep = GrowingCsv(folder / WEIGHTS, WeightLine), open_sweep(folder, settings)

        def fit(trial: int, bags: int) -> StableSelector:
            return fit_trial(tables[trial], trial, bags, n_jobs)

        truth = np.isin(np.arange(1, tables.shape[2]), RELEVANT)
        for trial in range(len(tables)):
            if not sweep.is_done(trial):
                callback(trial, len(tables), f"regression, trial {trial}")
                stable, lines = sweep.run(trial, fit, "pool", truth)
                weights.append(weight_lines(stable.weights_, trial))
                sweep.results.append(lines)  # last, because they mark the trial as done

    def report(self, folder: Path, data: Path, settings: StabilitySettings) -> Section | None:
        """Draw figures 6, 7, 8 and 12."""
        sweep = open_sweep(folder, settings)
        complete = sweep.complete_trials()
        if not complete:
            return None
        results = select_trials(sweep.results.lines.values(), complete)
        weights = select_trials(GrowingCsv(folder / WEIGHTS, WeightLine).lines.values(), complete)
        return write_section(folder, results, weights, read_trials(data), settings)


def open_sweep(folder: Path, settings: StabilitySettings) -> Sweep:
    """The rules of figure 7 and their file."""
    results = GrowingCsv(folder / RESULTS, RuleLine)
    return Sweep(results, paper.FIGURE_7, settings.regression_bags, settings.fewer_bags)


def read_trials(data: Path) -> np.ndarray:
    """The tables of all trials; the response is the last column."""
    with np.load(data / FILE) as arrays:
        return arrays["data"]


def fit_trial(table: np.ndarray, trial: int, bags: int, n_jobs: int | None) -> StableSelector:
    """The LASSO on the bags of one table."""
    import pandas as pd

    X = pd.DataFrame(table[:, :-1], columns=covariate_names(table.shape[1] - 1))
    stable = StableSelector(
        LassoSelector(alpha=paper.REGRESSION_PENALTY, standardize=False),
        rule=Argmax(),
        n_bags=bags,
        bag_size=paper.REGRESSION_BAG_SIZE,
        random_state=trial,
        n_jobs=n_jobs,
    )
    return stable.fit(X, table[:, -1])
