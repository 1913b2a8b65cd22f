"""The four gradient boosters in a small size, tables for them, and what it means that two fitted ones are the same."""

import numpy as np

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

SINGLE = (GradientBoostingRegressor, GradientBoostingClassifier)
ENSEMBLES = (BoostingEnsembleRegressor, BoostingEnsembleClassifier)
GRADIENT_BOOSTERS = SINGLE + ENSEMBLES
REGRESSORS = (GradientBoostingRegressor, BoostingEnsembleRegressor)
CLASSIFIERS = (GradientBoostingClassifier, BoostingEnsembleClassifier)
QUANTILES = (0.05, 0.5, 0.9)


def with_classes(estimators, *numbers_of_classes):
    """Pairs of an estimator and a number of classes; a regressor occurs once, as its target has none."""
    return [
        (estimator, n)
        for n in numbers_of_classes
        for estimator in estimators
        if n == numbers_of_classes[0] or estimator in CLASSIFIERS
    ]


def small(estimator, **parameters):
    """Few rounds and members, a fixed seed; ``parameters`` go on top."""
    settings = {"n_estimators": 5, "max_depth": 3, "random_state": 0}
    if estimator in ENSEMBLES:
        settings["n_members"] = 2
    return estimator(**(settings | parameters))


def numbers(n_rows=80, n_columns=4, seed=0):
    """A table of normal numbers, and a target that its first two columns explain in part."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    return X, 3.0 * X[:, 0] + np.sin(2.0 * X[:, min(1, n_columns - 1)]) + 0.5 * generator.normal(size=n_rows) + 10.0


def target_of(estimator, values, n_classes=2):
    """A target that the estimator takes: the numbers themselves, or classes cut from them at their quantiles."""
    if estimator in REGRESSORS:
        return values
    return np.searchsorted(np.quantile(values, np.arange(1, n_classes) / n_classes), values)


def problem(estimator, n_rows=80, n_columns=4, n_classes=2, seed=0):
    """A table and a target for the estimator."""
    X, values = numbers(n_rows, n_columns, seed)
    return X, target_of(estimator, values, n_classes)


def answers(model, X):
    """Everything that a fitted model says about some rows, by name; rows come first."""
    said = {"predict": model.predict(X)}
    if hasattr(model, "predict_distribution"):
        distribution = model.predict_distribution(X)
        said |= {"std": model.predict(X, return_std=True)[1], "var": distribution.var, "mean": distribution.mean}
        said |= {f"quantile {q}": distribution.quantile(q) for q in QUANTILES}
        said |= {"cdf": distribution.cdf(distribution.mean), "logpdf": distribution.logpdf(distribution.mean)}
    else:
        said["predict_proba"] = model.predict_proba(X)
    if hasattr(model, "predict_uncertainty"):
        parts = model.predict_uncertainty(X)
        said |= {"total": parts.total, "data": parts.data, "knowledge": parts.knowledge}
    return said


def bits(array):
    """The bytes of an array; of objects, how they are written."""
    return repr(array.tolist()).encode() if array.dtype == object else np.ascontiguousarray(array).tobytes()


def differing(ours, theirs):
    """The names of the answers that are not equal to the last bit."""
    assert ours.keys() == theirs.keys()
    return [name for name, array in ours.items() if bits(array) != bits(theirs[name])]


def assert_same_answers(one, other, X, other_X=None):
    assert differing(answers(one, X), answers(other, X if other_X is None else other_X)) == []


def assert_close_answers(one, other, X, rtol=1e-8):
    """Equal up to sums in another order."""
    ours, theirs = answers(one, X), answers(other, X)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        scale = 1.0 if array.dtype.kind in "OUSb" else max(1.0, float(np.abs(array).max()))
        if array.dtype.kind in "OUSbi":
            np.testing.assert_array_equal(array, theirs[name], err_msg=name)
        else:
            np.testing.assert_allclose(array, theirs[name], rtol=rtol, atol=rtol * scale, err_msg=name)


def assert_finite_answers(model, X):
    for name, array in answers(model, X).items():
        if array.dtype.kind == "f":
            assert np.isfinite(array).all(), name
    assert np.isfinite(model.feature_importances_).all()


def fitted_arrays(thing, path="model", seen=None):
    """Every array and number of what a fitted model is made of, by the way that leads to it."""
    seen = set() if seen is None else seen
    if isinstance(thing, np.ndarray | np.generic):
        return {path: np.asarray(thing)}
    if isinstance(thing, bool | int | float | str | type(None)):
        return {path: np.asarray(repr(thing))}
    if id(thing) in seen:
        return {}
    seen.add(id(thing))
    if isinstance(thing, dict):
        parts = {repr(key): value for key, value in thing.items()}
    elif isinstance(thing, list | tuple):
        parts = {str(k): value for k, value in enumerate(thing)}
    else:
        parts = vars(thing) if hasattr(thing, "__dict__") else {}
    found = {}
    for name, part in parts.items():
        found |= fitted_arrays(part, f"{path}.{name}", seen)
    return found


def model_arrays(model):
    """What was learned: all that ``fit`` leaves behind, without the parameters."""
    parameters = set(model.get_params())
    learned = {name: part for name, part in vars(model).items() if name not in parameters and name != "estimators_"}
    return fitted_arrays(learned)


def assert_identical_boosters(one, other):
    """Equal to the last bit."""
    ours, theirs = model_arrays(one), model_arrays(other)
    assert ours.keys() == theirs.keys()
    assert any("leaves" in name for name in ours)
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        assert array.shape == theirs[name].shape, name
        assert bits(array) == bits(theirs[name]), name


def forests(model):
    """The trees of every member."""
    return [member.trees.forest for member in model._members]


def difference_in_splits(one, other):
    """What differs between the trees of two models, or None: splits exactly, leaves up to rounding."""
    for member, (ours, theirs) in enumerate(zip(forests(one), forests(other), strict=True)):
        if ours.n_trees != theirs.n_trees:
            return f"member {member}: {ours.n_trees} against {theirs.n_trees} trees"
        for name in ("features", "shifts", "limits", "sets", "tables"):
            if not np.array_equal(getattr(ours, name), getattr(theirs, name)):
                return f"member {member}: {name}"
        if not np.allclose(ours.leaves, theirs.leaves, rtol=1e-8, atol=1e-10):
            return f"member {member}: leaves differ by {np.abs(ours.leaves - theirs.leaves).max():.1e}"
    return None
