"""``surefoot audit --model``: models of one's own from files and from modules."""

import json

import joblib
import numpy as np
import pytest
from reference.audit_tables import numbers, two_classes
from skl2onnx import to_onnx
from sklearn.linear_model import LinearRegression, LogisticRegression
from typer.testing import CliRunner

from surefoot import GradientBoostingClassifier, save
from surefoot.cli.app import app
from surefoot.report.inputs.onnx_model import read_onnx

N_TRAINED = 120


def run(folder, *arguments):
    shared = ("--target", "y", "-o", folder / "page.html", "--json", folder / "audit.json", "--jobs", 1, "--quiet")
    return CliRunner().invoke(app, ["audit", *map(str, (folder / "table.csv", *arguments, *shared))])


def own_loss(folder):
    return next(each for each in json.loads((folder / "audit.json").read_text())["accuracy"]["models"] if each["yours"])


@pytest.fixture
def line(tmp_path, small_candidates):
    """A folder with a table, and a linear model of its first rows."""
    X, y = numbers(200)
    X.assign(y=y, seen=np.arange(200) < N_TRAINED).to_csv(tmp_path / "table.csv", index=False)
    return tmp_path, X, y, LinearRegression().fit(X[:N_TRAINED].to_numpy(), y[:N_TRAINED])


def expected(X, y, model):
    return float(np.sqrt(np.mean((y - model.predict(X.to_numpy()))[N_TRAINED:] ** 2)))


def test_an_onnx_file(line):
    folder, X, y, model = line
    onnx = to_onnx(model, X.to_numpy(dtype=np.float32)[:1])
    (folder / "m.onnx").write_bytes(onnx.SerializeToString())
    result = run(folder, "--model", folder / "m.onnx", "--trained-on", "seen")
    assert result.exit_code == 0, result.output
    assert own_loss(folder)["loss"]["value"] == pytest.approx(expected(X, y, model), rel=1e-5)


def test_a_pickle_is_loaded_only_if_it_is_trusted(line):
    folder, X, y, model = line
    joblib.dump(model, folder / "m.joblib")
    refused = run(folder, "--model", folder / "m.joblib", "--trained-on", "seen")
    assert refused.exit_code == 2
    assert "--trust-pickle" in refused.output
    assert not (folder / "page.html").exists()
    result = run(folder, "--model", folder / "m.joblib", "--trust-pickle", "--trained-on", "seen")
    assert result.exit_code == 0, result.output
    assert own_loss(folder)["loss"]["value"] == pytest.approx(expected(X, y, model))


def test_an_object_of_a_module_is_fitted_again(line, monkeypatch):
    folder = line[0]
    (folder / "own_line.py").write_text(
        "from sklearn.linear_model import LinearRegression\nmodel = LinearRegression()\n"
    )
    monkeypatch.chdir(folder)
    result = run(folder, "--model", "own_line:model")
    assert result.exit_code == 0, result.output
    saved = own_loss(folder)
    assert saved["what"] == "LinearRegression, fitted again in every fold"
    assert saved["loss"]["value"] == pytest.approx(1.0, abs=0.2)


def test_a_surefoot_file_reads_text_as_predict_does(tmp_path, small_candidates):
    X, y = two_classes(200)
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    typed = X.astype({"colour": "category"})
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(typed[:N_TRAINED], y[:N_TRAINED])
    save(model, tmp_path / "m.surefoot")
    X.assign(y=y, seen=np.arange(200) < N_TRAINED).to_csv(tmp_path / "table.csv", index=False)
    result = run(tmp_path, "--model", tmp_path / "m.surefoot", "--trained-on", "seen")
    assert result.exit_code == 0, result.output
    wrong = float(np.mean(model.predict(typed[N_TRAINED:]) != y[N_TRAINED:]))
    assert own_loss(tmp_path)["loss"]["value"] == pytest.approx(wrong)


def test_without_the_training_rows_nothing_is_answered(line):
    folder, X, y, model = line
    X.assign(y=y).to_csv(folder / "table.csv", index=False)
    joblib.dump(model, folder / "m.joblib")
    assert run(folder, "--model", folder / "m.joblib", "--trust-pickle").exit_code == 0
    assert {each["answer"] for each in json.loads((folder / "audit.json").read_text())["verdict"]} == {"unknown"}
    assert run(folder, "--model", folder / "m.joblib", "--trust-pickle", "--trained-on", "none").exit_code == 0
    assert json.loads((folder / "audit.json").read_text())["verdict"][0]["answer"] == "yes"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "missing.onnx"], "there is no file missing.onnx"),
        (["--model", "just_a_name"], "neither a file"),
        (["--model", "no_such_module:model"], "cannot be imported"),
        (["--no-refit"], "about your own model"),
        (["--model", "sklearn.linear_model:LinearRegression", "--trained-on", "y"], "is the target"),
        (["--model", "sklearn.linear_model:LinearRegression", "--trained-on", "seen"], "pass refit=False"),
    ],
)
def test_models_that_cannot_be_used_are_refused(line, arguments, message):
    folder = line[0]
    result = run(folder, *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not (folder / "page.html").exists()


def test_damaged_onnx_files_are_refused(line):
    folder = line[0]
    (folder / "m.onnx").write_bytes(b"nothing")
    result = run(folder, "--model", folder / "m.onnx")
    assert result.exit_code == 2
    assert "cannot be read as an ONNX model" in result.output


@pytest.mark.parametrize("named", [True, False])
def test_probabilities_of_onnx_files(tmp_path, named):
    X, y = two_classes(200)
    columns = X[["size", "noise"]]
    model = LogisticRegression().fit(columns.to_numpy(), y)
    onnx = to_onnx(model, columns.to_numpy(dtype=np.float32)[:1], options={"zipmap": named})
    (tmp_path / "m.onnx").write_bytes(onnx.SerializeToString())
    again = read_onnx(tmp_path / "m.onnx")
    assert np.array_equal(again.predict(columns), model.predict(columns.to_numpy()))
    assert np.allclose(again.predict_proba(columns), model.predict_proba(columns.to_numpy()), atol=1e-6)
