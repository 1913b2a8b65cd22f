"""Probabilistic gradient boosting compared with CatBoost, hessboost and NGBoost: ratios from one run.

    pip install catboost hessboost ngboost            # those that are missing are skipped
    SUREFOOT_DATA=folder .venv/bin/python benchmarks/uncertainty.py [--quick] [--only ensemble single predict growth]

All libraries use the same two cores (the process is pinned to them), the same arrays (float32, C order), the same
number of trees, depth 6, rate 0.1, 255 bins, every row in every tree, no held-out rows and no early stopping. If a peer
has several ways to do this, the script uses the best for the peer, and explains why where it is set. The libraries take
turns, so that a slower machine slows down all of them.
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

from surefoot import BoostingEnsembleRegressor, GradientBoostingClassifier, GradientBoostingRegressor, VirtualEnsemble

CORES = 2
MEMBERS = 10
DEPTH, RATE, BINS = 6, 0.1, 255
IN_PARALLEL = "two at a time on one thread each"
SECTIONS = ("ensemble", "single", "predict", "growth")
PEERS = ("catboost", "hessboost", "ngboost")

# Targets: minimum ratios of speed to a peer, and maximum ratios of cost. 1 is parity.
MIN_SPEED = {
    "ensemble": {"catboost": 5.0, "hessboost": 2.5},
    "single": {"catboost": 1.5, "ngboost": 25.0},
    "predict": {"catboost": 1.0},
}
MAX_COST = {"virtual": 1.3, "growth": 1.1}

Runs = dict[str, Callable[[], object]]
Figures = list[tuple[str, float, str, bool]]  # name, value, target, whether the target is met


def peer(name: str):
    """The package, or None if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        return None


def measure_times(runs: Runs, repeats: int) -> dict[str, float]:
    """Median seconds of each run; the runs take turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: float(np.median(seconds)) for name, seconds in times.items()}


class Comparison:
    """Print times and their ratios to surefoot's, table by table, and collect the ratios for a geometric mean."""

    def __init__(self, title: str, key: str) -> None:
        self.title, self.key = title, key
        self.ratios: dict[str, list[float]] = {}

    def add(self, title: str, times: dict[str, float], unit: str) -> None:
        print(f"  {title}")
        for name, seconds in times.items():
            ratio = seconds / times["surefoot"]
            print(f"    {name:45} {seconds:10.3f} {unit}   {ratio:6.2f} times surefoot's", flush=True)
            if not name.startswith("surefoot"):
                self.ratios.setdefault(name, []).append(ratio)

    def finish(self, figures: Figures) -> None:
        for name, values in self.ratios.items():
            mean = float(np.exp(np.mean(np.log(values))))
            add_speed(figures, f"{self.title}: speed over", name, mean, self.key)


def made_table(n_rows: int, n_columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A table with smooth, abrupt and joint effects on the mean, and heteroscedastic noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    linear = X[:, 5:] @ rng.normal(size=n_columns - 5) / 9
    mean = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] - (X[:, 4] > 1) + linear
    return X, mean + np.exp(0.5 * X[:, 0]) * rng.normal(size=n_rows)


def tables(quick: bool):
    """Yield name, X, y, number of trees and repeats; small tables are timed more often."""
    folder = os.environ.get("SUREFOOT_DATA")
    for name, repeats in (("boston", 3), ("kin8nm", 3), ("protein", 1)):
        path = Path(folder or ".") / f"{name}.parquet"
        if folder is None or not path.is_file():
            print(f"  {name}: skipped, the folder SUREFOOT_DATA has no {name}.parquet")
            continue
        import pandas as pd

        frame = pd.read_parquet(path)
        X = frame.drop(columns="target").to_numpy(dtype=np.float32, copy=True)
        yield name, X, frame["target"].to_numpy(dtype=np.float64), 30 if quick else 1000, 1 if quick else repeats
    n_rows, n_trees = (
        (5_000, 10) if quick else (100_000, 100)
    )  # with a thousand trees the peers would take half an hour
    yield "made table", *made_table(n_rows, 50), n_trees, 1


