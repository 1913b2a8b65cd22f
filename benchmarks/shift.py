"""V-matrix boosting: time, memory, growth with the number of rows, and a comparison with dense NumPy in one run.

    .venv/bin/python benchmarks/shift.py [--quick] [--only big growth dense report]

The process is pinned to two cores. A dense V-matrix of 100,000 rows would take 80 GB, so the comparison with dense
NumPy has 4,000 rows: the same bins, the same trees, the same predictions (the largest difference is printed). There are
two NumPy versions. *Careful*: the fastest we found; the rows of each bin are added up one bin at a time, so that none
leaves the cache. *Plain*: the formula as it is written; the leaf's submatrix is sorted and summed along both axes.
"""

import argparse
import importlib.metadata
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from dense_vmatrix import (
    BLEND,
    L2,
    LEAVES,
    MIN_ROWS,
    RATE,
    Energies,
    careful_energies,
    dense_fit,
    dense_loss,
    plain_energies,
)

from surefoot import CoverageWarning, VMatrixBoostingRegressor, shift_report

CORES = 2
KINDS = ("mean", "joint")
SECTIONS = ("big", "growth", "dense", "report")
N_COLUMNS, N_TARGET = 10, 1_000

# The limits of the figures.
AT_MOST = {"seconds": 180.0, "gigabytes": 1.5, "growth": 1.1}
AT_LEAST = {"dense": 50.0}

Figures = list[tuple[str, float, str, bool]]


