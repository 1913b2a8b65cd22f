"""``surefoot fit``, ``predict`` and ``select``."""

import json

import numpy as np
import pandas as pd
import pytest
from reference.audit_tables import numbers, two_classes
from typer.testing import CliRunner

import surefoot
from surefoot import load
from surefoot.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def table(tmp_path):
    X, y = two_classes(80)
    X["day"] = pd.date_range("2024-01-01", periods=80).strftime("%Y-%m-%d")
    X.assign(state=y).to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_a_model_file_predicts_the_same_as_python(table, tmp_path):
    model, out = tmp_path / "model.surefoot", tmp_path / "out.csv"
    result = run("fit", table, "--target", "state", "-o", model, "--members", 3, "--quiet", "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert run("predict", model, table, "-o", out).exit_code == 0
    frame = pd.read_csv(table)
    rows = frame[["size", "age", "noise"]].copy()
    rows["colour"] = frame["colour"].astype("category")
    rows["day"] = (pd.to_datetime(frame["day"]) - pd.Timestamp(0)).dt.days.astype(float)
    direct = surefoot.BoostingEnsembleClassifier(n_members=3, random_state=0).fit(rows, frame["state"])
    predicted = pd.read_csv(out)
    assert predicted.columns.tolist() == [
        "prediction", "probability of sick", "probability of well", "total", "data", "knowledge",
    ]  # fmt: skip
    assert predicted["prediction"].tolist() == direct.predict(rows).tolist()
    np.testing.assert_allclose(predicted["knowledge"], direct.predict_uncertainty(rows).knowledge, rtol=1e-12)


def test_numbers_have_intervals(tmp_path):
    X, y = numbers(60)
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    assert run("fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m", "--members", 2, "-q").exit_code == 0
    assert run("predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "p.csv").exit_code == 0
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert (predicted["low"] < predicted["prediction"]).all()
    assert (predicted["prediction"] < predicted["high"]).all()


def test_counts_may_have_a_distribution_of_counts(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(size=200)
    pd.DataFrame({"size": size, "visits": rng.poisson(np.exp(2 + size))}).to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "model.surefoot"
    result = run("fit", tmp_path / "t.csv", "--target", "visits", "-o", model, "--members", 2)
    assert "--distribution poisson would predict them" in result.stdout
    assert load(model).distribution == "normal"
    result = run(
        "fit", tmp_path / "t.csv", "--target", "visits", "-o", model, "--members", 2, "--distribution", "poisson"
    )
    assert "would predict" not in result.stdout
    assert load(model).distribution == "poisson"
    result = run("fit", tmp_path / "t.csv", "--target", "size", "-o", model, "--distribution", "poisson")
    assert (result.exit_code, "poisson" in result.stderr.lower()) == (2, True)
    result = run("fit", tmp_path / "t.csv", "--target", "visits", "-o", model, "--members", 0)
    assert (result.exit_code, "--members" in result.stderr) == (2, True)


def test_classes_have_no_distribution_of_numbers(table, tmp_path):
    result = run("fit", table, "--target", "state", "-o", tmp_path / "m.surefoot", "--distribution", "poisson")
    assert (result.exit_code, "the target has classes" in result.stderr) == (2, True)
    assert not (tmp_path / "m.surefoot").exists()


def test_input_that_cannot_be_predicted_gives_one_line(table, tmp_path):
    model = tmp_path / "model.surefoot"
    assert run("fit", table, "--target", "state", "-o", model, "--members", 2, "-q").exit_code == 0
    pd.read_csv(table).drop(columns="age").to_csv(tmp_path / "less.csv", index=False)
    result = run("predict", model, tmp_path / "less.csv", "-o", tmp_path / "p.csv")
    assert (result.exit_code, "lacks the columns 'age'" in result.stderr) == (2, True)
    result = run("predict", table, table, "-o", tmp_path / "p.csv")
    assert (result.exit_code, "not a model file" in result.stderr) == (2, True)
    result = run("predict", tmp_path / "nowhere.surefoot", table, "-o", tmp_path / "p.csv")
    assert (result.exit_code, "nowhere.surefoot" in result.stderr) == (2, True)
    assert not (tmp_path / "p.csv").exists()


def test_variables_are_selected_with_the_guarantee_in_words(table, tmp_path):
    result = run("select", table, "--target", "state", "--json", tmp_path / "s.json", "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "It does not say that any of them is right." in result.stdout
    saved = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert [each["selector"] for each in saved] == ["LASSO", "decision tree"]
    assert "size" in saved[0]["single"]
    assert run("select", table, "--target", "nothing").exit_code == 2