def train_many(train: Callable[[int, int], object], in_parallel: bool) -> None:
    """Train ten models one after the other on all cores, or as many in parallel as there are cores."""
    if not in_parallel:
        for seed in range(MEMBERS):
            train(seed, CORES)
        return
    with ThreadPoolExecutor(CORES) as pool:  # both peers release the GIL while they train
        list(pool.map(lambda seed: train(seed, 1), range(MEMBERS)))


def catboost_ensemble(X: np.ndarray, y: np.ndarray, n_trees: int, in_parallel: bool) -> None:
    """Train ten SGLB models with CatBoost.

    They share one quantized pool, as ours share their bins. Leaves are computed by gradient steps, because posterior
    sampling adds no noise to the default Newton leaves, and there is no bootstrap, as in the paper's SGLB. Neither
    costs CatBoost time: its defaults, Newton leaves on a sample of the rows, take a little more processor time.
    """
    import catboost

    pool = catboost.Pool(X, y, thread_count=CORES)
    pool.quantize(border_count=BINS - 1)

    def train(seed: int, n_threads: int) -> object:
        return catboost.CatBoostRegressor(
            loss_function="RMSEWithUncertainty",
            iterations=n_trees,
            depth=DEPTH,
            learning_rate=RATE,
            posterior_sampling=True,
            leaf_estimation_method="Gradient",
            bootstrap_type="No",
            random_seed=seed,
            thread_count=n_threads,
            verbose=False,
            allow_writing_files=False,
        ).fit(pool)

    train_many(train, in_parallel)


def hessboost_ensemble(X: np.ndarray, y: np.ndarray, n_trees: int, in_parallel: bool) -> None:
    """Train ten SGLB models with hessboost, from one matrix.

    Its default growth (depthwise, with a tree for each of the two parameters in every round) is its fastest way: trees
    with two outputs, symmetric trees and quantized gradients were slower, equally fast or not supported.
    """
    import hessboost

    matrix = hessboost.DMatrix(X, label=y)

    def train(seed: int, n_threads: int) -> object:
        settings = {
            "objective": "dist:normal",
            "max_depth": DEPTH,
            "eta": RATE,
            "max_bin": BINS,
            "posterior_sampling": True,
            "seed": seed,
            "nthread": n_threads,
        }
        return hessboost.train(settings, matrix, n_trees, verbose_eval=False)

    train_many(train, in_parallel)


def our_ensemble(n_trees: int, **settings) -> BoostingEnsembleRegressor:
    return BoostingEnsembleRegressor(
        method="sglb",
        n_members=MEMBERS,
        n_estimators=n_trees,
        max_depth=DEPTH,
        learning_rate=RATE,
        max_bins=BINS,
        n_jobs=CORES,
        random_state=0,
        **settings,
    )


def ensembles(quick: bool, figures: Figures) -> None:
    print(f"ten SGLB models of a Normal distribution, depth {DEPTH}, rate {RATE}")
    comparison = Comparison("ten models", "ensemble")
    for name, X, y, n_trees, repeats in tables(quick):
        runs: Runs = {
            "surefoot": lambda: our_ensemble(n_trees, early_stopping=False).fit(X, y),  # noqa: B023
            # for information: by default, trial models hold out rows to choose the number of trees and the scale
            "surefoot, default early stopping": lambda: our_ensemble(n_trees).fit(X, y),  # noqa: B023
        }
        for package, train in (("catboost", catboost_ensemble), ("hessboost", hessboost_ensemble)):
            if peer(package):
                runs[package] = lambda train=train: train(X, y, n_trees, False)  # noqa: B023
                runs[f"{package}, {IN_PARALLEL}"] = lambda train=train: train(X, y, n_trees, True)  # noqa: B023
        comparison.add(f"{name}, {len(y):,} x {X.shape[1]}, {n_trees} trees", measure_times(runs, repeats), "s")
    comparison.finish(figures)


def catboost_model(n_trees: int, **settings):
    """One model with every row in every tree, as ours; CatBoost's default sample of the rows is not faster."""
    import catboost

    return catboost.CatBoostRegressor(
        loss_function="RMSEWithUncertainty",
        iterations=n_trees,
        depth=DEPTH,
        learning_rate=RATE,
        bootstrap_type="No",
        border_count=BINS - 1,
        thread_count=CORES,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
        **settings,
    )


