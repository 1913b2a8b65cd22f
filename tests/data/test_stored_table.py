"""A table in a folder of shards against the same table in memory."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot._parallel import RowThreads
from surefoot.data import Binner, Columns, binner, table_passes
from surefoot.data.packed_words import pack_codes
from surefoot.data.stored_table import SHARD_ROWS, StoredTable
from surefoot.trees.row_blocks import BLOCK_ROWS

TEXTS = ("apple", "Zebra", "ä", "1", "", "b c")


def in_memory(table, weights=None):
    """The columns of a table as pandas would read them, with text as categories."""
    texts = {field.name: "category" for field in table.schema if pa.types.is_string(field.type)}
    return Columns.from_frame(table.to_pandas().astype(texts), weights=weights)


def words_of(stored):
    return np.concatenate([shard.words() for shard in stored.shards], axis=1)


def check_same(stored, columns, max_bins=255, weights=None):
    """Everything that training reads is the same, to the byte."""
    assert stored.schema == columns.schema
    assert [list(map(type, labels)) for labels in stored.schema.categories.values()] == [
        list(map(type, labels)) for labels in columns.schema.categories.values()
    ]
    plain = columns.select(stored.plain)
    with RowThreads(1) as threads:
        expected = Binner.from_columns(plain, max_bins, weights, threads)
        codes = expected.codes(plain, threads)
    np.testing.assert_array_equal(stored.missing, expected.missing)
    for ours, theirs in zip(stored.binner.edges, expected.edges, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours.low.tobytes() == theirs.low.tobytes()
            assert ours.high.tobytes() == theirs.high.tobytes()
    assert words_of(stored).tobytes() == pack_codes(codes).tobytes()
    np.testing.assert_array_equal(stored.has_missing, (codes == expected.missing[:, np.newaxis]).any(axis=1))
    assert stored.is_categorical.tolist() == [edges is None for edges in expected.edges]
    for j in columns.schema.categories:
        codes_of_j = stored.category_codes(j)
        assert codes_of_j.dtype == np.int32
        np.testing.assert_array_equal(codes_of_j, columns.category_codes(j))


@contextmanager
def small_sample():
    """Edges come from 40 rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binner, "EDGE_SAMPLE", 40)
        patch.setattr(table_passes, "EDGE_SAMPLE", 40)
        yield


def column_values(dtype, n):
    """Values of one column, of which some are missing."""
    if dtype == pa.float64():  # often few distinct values, and then a rare one
        value = st.one_of(st.sampled_from([0.0, -0.0, 1.5]), st.floats(-1e9, 1e9), st.just(float("nan")))
    elif dtype == pa.float32():
        value = st.floats(-100, 100, width=32)
    elif pa.types.is_integer(dtype):
        value = st.integers(-3, 90)
    else:
        value = st.sampled_from(TEXTS)
    return st.lists(st.one_of(value, value, value, st.none()), min_size=n, max_size=n)


@st.composite
def tables(draw):
    """A table of up to 120 rows, with columns of every type."""
    n = draw(st.integers(1, 120))
    dictionary = pa.dictionary(pa.int32(), pa.string())
    types = [pa.float64(), pa.float32(), pa.int64(), pa.int8(), pa.string(), dictionary]
    chosen = draw(st.lists(st.sampled_from(types), min_size=1, max_size=10))
    arrays = {f"c{k}": pa.array(draw(column_values(dtype, n)), dtype) for k, dtype in enumerate(chosen)}
    return pa.table(arrays)


@settings(deadline=None, max_examples=80)
@given(data=st.data(), table=tables(), max_bins=st.sampled_from([2, 7, 255]), row_group=st.integers(1, 130))
def test_any_table_is_the_same_as_in_memory(tmp_path_factory, data, table, max_bins, row_group):
    path = tmp_path_factory.mktemp("tables") / "table.parquet"
    pq.write_table(table, path, row_group_size=row_group)
    table = pq.read_table(path)
    shard_rows = data.draw(st.integers(1, 140))
    with small_sample(), StoredTable.read(path, max_bins=max_bins, shard_rows=shard_rows) as stored:
        assert [shard.n_rows for shard in stored.shards[:-1]] == [shard_rows] * (len(stored.shards) - 1)
        check_same(stored, in_memory(table), max_bins)


