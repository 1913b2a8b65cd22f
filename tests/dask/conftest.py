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


@pytest.fixture(scope="session")
def other_cluster():
    with start_cluster() as running:
        yield running


@pytest.fixture
def other_client(other_cluster):
    """For tests that kill workers: a cluster of its own, which replaces them."""
    with Client(other_cluster, set_as_default=False) as connected:
        connected.wait_for_workers(2, timeout=30)
        yield connected
