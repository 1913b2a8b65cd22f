"""``surefoot select --cluster``: the same selection from bags on a cluster, or one clear line."""

import socket
import time

import numpy as np
import pandas as pd
import pytest
from distributed import Client
from problems import NUMBERS, TARGET
from typer.testing import CliRunner

from surefoot.cli import dask_cluster as option
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


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """A folder of Parquet files, and the same table in one CSV file."""
    generator, folder = np.random.default_rng(0), tmp_path_factory.mktemp("visits") / "parts"
    folder.mkdir()
    frame = pd.DataFrame(generator.normal(size=(600, 3)), columns=["age", "size", "dose"])
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 900, 600), unit="D")
    frame["ward"] = generator.choice(["z", "b", "a"], 600)
    frame.loc[500:, "ward"] = "new"
    frame["days"] = frame["age"] + (frame["ward"] == "b") + generator.normal(size=600)
    frame["state"] = np.where(frame["days"] > 0, "long", "short")
    frame.loc[::7, ["size", "ward"]] = None
    frame.loc[::11, ["days", "state"]] = None
    for place, start in enumerate(range(0, 600, 250)):
        frame.iloc[start : start + 250].to_parquet(folder / f"{place}.parquet", row_group_size=100)
    frame.to_csv(folder.parent / "visits.csv", index=False)
    return folder


def fit(table, target, model, *options):
    given = ["fit", table, "--target", target, "--members", 2, "-q", "-o", model, *options]
    return CliRunner().invoke(app, list(map(str, given)))


@pytest.mark.parametrize(("source", "target"), [("parts", "days"), ("parts", "state"), ("visits.csv", "days")])
def test_the_model_and_its_predictions_equal_the_local_ones(visits, cluster, tmp_path, source, target, monkeypatch):
    monkeypatch.setattr("surefoot.cli.dask_tables.PART_ROWS", 170)
    monkeypatch.setattr("surefoot.cli.dask_tables.PART_CELLS", 900)
    table = visits.parent / source
    for name, options in {"cluster": ["--cluster", cluster.scheduler_address], "local": []}.items():
        result = fit(table, target, tmp_path / name, *options)
        assert result.exit_code == 0, result.output
        files = [tmp_path / name, table, "-o", tmp_path / f"{name}.csv"]
        result = CliRunner().invoke(app, ["predict", *map(str, [*files, *options])])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "cluster").read_bytes() == (tmp_path / "local").read_bytes()
    assert (tmp_path / "cluster.csv").read_bytes() == (tmp_path / "local.csv").read_bytes()


def test_rows_that_are_sent_give_no_warning(cluster):
    rows = np.zeros(2_000_000)  # more bytes than Dask sends without a warning, which is an error here
    with option.cluster_client(cluster.scheduler_address) as client:
        assert client.submit(len, rows).result() == len(rows)
    with Client(cluster, set_as_default=False) as other, pytest.warns(UserWarning, match="Sending large graph"):
        other.submit(len, rows, pure=False).result()


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
