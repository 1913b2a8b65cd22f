"""Probabilistic gradient boosting side by side with CatBoost, hessboost and NGBoost: ratios from one run.

    pip install catboost hessboost ngboost            # those that are missing are skipped
    SUREFOOT_DATA=folder .venv/bin/python benchmarks/uncertainty.py [--quick] [--only ensemble single predict growth]

What is the same for all: the two cores (the process is pinned to them), the arrays (float32, C order), the number of
trees, depth 6, rate 0.1, 255 bins, every row in every tree, no rows held out, no early stopping. Where a peer can be
run in several ways, it is run in the way that is best for it; why is said where it is set. Contestants take turns, so
that a machine that slows down slows all of them.
"""

import argparse
import importlib
import importlib.metadata
import os
import platform
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from surefoot import BoostingEnsembleRegressor, GradientBoostingRegressor, VirtualEnsemble

CORES = 2
MEMBERS = 10
DEPTH, RATE, BINS = 6, 0.1, 255
SIDE_BY_SIDE = "two at a time on one thread each"
SECTIONS = ("ensemble", "single", "predict", "growth")
PEERS = ("catboost", "hessboost", "ngboost")

# Beside each figure: at least (for speed over a peer's) or at most (for costs). 1 is parity.
AT_LEAST = {
    "ensemble": {"catboost": 5.0, "hessboost": 2.5},
    "single": {"catboost": 1.5, "ngboost": 25.0},
    "predict": {"catboost": 1.0},
}
AT_MOST = {"virtual": 1.2, "growth": 1.1}

Contest = dict[str, Callable[[], object]]
Figures = list[tuple[str, float, str, bool]]


def peer(name: str):
    """The package, or None (said once, at the start) where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        return None


def race(contest: Contest, repeats: int) -> dict[str, float]:
    """Median seconds of each contestant; they take turns."""
    taken: dict[str, list[float]] = {name: [] for name in contest}
    for _ in range(repeats):
        for name, run in contest.items():
            start = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - start)
    return {name: float(np.median(seconds)) for name, seconds in taken.items()}


class Comparison:
    """Prints times beside surefoot's, table by table, and keeps the ratios for a geometric mean."""

    def __init__(self, what: str, key: str) -> None:
        self.what, self.key = what, key
        self.ratios: dict[str, list[float]] = {}

    def add(self, title: str, times: dict[str, float], unit: str) -> None:
        print(f"  {title}")
        for contestant, taken in times.items():
            ratio = taken / times["surefoot"]
            print(f"    {contestant:45} {taken:10.3f} {unit}   {ratio:6.2f} times surefoot's", flush=True)
            if not contestant.startswith("surefoot"):
                self.ratios.setdefault(contestant, []).append(ratio)

    def finish(self, figures: Figures) -> None:
        for contestant, values in self.ratios.items():
            mean = float(np.exp(np.mean(np.log(values))))
            add_speed(figures, f"{self.what}: speed over", contestant, mean, self.key)


def made_table(n_rows: int, n_columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Smooth, bent and joint effects on the mean, and noise whose size depends on the row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    linear = X[:, 5:] @ rng.normal(size=n_columns - 5) / 9
    mean = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] - (X[:, 4] > 1) + linear
    return X, mean + np.exp(0.5 * X[:, 0]) * rng.normal(size=n_rows)


def tables(quick: bool):
    """Name, X, y, trees and repeats: small tables are timed more often."""
    folder = os.environ.get("SUREFOOT_DATA")
    for name, repeats in (("boston", 3), ("kin8nm", 3), ("protein", 1)):
        path = Path(folder or ".") / f"{name}.parquet"
        if folder is None or not path.is_file():
            print(f"  {name}: skipped, SUREFOOT_DATA does not name a folder with {name}.parquet")
            continue
        import pandas as pd

        frame = pd.read_parquet(path)
        X = frame.drop(columns="target").to_numpy(dtype=np.float32, copy=True)
        yield name, X, frame["target"].to_numpy(dtype=np.float64), 30 if quick else 1000, 1 if quick else repeats
    n_rows, n_trees = (5_000, 10) if quick else (100_000, 100)  # a thousand trees would take the peers half an hour
    yield "made table", *made_table(n_rows, 50), n_trees, 1


