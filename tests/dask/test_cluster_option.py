"""``surefoot select --cluster``: the same selection from bags on a cluster, or one clear line."""

import socket
import time

import pytest
from problems import NUMBERS, TARGET
from typer.testing import CliRunner

from surefoot.cli import cluster as option
from surefoot.cli.app import app


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.csv"
    NUMBERS.assign(target=TARGET).to_csv(path, index=False)
    return path


def select(table, *options):
    return CliRunner().invoke(app, ["select", str(table), "--target", "target", *map(str, options)])


@pytest.mark.usefixtures("all_bags")
def test_the_selection_equals_the_local_one(table, cluster, tmp_path):
    result = select(table, "--cluster", cluster.scheduler_address, "--json", tmp_path / "cluster.json")
    assert result.exit_code == 0, result.output
    select(table, "--json", tmp_path / "local.json")
    assert (tmp_path / "cluster.json").read_bytes() == (tmp_path / "local.json").read_bytes()


def unused_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize("address", [None, "nonsense://here"], ids=["unused port", "unknown protocol"])
def test_an_address_without_a_scheduler_is_one_line(table, address, monkeypatch):
    address = address or unused_address()  # not a parameter: it would be another in each process that runs tests
    assert option.CONNECT_SECONDS <= 5
    monkeypatch.setattr(option, "CONNECT_SECONDS", 1.0)
    start = time.monotonic()
    result = select(table, "--cluster", address)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"surefoot: --cluster {address}: No Dask scheduler answers within 1 s:")
    assert result.stderr.count("\n") == 1
    assert time.monotonic() - start < 20
