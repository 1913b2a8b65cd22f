"""A sparse table beside the dense array of the same values: seconds of the processor, and the memory of training.

Every measurement is a process of its own, after a fit of a small table that loads all code. Memory is the highest of
the process, less what it had before the table became what is fitted (for the dense way, the array counts too).
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
from scipy import sparse

MODELS = ("AdaBoostClassifier", "GradientBoostingClassifier", "LightGBM")
SMALL = 300


def table(n_rows: int, n_columns: int, density: float) -> tuple[sparse.csr_array, np.ndarray]:
    """Counts of words, and two classes that fifty of the words decide."""
    generator = np.random.default_rng(0)
    X = sparse.random_array(
        (n_rows, n_columns),
        density=density,
        format="csr",
        rng=generator,
        data_sampler=lambda size: generator.integers(1, 5, size).astype(float),
    )
    votes = np.zeros(n_columns)
    votes[:50] = generator.normal(size=50)
    return X, (X @ votes + 0.1 * generator.normal(size=n_rows) > 0).astype(int)


def new_model(name: str, n_trees: int):
    if name == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=n_trees, n_jobs=1, verbose=-1)
    import surefoot

    settings = {"calibrate": False} if name == "AdaBoostClassifier" else {"early_stopping": False, "random_state": 0}
    return getattr(surefoot, name)(n_estimators=n_trees, n_jobs=1, **settings)


def resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def measure(name: str, way: str, shape: tuple[int, int], density: float, n_trees: int) -> None:
    X, y = table(*shape, density)
    few = X[:SMALL, :10].toarray() + np.arange(SMALL)[:, np.newaxis] % 3
    for small in (few, sparse.csr_array(few)):
        new_model(name, 3).fit(small, y[:SMALL]).predict(small)
    before = resident()
    X = X.toarray() if way == "dense" else X
    start = time.process_time()
    model = new_model(name, n_trees).fit(X, y)
    fitted = time.process_time()
    predictions = model.predict(X)
    predicted = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6 - before
    print(
        f"{name:27}{way:8}{fitted - start:10.2f}{predicted - fitted:11.2f}{peak:12,.0f}"
        f"{peak * 1e6 / X.shape[0] / X.shape[1]:13.1f}{(predictions == y).mean():13.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=5_000)
    parser.add_argument("--density", type=float, default=0.005)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(*given.measure, (given.rows, given.columns), given.density, given.trees)
        return
    print(f"{given.rows:,} x {given.columns:,}, density {given.density:.1%}, {given.trees} trees, one thread")
    print(f"{'':35}{'fit, s':>10}{'predict, s':>11}{'memory, MB':>12}{'bytes a cell':>13}{'in training':>13}")
    options = [f"--{name}={getattr(given, name)}" for name in ("rows", "columns", "density", "trees")]
    for name in MODELS:
        for way in ("sparse", "dense"):
            subprocess.run([sys.executable, __file__, *options, "--measure", name, way], check=True)


if __name__ == "__main__":
    main()
