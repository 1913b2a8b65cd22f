"""Invalid parameters and data are refused by name."""

import numpy as np
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    ENSEMBLES,
    GRADIENT_BOOSTERS,
    REGRESSORS,
    SINGLE,
    problem,
    small,
)
from reference.models import make_frame

from surefoot import (
    DataError,
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
    "interaction_cst": [
        "all",
        b"x",
        3,
        {0: [1]},
        [0, 1],
        [[]],
        [[0], "1"],
        [{0: 1}],
        [[4]],
        [[-1]],
        [["a"]],
        [[0.5]],
        [[True]],
        [[None]],
        [iter([0])],
        np.array(1),
    ],
    "max_features": [0, 0.0, -0.5, 1.5, NAN, INF, "sqrt", None, True],
    "max_leaf_nodes": [1, 0, 2.5, "many", True, 31],  # the last is for leafwise trees
    "split_noise": [-1.0, NAN, INF, None, "none", True],
    "random_state": ["seed", -1],
}
FOR_ALL = [(name, value) for name, values in BAD.items() for value in values]


@each_estimator
@pytest.mark.parametrize(("name", "value"), FOR_ALL)
def test_invalid_parameters_are_refused_by_name(estimator, name, value):
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
def test_invalid_parameters_of_some_estimators_are_refused_by_name(estimator, parameters):
    X, y = problem(estimator)
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        small(estimator, **parameters).fit(X, y)


@each_classifier
def test_constraints_for_several_classes_are_refused(estimator):
    X, y = problem(estimator, n_classes=3)
    with pytest.raises(ParameterError, match=r"monotonic_cst.*two classes"):
        small(estimator, monotonic_cst=[1, 0, 0, 0]).fit(X, y)


@each_estimator
def test_constraints_on_categorical_columns_are_refused(estimator):
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
def test_targets_outside_the_support_of_a_distribution_are_refused_by_its_name(estimator, distribution, what):
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


CODES = np.arange(80) % 2


@each_classifier
def test_too_many_classes_are_refused(estimator):
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
