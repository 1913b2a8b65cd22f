"""A sparse table gives the same model, to the byte, and the same answers as the array of the same values."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import surefoot
from contract.registry import assert_same_answers, assert_same_model, each, failing, those
from surefoot import AdaBoostClassifier, GradientBoostingClassifier, GradientBoostingRegressor

FORMATS = {make.__name__: make for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array)}
TYPES = {
    "float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "int8": lambda X: sparse.csc_array(X.astype(np.int8)),
    "int64": lambda X: sparse.csr_matrix(X.astype(np.int64)),
    "uint16": lambda X: sparse.csr_array(np.abs(X).astype(np.uint16)),
    "bool": lambda X: sparse.csc_matrix(X != 0),
}
OWN = {"takes_sparse": True, "is_saved": True}  # trees of scikit-learn do not take every sparse table
each_sparse = each(those(**OWN))
each_of_two = each(tuple(subject for subject in those(**OWN) if subject.name in ("AdaBoost", "GradientRegressor")))


def rare_words(n_rows=90, n_columns=12, n_classes=2, subject=None, seed=0):
    """Mostly zeros: counts, two columns of numbers, and a column of zeros; with a target."""
    generator = np.random.default_rng(seed)
    X = np.where(generator.random((n_rows, n_columns)) < 0.2, generator.integers(-2, 4, (n_rows, n_columns)), 0.0)
    X[:, 1:3] = np.where(generator.random((n_rows, 2)) < 0.7, generator.normal(size=(n_rows, 2)), 0.0)
    X[:, -1] = 0.0
    values = X[:, 0] + 2.0 * X[:, 1] + 0.3 * generator.normal(size=n_rows) + 10.0
    return X, values if subject is None else subject.target(values, n_classes)


def with_holes(X):
    return np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)


@pytest.mark.fault(number=8)
@each_sparse
def test_formats(subject):
    X, y = rare_words(subject=subject)
    X = with_holes(X)
    plain = subject.make().fit(X, y)

    def check(make):
        model = subject.make().fit(make(X), y)
        assert_same_model(plain, model)
        assert_same_answers(plain, model, X, make(X))

    assert failing(FORMATS, check) == {}


@pytest.mark.fault(number=8)
@each_of_two
def test_types(subject):
    X, y = rare_words(subject=subject)
    X[:, 1:3] = np.round(X[:, 1:3])

    def check(make):
        model, plain = (subject.make().fit(table, y) for table in (make(X), make(X).toarray()))
        assert_same_model(plain, model)
        assert_same_answers(plain, model, make(X).toarray(), make(X))

    assert failing(TYPES, check) == {}


@each(tuple(subject for subject in those(**OWN) if subject.weights != "refused"))
def test_weights(subject):
    X, y = rare_words(subject=subject)
    X = with_holes(X)
    X[:3, -1] = 5.0  # a value only in rows without weight
    weights = np.random.default_rng(2).integers(0, 4, len(X)).astype(float)
    weights[:3] = 0.0
    for settings in ({"max_bins": 4}, {}):
        plain = subject.make(**settings).fit(X, y, weights)
        assert_same_model(plain, subject.make(**settings).fit(sparse.csr_array(X), y, weights))


@each(those(takes_validation=True))
def test_validation_rows(subject):
    X, y = rare_words(subject=subject)
    X_val, y_val = rare_words(40, subject=subject, seed=3)
    plain = subject.make().fit(X, y, X_val=X_val, y_val=y_val)
    for table, table_val in ((sparse.csr_array(X), sparse.csc_array(X_val)), (X, sparse.csr_array(X_val))):
        assert_same_model(plain, subject.make().fit(table, y, X_val=table_val, y_val=y_val))


@each(those(takes_validation=True))
def test_listed_categories(subject):
    X, y = rare_words(subject=subject)
    X[:, 3] = np.random.default_rng(4).integers(0, 60, len(X))  # as many as need statistics
    listed = {"categorical_features": [0, 3]}
    plain = subject.make(**listed).fit(X, y)
    model = subject.make(**listed).fit(sparse.csr_array(X), y)
    assert_same_model(plain, model)
    X[0, 3] = 99.0  # unknown
    assert_same_answers(plain, model, X, sparse.csc_array(X))


def test_all_values_are_thresholds():
    X, values = rare_words(400)
    y = values > 10.0
    one, other = (
        AdaBoostClassifier(max_bins=None, n_estimators=20).fit(table, y) for table in (X, sparse.csr_array(X))
    )
    assert_same_model(one, other)


def test_stages_and_virtual_ensembles():
    X, y = rare_words()
    table = sparse.csr_array(X)
    model = GradientBoostingRegressor(n_estimators=12, langevin=True, early_stopping=False, random_state=0).fit(
        table, y
    )
    for one, other in zip(model.staged_predict(X), model.staged_predict(table), strict=True):
        np.testing.assert_array_equal(one, other)
    knowledge = [model.virtual_ensemble(3).predict_uncertainty(rows).knowledge for rows in (X, table)]
    np.testing.assert_array_equal(*knowledge)
    booster = AdaBoostClassifier(n_estimators=5).fit(table, y > 10)
    for one, other in zip(booster.staged_predict(X), booster.staged_predict(table), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(booster.margins(X, y > 10), booster.margins(table, y > 10))


def test_training_is_resumed():
    X, y = rare_words()
    table = sparse.csr_array(X)
    model = GradientBoostingRegressor(n_estimators=4, warm_start=True, random_state=0).fit(table, y)
    model.set_params(n_estimators=8).fit(table, y)
    plain = GradientBoostingRegressor(n_estimators=4, warm_start=True, random_state=0).fit(X, y)
    assert_same_model(plain.set_params(n_estimators=8).fit(X, y), model)


def test_adaboost_equals_that_of_scikit_learn_on_the_same_sparse_table():
    from sklearn.ensemble import AdaBoostClassifier as Theirs

    X, values = rare_words(300)
    table, y = sparse.csr_array(np.round(X)), values > 10
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    theirs = Theirs(stump, n_estimators=20, random_state=0).fit(table, y)
    ours = AdaBoostClassifier(n_estimators=20).fit(table, y)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(table), theirs.predict(table))


def test_an_estimator_of_the_user_gets_no_sparse_table():
    X, values = rare_words()
    model = AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=3)
    with pytest.raises(TypeError, match=r"Sparse data was passed for X.*toarray"):
        model.fit(sparse.csr_array(X), values > 10)
    with pytest.raises(TypeError, match=r"Sparse data was passed for X.*toarray"):
        model.fit(X, values > 10).predict(sparse.csr_array(X))


def test_infinite_values_are_refused():
    X, y = rare_words()
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        GradientBoostingRegressor(n_estimators=2).fit(sparse.csr_array(X), y)


def sparse_frame(X, subtype=np.float64, fill_value=0):
    dtype = pd.SparseDtype(subtype, fill_value)
    return pd.DataFrame({f"word {j}": pd.arrays.SparseArray(X[:, j], dtype=dtype) for j in range(X.shape[1])})


FRAMES = {
    "numbers": lambda X: sparse_frame(X),
    "missing cells that are not stored": lambda X: sparse_frame(np.where(X == 0, np.nan, X), fill_value=np.nan),
    "whole numbers": lambda X: sparse_frame(np.round(X).astype(np.int64), np.int64),
    "whole numbers but ones": lambda X: sparse_frame(np.round(X).astype(np.int64), np.int64, 1),
    "truth values": lambda X: sparse_frame(X != 0, bool, False),
    "some columns": lambda X: sparse_frame(X).assign(dense=np.arange(len(X))),
}


@each_of_two
def test_sparse_frames(subject):
    X, y = rare_words(subject=subject)

    def check(make):
        table = make(X)
        dense = pd.DataFrame({name: np.asarray(table[name]) for name in table})
        plain, model = subject.make().fit(dense, y), subject.make().fit(table, y)
        assert model.feature_names_in_.tolist() == list(table)
        assert_same_model(plain, model)
        assert_same_answers(plain, model, dense, table)

    assert failing(FRAMES, check) == {}


def test_infinite_values_of_a_sparse_frame_are_refused_by_name():
    X, y = rare_words()
    X[3, 1] = np.inf
    with pytest.raises(surefoot.DataError, match="Column 'word 1' of X contains infinity"):
        GradientBoostingRegressor(n_estimators=2).fit(sparse_frame(X), y)


@pytest.mark.parametrize("cv", ["split", 3])
def test_conformal_estimators_take_what_their_model_takes(cv):
    X, values = rare_words(120)
    table, y = sparse.csc_array(X), (values > 10).astype(int)
    for model in (GradientBoostingClassifier(n_estimators=3, random_state=0), LogisticRegression()):
        plain, other = (
            surefoot.ConformalClassifier(model, cv=cv, random_state=0).fit(rows, y).predict_set(rows)
            for rows in (X, table)
        )
        assert list(map(list, plain)) == list(map(list, other))
    model = GradientBoostingRegressor(n_estimators=3, random_state=0)
    plain, other = (
        surefoot.ConformalRegressor(model, cv=cv, random_state=0).fit(rows, values).predict_interval(rows)
        for rows in (X, table)
    )
    np.testing.assert_array_equal(plain, other)
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        surefoot.ConformalRegressor(model, cv=cv).fit(table, values, X_target=X)
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        surefoot.ConformalRegressor(surefoot.VMatrixBoostingRegressor(), cv=cv).fit(table, values)
