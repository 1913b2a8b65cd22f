"""The cost model of docs/scaling.md beside measurements: bytes of a tree on a cluster, and seconds of a tree.

Bytes are counted at the connections of all processes, heartbeats included, as in ``cluster.py``. Those of a tree are
the difference between fits with more and with fewer trees; those of a level, the difference between trees of one more
level. Seconds are those of one thread of this machine.
"""

import argparse
import time

import dask.array as da
import numpy as np
from cluster import bytes_written, count_bytes
from distributed import Client, LocalCluster

from surefoot import GradientBoostingRegressor
from surefoot.dask import BoostingEnsembleRegressor as EnsembleOnCluster
from surefoot.dask import GradientBoostingRegressor as OnCluster

WORD, HOPS, BLOCK_ROWS, OUTPUTS = 8, 2, 1 << 14, 2
MESSAGE = 1_400  # bytes of one message to one worker and of its answer, without arrays: see the page
FEW, MANY = 10, 30  # trees
SETTINGS = {"early_stopping": False, "random_state": 0}


def table(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns))
    return X, 2 * X[:, 0] + np.sin(3 * X[:, 1]) + generator.normal(size=n_rows) * np.exp(0.3 * X[:, 2])


def level_bytes(level: int, n_columns: int, n_bins: int, n_workers: int, n_members: int = 1) -> float:
    """The model: the histograms of the smaller children, and one message for all members."""
    n_sums = max(1 << level >> 1, 1)
    return HOPS * n_workers * (n_members * WORD * n_columns * n_bins * n_sums + MESSAGE)


def tree_bytes(depth: int, shape: tuple[int, int], n_bins: int, n_workers: int, n_members: int = 1) -> float:
    """The same for a whole tree, with the sums of its leaves for each block of rows."""
    n_blocks = -(-shape[0] // BLOCK_ROWS)
    leaves = n_blocks * WORD * (2 ** (depth) * (2 * OUTPUTS + 1) + OUTPUTS + 3)
    levels = sum(level_bytes(level, shape[1], n_bins, n_workers, n_members) for level in range(depth))
    return levels + HOPS * (n_members * leaves + 3 * n_workers * MESSAGE)


def bytes_of_a_tree(client: Client, X: da.Array, y: da.Array, kind: type, depth: int, **settings: object) -> float:
    """What one more tree of every member moves."""
    written = []
    for n_trees in (FEW, MANY):
        before = bytes_written(client)
        kind(client=client, n_estimators=n_trees, max_depth=depth, **SETTINGS, **settings).fit(X, y)
        written.append(bytes_written(client) - before)
    return (written[1] - written[0]) / (MANY - FEW)


def print_bytes(client: Client, shape: tuple[int, int], n_bins: int, n_workers: int, depths: range) -> None:
    X, y = table(*shape)
    rows = -(-shape[0] // 8)
    X, y = client.persist([da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)])
    print(f"{shape[0]:,} x {shape[1]}, {n_bins} bins, {n_workers} workers: bytes of a tree")
    bytes_of_a_tree(client, X, y, OnCluster, 1, max_bins=n_bins)  # the first fits send code to the workers
    before = (0.0, 0.0)
    for depth in depths:
        model = tree_bytes(depth, shape, n_bins, n_workers)
        measured = bytes_of_a_tree(client, X, y, OnCluster, depth, max_bins=n_bins)
        last = (measured - before[0]) / (model - before[1])
        before = measured, model
        print(
            f"  depth {depth}: measured {measured:>12,.0f}, model {model:>12,.0f}, ratio {measured / model:.2f}; "
            f"last level {last:.2f}",
            flush=True,
        )
    model = tree_bytes(depths[-1], shape, n_bins, n_workers, 5)
    measured = bytes_of_a_tree(
        client, X, y, EnsembleOnCluster, depths[-1], max_bins=n_bins, n_members=5, method="sgb", subsample=0.9
    )
    print(f"  five members, depth {depths[-1]}: measured {measured:,.0f}, model {model:,.0f}: {measured / model:.2f}")


def print_seconds(shapes: list[tuple[int, int]], depth: int) -> None:
    """Seconds of a tree, and the costs of a row, a cell and a bin that explain them best."""
    measured, costs = [], []
    for n_rows, n_columns in shapes:
        X, y = table(n_rows, n_columns)
        seconds = []
        for n_trees in (FEW, MANY):
            best = np.inf
            for _ in range(3):
                start = time.process_time()
                GradientBoostingRegressor(n_estimators=n_trees, max_depth=depth, n_jobs=1, **SETTINGS).fit(X, y)
                best = min(best, time.process_time() - start)
            seconds.append(best)
        measured.append((seconds[1] - seconds[0]) / (MANY - FEW))
        sums = 1 + (depth - 1) / 2  # of all rows at the root, of at most half of them at each level
        costs.append([n_rows, n_rows * n_columns * sums, n_columns * 255 * (2**depth - 1)])
    scaled = np.array(costs) / np.array(measured)[:, np.newaxis]  # relative errors count
    found = np.linalg.lstsq(scaled, np.ones(len(measured)), rcond=None)[0]
    print(f"one thread, depth {depth}: {found[0] * 1e9:.1f} ns a row, {found[1] * 1e9:.2f} ns a cell, "
          f"{found[2] * 1e9:.2f} ns a bin")  # fmt: skip
    for shape, seconds, cost in zip(shapes, measured, costs, strict=True):
        model = float(np.dot(found, cost))
        print(f"  {shape[0]:>9,} x {shape[1]:<3} {seconds * 1e3:8.2f} ms a tree, model {model * 1e3:8.2f}: "
              f"{seconds / model:.2f}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--quick", action="store_true", help="small tables: only checks that it runs")
    options = parser.parse_args()
    shapes = [(20_000, 28), (100_000, 8), (100_000, 28), (400_000, 8), (400_000, 28), (1_000_000, 28)]
    print_seconds([(5_000, 4), (20_000, 4), (20_000, 8)] if options.quick else shapes, 6)
    count_bytes()
    for n_workers in options.workers:
        cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            client.run(count_bytes)
            print_bytes(client, (140_000, 28), 255, n_workers, range(1, 3) if options.quick else range(1, 7))


if __name__ == "__main__":
    main()
