"""The same seed gives the same model, for any number of threads, batches, layouts and copies."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference.vmatrix_boosters import VMATRIX_BOOSTERS, answers, problem, small
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from surefoot import VMatrix, VMatrixBoostingClassifier, VMatrixBoostingRegressor, _parallel
from surefoot.shift import gram, leafwise_grower, product_gram

each_estimator = pytest.mark.parametrize("estimator", VMATRIX_BOOSTERS)
VARIANTS = {
    "mean": {"kind": "mean"},
    "joint": {"kind": "joint", "orientation": "both"},
    "product": {"kind": "product", "orientation": "both"},
    "early stopping": {"early_stopping": True},
    "drawn": {"max_target_rows": 17},
    "plain": {"blend": 0.0},
}


def same(one, other, X):
    assert answers(one, X).tobytes() == answers(other, X).tobytes()
    assert one.feature_importances_.tobytes() == other.feature_importances_.tobytes()


@each_estimator
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore::surefoot.CoverageWarning")
def test_the_same_seed_gives_the_same_model_for_any_jobs(estimator, variant):
    X, y, T = problem(estimator)
    one, other, third = (
        small(estimator, n_jobs=n_jobs, **VARIANTS[variant]).fit(X, y, X_target=T) for n_jobs in (1, 2, 3)
    )
    same(one, other, X)
    same(one, third, X)


@pytest.mark.parametrize("variant", ["mean", "joint", "plain"])
@pytest.mark.filterwarnings("ignore::surefoot.CoverageWarning")
def test_jobs_change_nothing_on_tables_that_use_threads(variant, monkeypatch):
    """The rows are more than one block; the registry of all estimators tests a table that uses threads by itself."""
    monkeypatch.setattr(_parallel, "THREADED_CELLS", 1)
    X, y, T = problem(n_rows=2 * _parallel.ROW_BLOCK + 600, n_columns=12)
    X[::7, 3], T[::5, 3] = np.nan, np.nan
    X[:, 5] = X[:, 5].round()
    weights = np.random.default_rng(0).random(len(X)) if variant == "mean" else None
    settings = {"n_estimators": 2, "max_leaf_nodes": 4, "max_target_rows": 40, "blend": 0.5, **VARIANTS[variant]}
    settings["early_stopping"] = variant == "mean"
    one, *others = (
        small(n_jobs=n_jobs, **settings).fit(X, y, weights, X_target=T[:, ::-1] + 3) for n_jobs in (1, 2, 3)
    )
    for other in others:
        same(one, other, X)


def test_jobs_change_nothing_for_a_product_of_many_rows(monkeypatch):
    """With so many rows that threads pay off, a matrix that is written out would take seconds."""
    monkeypatch.setattr(_parallel, "THREADED_CELLS", 1)
    X, y, T = problem(n_rows=600, n_columns=7)
    X[::7, 3], T[::5, 3] = np.nan, np.nan
    settings = {"early_stopping": True, **VARIANTS["product"]}
    one, *others = (small(n_jobs=n_jobs, **settings).fit(X, y, X_target=T) for n_jobs in (1, 2, 3))
    for other in others:
        same(one, other, X)


@pytest.mark.parametrize("name", ["PAIRS_AT_ONCE", "CELLS_AT_ONCE"])
@pytest.mark.parametrize("variant", ["mean", "product"])
def test_shorter_calls_of_kernels_change_nothing(monkeypatch, variant, name):
    X, y, T = problem(n_rows=600, n_columns=7)
    X[::7, 3], T[::5, 3], X[::5, 6] = np.nan, np.nan, np.nan
    settings = {"n_estimators": 3, **VARIANTS[variant]}
    one = small(**settings).fit(X, y, X_target=T)
    monkeypatch.setattr(leafwise_grower, name, 1000)
    monkeypatch.setattr(gram, "CELLS_AT_ONCE", 1000)
    monkeypatch.setattr(product_gram, "CELLS_AT_ONCE", 1000)
    same(one, small(**settings).fit(X, y, X_target=T), X)


def test_jobs_change_nothing_with_several_classes():
    X, y, T = problem(VMatrixBoostingClassifier, n_rows=26_000, n_columns=40, n_classes=3)
    settings = {"n_estimators": 1, "max_leaf_nodes": 4, "max_target_rows": 40}
    one, other = (small(VMatrixBoostingClassifier, n_jobs=k, **settings).fit(X, y, X_target=T) for k in (1, 3))
    same(one, other, X)


@pytest.mark.parametrize("n_rows", [300, 900])
def test_the_threads_of_blas_change_nothing(n_rows):
    """BLAS adds up in as many parts as it has threads; models must not depend on the machine."""
    X, y, T = problem(n_rows=n_rows)
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            models.append(small(max_leaf_nodes=60, min_samples_leaf=1, blend=0.7).fit(X, y, X_target=T))
            assert all(pool["num_threads"] == threads for pool in _blas_pools())
    same(*models, X)


def _blas_pools():
    from threadpoolctl import threadpool_info

    return [pool for pool in threadpool_info() if pool["user_api"] == "blas"]


@each_estimator
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_row_at_a_time_or_all_at_once(estimator, n_classes):
    X, y, T = problem(estimator, n_classes=n_classes)
    X[::5, 0] = np.nan
    model = small(estimator).fit(X, y, X_target=T)
    together = answers(model, X)
    assert together.tobytes() == np.concatenate([answers(model, X[i : i + 1]) for i in range(len(X))]).tobytes()
    many = np.tile(X, (60, 1))  # more than a block
    assert answers(model, many).tobytes() == np.tile(together, (60, 1)).tobytes()


@each_estimator
def test_copies_predict_the_same(estimator):
    X, y, T = problem(estimator)
    model = small(estimator, random_state=5, early_stopping=True).fit(X, y, X_target=T)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(X, y, X_target=T)):
        same(model, other, X)
        assert other.n_iter_ == model.n_iter_
        assert other.coverage_ == model.coverage_
    refitted = small(estimator, random_state=5, early_stopping=True).fit(X[:30], y[:30]).fit(X, y, X_target=T)
    same(model, refitted, X)


def test_seeds_matter_where_rows_are_drawn():
    X, y, T = problem()
    one, other = (small(random_state=k, blend=0.8, max_target_rows=20).fit(X, y, X_target=T).predict(X) for k in (0, 1))
    assert not np.array_equal(one, other)
    one, other = (small(random_state=k, early_stopping=True).fit(X, y, X_target=T).validation_loss_ for k in (0, 1))
    assert not np.array_equal(one, other)
    for kind in ("mean", "joint", "product"):
        one, other = (small(random_state=k, kind=kind).fit(X, y, X_target=T).predict(X) for k in (0, 1))
        np.testing.assert_array_equal(one, other)
    from_state = small(random_state=np.random.RandomState(0), max_target_rows=20).fit(X, y, X_target=T)
    np.testing.assert_array_equal(from_state.predict(X), small(max_target_rows=20).fit(X, y, X_target=T).predict(X))


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "single precision": lambda X: X.astype(np.float32),
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X, columns=list("abc")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abc")),
}


@each_estimator
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["mean", "joint"])
def test_tables_of_every_layout_give_equal_predictions(estimator, layout, kind):
    X, y, T = problem(estimator)
    X, T = (X * 4).round() / 4, (T * 4).round() / 4  # exact in single precision
    plain = small(estimator, kind=kind, orientation="both").fit(X, y, X_target=T)
    turn = LAYOUTS[layout]
    other = small(estimator, kind=kind, orientation="both").fit(turn(X), y, X_target=turn(T))
    assert answers(plain, X).tobytes() == answers(other, turn(X)).tobytes()


@each_estimator
@pytest.mark.parametrize("by", ["target", "own matrix", "VMatrix"])
def test_inputs_may_be_read_only_and_are_not_modified(estimator, by):
    X, y, T = problem(estimator)
    weights, V = np.arange(1.0, len(X) + 1), VMatrix.from_target(X, T).dense()
    fit = {"target": {"X_target": T}, "own matrix": {"V": V}, "VMatrix": {"V": VMatrix.from_dense(V)}}[by]
    arrays = [X, y, T, weights, V]
    before = [array.tobytes() for array in arrays]
    plain = small(estimator).fit(X, y, weights, **fit)
    for array in arrays:
        array.flags.writeable = False
    locked = small(estimator)
    parameters = locked.get_params()
    locked.fit(X, y, weights, **fit)
    same(plain, locked, X)
    assert [array.tobytes() for array in arrays] == before
    assert locked.get_params() == parameters


def test_a_vmatrix_can_be_used_for_several_fits():
    X, y, T = problem()
    v = VMatrix.from_target(X, T)
    dense = v.dense()
    first = VMatrixBoostingRegressor(n_estimators=3).fit(X, y, V=v).predict(X)
    np.testing.assert_array_equal(first, VMatrixBoostingRegressor(n_estimators=3).fit(X, y, V=v).predict(X))
    np.testing.assert_array_equal(v.dense(), dense)
