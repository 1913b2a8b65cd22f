"""``to_onnx``: onnxruntime computes from the file what the model predicts, for tables of numbers."""

import json
from dataclasses import replace

import numpy as np
import onnx
import pandas as pd
import pytest
from export.exported import numbers, run_onnx, thresholds_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

import surefoot
from surefoot import (
    AdaBoostClassifier,
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    dump_model,
    to_onnx,
)
from surefoot.export import onnx_file, onnx_trees
from surefoot.uncertainty.families import Laplace

CLOSE = 1e-11
DISTRIBUTIONS = ("normal", "lognormal", "laplace", "student_t", "poisson", "gamma")
UNCERTAINTIES = ("total", "data", "knowledge")


def target_for(distribution, y):
    if distribution == "poisson":
        return np.random.default_rng(1).poisson(np.exp(np.clip(y, -3, 3) / 2))
    return np.exp(y / 2) if distribution in ("lognormal", "gamma") else y


def labels(y, n_classes):
    return np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])] if n_classes == 3 else (y > 0).astype(int)


@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_predicted_distribution(distribution, grow_policy):
    X, y = numbers()
    model = GradientBoostingRegressor(
        distribution=distribution, n_estimators=15, grow_policy=grow_policy, random_state=0
    ).fit(X, target_for(distribution, y))
    expected = model.predict_distribution(X)
    levels = [] if distribution in ("poisson", "gamma") else [0.05, 0.5]
    file = to_onnx(model, outputs=["prediction", "std", *expected.parameters], quantiles=levels)
    result = run_onnx(file, X)
    assert_allclose(result["prediction"], model.predict(X), rtol=CLOSE, atol=CLOSE)
    assert_allclose(result["std"], expected.std, rtol=CLOSE)
    for name, values in expected.parameters.items():
        assert_allclose(result[name], values, rtol=CLOSE, atol=CLOSE)
    for level in levels:
        assert_allclose(result[f"quantile_{level}"], expected.quantile(level), rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize(("distribution", "dispersion"), [("normal", 0.2), ("normal", 1e-4), ("poisson", 0.3)])
def test_heavy_tails_and_dispersed_counts(distribution, dispersion):
    X, y = numbers()
    model = GradientBoostingRegressor(distribution=distribution, n_estimators=10, random_state=0)
    model.fit(X, target_for(distribution, y))
    model.family_ = replace(model.family_, dispersion=dispersion)
    expected = model.predict_distribution(X)
    result = run_onnx(to_onnx(model, outputs=["prediction", "std", *expected.parameters]), X)
    assert_allclose(result["prediction"], expected.mean, rtol=CLOSE, atol=CLOSE)
    assert_allclose(result["std"], expected.std, rtol=CLOSE)
    for name, values in expected.parameters.items():
        assert_allclose(result[name], values, rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("method", ["sglb", "sgb"])
def test_an_ensemble_of_regressors(distribution, method):
    X, y = numbers()
    model = BoostingEnsembleRegressor(
        method=method, distribution=distribution, n_members=3, n_estimators=10, random_state=0
    ).fit(X, target_for(distribution, y))
    result = run_onnx(to_onnx(model, outputs=["prediction", "std", *UNCERTAINTIES]), X)
    assert_allclose(result["prediction"], model.predict(X), rtol=CLOSE, atol=CLOSE)
    assert_allclose(result["std"], model.predict_distribution(X).std, rtol=CLOSE)
    for name in UNCERTAINTIES:
        assert_allclose(result[name], getattr(model.predict_uncertainty(X), name), rtol=1e-9)


@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_and_their_ensembles(n_classes, grow_policy):
    X, y = numbers()
    labelled = labels(y, n_classes)
    parameters = {"n_estimators": 15, "grow_policy": grow_policy, "random_state": 0}
    one = GradientBoostingClassifier(**parameters).fit(X, labelled)
    many = BoostingEnsembleClassifier(n_members=3, **parameters).fit(X, labelled)
    for model in (one, many):
        result = run_onnx(to_onnx(model), X)
        assert_array_equal(result["label"], model.predict(X))
        assert_allclose(result["probabilities"], model.predict_proba(X), rtol=CLOSE)
    for name in UNCERTAINTIES:
        assert_allclose(result[name], getattr(many.predict_uncertainty(X), name), rtol=1e-9)


def test_uncertainty_of_certain_members_keeps_its_digits():
    X = np.repeat(np.arange(4.0), 50)[:, np.newaxis]
    model = BoostingEnsembleClassifier(n_members=3, n_estimators=400, early_stopping=False, random_state=0)
    model.fit(X, X[:, 0] > 1)
    uncertainty, result = model.predict_uncertainty(X), run_onnx(to_onnx(model), X)
    assert 0 < uncertainty.knowledge.max() < 1e-4
    for name in UNCERTAINTIES:
        assert_allclose(result[name], getattr(uncertainty, name), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_at_the_edges_of_bins_and_beside_them(dtype):
    X, y = numbers()
    model = GradientBoostingRegressor(n_estimators=40, max_bins=20, early_stopping=False, random_state=0).fit(X, y)
    rows = []
    for column, thresholds in enumerate(thresholds_of(model)):
        edges = thresholds.astype(dtype)
        for values in (edges, np.nextafter(edges, dtype(-np.inf)), np.nextafter(edges, dtype(np.inf))):
            block = np.zeros((len(values), X.shape[1]), dtype=dtype)
            block[:, column] = values
            rows.append(block)
    rows = np.concatenate(rows)
    expected = model.predict(rows.astype(np.float64))
    result = run_onnx(to_onnx(model, dtype=np.dtype(dtype).name), rows)["prediction"]
    assert result.dtype == dtype
    assert_allclose(result, expected, rtol=CLOSE if dtype is np.float64 else 1e-6, atol=1e-7)
    assert len(np.unique(np.round(expected, 9))) > 30  # the rows are in many leaves: a wrong side would show


@pytest.mark.parametrize("n_rows", [0, 1, 7, 3000])
def test_any_number_of_rows(n_rows):
    X, y = numbers()
    model = BoostingEnsembleClassifier(n_members=2, n_estimators=10, random_state=0).fit(X, labels(y, 3))
    rows = np.resize(X, (n_rows, 4))
    result = run_onnx(to_onnx(model), rows)
    assert result["probabilities"].shape == (n_rows, 3)
    if n_rows:
        assert_allclose(result["probabilities"], model.predict_proba(rows), rtol=CLOSE)


def test_huge_targets_have_the_same_predictions():
    X, y = numbers()
    model = BoostingEnsembleRegressor(n_members=3, n_estimators=10, random_state=0).fit(X, y * 1e300)
    with np.errstate(all="ignore"):
        distribution = model.predict_distribution(X)
        result = run_onnx(to_onnx(model, outputs=["prediction", "std", *UNCERTAINTIES]), X)
        assert_allclose(result["prediction"], distribution.mean, rtol=CLOSE)
        assert_allclose(result["std"], distribution.std, rtol=CLOSE)
    with pytest.raises(DataError, match="divide y by a constant"):
        model.predict_uncertainty(X)
    assert np.isinf(result["knowledge"]).any()  # a graph of ONNX cannot refuse


def test_a_model_without_a_split_is_a_constant():
    X, y = np.full((60, 2), np.nan), np.arange(60.0)
    model = BoostingEnsembleRegressor(n_members=2, n_estimators=3, early_stopping=False, random_state=0).fit(X, y)
    result = run_onnx(to_onnx(model), X)
    assert_allclose(result["prediction"], model.predict(X), rtol=CLOSE)
    assert_allclose(result["knowledge"], model.predict_uncertainty(X).knowledge, rtol=CLOSE)


@pytest.mark.parametrize("kind", [bool, np.int32, np.float64, str])
def test_labels_keep_their_type(kind):
    X, y = numbers()
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, (y > 0).astype(int).astype(kind))
    result = run_onnx(to_onnx(model), X)["label"]
    assert_array_equal(result, model.predict(X))
    assert result.dtype.kind == ("O" if kind is str else np.dtype(kind).kind)


def test_the_file_describes_itself(tmp_path):
    X, y = numbers()
    frame = pd.DataFrame(X, columns=["age", "size", "width", "day"])
    model = BoostingEnsembleRegressor(n_members=2, n_estimators=5, random_state=0).fit(frame, y)
    proto = to_onnx(model, tmp_path / "model.onnx")
    stored = onnx.load(tmp_path / "model.onnx")
    onnx.checker.check_model(stored, full_check=True)
    assert stored == proto
    (entry,) = stored.metadata_props
    description = json.loads(entry.value)
    assert entry.key == "surefoot"
    assert description["version"] == surefoot.__version__
    assert description["model"] == "BoostingEnsembleRegressor"
    assert description["columns"] == ["age", "size", "width", "day"]
    assert description["outputs"]["knowledge"]["unit"] == "target squared"
    assert list(description["outputs"]) == [output.name for output in stored.graph.output]


def test_only_what_the_outputs_need_is_written():
    X, y = numbers()
    model = BoostingEnsembleRegressor(n_members=2, n_estimators=5, random_state=0).fit(X, y)
    small, large = to_onnx(model, outputs=["prediction"]), to_onnx(model)
    n_operators = [[node.op_type for node in file.graph.node].count("TreeEnsemble") for file in (small, large)]
    assert n_operators == [2, 4]  # the mean does not depend on the scale
    assert_array_equal(run_onnx(small, X)["prediction"], run_onnx(large, X)["prediction"])


def test_many_trees_are_several_operators(monkeypatch):
    X, y = numbers()
    model = GradientBoostingRegressor(n_estimators=25, early_stopping=False, random_state=0).fit(X, y)
    monkeypatch.setattr(onnx_trees, "MAX_TREES", 10)
    file = to_onnx(model, outputs=["prediction"])
    assert [node.op_type for node in file.graph.node].count("TreeEnsemble") == 3
    assert_allclose(run_onnx(file, X)["prediction"], model.predict(X), rtol=CLOSE, atol=CLOSE)


def test_a_loaded_model_gives_the_same_file(tmp_path):
    X, y = numbers()
    model = BoostingEnsembleClassifier(n_members=2, n_estimators=5, random_state=0).fit(X, labels(y, 3))
    surefoot.save(model, tmp_path / "m.surefoot")
    assert to_onnx(surefoot.load(tmp_path / "m.surefoot")) == to_onnx(model)


def fitted(**parameters):
    X, y = numbers(60)
    return GradientBoostingRegressor(n_estimators=25, early_stopping=False, random_state=0, **parameters).fit(X, y)


class LocalOnly:
    """As the estimators of ``surefoot.dask``."""

    def to_local(self):
        return fitted()


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (
            lambda: AdaBoostClassifier(),
            {},
            "cannot export an object of type AdaBoostClassifier: it takes a fitted Boosting",
        ),
        (lambda: GradientBoostingRegressor, {}, "pass a fitted model, not a class"),
        (lambda: LocalOnly(), {}, "pass what its to_local"),
        (lambda: fitted(subsample=0.5).virtual_ensemble(5), {}, "pass the model that it is cut out of"),
        (fitted, {"outputs": ["mean"]}, "outputs of this model are prediction, std, loc, scale: 'mean' is not one"),
        (fitted, {"outputs": []}, "pass at least one"),
        (fitted, {"outputs": ["std", "std"]}, "each only once"),
        (fitted, {"quantiles": [1.5]}, "quantiles must be above 0 and below 1"),
        (fitted, {"dtype": "float16"}, "dtype must be one of 'float64', 'float32'"),
    ],
)
def test_what_cannot_be_exported_is_refused(make, arguments, message):
    with pytest.raises(ParameterError, match=message):
        to_onnx(make(), **arguments)


