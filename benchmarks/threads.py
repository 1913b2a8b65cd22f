"""Gradient boosting of one model on one thread and on several, beside LightGBM and, if it is installed, hessboost.

Every fit is timed as a whole, with binning. Libraries and numbers of threads take turns; the fastest of the repeats
counts. surefoot and hessboost learn a mean and a scale in trees of depth 6 (two numbers for each leaf), LightGBM only a
mean, in trees of 63 leaves. With ``--members``, an ensemble of that many models is timed too.
"""

import argparse
import os
import time
from collections.abc import Callable

import numpy as np

from surefoot import BoostingEnsembleRegressor, GradientBoostingRegressor

SHAPES = ((1_000_000, 28), (300_000, 20), (100_000, 20), (8_192, 8))
ENSEMBLE_SHAPE = 200_000, 28
N_TREES = 100


def table(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, and a target whose mean and noise depend on some of them."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns))
    mean = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3]
    return X, mean + generator.normal(size=n_rows) * np.exp(0.3 * X[:, 4])


def libraries(n_trees: int) -> dict[str, Callable[[int], object]]:
    """What each library trains on a number of threads."""

    def surefoot(n_jobs: int) -> object:
        return GradientBoostingRegressor(n_estimators=n_trees, early_stopping=False, random_state=0, n_jobs=n_jobs)

    found: dict[str, Callable[[int], object]] = {"surefoot": surefoot}
    try:
        from lightgbm import LGBMRegressor

        found["LightGBM"] = lambda n_jobs: LGBMRegressor(
            n_estimators=n_trees, num_leaves=63, n_jobs=n_jobs, verbose=-1, random_state=0
        )
    except ImportError:
        print("lightgbm is not installed")
    try:
        import hessboost
    except ImportError:
        print("hessboost is not installed")
    else:
        # Its default growth: the fastest of its ways to learn a mean and a scale (benchmarks/uncertainty.py).
        found["hessboost"] = lambda n_jobs: Untrained(
            lambda X, y: hessboost.train(
                {"objective": "dist:normal", "posterior_sampling": True, "max_depth": 6, "nthread": n_jobs, "seed": 0},
                hessboost.DMatrix(X, label=y),
                n_trees,
                verbose_eval=False,
            )
        )
    return found


class Untrained:
    """A function that trains, with the method `fit` of an estimator."""

    def __init__(self, fit: Callable[[np.ndarray, np.ndarray], object]) -> None:
        self.fit = fit


def seconds_of(make: Callable[[int], object], n_jobs: int, X: np.ndarray, y: np.ndarray) -> float:
    start = time.perf_counter()
    make(n_jobs).fit(X, y)  # type: ignore[attr-defined]
    return time.perf_counter() - start


def ensembles(n_members: int, n_trees: int) -> dict[str, Callable[[int], object]]:
    """An ensemble of surefoot."""

    def surefoot(n_jobs: int) -> object:
        return BoostingEnsembleRegressor(
            n_members=n_members, n_estimators=n_trees, early_stopping=False, random_state=0, n_jobs=n_jobs
        )

    return {f"{n_members} models": surefoot}


def compare(
    makers: dict[str, Callable[[int], object]], shape: tuple[int, int], threads: list[int], repeats: int, title: str
) -> None:
    """Print the fastest of the repeats of each library, on each number of threads."""
    X, y = table(*shape)
    times: dict[tuple[str, int], list[float]] = {}
    for _ in range(repeats):
        for n_jobs in threads:
            for name, make in makers.items():
                times.setdefault((name, n_jobs), []).append(seconds_of(make, n_jobs, X, y))
    print(title)
    for name in makers:
        best = {n_jobs: min(times[name, n_jobs]) for n_jobs in threads}
        parts = [f"{n_jobs} threads {best[n_jobs]:.3f} s ({best[threads[0]] / best[n_jobs]:.2f})" for n_jobs in best]
        print(f"  {name:<10} " + ", ".join(parts), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--members", type=int, default=0, help="also time an ensemble of so many models")
    parser.add_argument("--quick", action="store_true", help="small tables and few trees: only checks that it runs")
    options = parser.parse_args()
    shapes, n_trees = (((20_000, 9), (500, 5)), 5) if options.quick else (SHAPES, N_TREES)
    makers = libraries(n_trees)
    warm_X, warm_y = table(70_000, 16)
    for make in libraries(2).values():
        for n_jobs in options.threads:
            seconds_of(make, n_jobs, warm_X, warm_y)  # compiled, and threads started
    for n_rows, n_columns in shapes:
        title = f"{n_rows:,} x {n_columns}, {n_trees} trees"
        compare(makers, (n_rows, n_columns), options.threads, options.repeats, title)
    if options.members:
        n_rows, n_columns = (5_000, 9) if options.quick else ENSEMBLE_SHAPE
        title = f"{n_rows:,} x {n_columns}, {n_trees} trees for each of {options.members} models"
        compare(ensembles(options.members, n_trees), (n_rows, n_columns), options.threads, options.repeats, title)


if __name__ == "__main__":
    main()
