"""Old names of parameters and attributes work for one release, with a warning."""

from pathlib import Path

import pytest
from reference.vmatrix_boosters import VMATRIX_BOOSTERS, answers, problem, small
from sklearn.base import clone

import surefoot
from surefoot import ParameterError

each_estimator = pytest.mark.parametrize("estimator", VMATRIX_BOOSTERS)
STORED = sorted((Path(__file__).parents[1] / "models").glob("*/vmatrix*.surefoot"))


@each_estimator
def test_max_target_is_max_target_rows(estimator):
    X, y, T = problem(estimator)
    new = small(estimator, max_target_rows=20).fit(X, y, X_target=T)
    old = small(estimator, max_target=20)
    assert clone(old).get_params() == old.get_params()
    with pytest.warns(FutureWarning, match="max_target is now max_target_rows") as caught:
        old.fit(X, y, X_target=T)
    assert caught[0].filename == __file__
    assert answers(old, X).tobytes() == answers(new, X).tobytes()
    new.set_params(max_target=20, max_target_rows=1000)
    with pytest.warns(FutureWarning, match="max_target is now max_target_rows"):
        new.fit(X, y, X_target=T)
    assert answers(old, X).tobytes() == answers(new, X).tobytes()


@pytest.mark.parametrize("value", [1, 2.5, None, "all"])
def test_a_bad_max_target_is_refused(value):
    X, y, _ = problem()
    with pytest.raises(ParameterError, match="max_target must be"):
        small(max_target=value).fit(X, y)


@each_estimator
def test_n_trees_is_n_iter(estimator):
    X, y, _ = problem(estimator)
    model = small(estimator)
    assert not hasattr(model, "n_trees_")
    assert "n_trees_" not in dir(model)
    model.fit(X, y)
    with pytest.warns(FutureWarning, match="n_trees_ is now n_iter_") as caught:
        assert model.n_trees_ == model.n_iter_ == 6
    assert caught[0].filename == __file__


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"format {path.parent.name}, {path.stem}")
def test_stored_models_with_the_old_parameter_load(path, tmp_path):
    model = surefoot.load(path)
    assert (model.max_target_rows, model.max_target) == (1000, "deprecated")
    surefoot.save(model, tmp_path / "again")
    assert surefoot.load(tmp_path / "again").get_params() == model.get_params()


def test_a_saved_model_has_the_new_parameter(tmp_path):
    X, y, T = problem()
    model = small(max_target=20)
    with pytest.warns(FutureWarning):
        model.fit(X, y, X_target=T)
    surefoot.save(model, tmp_path / "model")
    loaded = surefoot.load(tmp_path / "model")
    assert (loaded.max_target_rows, loaded.max_target) == (20, "deprecated")
