"""Partitions are loaded where they are needed, and waiting for a cluster never hangs."""

import time

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from distributed import Client

from surefoot import ClusterError, DataError, ParameterError
from surefoot.dask import cluster
from surefoot.dask.cluster import WorkerLeftError, find_client, gather_results, retry_if_a_worker_leaves
from surefoot.dask.collections import read_partitions
from surefoot.dask.worker_table import WorkerTable, independent_loaders


def random_rows(n_partitions=6, length=50):
    return da.random.default_rng(0).normal(size=(n_partitions * length, 3), chunks=(length, 3))


def test_a_group_is_loaded_on_one_worker(client):
    groups = [0, 1, 2, 2, 1, 0]
    table = WorkerTable.load(client, read_partitions(random_rows()), groups)
    holders = [min(client.who_has([future])[future.key]) for future in table.partitions]
    workers = sorted(client.nthreads())
    assert holders == table.homes == [workers[group % 2] for group in groups]
    assert table.summary.lengths == (50,) * 6


def test_rows_that_are_on_workers_stay_there(client):
    X = client.persist(random_rows())
    table = WorkerTable.load(client, read_partitions(X), [0] * 6)
    for future, home in zip(table.partitions, table.homes, strict=True):
        assert home in client.who_has([future])[future.key]
    np.testing.assert_array_equal(np.concatenate([p.X for p in client.gather(table.partitions)]), X.compute())


def test_partitions_with_a_common_task_are_placed_by_dask():
    X = random_rows()
    assert not independent_loaders(read_partitions(X - X.mean(axis=0)))
    assert independent_loaders(read_partitions(random_rows()))
    frames = [delayed(pd.DataFrame)({"a": [k]}) for k in range(3)]
    assert independent_loaders(read_partitions(frames, [delayed(len)(frame) for frame in frames]))


def test_tasks_run_at_home(client):
    table = WorkerTable.load(client, read_partitions(random_rows()), [0, 1] * 3)
    for home in set(table.homes):
        assert client.gather(table.submit(home, lambda: __import__("distributed").get_worker().address)) == home


def test_an_error_in_a_partition_is_the_error_of_the_fit(client):
    X = [delayed(np.zeros)((2, 2)), delayed(np.full)((2, 2), np.inf)]
    with pytest.raises(ValueError, match="infinity"):
        WorkerTable.load(client, read_partitions(X), [0, 1])
    with pytest.raises(DataError, match="y has 3 rows") as info:
        WorkerTable.load(client, read_partitions([X[0]], [delayed(np.zeros)(3)]), [0])
    assert info.value.argument == "y"


def test_a_failed_task_ends_the_wait_and_cancels_the_others(client):
    def fail():
        raise TimeoutError("mine")

    failing = client.submit(fail, pure=False)
    others = [client.submit(time.sleep, 2, pure=False) for _ in range(2)]
    with pytest.raises(TimeoutError, match="mine"):
        gather_results(client, [*others, failing])
    assert {future.status for future in others} == {"cancelled"}


def test_a_worker_that_left_ends_the_wait(client):
    future = client.submit(time.sleep, 2, pure=False)
    with pytest.raises(WorkerLeftError, match=r"worker tcp://127.0.0.1:1 has left the cluster"):
        gather_results(client, [future], ["tcp://127.0.0.1:1"])


def test_no_workers_are_waited_for_only_so_long(client, monkeypatch):
    future = client.submit(time.sleep, 2, pure=False)
    with monkeypatch.context() as patch, dask.config.set({"distributed.scheduler.no-workers-timeout": "0.5 s"}):
        patch.setattr(client, "nthreads", dict)
        with pytest.raises(ClusterError, match="There has been no worker for"):
            gather_results(client, [future])


def test_work_starts_again_when_a_worker_leaves(monkeypatch):
    monkeypatch.setattr(cluster, "POLL_SECONDS", 0.01)
    attempts = []

    def work():
        attempts.append(1)
        if len(attempts) < 3:
            raise WorkerLeftError("gone")
        return "done"

    assert retry_if_a_worker_leaves(work) == "done"
    with pytest.raises(WorkerLeftError):
        retry_if_a_worker_leaves(lambda: (_ for _ in ()).throw(WorkerLeftError("gone")))


def test_the_default_client_is_found(client):
    assert find_client(None) is client
    assert find_client(client) is client


def test_a_client_is_needed(cluster):
    with pytest.raises(ParameterError, match="there is no Dask client in this process") as info:
        find_client(None)
    assert info.value.argument == "client"
    with pytest.raises(ParameterError, match=r"client must be a distributed.Client"):
        find_client("tcp://127.0.0.1:8786")
    with Client(cluster) as closed:
        pass
    with pytest.raises(ClusterError, match="client is closed"):
        find_client(closed)
