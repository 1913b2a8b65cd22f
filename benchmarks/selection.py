"""Bagged selection compared with a loop over scikit-learn: ratios from one run, on the same cores.

    [SUREFOOT_DATA=FOLDER] python benchmarks/selection.py [--quick]

The loop is what users write today: draw a bag, fit, look at the coefficients. It runs in two processes; surefoot runs
with n_jobs=2. If the loop would take too long, it is timed on fewer bags and scaled, because all bags take the same
time. Without SUREFOOT_DATA, the parts that need the paper's data are left out.
"""

import argparse
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.linear_model import Lasso

from surefoot import StableSelector, UndecidedWarning
from surefoot.selection import GraphicalLassoSelector, LassoSelector, SINDySelector

JOBS = 2


def correlated_table(n_rows: int, n_columns: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The paper's regression: columns 1 and 2, and 3 to 5, are nearly identical; the response depends on 1 and 3."""
    rng = np.random.default_rng(seed)
    covariance = np.eye(n_columns)
    for group in (slice(0, 2), slice(2, 5)):
        covariance[group, group] = 0.99
    np.fill_diagonal(covariance, 1.0)
    X = rng.multivariate_normal(np.zeros(n_columns), covariance, size=n_rows)
    return X, X[:, 0] + X[:, 2] + noise * rng.normal(size=n_rows)


def sparse_table(n_rows: int, n_columns: int, n_true: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, :n_true] @ rng.uniform(0.5, 1.5, n_true) + rng.normal(size=n_rows)


def loop_over_bags(
    X: np.ndarray, y: np.ndarray, alpha: float, size: int, n_bags: int, seed: int
) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    chosen = []
    for _ in range(n_bags):
        rows = rng.choice(len(X), size, replace=False)
        chosen.append(tuple(np.flatnonzero(Lasso(alpha=alpha).fit(X[rows], y[rows]).coef_)))
    return chosen


def seconds(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def lasso_speed(title: str, X, y, alpha: float, size: int, n_bags: int, loop_bags: int, min_ratio: float) -> None:
    """Time bagging: surefoot on ``n_bags``, the loop on ``loop_bags`` in two processes, scaled."""
    stable = StableSelector(
        LassoSelector(alpha, standardize=False), bag_size=size, n_bags=n_bags, epsilon=1.0, random_state=0, n_jobs=JOBS
    )
    stable.fit(X, y)
    ours = np.median([seconds(lambda: stable.fit(X, y)) for _ in range(3)])
    with joblib.Parallel(n_jobs=JOBS) as workers:
        task = joblib.delayed(loop_over_bags)
        workers(task(X, y, alpha, size, 2, seed) for seed in range(JOBS))  # starts the processes, imports the modules
        theirs = seconds(lambda: workers(task(X, y, alpha, size, loop_bags // JOBS, seed) for seed in range(JOBS)))
    theirs *= n_bags / loop_bags
    models = np.mean([len(model) for model in stable.models_])
    print(
        f"{title}: {n_bags:,} bags {ours:.3f} s, scikit-learn {theirs:.1f} s (timed on {loop_bags:,} bags): "
        f"{theirs / ours:.0f} times (at least {min_ratio:.0f}); {models:.1f} variables on average",
        flush=True,
    )


def pool_speed(X, y) -> None:
    """Time leave-one-out by pool, compared with bagging."""
    size, n_bags = 25, 10_000
    stable = StableSelector(
        LassoSelector(0.5, standardize=False), bag_size=size, n_bags=n_bags, epsilon=0.8, random_state=0, n_jobs=JOBS
    )
    ratios = []
    for _ in range(5):
        bagging = seconds(lambda: stable.fit(X, y))
        ratios.append((bagging + seconds(stable.leave_one_out)) / bagging)
    max_ratio = 1.1 / (1 - size / len(X))
    print(f"bagging and leave-one-out by pool / bagging: {np.median(ratios):.2f} (at most {max_ratio:.2f})", flush=True)


def regression_experiment(folder: Path, n_trials: int) -> None:
    trials = np.load(folder / "correlated_regression_trials.npz")["data"][:n_trials]

    def run() -> None:
        for trial in trials:
            stable = StableSelector(
                LassoSelector(0.5, standardize=False), bag_size=25, epsilon=0.8, random_state=0, n_jobs=JOBS
            )
            stable.fit(trial[:, :-1], trial[:, -1]).leave_one_out()

    print(f"{len(trials)} regression trials with leave-one-out: {seconds(run):.1f} s (200 in at most 180)", flush=True)


def cell_signalling(folder: Path, n_bags: int) -> None:
    X = pd.read_parquet(folder / "sachs_cd3cd28icam2_u0126.parquet").astype(np.float64)
    stable = StableSelector(
        GraphicalLassoSelector(77, standardize=False),
        bag_size=700,
        n_bags=n_bags,
        epsilon=0.02,
        random_state=0,
        n_jobs=JOBS,
    )
    taken = seconds(lambda: stable.fit(X).leave_one_out())
    print(f"cell signalling, {n_bags:,} bags with leave-one-out: {taken:.1f} s (10,000 in at most 120)", flush=True)


def lotka_volterra(folder: Path, n_bags: int) -> None:
    data = np.load(folder / "lotka_volterra_trials.npz")
    stable = StableSelector(
        SINDySelector(threshold=0.18, alpha=0.01), bag_size=15, n_bags=n_bags, epsilon=0.09, random_state=0, n_jobs=JOBS
    )
    taken = seconds(lambda: stable.fit(data["data"][0], t=data["t"]).leave_one_out("refit"))
    print(f"one Lotka-Volterra trial, 22 x {n_bags:,} fits: {taken:.1f} s (7,000 in at most 10)", flush=True)


def memory(n_bags: int) -> None:
    """Print the peak memory of this process before and after a fit; bags are drawn when they are needed."""
    X, y = correlated_table(300, 20, 0.3)
    stable = StableSelector(
        LassoSelector(0.5, standardize=False), bag_size=30, epsilon=0.1, random_state=0, n_jobs=JOBS
    )
    stable.set_params(n_bags=100).fit(X, y)
    before = peak_megabytes()
    taken = seconds(lambda: stable.set_params(n_bags=n_bags).fit(X, y))
    print(
        f"{n_bags:,} bags of 30 rows: {taken:.1f} s; the whole process {before:.0f} MB before, "
        f"{peak_megabytes():.0f} MB after (1,000,000 in less than 500)",
        flush=True,
    )


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    warnings.simplefilter("ignore", UndecidedWarning)  # the paper's epsilons cause it
    part = 10 if parser.parse_args().quick else 1
    memory(1_000_000 // part)
    small = correlated_table(30, 20, 0.3)
    lasso_speed("LASSO, 25 of 30 rows x 20", *small, 0.5, 25, 10_000, 4_000 // part, 60)
    lasso_speed("LASSO, 500 of 1,000 rows x 200", *sparse_table(1000, 200, 10), 0.3, 500, 4_000 // part, 400 // part, 4)
    pool_speed(*small)
    if "SUREFOOT_DATA" not in os.environ:
        print("The other parts need the paper's data: set SUREFOOT_DATA to its folder.")
        return
    folder = Path(os.environ["SUREFOOT_DATA"])
    regression_experiment(folder, 200 // part)
    lotka_volterra(folder, 7_000 // part)
    cell_signalling(folder, 10_000 // part)


if __name__ == "__main__":
    main()
