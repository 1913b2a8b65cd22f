"""Deployment data in chunks: several tables, runs of time, and what is refused."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

from surefoot import DataError
from surefoot.report.inputs.arguments import AuditArguments
from surefoot.report.inputs.deployment_chunks import Chunk, NewTables
from surefoot.report.sections.over_time.chunk_units import memory_of, runs_of


def table(n=80, seed=0, **others):
    generator = np.random.default_rng(seed)
    X = pd.DataFrame({"a": generator.normal(size=n), "b": generator.choice(["x", "y"], n), **others})
    return X, X["a"].to_numpy() + generator.normal(size=n)


def read(X_new, y_new=None, X=None, **options):
    first, y = table()
    return AuditArguments(X=first if X is None else X, y=y, X_new=X_new, y_new=y_new, **options).read().deployment


def refused(message, argument, *given, **options):
    with pytest.raises(DataError, match=message) as error:
        read(*given, **options)
    assert error.value.argument == argument


@pytest.mark.parametrize(("n", "n_chunks"), [(199, 0), (200, 2), (450, 4), (1199, 4), (1500, 5), (9000, 12)])
def test_runs_of_time_have_about_equal_numbers_of_rows(n, n_chunks):
    time = np.random.default_rng(0).permutation(n).astype(float)
    chunks = Chunk.of_time(time, are_dates=False)
    assert len(chunks) == n_chunks
    if chunks:
        sizes = [len(chunk.rows) for chunk in chunks]
        assert sum(sizes) == n
        assert max(sizes) - min(sizes) <= 1
        assert chunks[0].name == "from 0"
        assert all(time[one.rows].max() < time[other.rows].min() for one, other in pairwise(chunks))


def test_rows_of_the_same_time_stay_together():
    days = np.repeat([10.0, 11.0, 12.0], [150, 200, 50])
    chunks = Chunk.of_time(days, are_dates=True)
    assert [(chunk.name, len(chunk.rows)) for chunk in chunks] == [("from 1970-01-11", 150), ("from 1970-01-12", 250)]
    assert Chunk.of_time(np.zeros(500), are_dates=False) == ()
    hours = np.arange(400) / 24 / 200
    assert [chunk.name for chunk in Chunk.of_time(hours, True)][1] == "from 1970-01-01 00:30:00"


def test_a_chunk_for_each_table_up_to_twelve():
    chunks = Chunk.of_tables([f"m{k}" for k in range(25)], [10] * 25)
    assert len(chunks) == 12
    assert (chunks[0].name, chunks[1].name) == ("m0 to m2", "m3 to m4")
    assert np.concatenate([chunk.rows for chunk in chunks]).tolist() == list(range(250))


def test_several_tables_are_the_deployment_data():
    (one, first), (two, second) = table(30, 1), table(40, 2)
    two = two.assign(b=two["b"].where(two["b"] == "x", "z"))
    deployment = read({"jan": one, "feb": two}, {"jan": first, "feb": second})
    assert deployment.where == "the new rows (2 tables)"
    assert [(chunk.name, len(chunk.rows)) for chunk in deployment.chunks] == [("jan", 30), ("feb", 40)]
    assert deployment.frame["a"].tolist() == [*one["a"], *two["a"]]
    assert set(deployment.frame["b"].cat.categories) == {"x", "y", "z"}
    assert deployment.truth.tolist() == [*first, *second]
    assert len(deployment.known) == 70
    listed = read([pl.from_pandas(one), pl.from_pandas(two)])
    assert [chunk.name for chunk in listed.chunks] == ["table 1", "table 2"]
    assert listed.frame["a"].tolist() == deployment.frame["a"].tolist()
    single = read([one])
    assert (single.chunks, len(single.frame)) == ((), 30)


def test_categories_of_pandas_stay_categories():
    parts = [table(30, k)[0].assign(b=pd.Categorical(["x"] * 15 + [name] * 15)) for k, name in enumerate("yz")]
    X, _ = NewTables.read(parts, None).joined(["a", "b"])
    assert isinstance(X["b"].dtype, pd.CategoricalDtype)
    assert set(X["b"].cat.categories) == {"x", "y", "z"}


def test_arrays():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(80, 3)), generator.normal(size=80)
    given = AuditArguments(X=X, y=y, X_new=[X[:30] + 1, (X[:20] + 2).tolist()]).read().deployment
    assert [len(chunk.rows) for chunk in given.chunks] == [30, 20]
    with pytest.raises(DataError, match="X_new has 2 columns for 'table 2', but 3 for 'table 1'"):
        AuditArguments(X=X, y=y, X_new=[X, X[:, :2]]).read()
    rows = AuditArguments(X=X, y=y, X_new=X.tolist()).read().deployment  # a list of rows is one table
    assert (rows.chunks, len(rows.frame)) == ((), 80)


def test_what_is_refused_names_the_argument_and_the_table():
    (one, first), (two, second) = table(30, 1), table(40, 2)
    refused("X_new lacks the columns 'b' for 'feb'", "X_new", {"jan": one, "feb": two.drop(columns="b")})
    refused("X_new has no rows for 'feb'", "X_new", {"jan": one, "feb": two.iloc[:0]})
    refused("X_new has no table for 'a'", "X_new", {"a": [1, 2], "b": [3, 4]})
    refused("X_new has no table: pass", "X_new", {})
    refused("y_new must be a dict like X_new", "y_new", {"jan": one, "feb": two}, {"jan": first})
    refused("y_new must be a list like X_new, with 2 targets", "y_new", [one, two], np.concatenate([first, second]))
    refused(
        "y_new has no target for 'feb', but for others", "y_new", {"jan": one, "feb": two}, {"jan": first, "feb": None}
    )
    refused("y_new has 40 rows for 'table 1', but X_new has 30", "y_new", [one, two], [second, first])
    assert read([one, two], [None, None]).truth is None
    refused("X_new has tables that cannot be joined", "X_new", [one, pl.from_pandas(two)])


def test_groups_and_times_are_in_all_tables_or_in_none():
    groups, times = {"g": np.arange(80) // 8}, {"t": np.arange(80.0)}
    (one, _), (two, _) = (
        table(30, 1, g=np.arange(30), t=np.arange(30.0)),
        table(40, 2, g=np.arange(40), t=np.arange(40.0)),
    )
    X = table(**groups, **times)[0]
    both = read([one, two], X=X, groups="g", time="t")
    assert both.groups.tolist() == [*map(str, range(30)), *map(str, range(40))]
    assert both.time.tolist() == [*range(30), *range(40)]
    neither = read([one.drop(columns=["g", "t"]), two.drop(columns=["g", "t"])], X=X, groups="g", time="t")
    assert (neither.groups, neither.time) == (None, None)
    refused("lacks the columns 'g' for 'table 2'", "X_new", [one, two.drop(columns="g")], X=X, groups="g")
    refused("missing values in the time column 't'", "X_new", one.assign(t=np.nan), X=X, time="t")
    refused("time column 't' that are not numbers", "X_new", one.assign(t="2024-01-31"), X=X, time="t")


def test_times_of_one_table_and_of_its_last_part():
    X, y = table(1000, t=pd.date_range("2024-01-01", periods=1000))
    last = AuditArguments(X=X, y=y, time="t").read().deployment
    assert [chunk.name for chunk in last.chunks] == ["from 2026-03-11", "from 2026-06-19"]
    new = table(250, 1, t=pd.date_range("2027-01-01", periods=250))[0]
    given = AuditArguments(X=X, y=y, X_new=new, time="t").read().deployment
    assert [(chunk.name, len(chunk.rows)) for chunk in given.chunks] == [
        ("from 2027-01-01", 125),
        ("from 2027-05-06", 125),
    ]
    assert AuditArguments(X=X, y=y, X_new=new.drop(columns="t"), time="t").read().deployment.chunks == ()


def test_runs_and_memory():
    time = np.random.default_rng(0).permutation(100)
    runs = runs_of(time, 30)
    assert np.bincount(runs).tolist() == [30, 30, 40]
    assert (runs[time < 30] == 0).all()
    generator = np.random.default_rng(0)
    series = np.zeros(20_000)
    for i in range(1, len(series)):
        series[i] = 0.8 * series[i - 1] + generator.normal()
    assert memory_of(series) == pytest.approx(9, rel=0.2)  # (1 + 0.8) / (1 - 0.8)
    assert memory_of(generator.normal(size=20_000)) == pytest.approx(1, abs=0.1)
    assert memory_of(np.ones(10)) == 1