def many(train: Callable[[int, int], object], side_by_side: bool) -> None:
    """Ten models: one after the other on all cores, or as many at a time as there are cores."""
    if not side_by_side:
        for seed in range(MEMBERS):
            train(seed, CORES)
        return
    with ThreadPoolExecutor(CORES) as pool:  # both peers release the GIL while they train
        list(pool.map(lambda seed: train(seed, 1), range(MEMBERS)))


def catboost_ensemble(X: np.ndarray, y: np.ndarray, n_trees: int, side_by_side: bool) -> None:
    """Ten SGLB models of CatBoost.

    One quantised pool for all of them, as ours share their bins. Gradient leaves, because with its default (Newton)
    leaves posterior sampling adds no noise; no bootstrap, as in the paper's SGLB: both cost it nothing (the defaults,
    Newton leaves on a sample of the rows, take a little more processor time).
    """
    import catboost

    pool = catboost.Pool(X, y, thread_count=CORES)
    pool.quantize(border_count=BINS - 1)

    def train(seed: int, n_threads: int) -> object:
        return catboost.CatBoostRegressor(
            loss_function="RMSEWithUncertainty", iterations=n_trees, depth=DEPTH, learning_rate=RATE,
            posterior_sampling=True, leaf_estimation_method="Gradient", bootstrap_type="No", random_seed=seed,
            thread_count=n_threads, verbose=False, allow_writing_files=False,
        ).fit(pool)  # fmt: skip

    many(train, side_by_side)


def hessboost_ensemble(X: np.ndarray, y: np.ndarray, n_trees: int, side_by_side: bool) -> None:
    """Ten SGLB models of hessboost, from one matrix.

    Its default growth (depthwise, a tree for each of the two parameters in every round) is the fastest it has for this:
    trees with two outputs, symmetric trees and quantised gradients were slower, level or refused.
    """
    import hessboost

    matrix = hessboost.DMatrix(X, label=y)

    def train(seed: int, n_threads: int) -> object:
        settings = {
            "objective": "dist:normal", "max_depth": DEPTH, "eta": RATE, "max_bin": BINS, "posterior_sampling": True,
            "seed": seed, "nthread": n_threads,
        }  # fmt: skip
        return hessboost.train(settings, matrix, n_trees, verbose_eval=False)

    many(train, side_by_side)


def our_ensemble(n_trees: int, **settings) -> BoostingEnsembleRegressor:
    return BoostingEnsembleRegressor(
        method="sglb", n_members=MEMBERS, n_estimators=n_trees, max_depth=DEPTH, learning_rate=RATE, max_bins=BINS,
        n_jobs=CORES, random_state=0, **settings,
    )  # fmt: skip


def ensembles(quick: bool, figures: Figures) -> None:
    print(f"ten SGLB models of a Normal distribution, depth {DEPTH}, rate {RATE}")
    comparison = Comparison("ten models", "ensemble")
    for name, X, y, n_trees, repeats in tables(quick):
        contest: Contest = {
            "surefoot": lambda: our_ensemble(n_trees, early_stopping=False).fit(X, y),  # noqa: B023
            # for information: by default a tenth of the rows is held out to keep the scale honest
            "surefoot, as shipped": lambda: our_ensemble(n_trees).fit(X, y),  # noqa: B023
        }
        for package, train in (("catboost", catboost_ensemble), ("hessboost", hessboost_ensemble)):
            if peer(package):
                contest[package] = lambda train=train: train(X, y, n_trees, False)  # noqa: B023
                contest[f"{package}, {SIDE_BY_SIDE}"] = lambda train=train: train(X, y, n_trees, True)  # noqa: B023
        comparison.add(f"{name}, {len(y):,} x {X.shape[1]}, {n_trees} trees", race(contest, repeats), "s")
    comparison.finish(figures)


def catboost_model(n_trees: int, **settings):
    """One model; every row in every tree, as ours: its default sample of the rows is not faster."""
    import catboost

    return catboost.CatBoostRegressor(
        loss_function="RMSEWithUncertainty", iterations=n_trees, depth=DEPTH, learning_rate=RATE, bootstrap_type="No",
        border_count=BINS - 1, thread_count=CORES, random_seed=0, verbose=False, allow_writing_files=False, **settings,
    )  # fmt: skip


