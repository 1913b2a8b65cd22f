"""Bytes that a fit on a Dask cluster of this machine moves, as a fraction of the table, and its time.

Every process counts what it writes to its connections: rows, models, tasks and heartbeats, between workers, scheduler
and client. The table is made on the workers. "Persisted" means that its partitions are on workers before the fit, where
Dask has put them.
"""

import argparse
import time
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP

from surefoot.dask import BaggedBoostClassifier, MajorityBoostClassifier

CASES = {
    "Majority-of-5, 20 partitions": (MajorityBoostClassifier, 20, False, {}),
    "Majority-of-5, 23 partitions": (MajorityBoostClassifier, 23, False, {}),
    "Majority-of-5, 5 partitions, persisted": (MajorityBoostClassifier, 5, True, {}),
    "Majority-of-5, 20 partitions, persisted": (MajorityBoostClassifier, 20, True, {}),
    "Majority-of-5, 20 partitions, shuffled": (MajorityBoostClassifier, 20, False, {"shuffle": True}),
    "Bagged, 10 partitions": (BaggedBoostClassifier, 10, False, {}),
}


def table(n_rows: int, n_columns: int, n_partitions: int) -> tuple[da.Array, da.Array]:
    """Normal columns, and labels that some of them explain in part."""
    X = da.random.default_rng(0).normal(size=(n_rows, n_columns), chunks=(-(-n_rows // n_partitions), n_columns))
    return X, X.map_blocks(labels, drop_axis=1, dtype=np.int64)


def labels(X: np.ndarray) -> np.ndarray:
    """Classes of the rows of one partition."""
    noise = np.random.default_rng(len(X)).normal(size=len(X))
    return (X[:, 0] + X[:, 1] ** 2 + noise > 1).astype(np.int64)


def count_bytes() -> None:
    """Count what this process writes to connections from now on."""
    write = TCP.write

    async def counted(self: TCP, *args: Any, **kwargs: Any) -> int:
        n_bytes = await write(self, *args, **kwargs)
        TCP.bytes_written += n_bytes
        return n_bytes

    TCP.bytes_written = 0
    TCP.write = counted


def bytes_written(client: Client) -> int:
    """What all processes have written so far."""
    return TCP.bytes_written + sum(client.run(lambda: TCP.bytes_written).values())


def rows_sent(client: Client) -> int:
    """The workers' own counter: results that they have sent to others."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def measure(client: Client, case: str, shape: tuple[int, int], n_estimators: int) -> None:
    kind, n_partitions, is_persisted, parameters = CASES[case]
    X, y = table(*shape, n_partitions)
    if is_persisted:
        X, y = client.persist([X, y])
        client.gather(
            client.map(lambda block: None, client.compute(X.to_delayed(optimize_graph=False).ravel().tolist()))
        )
    model = kind(client=client, n_estimators=n_estimators, random_state=0, **parameters)
    written, sent, start = bytes_written(client), rows_sent(client), time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    written, sent = bytes_written(client) - written, rows_sent(client) - sent
    size = X.nbytes + y.nbytes
    print(
        f"  {case:<40} {seconds:6.1f} s, moved {written:>12,} bytes ({written / size:.2%}), results {sent / size:.2%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--quick", action="store_true", help="a small table and few rounds: only checks that it runs")
    options = parser.parse_args()
    shape, n_estimators = ((20_000, 8), 10) if options.quick else ((1_000_000, 28), 300)
    count_bytes()
    for n_workers in options.workers:
        cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            client.run(count_bytes)
            print(f"{shape[0]:,} x {shape[1]}, {n_workers} workers of 1 thread")
            for case in CASES:
                measure(client, case, shape, n_estimators)


if __name__ == "__main__":
    main()
