"""What cannot be meant is refused by name, and leaves the estimator as it was."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    ENSEMBLES,
    GRADIENT_BOOSTERS,
    REGRESSORS,
    SINGLE,
    answers,
    bits,
    problem,
    small,
)
from reference.models import make_frame
from sklearn.exceptions import NotFittedError

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
)
from surefoot.uncertainty import StudentT

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
each_regressor = pytest.mark.parametrize("estimator", REGRESSORS)
each_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS)
NAN, INF = float("nan"), float("inf")

BAD = {
    "n_estimators": [0, -3, 2.5, "ten", None, True],
    "learning_rate": [0, 0.0, -0.1, 1.5, NAN, INF, "fast", None, True],
    "max_depth": [0, 11, None, 2.0, "deep"],
    "grow_policy": ["lossguide", None, 1],
    "min_samples_leaf": [0, -1, 0.5, None],
    "l2_regularization": [-1.0, NAN, INF, None, "some"],
    "max_bins": [1, 256, None, 2.5],
    "early_stopping": ["yes", None, 1, 0.5],
    "validation_fraction": [0.0, 1.0, -0.1, NAN, None],
    "n_iter_no_change": [0, 2.5, None],
    "subsample": [0.0, 1.1, -1.0, NAN, "half"],
    "temperature": [0.0, -1.0, NAN, INF, "warm"],
    "categorical_features": ["dtype", 3],
    "monotonic_cst": [[1], [1, 0, 0, 2], [0.5, 0, 0, 0], "up", {"a": 1}, [[1, 0, 0, 0]]],
    "random_state": ["seed", -1],
}
FOR_ALL = [(name, value) for name, values in BAD.items() for value in values]


@each_estimator
@pytest.mark.parametrize(("name", "value"), FOR_ALL)
def test_parameters_that_cannot_be_meant_are_refused_by_name(estimator, name, value):
    X, y = problem(estimator)
    settings = {"langevin": True} if name == "temperature" and estimator in SINGLE else {}
    with pytest.raises(ValueError, match=name if name != "random_state" else r"seed|Seed"):
        small(estimator, **settings, **{name: value}).fit(X, y)


FOR_SOME = [
    *((estimator, {"langevin": value}) for estimator in SINGLE for value in ("yes", None, 2)),
    *((estimator, {"subsample": None}) for estimator in SINGLE),
    *((estimator, {"temperature": 1.0}) for estimator in SINGLE),
    *((estimator, {"method": value}) for estimator in ENSEMBLES for value in ("sgld", None)),
    *((estimator, {"n_members": value}) for estimator in ENSEMBLES for value in (0, -1, 2.5, None, True)),
    *((estimator, {"temperature": 1.0, "method": "sgb"}) for estimator in ENSEMBLES),
    *((estimator, {"distribution": value}) for estimator in REGRESSORS for value in ("gaussian", None, 3, object())),
    *((estimator, {"warm_start": value}) for estimator in SINGLE for value in ("yes", None)),
]


@pytest.mark.parametrize(("estimator", "parameters"), FOR_SOME)
def test_parameters_of_some_are_refused_by_name(estimator, parameters):
    X, y = problem(estimator)
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        small(estimator, **parameters).fit(X, y)


@each_classifier
def test_constraints_of_several_classes_are_refused(estimator):
    X, y = problem(estimator, n_classes=3)
    with pytest.raises(ParameterError, match=r"monotonic_cst.*two classes"):
        small(estimator, monotonic_cst=[1, 0, 0, 0]).fit(X, y)


@each_estimator
def test_constraints_along_categories_are_refused(estimator):
    X, y = problem(estimator)
    frame = make_frame("pandas", {"a": X[:, 0]}, {"b": np.where(X[:, 1] > 0, "up", "down")})
    with pytest.raises(ParameterError, match=r"monotonic_cst must be 0 for categorical columns"):
        small(estimator, monotonic_cst={"b": 1}).fit(frame, y)
    with pytest.raises(ParameterError, match=r"monotonic_cst names columns that X does not have: \['z'\]"):
        small(estimator, monotonic_cst={"z": 1}).fit(frame, y)


IMPOSSIBLE = {
    ("lognormal", "zero"): [0.0, 1.0, 2.0],
    ("lognormal", "negative"): [-1.0, 1.0, 2.0],
    ("gamma", "zero"): [0.0, 1.0, 2.0],
    ("gamma", "negative"): [-1.0, 1.0, 2.0],
    ("poisson", "negative"): [-1.0, 1.0, 2.0],
    ("poisson", "fractional"): [0.5, 1.0, 2.0],
    ("poisson", "too large to count"): [1.0, 1e300, 2.0],
}


@each_regressor
@pytest.mark.parametrize(("distribution", "what"), IMPOSSIBLE)
def test_targets_that_a_distribution_cannot_have_are_refused_by_its_name(estimator, distribution, what):
    X, _ = problem(estimator, n_rows=30)
    bad = np.resize(IMPOSSIBLE[distribution, what], 30)
    good = np.resize([1.0, 2.0], 30)
    with pytest.raises(DataError, match=rf"^y has.*distribution='{distribution}'"):
        small(estimator, distribution=distribution).fit(X, bad)
    with pytest.raises(DataError, match=rf"^y_val has.*distribution='{distribution}'"):
        small(estimator, distribution=distribution).fit(X, good, X_val=X, y_val=bad)


@each_regressor
@pytest.mark.parametrize("df", [2.0, 0.0, -1.0, NAN, INF, "five"])
def test_degrees_of_freedom_without_a_variance_are_refused(estimator, df):
    X, y = problem(estimator)
    with pytest.raises(ValueError, match="df"):
        small(estimator, distribution=StudentT(df=df)).fit(X, y)


NO_NUMBERS = {
    "NaN": np.where(np.arange(80) == 3, np.nan, 1.0),
    "infinity": np.where(np.arange(80) == 3, np.inf, 1.0),
    "words": np.full(80, "high"),
    "None": np.where(np.arange(80) == 3, None, 1.0),
    "complex": np.full(80, 1j),
    "dates": pd.Series(pd.date_range("2020-01-01", periods=80)),
    "missing nullable": pd.Series([None, *range(79)], dtype="Int64"),
    "polars null": pl.Series([None, *range(79)]),
    "two columns": np.ones((80, 2)),
    "one too few": np.ones(79),
    "a number": 3.0,
    "nothing": None,
}


@each_regressor
@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_targets_that_are_no_numbers_are_refused(estimator, kind):
    X, y = problem(estimator)
    with pytest.raises(ValueError, match=r"\by\b|inconsistent numbers|Complex data"):
        small(estimator).fit(X, NO_NUMBERS[kind])
    if NO_NUMBERS[kind] is not None:
        with pytest.raises(ValueError, match=r"y_val|y should be a 1d array|Complex data"):
            small(estimator).fit(X, y, X_val=X, y_val=NO_NUMBERS[kind])


@each_regressor
def test_whole_numbers_booleans_and_words_for_numbers_are_numbers(estimator):
    X, _ = problem(estimator)
    flags = X[:, 0] > 0
    plain = answers(small(estimator).fit(X, flags.astype(float)), X)
    for y in (flags, flags.astype(np.uint8), flags.astype(object), flags.astype(int).astype(str)):
        assert all(bits(plain[name]) == bits(array) for name, array in answers(small(estimator).fit(X, y), X).items())


CODES = np.arange(80) % 2
NO_LABELS = {
    "NaN": np.where(CODES == 1, np.nan, 0.0),
    "infinity": np.where(CODES == 1, np.inf, 0.0),
    "None": np.where(CODES == 1, None, "no"),
    "mixed": np.array([1 if code else "no" for code in CODES], dtype=object),
    "nullable": pd.Series([pd.NA, *CODES[1:]], dtype="Int64"),
    "polars null": pl.Series([None, *CODES[1:].tolist()]),
}


@each_classifier
@pytest.mark.parametrize("kind", NO_LABELS)
def test_missing_labels_are_refused_and_named(estimator, kind):
    X, _ = problem(estimator)
    with pytest.raises(ValueError, match=r"\by\b"):
        small(estimator).fit(X, NO_LABELS[kind])
    with pytest.raises(ValueError, match=r"\by_val\b"):
        small(estimator).fit(X, CODES, X_val=X, y_val=NO_LABELS[kind])


LABELS = {
    "strings": np.where(CODES == 1, "yes", "no"),
    "objects": np.where(CODES == 1, "yes", "no").astype(object),
    "booleans": CODES.astype(bool),
    "floats": CODES + 0.0,
    "negative numbers": CODES - 7,
    "a list": np.where(CODES == 1, "yes", "no").tolist(),
    "a pandas categorical": pd.Series(pd.Categorical(np.where(CODES == 1, "yes", "no"))),
    "nullable integers": pd.Series(CODES, dtype="Int64"),
    "polars strings": pl.Series(np.where(CODES == 1, "yes", "no").tolist()),
}


@each_classifier
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type_give_the_same_probabilities(estimator, kind):
    X, _ = problem(estimator)
    X[:, 0] += CODES
    model = small(estimator).fit(X, LABELS[kind], X_val=X, y_val=LABELS[kind])
    plain = small(estimator).fit(X, CODES, X_val=X, y_val=CODES)
    assert bits(model.predict_proba(X)) == bits(plain.predict_proba(X))
    given = np.asarray(LABELS[kind])
    assert model.classes_.tolist() == sorted(set(given.tolist()))
    np.testing.assert_array_equal(model.predict(X) == given, plain.predict(X) == CODES)


@each_classifier
@pytest.mark.parametrize("label", ["only", 3, True])
def test_one_class_is_refused_and_named(estimator, label):
    X, _ = problem(estimator)
    with pytest.raises(DataError, match=f"y has only one class.*{label}"):
        small(estimator).fit(X, [label] * 80)


@each_classifier
def test_numbers_that_are_no_labels_are_refused(estimator):
    X, _ = problem(estimator)
    with pytest.raises(ValueError, match="Unknown label type"):
        small(estimator).fit(X, X[:, 0])


@each_classifier
def test_more_classes_than_histograms_can_hold_are_refused(estimator):
    y = np.repeat(np.arange(501), 3)
    with pytest.raises(DataError, match=r"y has 501 classes.*at most 500"):
        small(estimator).fit(y[:, np.newaxis].astype(float), y)


@each_classifier
@pytest.mark.parametrize(
    ("y", "y_val"),
    [(CODES, CODES + 1), (CODES, np.where(CODES == 1, "yes", "no")), (np.where(CODES == 1, "yes", "no"), CODES)],
    ids=["another number", "words for numbers", "numbers for words"],
)
def test_labels_that_only_the_validation_rows_have_are_refused(estimator, y, y_val):
    X, _ = problem(estimator)
    with pytest.raises(DataError, match="y_val has labels that y does not have"):
        small(estimator).fit(X, y, X_val=X, y_val=y_val)


@each_estimator
def test_validation_rows_come_whole(estimator):
    X, y = problem(estimator)
    with pytest.raises(DataError, match="X_val and y_val go together"):
        small(estimator).fit(X, y, X_val=X)
    with pytest.raises(DataError, match="X_val and y_val go together"):
        small(estimator).fit(X, y, y_val=y)
    with pytest.raises(DataError, match="sample_weight_val is for X_val"):
        small(estimator).fit(X, y, sample_weight_val=np.ones(80))
    with pytest.raises(DataError, match="X_val has 79 rows, but y_val has 80"):
        small(estimator).fit(X, y, X_val=X[1:], y_val=y)
    with pytest.raises(ValueError, match="3 features"):
        small(estimator).fit(X, y, X_val=X[:, 1:], y_val=y)
    with pytest.raises(ValueError, match="infinity"):
        small(estimator).fit(X, y, X_val=np.full_like(X, np.inf), y_val=y)
    with pytest.raises(ValueError, match="0 sample"):
        small(estimator).fit(X, y, X_val=X[:0], y_val=y[:0])


BAD_CALLS = {
    "missing target": lambda model, X, y: model.fit(X, None),
    "too short a target": lambda model, X, y: model.fit(X, y[:-1]),
    "bad weights": lambda model, X, y: model.fit(X, y, sample_weight=-np.ones(len(X))),
    "bad parameter": lambda model, X, y: model.set_params(n_estimators=0).fit(X, y),
    "a bad column": lambda model, X, y: model.fit(make_frame("pandas", {"a": X[:, 0], "b": ["word"] * len(X)}), y),
    "bad validation rows": lambda model, X, y: model.fit(X, y, X_val=X[:, :2], y_val=y),
}


@each_estimator
@pytest.mark.parametrize("name", BAD_CALLS)
def test_an_unfitted_estimator_stays_unfitted(estimator, name):
    X, y = problem(estimator)
    model = small(estimator)
    before = set(vars(model))
    with pytest.raises(ValueError, match=r"."):
        BAD_CALLS[name](model, X, y)
    assert set(vars(model)) == before
    for method in ("predict", "predict_proba", "predict_distribution", "predict_uncertainty", "virtual_ensemble"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError):
                getattr(model, method)(*([] if method == "virtual_ensemble" else [X]))
    assert not hasattr(model, "feature_importances_")
    if hasattr(model, "staged_predict"):
        with pytest.raises(NotFittedError):
            list(model.staged_predict(X))


@each_estimator
@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_fitted_estimator_keeps_its_model(estimator, name):
    X, y = problem(estimator)
    model = small(estimator).fit(X, y)
    before = answers(model, X)
    with pytest.raises(ValueError, match=r"."):
        BAD_CALLS[name](model, np.hstack([X, X]), y)
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "feature_names_in_")
    assert all(bits(before[key]) == bits(array) for key, array in answers(model, X).items())


@each_estimator
def test_failed_predictions_leave_the_model_whole(estimator):
    X, y = problem(estimator)
    model = small(estimator).fit(X, y)
    before = answers(model, X)
    for bad in (np.hstack([X, X]), X[:0], np.full_like(X, np.inf), X[0], "rows", None):
        with pytest.raises((ValueError, TypeError)):
            model.predict(bad)
    assert all(bits(before[key]) == bits(array) for key, array in answers(model, X).items())


def test_there_is_no_partial_fit():
    for estimator in (
        GradientBoostingRegressor,
        GradientBoostingClassifier,
        BoostingEnsembleRegressor,
        BoostingEnsembleClassifier,
    ):
        assert not hasattr(estimator, "partial_fit")
