"""A loaded model equals the saved one to the last bit, and its file depends on nothing else."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from small_models import answers, parts, recipes, rows_for, small_model, table

import surefoot
from surefoot.model_io.models import VERSION
from surefoot.uncertainty import Normal, StudentT

MODELS = sorted(recipes())
SINGLE = [name for name in MODELS if hasattr(recipes()[name][0], "virtual_ensemble")]
each_model = pytest.mark.parametrize("name", MODELS)


def assert_same(one, other):
    """Equal arrays of one type."""
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)


def round_trip(model, folder):
    surefoot.save(model, folder / "model.surefoot")
    return surefoot.load(folder / "model.surefoot")


def file_of(model, folder):
    surefoot.save(model, folder / "model.surefoot")
    return (folder / "model.surefoot").read_bytes()


@each_model
def test_predictions_are_the_same(name, tmp_path):
    model = small_model(name)
    again = round_trip(model, tmp_path)
    assert type(again) is type(model)
    X = rows_for(model, table(n_rows=40, n_categories=6, seed=2)[0])
    before, after = answers(model, X), answers(again, X)
    assert before.keys() == after.keys()
    for method, values in before.items():
        assert_same(values, after[method])


def losses_of(model):
    """The losses of the held-out rows, if the model has any: one array, or one for each class."""
    losses = getattr(model, "validation_loss_", [])
    return losses if isinstance(losses, list) else [losses]


@each_model
def test_attributes_are_the_same(name, tmp_path):
    model = small_model(name)
    again = round_trip(model, tmp_path)
    assert again.get_params() == model.get_params()
    assert vars(again).keys() == vars(model).keys()
    assert again.n_features_in_ == model.n_features_in_
    assert again._schema == model._schema
    for attribute in ("classes_", "feature_names_in_", "estimator_weights_", "estimator_errors_"):
        if hasattr(model, attribute):
            assert_same(getattr(model, attribute), getattr(again, attribute))
    for one, other in zip(losses_of(model), losses_of(again), strict=True):
        assert_same(one, other)
    for attribute in ("n_iter_", "coverage_", "family_", "best_name_", "scores_"):
        assert getattr(model, attribute, None) == getattr(again, attribute, None)


@each_model
def test_saving_again_gives_the_same_file(name, tmp_path):
    model = small_model(name)
    assert file_of(round_trip(model, tmp_path), tmp_path) == file_of(model, tmp_path)


@each_model
def test_a_loaded_model_can_be_fitted_again(name, tmp_path):
    model = small_model(name)
    frame, y = table(n_rows=80, seed=3)
    X, target = rows_for(model, frame), np.digitize(y, [1.0]) if hasattr(model, "classes_") else np.exp(y).round() + 1
    assert file_of(round_trip(model, tmp_path).fit(X, target), tmp_path) == file_of(
        clone(model).fit(X, target), tmp_path
    )


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.filterwarnings("ignore::surefoot.NoTrainingNoiseWarning")
def test_virtual_ensembles_and_explanations_are_the_same(name, tmp_path):
    model = clone(small_model(name)).set_params(n_estimators=8)
    frame, y = table(n_rows=80, seed=3)
    X, target = frame[["a", "b"]], np.digitize(y, [1.0]) if hasattr(model, "class_weight") else np.exp(y).round() + 1
    model.fit(X, target)
    again = round_trip(model, tmp_path)
    ours, theirs = (parts(one.virtual_ensemble(3).predict_uncertainty(X)) for one in (model, again))
    for part in ours:
        assert_same(ours[part], theirs[part])
    explained, explained_again = model.to_shap(), again.to_shap()
    assert explained.keys() == explained_again.keys()
    for output, trees in explained.items():
        assert trees["base_offset"] == explained_again[output]["base_offset"]
        for one, other in zip(trees["trees"], explained_again[output]["trees"], strict=True):
            assert one.keys() == other.keys()
            for part in one:
                assert_same(one[part], other[part])


@pytest.mark.parametrize("name", ["ensemble", "classifiers", "majority", "bagged", "best"])
def test_members_are_the_same_and_share_their_encoding(name, tmp_path):
    model = small_model(name)
    again = round_trip(model, tmp_path)
    X = rows_for(model, table(n_rows=40, seed=2)[0])
    if name == "best":
        model, again = model.best_estimator_, again.best_estimator_
    if name == "classifiers":  # members without statistics share the table
        assert again._members[0].encoding is again._members[1].encoding
    for one, other in zip(getattr(model, "estimators_", []), getattr(again, "estimators_", []), strict=True):
        if hasattr(one, "get_params"):
            assert one.get_params() == other.get_params()
            assert_same(one.predict(X), other.predict(X))


@each_model
def test_arrays_have_the_same_layout_as_after_a_fit(name, tmp_path):
    """For another layout, kernels would be compiled again at the first prediction."""

    def forests(model):
        return [member.trees.forest for member in getattr(model, "_members", [])] + [
            boosted.forest for boosted in getattr(model, "_boosted", [])
        ]

    model = small_model(name)
    for one, other in zip(forests(model), forests(round_trip(model, tmp_path)), strict=True):
        for field in ("features", "shifts", "limits", "sets", "tables", "gains", "covers", "leaves"):
            ours, theirs = getattr(one, field), getattr(other, field)
            assert ours.dtype == theirs.dtype
            assert all(ours.flags[flag] == theirs.flags[flag] for flag in ("C", "F", "WRITEABLE", "ALIGNED")), field


@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True]), np.array([3, 7]), np.array([-1, 2**40]), np.array([1, 200], dtype=np.uint8),
        np.array([2**63, 2**64 - 1], dtype=np.uint64), np.array([0.0, 5.0], dtype=np.float32), np.array([-2.0, 3.0]),
        np.array(["no", "yes"]), np.array(["", "a much longer one"]), np.array(["nein", "schön"], dtype="U20"),
        np.array(["a", "b"], dtype=object), np.array([3, 7], dtype=">i4"),
    ],
    ids=repr,
)  # fmt: skip
def test_labels_keep_their_type(labels, tmp_path):
    X = np.arange(20.0)[:, np.newaxis]
    y = labels[(X[:, 0] > 9).astype(int)]
    for kind in (surefoot.AdaBoostClassifier, surefoot.GradientBoostingClassifier, surefoot.VMatrixBoostingClassifier):
        model = kind(n_estimators=2).fit(X, y)
        again = round_trip(model, tmp_path)
        assert again.classes_.dtype == model.classes_.dtype.newbyteorder("=")
        assert [type(label) for label in again.classes_.tolist()] == [type(label) for label in model.classes_.tolist()]
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (surefoot.GradientBoostingRegressor, {"distribution": StudentT(df=7)}),
        (surefoot.GradientBoostingRegressor, {"distribution": Normal}),
        (surefoot.GradientBoostingRegressor, {"monotonic_cst": [1, 0], "categorical_features": None}),
        (surefoot.GradientBoostingRegressor, {"monotonic_cst": {"b": -1}, "temperature": 2.0, "langevin": True}),
        (surefoot.GradientBoostingRegressor, {"interaction_cst": [{"b"}, {"a"}], "max_features": np.float64(0.5)}),
        # a set has no order, so a test cannot be named after it
        pytest.param(surefoot.GradientBoostingRegressor, {"interaction_cst": [{"b"}, {"a", 0}]}, id="sets"),
        (surefoot.GradientBoostingRegressor, {"interaction_cst": (frozenset({0}), [1]), "split_noise": 0}),
        (surefoot.GradientBoostingRegressor, {"interaction_cst": "pairwise", "max_features": 1, "split_noise": 1.5}),
        (surefoot.GradientBoostingClassifier, {"grow_policy": "leafwise", "max_leaf_nodes": 3}),
        (surefoot.BoostingEnsembleRegressor, {"n_members": 2, "grow_policy": "leafwise", "max_features": 0.5}),
        (surefoot.GradientBoostingRegressor, {"learning_rate": np.float32(0.25), "max_depth": np.int64(3)}),
        (surefoot.GradientBoostingRegressor, {"categorical_features": ["b"], "random_state": None}),
        (surefoot.GradientBoostingClassifier, {"class_weight": {True: 2.0, False: 0.1}, "subsample": 0.5}),
        (surefoot.BoostingEnsembleClassifier, {"n_members": 2, "method": "sgb", "class_weight": "balanced"}),
        (surefoot.BestBoostClassifier, {"candidates": ("bagged", "majority"), "class_weight": {0: 1, 1: 5}}),
        (surefoot.LarsenRitzertClassifier, {"n_members": 2, "variant": "adaboost_star", "margin_precision": 0.3}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else value.__name__,
)  # fmt: skip
def test_parameters_are_saved(kind, parameters, tmp_path):
    frame, y = table()
    model = kind(**{"n_estimators": 2, "random_state": 5} | parameters)
    model.fit(frame[["a", "b"]], y > 1 if hasattr(model, "predict_proba") else y)
    assert round_trip(model, tmp_path).get_params() == model.get_params()


@pytest.mark.parametrize(
    "values", [np.array([1, 0]), np.array([True, False]), np.array(["a"]), np.array(["a"], dtype=object)]
)
def test_parameters_that_are_arrays_are_saved(values, tmp_path):
    frame, y = table()
    name = "monotonic_cst" if values.dtype.kind == "i" else "categorical_features"
    model = surefoot.GradientBoostingRegressor(n_estimators=2, **{name: values}).fit(frame[["a", "b"]], y)
    again = round_trip(model, tmp_path).get_params()[name]
    np.testing.assert_array_equal(again, values)
    assert again.dtype == values.dtype or values.dtype.kind == "U"


def test_files_have_the_parameters_of_tree_growth_only_if_they_are_set(tmp_path):
    """Files of models without them are as they were before these parameters existed."""
    frame, y = table()
    limits = {"interaction_cst": "pairwise", "max_features": 0.5, "split_noise": 0}
    settings = {"n_estimators": 2, "random_state": 0, "grow_policy": "leafwise"}
    names = {"interaction_cst", "max_features", "max_leaf_nodes", "split_noise"}
    for given in ({}, {"max_features": 1.0, "split_noise": "auto"}, limits, {"max_leaf_nodes": 7}):
        model = surefoot.GradientBoostingRegressor(**settings, **given).fit(frame, y)
        surefoot.save(model, tmp_path / "model.surefoot")
        stored = json.loads(zipfile.ZipFile(tmp_path / "model.surefoot").read("model.json"))["parameters"]
        expected = names & given.keys() if len(given) != 2 else set()
        assert names & stored.keys() == expected
    vmatrix = surefoot.VMatrixBoostingRegressor(n_estimators=2).fit(frame[["a"]], y)
    surefoot.save(vmatrix, tmp_path / "model.surefoot")
    stored = json.loads(zipfile.ZipFile(tmp_path / "model.surefoot").read("model.json"))["parameters"]
    assert stored["max_leaf_nodes"] == 16


def test_parameters_of_the_machine_are_not_saved(tmp_path):
    frame, y = table()
    generator = np.random.RandomState(0)
    model = surefoot.GradientBoostingRegressor(
        n_estimators=4, early_stopping=False, warm_start=True, n_jobs=2, verbose=1, random_state=generator
    ).fit(frame, y)
    again = round_trip(model, tmp_path)
    assert (again.n_jobs, again.verbose, again.random_state) == (None, 0, None)
    assert model.n_jobs == 2
    assert not hasattr(again, "_run_so_far")
    again.set_params(n_estimators=2).fit(frame, y)  # fewer than there are: it does not go on from them
    assert again.n_iter_ == 2


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (surefoot.AdaBoostClassifier, {}),
        (surefoot.BaggedBoostClassifier, {"max_depth": 2}),
        (surefoot.BestBoostClassifier, {}),
        (surefoot.GradientBoostingRegressor, {}),
        (surefoot.BoostingEnsembleRegressor, {"n_members": 3}),
        (surefoot.BoostingEnsembleClassifier, {"n_members": 3}),
        (surefoot.VMatrixBoostingRegressor, {}),
    ],
)
def test_the_file_does_not_depend_on_the_number_of_jobs(kind, parameters, tmp_path):
    frame, y = table(n_rows=2400, n_categories=60)
    target = y > 1 if hasattr(kind, "predict_proba") else y
    files = {
        file_of(kind(n_estimators=4, random_state=0, n_jobs=jobs, **parameters).fit(frame, target), tmp_path)
        for jobs in (1, 3)
    }
    assert len(files) == 1


@each_model
def test_the_file_is_standard_json_and_arrays(name, tmp_path):
    data = file_of(small_model(name), tmp_path)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        members = archive.infolist()
        assert {(member.compress_type, member.date_time) for member in members} == {(0, (1980, 1, 1, 0, 0, 0))}
        state = json.loads(archive.read("model.json"))
        assert (state["format"], state["version"], state["class"]) == (
            "surefoot model", VERSION, type(small_model(name)).__name__,
        )  # fmt: skip
        for member in members[1:]:
            assert np.load(io.BytesIO(archive.read(member)), allow_pickle=False).flags["C_CONTIGUOUS"]


def test_headers_of_arrays_of_more_than_two_gigabytes(tmp_path, monkeypatch):
    model = small_model("majority")
    expected = answers(model, X := table(n_rows=10)[0][["a", "b"]].to_numpy())
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)  # treat this size like two gigabytes
    data = file_of(model, tmp_path)
    assert b"\x01\x00\x10\x00" in data  # the header of an extra field with sizes of 64 bits
    for method, values in answers(surefoot.load(tmp_path / "model.surefoot"), X).items():
        assert_same(values, expected[method])


def test_pairs_of_small_columns(tmp_path):
    frame, y = table(n_rows=2400, n_categories=60)
    frame["e"] = pd.Categorical(np.arange(2400) % 3)
    model = surefoot.BoostingEnsembleRegressor(n_members=2, n_estimators=5, random_state=0).fit(frame, y)
    own = model._members[0].encoding
    assert own.sources[-1] == (3, 4)
    again = round_trip(model, tmp_path)
    assert again._members[0].encoding.sources == own.sources
    assert_same(model.predict(frame), again.predict(frame))
