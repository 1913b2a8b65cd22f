"""Tables that are read in batches: the same predictions and the same messages as in one piece."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from surefoot import GradientBoostingRegressor, save
from surefoot.cli.app import app
from surefoot.data import record_batches


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def visits(n_rows, seed=0):
    """A table with numbers, truth values, dates and categories, some of them missing, and two targets."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": generator.normal(50, 10, n_rows).round(3),
            "count": pd.array(generator.integers(0, 5, n_rows), dtype="Int64"),
            "flag": generator.random(n_rows) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 300, n_rows), unit="h"),
            "ward": generator.choice(["a", "b", "c"], n_rows),
        }
    )
    frame["y"] = frame["age"] + 5 * (frame["ward"] == "b") + generator.normal(size=n_rows)
    frame["state"] = np.where(frame["y"] > 50, "high", "low")
    frame.loc[::7, "age"] = np.nan
    frame.loc[::9, ["count", "ward"]] = None
    return frame


@pytest.fixture(scope="module", params=["y", "state"])
def fitted(request, tmp_path_factory):
    """A folder with a model, and new rows with unknown categories and numbers outside the range."""
    folder = tmp_path_factory.mktemp("visits")
    rows = visits(120).drop(columns="state" if request.param == "y" else "y")
    rows.to_parquet(folder / "train.parquet")
    result = run("fit", folder / "train.parquet", "--target", request.param, "-o", folder / "m", "--members", 2)
    assert result.exit_code == 0, result.output
    new = visits(100, seed=1)
    new.loc[[3, 50, 51], "ward"] = ["x", "z", "z"]
    new.loc[[70, 71], "age"] = [300.0, -9.0]
    new.loc[99, "day"] = pd.Timestamp("2030-05-06")
    new.to_parquet(folder / "new.parquet", row_group_size=40)
    new.to_feather(folder / "new.feather")
    new.to_csv(folder / "new.csv", index=False)
    (folder / "parts").mkdir()
    for k, start in enumerate(range(0, 100, 30)):
        new.iloc[start : start + 30].to_parquet(folder / "parts" / f"{k}.parquet")
    return folder


def predicted(folder, source):
    """The file of predictions and the messages."""
    result = run("predict", folder / "m", folder / source, "-o", folder / "out.csv")
    assert result.exit_code == 0, result.output
    return (folder / "out.csv").read_bytes(), result.output


@pytest.mark.parametrize("source", ["new.parquet", "new.feather", "parts", "new.csv"])
def test_batches_are_predicted_as_one_piece(fitted, source, monkeypatch):
    whole = predicted(fitted, "new.parquet")
    assert "column 'ward': 3 of 100 rows have values that are not in the training data: 'z', 'x'" in whole[1]
    assert "of 100 rows have numbers outside the range of the training data:" in whole[1]
    assert "1 of 100 rows have 2030-05-06" in whole[1]
    monkeypatch.setattr(record_batches, "MAX_BATCH_ROWS", 7)
    assert predicted(fitted, source) == whole


def test_more_batches_than_memory_for_their_values(fitted, monkeypatch):
    monkeypatch.setattr("surefoot.cli.unusual_rows.MAX_COUNTED", 1)
    assert "3 of 100 rows have values that are not in the training data: 'x'; they" in predicted(fitted, "parts")[1]


def refused(folder, model, source):
    """The message of a table that cannot be predicted; nothing is written."""
    result = run("predict", model, source, "-o", folder / "none.csv")
    assert result.exit_code == 2
    assert not (folder / "none.csv").exists()
    return result.stderr


def test_tables_that_cannot_be_predicted(fitted, tmp_path):
    rows = pd.read_parquet(fitted / "new.parquet")
    rows.drop(columns=["age", "ward"]).to_parquet(tmp_path / "less.parquet")
    message = refused(tmp_path, fitted / "m", tmp_path / "less.parquet")
    assert f"{tmp_path / 'less.parquet'} lacks the columns 'age', 'ward', which the model was fitted to." in message
    rows.iloc[:0].to_parquet(tmp_path / "empty.parquet")
    assert "empty.parquet has no rows." in refused(tmp_path, fitted / "m", tmp_path / "empty.parquet")
    (tmp_path / "nothing").mkdir()
    assert "has no Parquet files" in refused(tmp_path, fitted / "m", tmp_path / "nothing")
    (tmp_path / "broken.parquet").write_text("no table")
    assert "broken.parquet cannot be read" in refused(tmp_path, fitted / "m", tmp_path / "broken.parquet")


def test_a_few_values_of_all_batches_need_not_be_dates(fitted, tmp_path, monkeypatch):
    """All of them are in the first batches."""
    monkeypatch.setattr(record_batches, "MAX_BATCH_ROWS", 5)
    rows = pd.read_parquet(fitted / "new.parquet")
    rows["day"] = rows["day"].dt.strftime("%Y-%m-%d").astype(object)
    rows.loc[:8, "day"] = "soon"
    rows.to_parquet(tmp_path / "few.parquet")
    assert run("predict", fitted / "m", tmp_path / "few.parquet", "-o", tmp_path / "p.csv").exit_code == 0
    assert len(pd.read_csv(tmp_path / "p.csv")) == 100
    rows.loc[:10, "day"] = "soon"
    rows.to_parquet(tmp_path / "many.parquet")
    assert "has other values now in 11 rows, such as 'soon'" in refused(
        tmp_path, fitted / "m", tmp_path / "many.parquet"
    )


def test_a_model_that_does_not_store_its_dates(tmp_path, monkeypatch):
    """The types of the file show which columns are dates; text could be anything."""
    monkeypatch.setattr(record_batches, "MAX_BATCH_ROWS", 7)
    frame = visits(60)[["age", "day", "flag", "y"]].dropna()
    X = frame.drop(columns="y")
    days = (X["day"] - pd.Timestamp(0)).dt.total_seconds() / 86_400
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X.assign(day=days), frame["y"])
    save(model, tmp_path / "m")
    assert model._schema.dates is None
    (tmp_path / "parts").mkdir()
    frame.to_parquet(tmp_path / "parts" / "1.parquet")
    assert run("predict", tmp_path / "m", tmp_path / "parts", "-o", tmp_path / "p.csv").exit_code == 0
    predicted = pd.read_csv(tmp_path / "p.csv", dtype=str)["prediction"].astype(float)  # exact with any pandas
    np.testing.assert_array_equal(predicted, model.predict(X.assign(day=days)))
    frame.assign(day=X["day"].astype(str)).to_parquet(tmp_path / "parts" / "1.parquet")
    assert run("predict", tmp_path / "m", tmp_path / "parts" / "1.parquet", "-o", tmp_path / "q.csv").exit_code == 0
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "q.csv").read_text()
    message = refused(tmp_path, tmp_path / "m", tmp_path / "parts")
    assert "'day' in" in message
    assert "make it a number or a date" in message
