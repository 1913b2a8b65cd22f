"""One cluster of two processes for all tests of this folder."""

import pytest

pytest.importorskip("distributed")

from distributed import Client, LocalCluster


def start_cluster(n_workers=2):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )


@pytest.fixture(scope="session")
def cluster():
    with start_cluster() as running:
        yield running


@pytest.fixture
def client(cluster):
    with Client(cluster) as connected:
        yield connected


@pytest.fixture
def own_client():
    """A cluster of its own, for tests that kill workers."""
    with start_cluster() as running, Client(running) as connected:
        yield connected
