"""``surefoot audit --max-rows``: the same rows are drawn from every kind of file."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surefoot.cli.app import app
from surefoot.cli.drawn_table import DrawnTable
from surefoot.data import record_batches

N_ROWS = 300


def audit(source, folder, *options):
    """The subject and the output of an audit without time for anything but reading."""
    arguments = ["audit", source, "--target", "y", "-o", folder / "page.html", "--json", folder / "page.json"]
    result = CliRunner().invoke(app, [str(each) for each in (*arguments, "--time-limit", "0.01", *options)])
    if result.exit_code:
        return None, result.stderr
    return json.loads((folder / "page.json").read_text())["subject"], result.output


@pytest.fixture
def folder(tmp_path):
    """A folder with the same table in several kinds of files."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"size": generator.normal(size=N_ROWS), "ward": generator.choice(["a", "b"], N_ROWS)})
    frame["y"] = frame["size"] + generator.normal(size=N_ROWS)
    frame.loc[::10, "y"] = np.nan
    frame.to_csv(tmp_path / "table.csv", index=False)
    frame.to_feather(tmp_path / "table.feather")
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=70)
    (tmp_path / "parts").mkdir()
    for k, start in enumerate((0, 100, 200)):
        frame.iloc[start : start + 100].to_parquet(tmp_path / "parts" / f"{k}.parquet")
    return tmp_path


def test_the_same_rows_are_drawn_from_every_kind_of_file(folder):
    subjects = []
    for name in ("table.csv", "table.feather", "table.parquet", "parts"):
        subject, output = audit(folder / name, folder, "--max-rows", 100, "--seed", 3)
        assert "100 of them were drawn at random (seed 3)" in output
        assert "100 of them were drawn at random (seed 3)" in (folder / "page.html").read_text()
        assert subject.pop("source") == name
        subjects.append(subject)
    assert subjects[0]["n_table_rows"] == 270
    assert subjects[0]["remarks"][0] == "30 rows without a target were left out."
    assert subjects[1:] == subjects[:1] * 3
    assert (
        audit(folder / "table.csv", folder, "--max-rows", 100, "--seed", 4)[0]["fingerprint"]
        != (subjects[0]["fingerprint"])
    )


def test_small_tables_are_audited_as_a_whole(folder):
    for name in ("table.csv", "table.parquet", "parts"):
        subject, output = audit(folder / name, folder)
        assert (subject["n_rows"], subject["n_table_rows"], subject["draw"]) == (270, 270, "")
        assert "drawn" not in output


def test_predictions_are_those_of_the_drawn_rows(folder):
    pd.DataFrame({"prediction": np.zeros(N_ROWS)}).to_csv(folder / "mine.csv", index=False)
    pd.DataFrame({"prediction": np.zeros(7)}).to_csv(folder / "few.csv", index=False)
    for name in ("table.csv", "parts"):
        drawn = ("--max-rows", 100, "--predictions")
        assert audit(folder / name, folder, *drawn, folder / "mine.csv")[0]["n_rows"] == 100
        assert "has 7 rows, but" in audit(folder / name, folder, *drawn, folder / "few.csv")[1]


def test_too_few_rows_are_refused(folder):
    for name in ("table.csv", "parts"):
        message = audit(folder / name, folder, "--max-rows", 5)[1]
        assert message == "surefoot: --max-rows: max_rows must be 20 or more, got 5.\n"


@pytest.mark.parametrize("name", ["table.feather", "table.parquet", "parts"])
def test_the_other_rows_are_read_from_the_files(folder, name, monkeypatch):
    monkeypatch.setattr(record_batches, "MAX_BATCH_ROWS", 32)
    given = DrawnTable.read(folder / name, "y", 100, seed=0)
    others = given.other_rows("y")
    assert others.n_rows == 170
    whole = pd.read_parquet(folder / "table.parquet")
    expected = whole.drop(index=given.rows).dropna(subset="y").reset_index(drop=True)
    tables, targets, weights = zip(*others.parts(), strict=True)
    X, y = (pd.concat(parts, ignore_index=True) for parts in (tables, targets))
    assert set(weights) == {None}
    np.testing.assert_array_equal(X["size"], expected["size"])
    assert X["ward"].tolist() == expected["ward"].tolist()
    np.testing.assert_array_equal(y, expected["y"])
    assert DrawnTable.read(folder / name, "y", 270, seed=0).other_rows("y") is None


def test_the_other_rows_have_the_weights_of_their_column(folder, monkeypatch):
    monkeypatch.setattr(record_batches, "MAX_BATCH_ROWS", 32)
    whole = pd.read_parquet(folder / "table.parquet").assign(mass=lambda table: np.arange(len(table)) * 0.5)
    whole.to_parquet(folder / "weighted.parquet")
    given = DrawnTable.read(folder / "weighted.parquet", "y", 100, seed=0)
    expected = whole.drop(index=given.rows).dropna(subset="y")["mass"]
    expected = expected[expected > 0]  # the first row has none
    found = np.concatenate([weights for _, _, weights in given.other_rows("y", "mass").parts()])
    assert found.tolist() == expected.tolist()


@pytest.mark.usefixtures("small_candidates")
def test_the_other_rows_are_measured(folder):
    options = ("--max-rows", 100, "--time-limit", "1h", "--seed", 3)
    audit(folder / "parts", folder, *options)
    measured = json.loads((folder / "page.json").read_text())["accuracy"]["other_rows"]
    assert measured["n_rows"] == 170
    assert 0 < measured["loss"]["low"] < measured["loss"]["value"]
    assert "The 170 rows of the table that were not drawn are a further test" in (folder / "page.html").read_text()
