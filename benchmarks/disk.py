"""Seconds and peak memory of a table that is larger than memory: reading and training, beside the same in memory.

Each part runs in a process of its own, because the peak of a process never falls. The peak includes Python, its
libraries and the compiled kernels: the first line shows how much that is.
"""

import argparse
import contextlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot import AdaBoostClassifier, GradientBoostingRegressor

if TYPE_CHECKING:
    from surefoot.data.stored_table import StoredTable

N_TREES = 100
N_STUMPS = 300
ROWS_AT_ONCE = 1 << 18
UNIT = 1 if sys.platform == "darwin" else 1024  # of the peak that the system reports


def make(path: Path, n_rows: int, n_columns: int, classes: bool) -> None:
    """Write a table of normal columns and a target, some rows at a time; with ``classes``, its sign is the target."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)
    names = [f"x{j}" for j in range(n_columns)] + ["is_high" if classes else "y"]
    schema = pa.schema(
        [(name, pa.float64()) for name in names[:-1]] + [(names[-1], pa.int8() if classes else pa.float64())]
    )
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, ROWS_AT_ONCE):
            X = generator.normal(size=(n_columns, min(ROWS_AT_ONCE, n_rows - start)))
            y = 2 * X[0] + np.sin(3 * X[1]) + X[2] * X[3] + generator.normal(size=X.shape[1])
            writer.write_table(pa.table([*X, (y > 0).astype(np.int8) if classes else y], schema=schema))


def load_libraries(path: Path, n_jobs: int) -> None:
    """What every process needs: the libraries, and the kernels that reading calls."""
    import pyarrow as pa

    from surefoot.data.stored_table import StoredTable

    small = np.random.default_rng(0).normal(size=(300, 2))
    StoredTable.read(pa.table({"x0": small[:, 0], "y": small[:, 1]}), target="y", n_jobs=n_jobs).close()


def read_stored(path: Path, n_jobs: int) -> None:
    """Write the bins of a table to a folder."""
    from surefoot.data.stored_table import StoredTable

    StoredTable.read(path, target="y", folder=path.parent / "bins", n_jobs=n_jobs).close()


def read_whole(path: Path, n_jobs: int) -> None:
    import pandas as pd

    pd.read_parquet(path)


def model(n_jobs: int) -> "GradientBoostingRegressor":
    return GradientBoostingRegressor(n_estimators=N_TREES, early_stopping=False, random_state=0, n_jobs=n_jobs)


def train_from_file(path: Path, n_jobs: int) -> None:
    """Train on the file: its bins, and what training keeps for each row, are in a temporary folder."""
    model(n_jobs).fit(path, "y")


def train_from_memory(path: Path, n_jobs: int) -> None:
    """Read the file with pandas, and train on it."""
    import pandas as pd

    frame = pd.read_parquet(path)
    y = frame.pop("y").to_numpy()
    model(n_jobs).fit(frame, y)


def booster(n_jobs: int) -> "AdaBoostClassifier":
    return AdaBoostClassifier(n_estimators=N_STUMPS, n_jobs=n_jobs)


def boost_from_file(path: Path, n_jobs: int) -> None:
    """Train AdaBoost on the file, to classify whether the target is above 0."""
    booster(n_jobs).fit(path, "is_high")


def boost_from_memory(path: Path, n_jobs: int) -> None:
    """Read the file with pandas, and train AdaBoost on it."""
    import pandas as pd

    frame = pd.read_parquet(path)
    y = frame.pop("is_high").to_numpy()
    booster(n_jobs).fit(frame, y)


def kept_bins(path: Path, n_jobs: int) -> "StoredTable":
    from surefoot.data.stored_table import StoredTable

    settings = {"target": "y", "max_categories": 50, "shard_rows": 1 << 18, "n_jobs": n_jobs}
    return StoredTable.read(path, folder=path.parent / "kept", keep=True, **settings)


def read_kept(path: Path, n_jobs: int) -> None:
    """Write the bins to a folder that is kept."""
    kept_bins(path, n_jobs)


def fit_on_kept(path: Path, n_jobs: int) -> None:
    """Train on the folder that is kept."""
    model(n_jobs).fit(kept_bins(path, n_jobs), None)


def fit_until_the_end(path: Path, n_jobs: int) -> None:
    """The same, stopped after the last tree."""
    from surefoot.uncertainty.boosting_loop import BoostingLoop

    step = BoostingLoop.step

    def stop_after_the_last(loop: BoostingLoop) -> None:
        step(loop)
        if loop.n_done == N_TREES:
            raise KeyboardInterrupt

    BoostingLoop.step = stop_after_the_last  # type: ignore[method-assign]
    with contextlib.suppress(KeyboardInterrupt):
        fit_on_kept(path, n_jobs)


GRADIENT_BOOSTING: dict[str, Callable[[Path, int], None]] = {
    "libraries": load_libraries,
    "StoredTable.read": read_stored,
    "pandas.read_parquet": read_whole,
    "fit from the file": train_from_file,
    "fit from memory": train_from_memory,
}
ADABOOST: dict[str, Callable[[Path, int], None]] = {
    "libraries": load_libraries,
    "AdaBoost, file": boost_from_file,
    "AdaBoost, memory": boost_from_memory,
}
RESUMED: dict[str, Callable[[Path, int], None]] = {
    "bins that are kept": read_kept,
    "fit": fit_on_kept,
    "stopped at the end": fit_until_the_end,
    "continued": fit_on_kept,
}
PARTS = GRADIENT_BOOSTING | ADABOOST | RESUMED


def in_new_process(*arguments: object) -> None:
    subprocess.run([sys.executable, __file__, *map(str, arguments)], check=True)


def run_part(name: str, path: Path, n_jobs: int) -> None:
    """Print the seconds of one part and the peak of memory of this process."""
    start = time.perf_counter()
    PARTS[name](path, n_jobs)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
    print(f"  {name:<20} {seconds:7.2f} s, peak {peak / 1e6:6.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--adaboost", action="store_true", help="train AdaBoostClassifier, with stumps")
    parser.add_argument("--resume", action="store_true", help="stop training at the end, and continue")
    parser.add_argument("--folder", type=Path, help="where the table is made; it is removed at the end")
    parser.add_argument("--quick", action="store_true", help="a small table: only checks that it runs")
    parser.add_argument("--part", choices=["make", *PARTS], help="only this part, for a table at --table")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    n_rows, n_columns = (20_000, 5) if options.quick else (options.rows, options.columns)
    if options.part == "make":
        return make(options.table, n_rows, n_columns, options.adaboost)
    if options.part is not None:
        return run_part(options.part, options.table, options.jobs)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder, "table.parquet")
        sizes = "--rows", n_rows, "--columns", n_columns
        in_new_process("--part", "make", "--table", path, *sizes, *["--adaboost"] * options.adaboost)
        in_file, in_memory = path.stat().st_size, n_rows * (n_columns + 1) * 8
        print(f"{n_rows:,} x {n_columns} and a target: {in_memory / 1e9:.2f} GB, {in_file / 1e9:.2f} GB in a file")
        for name in ADABOOST if options.adaboost else RESUMED if options.resume else GRADIENT_BOOSTING:
            in_new_process("--part", name, "--table", path, "--jobs", options.jobs)


if __name__ == "__main__":
    main()