@settings(deadline=None, max_examples=40)
@given(data=st.data(), table=tables())
def test_any_weighted_table_is_the_same_as_in_memory(data, table):
    n = len(table)
    listed = data.draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5]), min_size=n, max_size=n))
    weights = np.array(listed)
    weights[data.draw(st.integers(0, n - 1))] = 1.0
    table = table.append_column("w", pa.array(weights))
    with small_sample(), StoredTable.read(table, weight="w", max_bins=5) as stored:
        np.testing.assert_array_equal(stored.weights, weights)
        check_same(stored, in_memory(table.drop_columns("w"), weights), 5, weights)


def large_table():
    """More rows than edges come from, with rare values, and with many and very many categories."""
    n = binner.EDGE_SAMPLE + 30_000
    generator = np.random.default_rng(0)
    flag = np.zeros(n)
    flag[[7, n - 3]] = 1.0, -5.0
    many = generator.integers(0, 60, n).astype(str)
    very_many = np.char.add("k", np.minimum(generator.geometric(0.01, n), 400).astype(str))
    return pa.table(
        {
            "normal": np.where(generator.random(n) < 0.1, np.nan, generator.normal(size=n)),
            "flag": flag,
            "whole": generator.integers(0, 300, n).astype(np.int16),
            "many": many,
            "very many": very_many,
            "y": generator.normal(size=n),
        }
    )


def test_a_large_table_in_several_files(tmp_path):
    table = large_table()
    cuts = [0, 90_000, 90_000, 200_001, len(table)]
    for k, (start, stop) in enumerate(pairwise(cuts)):
        pq.write_table(table.slice(start, stop - start), tmp_path / f"part-{k}.parquet", row_group_size=50_000)
    columns = in_memory(table.drop_columns("y"))
    with StoredTable.read(tmp_path, target="y", shard_rows=100_000, n_jobs=2) as stored:
        assert len(stored.shards) == 3
        check_same(stored, columns)
        np.testing.assert_array_equal(stored.y, table["y"])
        assert stored.feature_names.tolist() == ["normal", "flag", "whole", "many", "very many"]
    with StoredTable.read(tmp_path, target="y", max_categories=50) as stored:
        assert stored.plain == (0, 1, 2)
        check_same(stored, columns)


def test_a_shard_is_made_of_whole_blocks():
    assert SHARD_ROWS % BLOCK_ROWS == 0


def test_files_with_other_dictionaries_types_and_orders_of_columns(tmp_path):
    first = pa.table({"a": pa.array(["z", "y", "z"]).dictionary_encode(), "b": [1, 2, 3], "c": pa.nulls(3)})
    second = pa.table({"b": [1.5, None], "c": ["q", "p"], "a": pa.array(["x", "y"]).dictionary_encode()})
    pq.write_table(first, tmp_path / "1.parquet")
    pq.write_table(second, tmp_path / "2.parquet")
    whole = pa.table(
        {
            "a": pa.chunked_array([first["a"].chunk(0), second["a"].chunk(0)]),
            "b": [1.0, 2.0, 3.0, 1.5, None],
            "c": [None, None, None, "q", "p"],
        }
    )
    with StoredTable.read(tmp_path) as stored:
        assert stored.schema.categories == {0: ("z", "y", "x"), 2: ("p", "q")}
        check_same(stored, in_memory(whole))


def sources(table, folder):
    """The same table in every form that is read in batches."""
    pq.write_table(table, folder / "table.parquet", row_group_size=7)
    with pa.OSFile(str(folder / "table.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=11)
    return {
        "path": folder / "table.parquet",
        "text": str(folder / "table.parquet"),
        "Arrow file": folder / "table.arrow",
        "folder": folder,
        "data set": ds.dataset(folder / "table.parquet"),
        "data set in memory": ds.dataset(table),
        "table": table,
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "readers": lambda: pa.RecordBatchReader.from_batches(
            table.schema, [table.to_batches()[0].slice(0, 0), *table.to_batches(max_chunksize=13)]
        ),
    }


FORMS = (
    "path",
    "text",
    "Arrow file",
    "folder",
    "data set",
    "data set in memory",
    "table",
    "polars",
    "pandas",
    "readers",
)


@pytest.mark.parametrize("form", FORMS)
def test_every_source_gives_the_same_bins(tmp_path, form):
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=50)
    numbers[3] = np.nan
    table = pa.table({"a": numbers, "b": generator.choice(["u", "v"], 50), "y": generator.choice(["no", "yes"], 50)})
    with StoredTable.read(sources(table, tmp_path)[form], target="y") as stored:
        check_same(stored, in_memory(table.drop_columns("y")))
        assert stored.y.tolist() == table["y"].to_pylist()
