"""Folders of stored tables: kept, used again, refused; and what is left when reading fails."""

import errno
import json
import os
from collections import namedtuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from surefoot import DataError, ParameterError
from surefoot.data import table_folder, table_writer
from surefoot.data.stored_table import StoredTable

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def path(tmp_path):
    """A file with a table of 500 rows."""
    generator = np.random.default_rng(0)
    table = pa.table({"a": generator.normal(size=500), "b": generator.choice(["u", "v"], 500), "y": np.arange(500)})
    pq.write_table(table, tmp_path / "table.parquet", row_group_size=100)
    return tmp_path / "table.parquet"


def all_words(stored):
    return b"".join(shard.words().tobytes() for shard in stored.shards)


def test_a_folder_is_removed_at_the_end_unless_it_is_kept(path, tmp_path):
    with StoredTable.read(path) as stored:
        assert stored.folder.is_dir()
    assert not stored.folder.exists()
    stored = StoredTable.read(path, folder=tmp_path / "bins")
    folder = stored.folder
    del stored
    assert not folder.exists()
    StoredTable.read(path, folder=tmp_path / "bins", keep=True).close()
    assert (tmp_path / "bins").is_dir()


def test_a_kept_folder_is_used_again(path, tmp_path):
    first = StoredTable.read(path, target="y", folder=tmp_path / "bins", keep=True, shard_rows=200)
    steps = []
    with StoredTable.read(
        path, target="y", folder=tmp_path / "bins", shard_rows=200, callback=lambda *step: steps.append(step)
    ) as again:
        assert steps == []
        assert all_words(first) == all_words(again)
        assert again.schema == first.schema
        np.testing.assert_array_equal(again.y, np.arange(500))
    opened = StoredTable.open(tmp_path / "bins")  # leaving the block did not remove what was kept before
    assert all_words(opened) == all_words(first)


def test_a_folder_of_other_data_or_settings_is_refused(path, tmp_path):
    StoredTable.read(path, target="y", folder=tmp_path / "bins", keep=True)
    with pytest.raises(DataError, match=r"other data or settings \(target, max_bins\): remove it") as caught:
        StoredTable.read(path, max_bins=9, folder=tmp_path / "bins")
    assert caught.value.argument == "folder"
    os.utime(path, ns=(0, 0))
    with pytest.raises(DataError, match=r"other data or settings \(files\)"):
        StoredTable.read(path, target="y", folder=tmp_path / "bins")
    with pytest.raises(DataError, match="X is not in files, so it cannot be compared"):
        StoredTable.read(pq.read_table(path), folder=tmp_path / "bins")


def test_a_folder_that_is_not_a_stored_table_is_refused(path, tmp_path):
    with pytest.raises(DataError, match="is not a stored table: name a new folder"):
        StoredTable.read(path, folder=tmp_path)
    StoredTable.read(path, folder=tmp_path / "bins", keep=True)
    manifest = tmp_path / "bins" / table_folder.MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": 99}))
    with pytest.raises(DataError, match="written by another version of surefoot"):
        StoredTable.open(tmp_path / "bins")
    with pytest.raises(DataError, match="There is no folder"):
        StoredTable.read(path, folder=tmp_path / "nowhere" / "bins")
    with pytest.raises(ParameterError, match="keep=True needs a folder"):
        StoredTable.read(path, keep=True)


def test_an_empty_folder_is_filled(path, tmp_path):
    (tmp_path / "bins").mkdir()
    with StoredTable.read(path, folder=tmp_path / "bins") as stored:
        assert stored.n_rows == 500


@pytest.mark.parametrize("step", table_writer.STEPS)
def test_nothing_is_left_when_reading_is_stopped(path, tmp_path, step, monkeypatch):
    monkeypatch.setattr("surefoot.data.binner.EDGE_SAMPLE", 400)
    monkeypatch.setattr("surefoot.data.table_passes.EDGE_SAMPLE", 400)
    before = sorted(tmp_path.iterdir())

    def stop(fraction, current):
        if current == step:
            raise KeyboardInterrupt

    source = pq.read_table(path).append_column("few", pa.array(np.arange(500) % 2))
    with pytest.raises(KeyboardInterrupt):
        StoredTable.read(source, target="y", folder=tmp_path / "bins", callback=stop)
    assert sorted(tmp_path.iterdir()) == before


def test_a_disk_without_room_is_refused_before_reading(path, tmp_path, monkeypatch):
    monkeypatch.setattr(table_folder.shutil, "disk_usage", lambda folder: Usage(10**9, 10**9, 1000))
    with pytest.raises(
        DataError, match=r"GB left, but the bins of the table need .* name a folder on a disk"
    ) as caught:
        StoredTable.read(path, folder=tmp_path / "bins")
    assert caught.value.argument == "folder"


def test_a_disk_that_fills_up_leaves_nothing(path, tmp_path, monkeypatch):
    before = sorted(tmp_path.iterdir())

    def write(file, first_row, lines):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(table_folder.ArrayFile, "write", write)
    with pytest.raises(DataError, match="is full, and the bins of the table need"):
        StoredTable.read(path, folder=tmp_path / "bins")
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_that_changes_while_it_is_read_is_refused(path, tmp_path):
    def touch(fraction, step):
        os.utime(path, ns=(1, 1))

    with pytest.raises(DataError, match="X has changed while it was read"):
        StoredTable.read(path, folder=tmp_path / "bins", callback=touch)
    assert not (tmp_path / "bins").exists()


@pytest.mark.parametrize("n_rows", [(5, 4), (4, 5)])
def test_a_source_with_another_number_of_rows_in_the_next_pass_is_refused(n_rows):
    sizes = iter([0, *n_rows, *n_rows])

    def reader():
        table = pa.table({"a": np.arange(next(sizes))})
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    with pytest.raises(DataError, match="X has changed while it was read"):
        StoredTable.read(reader)


def test_new_categories_in_the_next_pass_are_refused():
    labels = iter(["x", "x", "x", "new"])

    def reader():
        table = pa.table({"a": [next(labels)] * 3})
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    with pytest.raises(DataError, match="X has changed while it was read"):
        StoredTable.read(reader)


def test_progress_goes_from_nothing_to_everything(path):
    done = []
    with StoredTable.read(path, target="y", callback=lambda fraction, step: done.append((fraction, step))):
        fractions = [fraction for fraction, _ in done]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert fractions[-1] == 1.0
    assert {step for _, step in done} > {table_writer.VALUES_PASS, table_writer.CODES_PASS}