def ngboost_model(n_trees: int, depth: int):
    """NGBoost with its default trees, scikit-learn's, of a given depth; it has no setting for threads and uses one."""
    import ngboost
    from sklearn.tree import DecisionTreeRegressor

    base = DecisionTreeRegressor(max_depth=depth)
    return ngboost.NGBRegressor(
        Dist=ngboost.distns.Normal, Base=base, n_estimators=n_trees, learning_rate=RATE, verbose=False, random_state=0
    )


def our_model(n_trees: int, n_jobs: int = CORES, **settings) -> GradientBoostingRegressor:
    return GradientBoostingRegressor(
        n_estimators=n_trees, max_depth=DEPTH, learning_rate=RATE, max_bins=BINS, early_stopping=False, n_jobs=n_jobs,
        random_state=0, **settings,
    )  # fmt: skip


def single(quick: bool, figures: Figures) -> None:
    """One model, by the tree; NGBoost, whose rounds all take the same time, with few of them."""
    print(
        f"one model of a Normal distribution, depth {DEPTH}, rate {RATE}; a round of NGBoost: two trees, a line search"
    )
    comparison = Comparison("one model", "single")
    for name, X, y, n_trees, repeats in tables(quick):
        contest: Contest = {"surefoot": lambda: our_model(n_trees).fit(X, y)}  # noqa: B023
        if peer("catboost"):
            contest["catboost"] = lambda: catboost_model(n_trees).fit(X, y)  # noqa: B023
        rounds = dict.fromkeys(contest, n_trees)
        for depth in (DEPTH, 3) if peer("ngboost") else ():
            n_rounds = max(3, min(50, (400_000 if quick else 4_000_000) // X.size))
            contestant = f"ngboost, depth {depth}{' (its default)' if depth == 3 else ''}"
            contest[contestant] = lambda depth=depth, n=n_rounds: ngboost_model(n, depth).fit(X, y)  # noqa: B023
            rounds[contestant] = n_rounds
        seconds = race(contest, repeats)
        each = {contestant: 1000 * taken / rounds[contestant] for contestant, taken in seconds.items()}
        counts = ", ".join(f"{contestant}: {n}" for contestant, n in rounds.items())
        comparison.add(f"{name}, {len(y):,} x {X.shape[1]} (trees of {counts})", each, "ms a tree")
    comparison.finish(figures)


def predictions(quick: bool, figures: Figures) -> None:
    """Means and variances of many rows by a large model, and what a virtual ensemble costs beyond them."""
    n_trees, n_rows = (60, 50_000) if quick else (1000, 1_000_000)
    X, y = made_table(20_000, 20)
    rows, _ = made_table(n_rows, 20, seed=1)
    model = our_model(n_trees, langevin=True).fit(X, y)
    virtual = VirtualEnsemble(model, MEMBERS)
    contest: Contest = {
        "surefoot, mean": lambda: model.predict(rows),
        "surefoot, mean and variance": lambda: model.predict(rows, return_std=True),
        "surefoot, virtual ensemble of ten": lambda: virtual.predict_uncertainty(rows),
    }
    if peer("catboost"):
        import catboost

        theirs = catboost_model(n_trees, posterior_sampling=True).fit(X, y)
        pool = catboost.Pool(rows)
        # its predict gives mean and variance; from the same array, and (its best case) from a table it has made its own
        contest["catboost, mean and variance"] = lambda: theirs.predict(rows, thread_count=CORES)
        contest["catboost, from a prepared Pool"] = lambda: theirs.predict(pool, thread_count=CORES)
    print(f"prediction of {n_rows:,} x 20 with {n_trees} trees on {CORES} threads: seconds")
    seconds = race(contest, 3)
    for contestant, taken in seconds.items():
        print(f"    {contestant:45} {taken:8.3f}", flush=True)
    cost = seconds["surefoot, virtual ensemble of ten"] / seconds["surefoot, mean"]
    add_cost(figures, "virtual ensemble / plain prediction", cost, "virtual")
    for contestant, taken in seconds.items():
        if contestant.startswith("catboost"):
            ratio = taken / seconds["surefoot, mean and variance"]
            add_speed(figures, "prediction, speed over", contestant, ratio, "predict")


def growth(quick: bool, figures: Figures) -> None:
    """How the time to fit one model grows with the rows: the slope of a line through the logarithms."""
    sizes = (1_000, 3_000, 10_000) if quick else (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
    n_trees = 20 if quick else 100
    print(f"growth of the time to fit {n_trees} trees with the rows (20 columns)")
    for n_jobs in (1, CORES):
        times = []
        for n_rows in sizes:
            X, y = made_table(n_rows, 20)
            fit = {"fit": lambda: our_model(n_trees, n_jobs).fit(X, y)}  # noqa: B023
            times.append(race(fit, 3)["fit"])
        exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        steepest = float(np.max(np.diff(np.log(times)) / np.diff(np.log(sizes))))
        listed = ", ".join(f"{n:,}: {t:.3f} s" for n, t in zip(sizes, times, strict=True))
        print(f"    n_jobs={n_jobs}: {listed}; steepest between neighbours: {steepest:.2f}", flush=True)
        add_cost(figures, f"growth: time as rows to the power of, n_jobs={n_jobs}", exponent, "growth")


def add_speed(figures: Figures, name: str, contestant: str, ratio: float, key: str) -> None:
    least = AT_LEAST[key][contestant.split(",")[0]]
    figures.append((f"{name} {contestant}", ratio, f">= {least:g}", ratio >= least))


def add_cost(figures: Figures, name: str, value: float, key: str) -> None:
    figures.append((name, value, f"<= {AT_MOST[key]:g}", value <= AT_MOST[key]))


def print_figures(figures: Figures, quick: bool) -> None:
    print("\nall figures; speeds over several tables are geometric means", end="")
    print("; of --quick runs, they say nothing" if quick else "")
    for name, value, target, is_met in figures:
        print(f"  {name:72} {value:8.2f}   target {target:8}{'' if is_met else ' MISSED'}")


def use_cores() -> None:
    """The same two cores for everybody: threads that a package starts unasked have to share them too."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
        here = f"{len(os.sched_getaffinity(0))} ({os.cpu_count()} in the machine)"
    else:
        here = f"{os.cpu_count()}, not pinned: {CORES} threads each"
    print(f"cores: {here}; {platform.machine()}, Python {platform.python_version()}")
    versions = []
    for name in ("surefoot", "numpy", "numba", "scikit-learn", *PEERS):
        missing = name in PEERS and peer(name) is None
        versions.append(f"{name} {'not installed: skipped' if missing else importlib.metadata.version(name)}")
    print(", ".join(versions))


def warm_up() -> None:
    """Compile every kernel that is timed, and let the peers load what they load at first use."""
    for n_rows in (300, 60_000):  # large tables take the way of threads
        X, y = made_table(n_rows, 20)
        for n_jobs in (1, CORES):
            our_model(3, n_jobs).fit(X, y).predict(X)
        our_ensemble(3, early_stopping=False).fit(X, y)
        our_ensemble(3).fit(X, y)
    noisy = our_model(20, langevin=True).fit(X, y)
    VirtualEnsemble(noisy, MEMBERS).predict_uncertainty(X)
    X, y = made_table(300, 20)
    if peer("catboost"):
        catboost_ensemble(X, y, 3, False)
        catboost_model(3).fit(X, y).predict(X)
    if peer("hessboost"):
        hessboost_ensemble(X, y, 3, False)
    if peer("ngboost"):
        ngboost_model(2, 3).fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small tables and few trees: shows that it runs, no more")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="some sections alone")
    options = parser.parse_args()
    use_cores()
    warm_up()
    runs = {"ensemble": ensembles, "single": single, "predict": predictions, "growth": growth}
    figures: Figures = []
    for section in SECTIONS:
        if section in options.only:
            print(flush=True)
            runs[section](options.quick, figures)
    print_figures(figures, options.quick)


if __name__ == "__main__":
    main()
