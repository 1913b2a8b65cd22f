"""Training data in batches is read as training data in memory is."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surefoot import DataError
from surefoot._parallel import RowThreads
from surefoot.cli import large_table
from surefoot.cli.app import app
from surefoot.cli.large_table import LargeTable, is_large
from surefoot.cli.table_file import read_table_file, take_target
from surefoot.data import Binner, Columns
from surefoot.data.packed_words import pack_codes
from surefoot.report.inputs.table import AuditTable

N_ROWS = 400


def every_kind():
    """A table with columns of every kind, and some that are left out."""
    generator = np.random.default_rng(0)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 900, N_ROWS), unit="h")
    frame = pd.DataFrame(
        {
            "row_id": np.arange(N_ROWS),
            "number": np.arange(N_ROWS)[::-1],
            "size": generator.normal(size=N_ROWS),
            "many": generator.integers(0, 70, N_ROWS).astype(str),
            "count": pd.array(generator.integers(0, 9, N_ROWS), dtype="Int64"),
            "same": 3.5,
            "day": day,
            "text day": pd.Series(day).dt.strftime("%Y-%m-%d"),
            "name": [f"person {k}" for k in range(N_ROWS)],
            "flag": generator.random(N_ROWS) < 0.5,
            "ward": pd.Categorical(generator.choice(["z", "b", "a"], N_ROWS), categories=["z", "b", "a"]),
            "infinite": np.where(np.arange(N_ROWS) % 50 == 3, np.inf, generator.normal(size=N_ROWS)),
            "nothing": np.full(N_ROWS, np.nan),
            "y": generator.normal(size=N_ROWS),
            "state": generator.choice(["no", "yes"], N_ROWS),
            "level": generator.integers(1, 4, N_ROWS),
            "whole": generator.poisson(3.0, N_ROWS).astype(float),
            "is new": generator.random(N_ROWS) < 0.3,
        }
    )
    frame.loc[::7, ["size", "ward", "day", "many"]] = None
    frame.loc[::9, "count"] = None
    frame.loc[::11, ["y", "state", "whole"]] = None
    return frame


@pytest.fixture
def path(tmp_path):
    """A folder with the table in several files."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, start in enumerate(range(0, N_ROWS, 150)):
        every_kind().iloc[start : start + 150].to_parquet(folder / f"{k}.parquet", row_group_size=60)
    every_kind().to_parquet(tmp_path / "whole.parquet")
    return folder


@pytest.mark.parametrize(
    ("target", "task"),
    [
        ("y", None),
        ("state", None),
        ("level", None),
        ("level", "regression"),
        ("whole", None),
        ("whole", "classes"),
        ("is new", None),
        ("flag", "binary"),
    ],
)
def test_a_table_in_batches_is_read_like_one_in_memory(path, target, task):
    whole = path.parent / "whole.parquet"
    table = AuditTable.read(*take_target(read_table_file(whole), target, whole), task)
    large = LargeTable.read(path, target, task)
    assert large.n_rows == table.n_rows
    assert not large.is_judged_by_sample
    assert large.sample.notes == table.notes
    columns = Columns.from_frame(table.frame)
    with large.store() as stored:
        assert stored.feature_names.tolist() == list(table.frame.columns)
        assert stored.schema.categories == columns.schema.categories
        assert stored.schema.ranges == columns.schema.ranges
        with RowThreads(1) as threads:
            codes = Binner.from_columns(columns, 255, None, threads).codes(columns, threads)
        words = np.concatenate([shard.words() for shard in stored.shards], axis=1)
        assert words.tobytes() == pack_codes(codes).tobytes()
        targets = large.target_of(stored, task), large.read_target(task)
    for found in targets:
        assert (found.name, found.task, found.sentence) == (table.target.name, table.target.task, table.target.sentence)
        assert found.classes.dtype == table.target.classes.dtype
        np.testing.assert_array_equal(found.classes, table.target.classes)
        np.testing.assert_array_equal(found.labels, table.target.labels)


def test_a_target_of_whole_numbers_in_one_file_and_fractions_in_another(tmp_path):
    for name, values in {"1": np.arange(50), "2": np.arange(50) + 0.5}.items():
        pd.DataFrame({"a": values / 3.0, "y": values}).to_parquet(tmp_path / f"{name}.parquet")
    target = LargeTable.read(tmp_path, "y").read_target()
    np.testing.assert_array_equal(target.y, np.append(np.arange(50.0), np.arange(50) + 0.5))


def test_a_sample_decides_how_columns_are_read(path, monkeypatch):
    monkeypatch.setattr("surefoot.data.binner.EDGE_SAMPLE", 100)
    large = LargeTable.read(path, "y")
    assert large.is_judged_by_sample
    assert large.sample.n_rows == 100
    left_out = {note.column: note.what for note in large.sample.notes if not note.used}
    assert left_out == {
        "number": "identifier",
        "row_id": "identifier",
        "name": "identifier",
        "same": "constant",
        "nothing": "all missing",
    }
    assert not {"number", "row_id", "name"} & {reader.name for reader in large.sample.readers}
    with large.store() as stored:
        assert stored.n_rows == large.n_rows == every_kind()["y"].notna().sum()
        np.testing.assert_array_equal(stored.y, every_kind()["y"].dropna())


def test_which_tables_are_large(path, tmp_path, monkeypatch):
    every_kind().to_csv(tmp_path / "whole.csv", index=False)
    every_kind().to_feather(tmp_path / "whole.feather")
    names = ("parts", "whole.parquet", "whole.feather", "whole.csv", "missing.parquet")
    assert [is_large(tmp_path / name) for name in names] == [True, False, False, False, False]
    monkeypatch.setattr(large_table, "MAX_CELLS", 400)
    assert [is_large(tmp_path / name) for name in names] == [True, True, True, False, False]


def test_a_target_that_no_row_has_is_refused(path, tmp_path):
    with pytest.raises(DataError, match=r"no column 'z'; it has 'row_id', .* and 6 more"):
        LargeTable.read(path, "z")
    pd.DataFrame({"a": [1.0, 2.0], "y": [np.nan, np.nan]}).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="has no row with a value of the target 'y'"):
        LargeTable.read(tmp_path / "none.parquet", "y")


@pytest.mark.parametrize("target", ["y", "state", "level"])
def test_a_folder_gives_the_model_of_the_same_table_in_one_file(path, tmp_path, target):
    files = []
    for data in (path, tmp_path / "whole.parquet"):
        arguments = ["fit", str(data), "--target", target, "-o", str(tmp_path / "m"), "--members", "2"]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0
        files.append((tmp_path / "m").read_bytes())
    assert files[0] == files[1]


def test_options_that_do_not_fit_the_target_of_a_folder(path, tmp_path):
    arguments = ["fit", str(path), "-o", str(tmp_path / "m"), "--target"]
    result = CliRunner().invoke(app, [*arguments, "y", "--task", "classes"])
    assert result.exit_code == 2
    assert "y has 363 distinct values, and not all are numbers: too many classes" in result.stderr
    result = CliRunner().invoke(app, [*arguments, "state", "--distribution", "gamma"])
    assert "--distribution: gamma is for regression, but the target has classes" in result.stderr
    assert not (tmp_path / "m").exists()
