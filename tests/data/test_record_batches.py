"""Sources of record batches: what is read, and what is refused."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from surefoot import DataError, ParameterError
from surefoot.data import Columns
from surefoot.data.record_batches import MAX_BATCH_ROWS, RecordBatches
from surefoot.data.stored_table import StoredTable
from surefoot.report.inputs.column_readers import DATE, ColumnReader


def read_back(source, names):
    return pa.Table.from_batches(RecordBatches.of(source).batches(names))


def test_batches_have_the_columns_that_were_asked_for_and_are_not_large(tmp_path):
    rows = np.arange(MAX_BATCH_ROWS + 10)
    table = pa.table({"a": rows, "a.b": rows / 2, "c": rows % 3})
    for source in (table, tmp_path / "table.parquet"):
        pq.write_table(table, tmp_path / "table.parquet")
        batches = list(RecordBatches.of(source).batches(["c", "a"]))
        assert max(batch.num_rows for batch in batches) <= MAX_BATCH_ROWS
        assert pa.Table.from_batches(batches).equals(table.select(["c", "a"]))


def test_an_index_that_pandas_stores_is_not_a_column(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index([5, 6], name="number"))
    frame.to_parquet(tmp_path / "table.parquet")
    assert RecordBatches.of(tmp_path / "table.parquet").names == ["a"]
    assert list(pd.read_parquet(tmp_path / "table.parquet")) == ["a"]


def test_files_of_a_folder_are_read_in_the_order_of_their_names(tmp_path):
    for name, value in (("b.parquet", 2), ("a.parquet", 1), ("c.PQ", 3)):
        pq.write_table(pa.table({"a": [value]}), tmp_path / name)
    (tmp_path / "notes.txt").write_text("not a table")
    assert read_back(tmp_path, ["a"])["a"].to_pylist() == [1, 2, 3]


def bad_sources(folder):
    (folder / "bad.parquet").write_text("not a table")
    (folder / "bad.arrow").write_text("not a table")
    (folder / "empty").mkdir()
    (folder / "differing").mkdir()
    pq.write_table(pa.table({"a": [1], "b": [2]}), folder / "differing" / "1.parquet")
    pq.write_table(pa.table({"a": [1], "c": [2]}), folder / "differing" / "2.parquet")
    (folder / "types").mkdir()
    pq.write_table(pa.table({"a": [1]}), folder / "types" / "1.parquet")
    pq.write_table(pa.table({"a": ["x"]}), folder / "types" / "2.parquet")
    table = pa.table({"a": [1.0]})
    return {
        "cannot be read as a table": folder / "bad.parquet",
        "bad.arrow cannot be read as a table": folder / "bad.arrow",
        "has no Parquet files: their names end in .parquet": folder / "empty",
        "There is no file": folder / "missing.parquet",
        "is not read in batches: its name must end in one of": __file__,
        "Column 'b' is not in all files": folder / "differing",
        "Column 'a' has different types in the files: int64 and string": folder / "types",
        "can be read only once: pass a function": pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
        "X must be a Parquet or Arrow file, a folder": np.ones((3, 2)),
        "X has duplicate column names": pa.table([[1], [2]], names=["a", "a"]),
        "X has 0 sample": pa.table({"a": pa.array([], pa.float64())}),
        "X has 0 feature": pa.table({"y": [1.0]}),
        "contains infinity": pa.table({"y": [1.0], "a": [np.inf]}),
    }


SENTENCES = (
    "cannot be read as a table",
    "bad.arrow cannot be read as a table",
    "has no Parquet files: their names end in .parquet",
    "There is no file",
    "is not read in batches: its name must end in one of",
    "Column 'b' is not in all files",
    "Column 'a' has different types in the files: int64 and string",
    "can be read only once: pass a function",
    "X must be a Parquet or Arrow file, a folder",
    "X has duplicate column names",
    "X has 0 sample",
    "X has 0 feature",
    "contains infinity",
)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_bad_sources_are_refused(tmp_path, sentence):
    source = bad_sources(tmp_path)[sentence]
    with pytest.raises(DataError, match=sentence):
        StoredTable.read(source, target="y" if isinstance(source, pa.Table) and "y" in source.column_names else None)


def test_names_that_are_not_columns_are_refused():
    table = pa.table({"a": [1.0], "y": [2.0]})
    for argument in ("target", "weight"):
        with pytest.raises(DataError, match="X has no column 'z'; it has 'a', 'y'") as caught:
            StoredTable.read(table, **{argument: "z"})
        assert caught.value.argument == argument
    with pytest.raises(DataError, match="both target and weight"):
        StoredTable.read(table, target="y", weight="y")
    for max_bins in (1, 256):
        with pytest.raises(ParameterError, match="max_bins must be from 2 to 255"):
            StoredTable.read(table, max_bins=max_bins)


TIMES = [datetime.datetime(2024, 1, 2, 3, 4, 5, 678), None, datetime.datetime(1969, 12, 31)]
DATES = {
    "date": pa.array([datetime.date(2024, 5, 1), None, datetime.date(1960, 1, 1)]),
    "seconds": pa.array([5, None, -7], pa.timestamp("s")),
    "microseconds": pa.array(TIMES, pa.timestamp("us")),
    "time zone": pa.array(TIMES, pa.timestamp("us", tz="Europe/Berlin")),
    "duration": pa.array([datetime.timedelta(days=1, microseconds=3), None, datetime.timedelta(hours=-1)]),
}


@pytest.mark.parametrize("name", DATES)
def test_dates_are_refused_as_in_frames_or_become_days(name):
    table = pa.table({"when": DATES[name]})
    with pytest.raises(DataError) as in_memory:
        Columns.from_frame(table)
    with pytest.raises(DataError) as stored:
        StoredTable.read(table)
    assert str(stored.value) == str(in_memory.value)
    days = ColumnReader("when", DATE).read(table.to_pandas()["when"])
    with StoredTable.read(RecordBatches.of(table, dates_as_days=True)) as stored:
        assert stored.schema.dates == {0}
        assert stored.schema.ranges == {0: (days.min(), days.max())}
        assert stored.has_missing.tolist() == [True]


def test_other_types_are_refused_as_in_frames():
    for column in (pa.array([[1], [2]]), pa.array([b"a", b"b"]), pa.array([None, None])):
        table = pa.table({"odd": column})
        with pytest.raises(DataError) as in_memory:
            Columns.from_frame(table)
        with pytest.raises(DataError) as stored:
            StoredTable.read(table)
        assert str(stored.value) == str(in_memory.value)


def test_truth_values_and_decimals_are_numbers_as_in_frames():
    table = pa.table(
        {
            "truth": [True, None, False],
            "all": [True, True, False],
            "decimal": [decimal.Decimal("1.25"), None, decimal.Decimal("-3.00")],
            "small": pa.array([np.float16(1), np.float16(2), None], pa.float16()),
            "unsigned": pa.array([2**63 + 5, None, 1], pa.uint64()),
        }
    )
    columns = Columns.from_frame(table)
    with StoredTable.read(table) as stored:
        assert stored.schema == columns.schema


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (pa.array([3, 1, 2]), np.array([3, 1, 2])),
        (pa.array([3, None, 2]), np.array([3, np.nan, 2])),
        (pa.array([True, False, True]), np.array([True, False, True])),
        (pa.array([True, None, True]), np.array([True, None, True], dtype=object)),
        (pa.array(["b", None, "a"]), np.array(["b", None, "a"], dtype=object)),
        (pa.array([decimal.Decimal("1.5")] * 3), np.array([1.5] * 3)),
        (pa.array([1, 2, 3], pa.int8()), np.array([1, 2, 3], dtype=np.int8)),
        (pa.array(["b", "c", "b"]).dictionary_encode(), np.array(["b", "c", "b"], dtype=object)),
    ],
)
def test_the_target_is_kept_as_it_is(target, expected):
    with StoredTable.read(pa.table({"a": [1, 2, 3], "y": target}), target="y") as stored:
        assert stored.y.dtype == expected.dtype
        np.testing.assert_array_equal(stored.y, expected)


def test_a_target_of_dates_is_refused():
    table = pa.table({"a": [1, 2, 3], "y": DATES["microseconds"]})
    with pytest.raises(DataError, match="'y' of X has dtype Datetime"):
        StoredTable.read(table, target="y")
    with pytest.raises(DataError, match="y is date: choose a target"):
        StoredTable.read(RecordBatches.of(table, dates_as_days=True), target="y")


def test_categories_that_are_numbers():
    labels = pa.DictionaryArray.from_arrays([1, 0, None, 1], pa.array([5, 3]))
    table = pa.table({"a": labels, "b": pa.DictionaryArray.from_arrays([0, 1, 1, 0], pa.array([1.0, 2.5]))})
    frame = Columns.from_frame(table.to_pandas())
    with StoredTable.read(table) as stored:
        assert stored.schema == frame.schema
        assert stored.schema.categories == {0: (5, 3), 1: (1, 2.5)}
        np.testing.assert_array_equal(stored.category_codes(0), frame.category_codes(0))