def made_table(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make training data and deployment data: the first five columns have shifted."""
    rng = np.random.default_rng(seed)
    X, X_target = rng.normal(size=(n_rows, N_COLUMNS)), rng.normal(size=(N_TARGET, N_COLUMNS))
    X_target[:, :5] += 0.7
    y = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] - (X[:, 4] > 1) + rng.normal(size=n_rows)
    return X, y, X_target


def booster(kind: str, n_trees: int, n_jobs: int) -> VMatrixBoostingRegressor:
    return VMatrixBoostingRegressor(
        kind=kind, n_estimators=n_trees, max_leaf_nodes=LEAVES, learning_rate=RATE, blend=BLEND, l2_regularization=L2,
        min_samples_leaf=MIN_ROWS, max_target_rows=N_TARGET, early_stopping=False, random_state=0, n_jobs=n_jobs,
    )  # fmt: skip


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def peak_gigabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 30 if sys.platform == "darwin" else 1 << 20)


def warm_up(kind: str, n_jobs: int) -> None:
    """Compile every kernel: few rows use a matrix that is written out, more do not, and only many use threads."""
    for n_rows in (300, 3_000, 100_000)[: 3 if n_jobs > 1 else 2]:
        X, y, X_target = made_table(n_rows)
        booster(kind, 1, n_jobs).fit(X, y, X_target=X_target).predict(X[:100])


def fit_alone(kind: str, n_rows: int, n_trees: int) -> None:
    """Fit in a fresh process; print the seconds, with and without compiling, and the peak memory."""
    X, y, X_target = made_table(n_rows)
    first = seconds(lambda: booster(kind, 1, CORES).fit(X, y, X_target=X_target))
    model = booster(kind, n_trees, CORES)
    print(seconds(lambda: model.fit(X, y, X_target=X_target)), first, peak_gigabytes(), model.n_iter_, model.coverage_)


def big(quick: bool, figures: Figures) -> None:
    """Fit a large table, each kind in its own process to measure its peak memory."""
    n_rows, n_trees = (20_000, 10) if quick else (100_000, 100)
    print(f"{n_rows:,} rows, {N_TARGET:,} target rows, {N_COLUMNS} columns, {n_trees} trees of {LEAVES} leaves")
    print(f"a dense matrix would take {8 * n_rows**2 / 1e9:.1f} GB")
    for kind in KINDS:
        command = [sys.executable, __file__, "--alone", kind, str(n_rows), str(n_trees)]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        taken, first, peak, n_grown, coverage = (float(word) for word in printed)
        print(
            f"    {kind:6} {taken:8.1f} s for {n_grown:.0f} trees (a first fit of one tree, compiling what is not "
            f"cached: {first:.1f} s), peak {peak:.2f} GB, coverage {coverage:.2f}",
            flush=True,
        )
        add_at_most(figures, f"{kind}, {n_rows:,} rows, {n_trees} trees: seconds", taken, "seconds")
        add_at_most(figures, f"{kind}, {n_rows:,} rows: peak memory of the process in GB", peak, "gigabytes")


def growth(quick: bool, figures: Figures) -> None:
    """Measure how the time grows with the rows: the slope of a line through the logarithms.

    On one thread: a second one is only used at the largest size, and would make the growth look too small.
    """
    sizes = (2_000, 4_000, 8_000) if quick else (12_500, 25_000, 50_000, 100_000)
    n_trees = 3 if quick else 5
    print(f"growth of the time to fit {n_trees} trees with the rows, one thread; the median of three")
    for kind in KINDS:
        warm_up(kind, 1)
        tables = [made_table(n_rows) for n_rows in sizes]
        times = np.empty((3, len(sizes)))
        for turn in range(len(times)):
            for k, (X, y, X_target) in enumerate(tables):
                model = booster(kind, n_trees, 1)
                times[turn, k] = seconds(lambda: model.fit(X, y, X_target=X_target))  # noqa: B023
        middle = np.median(times, axis=0)
        exponent = float(np.polyfit(np.log(sizes), np.log(middle), 1)[0])
        steepest = float(np.max(np.diff(np.log(middle)) / np.diff(np.log(sizes))))
        listed = ", ".join(f"{n:,}: {t:.2f} s" for n, t in zip(sizes, middle, strict=True))
        print(f"    {kind:6} {listed}; steepest between neighbours: {steepest:.2f}", flush=True)
        add_at_most(figures, f"{kind}: time as rows to the power of", exponent, "growth")


def dense(quick: bool, figures: Figures) -> None:
    """Compare the whole fit with dense NumPy, timed on a few trees and scaled: all trees take about the same time."""
    n_rows, n_trees, n_timed = (1_000, 20, 2) if quick else (4_000, 30, 3)
    print(f"{n_rows:,} rows, {n_trees} trees, dense NumPy timed on {n_timed} of them and scaled; both build V once")
    X, y, X_target = made_table(n_rows)
    ways: dict[str, Energies] = {"careful": careful_energies, "plain": plain_energies}
    for kind in KINDS:
        warm_up(kind, 1)
        few = booster(kind, n_timed, CORES).fit(X, y, X_target=X_target)
        codes = few._binner.codes_of(np.ascontiguousarray(X.T))
        model = booster(kind, n_trees, CORES)
        ours = np.median([seconds(lambda: model.fit(X, y, X_target=X_target)) for _ in range(3)])  # noqa: B023
        building = seconds(lambda: dense_loss(kind, X, X_target))  # noqa: B023
        matrix = dense_loss(kind, X, X_target)
        print(f"    {kind:6} surefoot {ours:.2f} s")
        for name, energies in ways.items():
            start = time.perf_counter()
            fitted = dense_fit(codes, matrix, y, n_timed, energies)
            each = (time.perf_counter() - start) / n_timed
            theirs = building + n_trees * each
            difference = np.abs(fitted - few.predict(X)).max()
            print(
                f"           dense NumPy, {name}: {theirs:.1f} s ({building:.2f} s to build V, {each:.2f} s a tree), "
                f"{theirs / ours:.1f} times surefoot's; largest difference of predictions {difference:.1e}",
                flush=True,
            )
            add_at_least(figures, f"{kind}, {n_rows:,} rows: speed over dense NumPy, {name}", theirs / ours, "dense")


def report(quick: bool, figures: Figures) -> None:
    n_rows = 10_000 if quick else 100_000
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(n_rows, 20)), rng.normal(size=(n_rows, 20))
    X_target[:, :3] += 0.05
    shift_report(X[:2_000], X_target[:2_000], random_state=0, n_jobs=CORES)
    taken = np.median([seconds(lambda: shift_report(X, X_target, random_state=0, n_jobs=CORES)) for _ in range(3)])
    print(f"shift_report of {n_rows:,} x 20 against {n_rows:,} x 20: {taken:.2f} s", flush=True)


def add_at_most(figures: Figures, name: str, value: float, key: str) -> None:
    figures.append((name, value, f"<= {AT_MOST[key]:g}", value <= AT_MOST[key]))


def add_at_least(figures: Figures, name: str, value: float, key: str) -> None:
    figures.append((name, value, f">= {AT_LEAST[key]:g}", value >= AT_LEAST[key]))


def print_figures(figures: Figures, quick: bool) -> None:
    print("\nall figures" + (" of a --quick run, which mean nothing" if quick else ""))
    for name, value, target, is_met in figures:
        print(f"  {name:64} {value:8.2f}   target {target:8}{'' if is_met else ' MISSED'}")


def use_cores() -> None:
    """Use two cores for everything, including the threads of NumPy's products."""
    cores = f"{os.cpu_count()}, not pinned"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
        cores = f"{len(os.sched_getaffinity(0))} ({os.cpu_count()} in the machine)"
    print(f"cores: {cores}; {platform.machine()}, Python {platform.python_version()}")
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("surefoot", "numpy", "numba")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables and few trees, to check that it runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="run only some sections")
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", CoverageWarning)  # with ten features, few rows are dominated jointly
    if options.alone:
        kind, n_rows, n_trees = options.alone
        return fit_alone(kind, int(n_rows), int(n_trees))
    use_cores()
    figures: Figures = []
    runs = {"big": big, "growth": growth, "dense": dense, "report": report}
    for section in SECTIONS:
        if section in options.only:
            print(flush=True)
            runs[section](options.quick, figures)
    print_figures(figures, options.quick)


if __name__ == "__main__":
    main()
