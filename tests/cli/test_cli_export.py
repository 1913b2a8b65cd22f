"""``surefoot export``, and ``surefoot audit --model`` with what it writes."""

import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from export.exported import categories, numbers
from reference import dumped_trees
from reference.audit_tables import two_classes
from typer.testing import CliRunner

import surefoot
from surefoot import BoostingEnsembleClassifier, BoostingEnsembleRegressor, DataError, ModelFileError, to_onnx
from surefoot.cli.app import app
from surefoot.report.inputs.onnx_model import read_onnx

N_TRAINED = 120


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def saved(tmp_path):
    """A saved ensemble, its columns and its target."""
    X, y = numbers(200)
    X = pd.DataFrame(X, columns=["age", "size", "X", "day"])  # X is also the name of the input
    model = BoostingEnsembleRegressor(n_members=2, n_estimators=8, random_state=0).fit(X[:N_TRAINED], y[:N_TRAINED])
    surefoot.save(model, tmp_path / "m.surefoot")
    return tmp_path, model, X, y


def test_a_model_file_becomes_onnx(saved):
    folder, model, X, _ = saved
    result = run("export", folder / "m.surefoot", "-o", folder / "m.onnx", "--outputs", "std, prediction", "--float32")
    assert result.exit_code == 0, result.output
    session = onnxruntime.InferenceSession(folder / "m.onnx", providers=["CPUExecutionProvider"])
    std, prediction = session.run(None, {"X": X.to_numpy(dtype=np.float32)})
    rounded = X.astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(prediction, model.predict(rounded), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(std, model.predict_distribution(rounded).std, rtol=1e-6)


def test_a_model_file_becomes_json(saved):
    folder, model, X, _ = saved
    assert run("export", folder / "m.surefoot", "-o", folder / "m.json", "-q").output == ""
    content = json.loads((folder / "m.json").read_text())
    row = {name: None if np.isnan(value) else value for name, value in X.iloc[0].items()}
    np.testing.assert_array_equal(dumped_trees.predict(content, row), model._raw(X[:1])[:, :, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "m.txt"], "must end in .onnx or .json"),
        (["-o", "m.json", "--float32"], "are for .onnx: leave them out"),
        (["-o", "m.onnx", "--outputs", "mean"], "--outputs: outputs of this model are"),
        (["-o", "m.onnx", "--quantiles", "low"], "--quantiles: quantiles must be numbers"),
        (["-o", "m.onnx", "--quantiles", "0.5"], "--quantiles: quantiles cannot be exported"),
        (["-o", "m.surefoot"], "would overwrite it"),
    ],
)
def test_what_cannot_be_exported_is_one_line(saved, monkeypatch, arguments, message):
    monkeypatch.chdir(saved[0])
    result = run("export", "m.surefoot", *arguments)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert message in result.output
    assert [path.name for path in saved[0].iterdir()] == ["m.surefoot"]


def test_without_the_extra_its_name_is_said(saved, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    result = run("export", saved[0] / "m.surefoot", "-o", saved[0] / "m.onnx")
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert 'pip install "surefoot[onnx]"' in result.output


def test_the_audit_takes_an_exported_regressor(saved, small_candidates):
    folder, model, X, y = saved
    X.assign(y=y, seen=np.arange(200) < N_TRAINED).to_csv(folder / "table.csv", index=False)
    to_onnx(model, folder / "m.onnx")
    shared = ("--target", "y", "-o", folder / "page.html", "--json", folder / "audit.json", "--jobs", 1, "--quiet")
    result = run("audit", folder / "table.csv", "--model", folder / "m.onnx", "--trained-on", "seen", *shared)
    assert result.exit_code == 0, result.output
    models = json.loads((folder / "audit.json").read_text())["accuracy"]["models"]
    loss = next(each for each in models if each["yours"])["loss"]["value"]
    assert loss == pytest.approx(np.sqrt(np.mean((y - model.predict(X))[N_TRAINED:] ** 2)))


def test_an_exported_classifier_has_probabilities_and_uncertainty(tmp_path):
    X, y = categories(600)
    X["when"] = np.arange(600.0)
    model = BoostingEnsembleClassifier(n_members=2, n_estimators=8, random_state=0).fit(
        X, np.where(y > 0, "up", "down")
    )
    to_onnx(model, tmp_path / "m.onnx")
    read = read_onnx(tmp_path / "m.onnx")
    as_text = X[X.columns[::-1]].assign(colour=X["colour"].astype(object), other=1.0)
    assert read.classes_.tolist() == ["down", "up"]
    assert (read.predict(as_text) == model.predict(X)).all()
    np.testing.assert_allclose(read.predict_proba(as_text), model.predict_proba(X))
    uncertainty = read.predict_uncertainty(as_text)
    np.testing.assert_allclose(uncertainty.knowledge, model.predict_uncertainty(X).knowledge, rtol=1e-9)
    assert uncertainty.unit == "nats"
    with pytest.raises(DataError, match="fitted to a column 'shop', but X has no column"):
        read.predict(as_text.drop(columns="shop"))


def test_text_and_dates_are_read_as_surefoot_predict_reads_them(tmp_path):
    X, y = two_classes(80)
    table = X.assign(day=pd.date_range("2024-01-01", periods=80).strftime("%Y-%m-%d"), state=y)
    table.loc[::9, ["colour", "day"]] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    shared = ("--target", "state", "--members", 2, "--quiet", "--jobs", 1)
    assert run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.surefoot", *shared).exit_code == 0
    assert run("predict", tmp_path / "m.surefoot", tmp_path / "t.csv", "-o", tmp_path / "p.csv").exit_code == 0
    assert run("export", tmp_path / "m.surefoot", "-o", tmp_path / "m.onnx", "-q").exit_code == 0
    predicted, read = pd.read_csv(tmp_path / "p.csv"), read_onnx(tmp_path / "m.onnx")
    found = read.predict_proba(pd.read_csv(tmp_path / "t.csv"))
    np.testing.assert_allclose(found, predicted[["probability of sick", "probability of well"]], rtol=1e-9)


def test_an_exported_model_without_names_reads_columns_in_order(tmp_path):
    X, y = numbers()
    model = surefoot.GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y > 0)
    to_onnx(model, tmp_path / "m.onnx", outputs=["label"])
    read = read_onnx(tmp_path / "m.onnx")
    frame = pd.DataFrame(X, columns=list("dcba"))
    assert (read.predict(frame) == model.predict(X)).all()
    assert not hasattr(read, "predict_proba")
    assert not hasattr(read, "predict_uncertainty")
    with pytest.raises(DataError, match="fitted to 4 columns, but X has 3"):
        read.predict(frame.drop(columns="a"))


def test_files_without_a_prediction_and_damaged_descriptions_are_refused(saved):
    folder, model, X, _ = saved
    proto = to_onnx(model, folder / "m.onnx", outputs=["std"])
    with pytest.raises(DataError, match="has no output 'prediction': export it again"):
        read_onnx(folder / "m.onnx").predict(X)
    proto.metadata_props[0].value = '{"classes": null}'
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(ModelFileError, match="not one of surefoot"):
        read_onnx(folder / "m.onnx")
