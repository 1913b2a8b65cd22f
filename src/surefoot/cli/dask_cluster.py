"""The option ``--cluster`` of sub-commands: their work runs on the workers of a Dask cluster."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from surefoot import ParameterError
from surefoot._extras import require
from surefoot._parallel import TaskRunner, run_tasks

CONNECT_SECONDS = 5.0
ClusterOption = Annotated[
    str | None,
    typer.Option(help="The address of a Dask scheduler, such as tcp://10.0.0.1:8786, to work on its cluster."),
]


@contextmanager
def cluster_client(address: str | None) -> Iterator[Any]:
    """A client of the cluster with this address; None without an address."""
    if address is None:
        yield None
        return
    try:
        require("distributed", "--cluster", "dask")
    except ImportError as error:
        raise ParameterError(str(error), argument="cluster") from error
    from distributed import Client

    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # a wrong address is a ValueError
        raise ParameterError(
            f"No Dask scheduler answers within {CONNECT_SECONDS:.0f} s: check the address, and that dask "
            "scheduler is running there.",
            argument="cluster",
        ) from error
    with client, warnings.catch_warnings():
        # Rows are sent with the tasks that need them, so that these can start again on another worker.
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        yield client


@contextmanager
def task_runner(address: str | None) -> Iterator[TaskRunner]:
    """What runs tasks: threads of this process, or the workers of the cluster with this address."""
    with cluster_client(address) as client:
        if client is None:
            yield run_tasks
            return
        from surefoot.dask.cluster_tasks import ClusterTasks

        yield ClusterTasks(client)