def ngboost_model(n_trees: int, depth: int):
    """NGBoost with its default trees (scikit-learn's) of a given depth; it has no setting for threads and uses one."""
    import ngboost
    from sklearn.tree import DecisionTreeRegressor

    base = DecisionTreeRegressor(max_depth=depth)
    return ngboost.NGBRegressor(
        Dist=ngboost.distns.Normal, Base=base, n_estimators=n_trees, learning_rate=RATE, verbose=False, random_state=0
    )


def our_model(n_trees: int, n_jobs: int = CORES, **settings) -> GradientBoostingRegressor:
    return GradientBoostingRegressor(
        n_estimators=n_trees,
        max_depth=DEPTH,
        learning_rate=RATE,
        max_bins=BINS,
        early_stopping=False,
        n_jobs=n_jobs,
        random_state=0,
        **settings,
    )


def single(quick: bool, figures: Figures) -> None:
    """Compare the time per tree of one model; NGBoost has few rounds, because all its rounds take the same time."""
    print(f"one model of a Normal distribution, depth {DEPTH}, rate {RATE}; NGBoost rounds: two trees, one line search")
    comparison = Comparison("one model", "single")
    for name, X, y, n_trees, repeats in tables(quick):
        runs: Runs = {"surefoot": lambda: our_model(n_trees).fit(X, y)}  # noqa: B023
        if peer("catboost"):
            runs["catboost"] = lambda: catboost_model(n_trees).fit(X, y)  # noqa: B023
        rounds = dict.fromkeys(runs, n_trees)
        for depth in (DEPTH, 3) if peer("ngboost") else ():
            n_rounds = max(3, min(50, (400_000 if quick else 4_000_000) // X.size))
            run_name = f"ngboost, depth {depth}{' (its default)' if depth == 3 else ''}"
            runs[run_name] = lambda depth=depth, n=n_rounds: ngboost_model(n, depth).fit(X, y)  # noqa: B023
            rounds[run_name] = n_rounds
        times = measure_times(runs, repeats)
        per_tree = {run_name: 1000 * seconds / rounds[run_name] for run_name, seconds in times.items()}
        counts = ", ".join(f"{run_name}: {n}" for run_name, n in rounds.items())
        comparison.add(f"{name}, {len(y):,} x {X.shape[1]} (trees of {counts})", per_tree, "ms per tree")
    comparison.finish(figures)


def predictions(quick: bool, figures: Figures) -> None:
    """Compare the prediction of means and variances of many rows by a large model, and time a virtual ensemble."""
    n_trees, n_rows = (60, 50_000) if quick else (1000, 1_000_000)
    X, y = made_table(20_000, 20)
    rows, _ = made_table(n_rows, 20, seed=1)
    model = our_model(n_trees, langevin=True).fit(X, y)
    settings = {"early_stopping": False, "langevin": True, "n_jobs": CORES, "random_state": 0}
    classifier = GradientBoostingClassifier(n_estimators=n_trees, **settings).fit(X, y > np.median(y))
    virtual, classes = (VirtualEnsemble(one, MEMBERS, X_train=X) for one in (model, classifier))
    runs: Runs = {
        "surefoot, mean": lambda: model.predict(rows),
        "surefoot, mean and variance": lambda: model.predict(rows, return_std=True),
        "surefoot, virtual ensemble of ten": lambda: virtual.predict_uncertainty(rows),
        "surefoot, probabilities of two classes": lambda: classifier.predict_proba(rows),
        "surefoot, virtual ensemble of two classes": lambda: classes.predict_uncertainty(rows),
    }
    if peer("catboost"):
        import catboost

        theirs = catboost_model(n_trees, posterior_sampling=True).fit(X, y)
        pool = catboost.Pool(rows)
        # its predict returns mean and variance; from the same array, and (its best case) from its own format
        runs["catboost, mean and variance"] = lambda: theirs.predict(rows, thread_count=CORES)
        runs["catboost, from a prepared Pool"] = lambda: theirs.predict(pool, thread_count=CORES)
    print(f"prediction of {n_rows:,} x 20 with {n_trees} trees on {CORES} threads: seconds")
    times = measure_times(runs, 3)
    for name, seconds in times.items():
        print(f"    {name:45} {seconds:8.3f}", flush=True)
    cost = times["surefoot, virtual ensemble of ten"] / times["surefoot, mean"]
    add_cost(figures, "virtual ensemble / plain prediction", cost, "virtual")
    cost = times["surefoot, virtual ensemble of two classes"] / times["surefoot, probabilities of two classes"]
    add_cost(figures, "virtual ensemble of two classes / plain prediction", cost, "virtual")
    for name, seconds in times.items():
        if name.startswith("catboost"):
            ratio = seconds / times["surefoot, mean and variance"]
            add_speed(figures, "prediction, speed over", name, ratio, "predict")


def growth(quick: bool, figures: Figures) -> None:
    """Measure the growth of the time to fit one model with the number of rows: the slope on a log-log scale."""
    sizes = (1_000, 3_000, 10_000) if quick else (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
    n_trees = 20 if quick else 100
    print(f"growth of the time to fit {n_trees} trees with the rows (20 columns)")
    for n_jobs in (1, CORES):
        times = []
        for n_rows in sizes:
            X, y = made_table(n_rows, 20)
            fit = {"fit": lambda: our_model(n_trees, n_jobs).fit(X, y)}  # noqa: B023
            times.append(measure_times(fit, 3)["fit"])
        exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        steepest = float(np.max(np.diff(np.log(times)) / np.diff(np.log(sizes))))
        listed = ", ".join(f"{n:,}: {t:.3f} s" for n, t in zip(sizes, times, strict=True))
        print(f"    n_jobs={n_jobs}: {listed}; steepest between neighbours: {steepest:.2f}", flush=True)
        add_cost(figures, f"growth: time as rows to the power of, n_jobs={n_jobs}", exponent, "growth")


def add_speed(figures: Figures, name: str, peer_name: str, ratio: float, key: str) -> None:
    target = MIN_SPEED[key][peer_name.split(",")[0]]
    figures.append((f"{name} {peer_name}", ratio, f">= {target:g}", ratio >= target))


def add_cost(figures: Figures, name: str, value: float, key: str) -> None:
    figures.append((name, value, f"<= {MAX_COST[key]:g}", value <= MAX_COST[key]))


def print_figures(figures: Figures, quick: bool) -> None:
    print("\nall figures; speeds over several tables are geometric means", end="")
    print("; those of --quick runs are meaningless" if quick else "")
    for name, value, target, is_met in figures:
        print(f"  {name:72} {value:8.2f}   target {target:8}{'' if is_met else ' MISSED'}")


def use_cores() -> None:
    """Pin the process to two cores, which all threads of all packages share."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
        cores = f"{len(os.sched_getaffinity(0))} ({os.cpu_count()} in the machine)"
    else:
        cores = f"{os.cpu_count()}, not pinned: {CORES} threads each"
    print(f"cores: {cores}; {platform.machine()}, Python {platform.python_version()}")
    versions = []
    for name in ("surefoot", "numpy", "numba", "scikit-learn", *PEERS):
        missing = name in PEERS and peer(name) is None
        versions.append(f"{name} {'not installed: skipped' if missing else importlib.metadata.version(name)}")
    print(", ".join(versions))


def warm_up() -> None:
    """Compile every timed kernel, and let the peers load what they load at their first use."""
    for n_rows in (300, 60_000):  # large tables use threads
        X, y = made_table(n_rows, 20)
        for n_jobs in (1, CORES):
            our_model(3, n_jobs).fit(X, y).predict(X)
        our_ensemble(3, early_stopping=False).fit(X, y)
        our_ensemble(3).fit(X, y)
    noisy = our_model(20, langevin=True).fit(X, y)
    VirtualEnsemble(noisy, MEMBERS, X_train=X).predict_uncertainty(X)
    labels = np.arange(len(X)) % 2
    classifier = GradientBoostingClassifier(n_estimators=20, langevin=True, early_stopping=False).fit(X, labels)
    VirtualEnsemble(classifier, MEMBERS, X_train=X).predict_uncertainty(X)
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
    parser.add_argument(
        "--quick", action="store_true", help="small tables and few trees: only checks that the script runs"
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="sections to run")
    options = parser.parse_args()
    use_cores()
    warm_up()
    sections = {"ensemble": ensembles, "single": single, "predict": predictions, "growth": growth}
    figures: Figures = []
    for section in SECTIONS:
        if section in options.only:
            print(flush=True)
            sections[section](options.quick, figures)
    print_figures(figures, options.quick)


if __name__ == "__main__":
    main()
