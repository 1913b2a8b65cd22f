"""One cluster of two processes for all tests of this folder."""

import multiprocessing
import os
from contextlib import ExitStack

import pytest

pytest.importorskip("distributed")

import dask
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

QUIET = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "200ms"}
IMPORTS = ["distributed", "dask.dataframe", "surefoot.dask"]
RUNNING, OPEN = {}, ExitStack()
if os.name == "posix":  # workers are forks of one process that has imported what they need
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})  # of replaced workers too
    get_mp_context()  # would choose what is imported
    multiprocessing.set_forkserver_preload(IMPORTS)


def start_cluster(n_workers=2):
    with dask.config.set(QUIET):  # workers that wait for the next test take no time from other tests
        return LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        )


def running(name):
    """The cluster of this name; started by the first test that needs it."""
    if name not in RUNNING:
        RUNNING[name] = OPEN.enter_context(start_cluster())
    return RUNNING[name]


@pytest.hookimpl(trylast=True)  # after the fixtures of the test
def pytest_runtest_teardown(item, nextitem):
    """Clusters end with the last test of this folder, not with the session."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        RUNNING.clear()
        OPEN.close()


@pytest.fixture
def cluster():
    return running("all workers stay alive")


@pytest.fixture
def client(cluster):
    with Client(cluster) as connected:
        yield connected


@pytest.fixture
def other_client():
    """For tests that kill workers: a cluster of its own, which replaces them."""
    with Client(running("workers are killed"), set_as_default=False) as connected:
        connected.wait_for_workers(2, timeout=30)
        yield connected