def test_one_output_and_one_quantile_need_no_list():
    file = to_onnx(fitted(), outputs="std", quantiles=0.5)
    assert [output.name for output in file.graph.output] == ["std", "quantile_0.5"]


@pytest.mark.parametrize("export", [to_onnx, dump_model])
def test_a_distribution_without_known_formulas_is_refused(export):
    class Other(Laplace):
        name = "other"

    model = fitted()
    model.family_ = Other()
    with pytest.raises(ParameterError, match=r"knows the distributions normal, .*, not other: fit a model with one"):
        export(model)


@pytest.mark.parametrize("export", [to_onnx, dump_model])
def test_a_model_that_is_not_fitted_is_refused(export):
    with pytest.raises(NotFittedError):
        export(GradientBoostingRegressor())


def test_quantiles_without_a_closed_form_are_refused():
    X, y = numbers(80)
    gamma = GradientBoostingRegressor(distribution="gamma", n_estimators=3, random_state=0).fit(X, np.exp(y))
    ensemble = BoostingEnsembleRegressor(n_members=2, n_estimators=3, random_state=0).fit(X, y)
    classifier = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, y > 0)
    for model, message in (
        (gamma, "no closed form"),
        (ensemble, "is a mixture"),
        (classifier, "a classifier has none"),
    ):
        with pytest.raises(ParameterError, match=message) as refused:
            to_onnx(model, quantiles=[0.1])
        assert refused.value.argument == "quantiles"


def test_a_file_that_is_too_large_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_file, "MAX_BYTES", 1000)
    with pytest.raises(ParameterError, match="too many for a file of ONNX"):
        to_onnx(fitted(), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
