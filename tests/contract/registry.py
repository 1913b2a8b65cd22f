"""All public estimators in a small size, and what each of them promises.

A new estimator is one more :class:`Subject` here: the tests of this folder then ask it for every promise it makes.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import surefoot
from surefoot.selection import LassoSelector

QUANTILES = (0.05, 0.5, 0.9)
METHODS = ("predict", "predict_proba", "decision_function", "set_sizes")


@dataclass(frozen=True)
class Subject:
    """An estimator with settings that make it small and fast, and its promises.

    ``weights`` is "copies" where a row of weight k counts as k rows, "rows" where chance falls on rows, so that a row
    of weight k stays whole where k copies of it fall apart, and "refused" where ``fit`` takes no weights. ``variants``
    are settings under which other code runs; ``chance`` are settings under which another seed gives another model
    (None: nothing is left to chance). ``wants`` are settings under which weights are copies.
    """

    name: str
    estimator: type
    settings: Mapping[str, Any]
    weights: str = "copies"
    ignores_weight_scale: bool = False
    takes_missing: bool = True
    takes_categories: bool = True
    takes_sparse: bool = False
    is_saved: bool = True
    takes_validation: bool = False
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    chance: Mapping[str, Any] | None = None
    wants: Mapping[str, Any] = field(default_factory=dict)
    bad_parameters: Mapping[str, Any] = field(default_factory=lambda: {"n_estimators": 0})

    def __str__(self):
        return self.name

    @property
    def is_classifier(self):
        return self.estimator.__name__.endswith("Classifier")

    @property
    def selects(self):
        return hasattr(self.estimator, "transform")

    def make(self, **parameters):
        return self.estimator(**{**self.settings, **parameters})

    def target(self, values, n_classes=2):
        """The numbers themselves, or classes cut from them at their quantiles."""
        if not self.is_classifier:
            return values
        return np.searchsorted(np.quantile(values, np.arange(1, n_classes) / n_classes), values)

    def problem(self, n_rows=80, n_columns=4, n_classes=2, seed=0):
        """A table of normal numbers and a target that its first two columns explain in part."""
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(n_rows, n_columns))
        values = 3.0 * X[:, 0] + np.sin(2.0 * X[:, min(1, n_columns - 1)]) + 0.5 * generator.normal(size=n_rows) + 10.0
        return X, self.target(values, n_classes)


def answers(model, X):
    """Everything that a fitted model says about some rows, by name; rows come first."""
    said = {name: np.asarray(getattr(model, name)(X)) for name in METHODS if hasattr(model, name)}
    if hasattr(model, "transform"):
        said["transform"] = numbers_of(np.asarray(model.transform(X)))
    if hasattr(model, "predict_interval"):
        said["interval"] = np.column_stack(model.predict_interval(X))
    if hasattr(model, "predict_distribution"):
        distribution = model.predict_distribution(X)
        said |= {"std": model.predict(X, return_std=True)[1], "var": distribution.var, "mean": distribution.mean}
        said |= {f"quantile {q}": distribution.quantile(q) for q in QUANTILES}
        said |= {"cdf": distribution.cdf(distribution.mean), "logpdf": distribution.logpdf(distribution.mean)}
    if hasattr(model, "predict_uncertainty"):
        said |= parts_of(model.predict_uncertainty(X), "")
    if getattr(model, "langevin", False) and model.n_iter_ >= 6:
        said |= parts_of(surefoot.VirtualEnsemble(model, 3).predict_uncertainty(X), "virtual ensemble, ")
    return said


def numbers_of(table):
    """Selected columns keep their types: numbers of any type as floats, and words as they are."""
    try:
        return table.astype(float)
    except ValueError:
        return table.astype(object)


def parts_of(uncertainty, prefix):
    return {f"{prefix}{name}": getattr(uncertainty, name) for name in ("total", "data", "knowledge")}


def bits(array):
    """The bytes of an array; of objects, how they are written."""
    return repr(array.tolist()).encode() if array.dtype == object else np.ascontiguousarray(array).tobytes()


def learned(model):
    """The bytes of all that a fit has learned: of the model's file where it has one."""
    if isinstance(model, surefoot.StableSelector):
        result = (model.weights_.items(), model.models_, model.bag_models_.tolist(), model.selected_)
        return repr((*map(list, result), model.expression_, model.epsilon_, model.delta_)).encode()
    if isinstance(model, surefoot.StableClassifier | surefoot.ConformalClassifier | surefoot.ConformalRegressor):
        members = model.estimators_ if isinstance(model, surefoot.StableClassifier) else model.models_
        trees = [getattr(member, "tree_", None) for member in members]
        values = [tree.value.tobytes() + tree.threshold.tobytes() for tree in trees if tree is not None]
        said = [getattr(model, name, None) for name in ("epsilon_", "guarantee_", "n_calibration_")]
        return repr((*said, getattr(model, "classes_", np.empty(0)).tolist(), values)).encode()
    with tempfile.TemporaryDirectory() as folder:
        surefoot.save(model, Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def assert_same_model(one, other):
    """Equal to the last bit."""
    assert type(one) is type(other)
    assert learned(one) == learned(other)


def differing_answers(one, other, X, other_X=None):
    """The names of the answers that are not equal to the last bit."""
    ours, theirs = answers(one, X), answers(other, X if other_X is None else other_X)
    assert ours.keys() == theirs.keys()
    return [name for name, array in ours.items() if bits(array) != bits(theirs[name])]


def assert_same_answers(one, other, X, other_X=None):
    assert differing_answers(one, other, X, other_X) == []


def assert_close_answers(one, other, X, rtol=1e-8):
    """Equal up to sums in another order."""
    ours, theirs = answers(one, X), answers(other, X)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        if array.dtype.kind in "OUSbi":
            np.testing.assert_array_equal(array, theirs[name], err_msg=name)
        else:
            scale = max(1.0, float(np.abs(array).max(initial=0)))
            np.testing.assert_allclose(array, theirs[name], rtol=rtol, atol=rtol * scale, err_msg=name)


def assert_finite_answers(model, X):
    said = answers(model, X)
    assert [name for name, array in said.items() if array.dtype.kind == "f" and not np.isfinite(array).all()] == []
    assert np.isfinite(getattr(model, "feature_importances_", 0.0)).all()


VOTES = {"n_estimators": 6, "random_state": 0}
TREES = {"n_estimators": 5, "max_depth": 3, "random_state": 0}
MEMBERS = {**TREES, "n_members": 2}
LEAVES = {"n_estimators": 4, "max_leaf_nodes": 5, "random_state": 0}
DEEPER = {"max_depth 2": {"max_depth": 2}}
GROWTH = {
    "depthwise": {"grow_policy": "depthwise"},
    "leafwise, drawn columns": {"grow_policy": "leafwise", "max_leaf_nodes": 4, "max_features": 0.6},
    "subsample": {"subsample": 0.5},
    "no early stopping": {"early_stopping": False},
}
ORDERS = {
    "joint": {"kind": "joint", "orientation": "both"},
    "product": {"kind": "product", "orientation": "both"},
    "no early stopping": {"early_stopping": False},
    "plain": {"blend": 0.0},
}
WHOLE = {"n_estimators": 5, "early_stopping": False}
VOTING = {"ignores_weight_scale": True, "takes_sparse": True, "variants": DEEPER, "wants": {"calibrate": False}}
GRADIENT = {"takes_validation": True, "takes_sparse": True, "variants": GROWTH, "wants": WHOLE}
DRAWN = {**GRADIENT, "chance": {"subsample": 0.5}}
VMATRIX = {
    "variants": ORDERS,
    "chance": {"max_target_rows": 20, "blend": 0.8},
    "wants": {**WHOLE, "min_samples_leaf": 1, "orientation": "both", "kind": "joint"},
}
TREE = {"max_depth": 3, "random_state": 0}
BAGS = {"weights": "refused", "takes_categories": False, "is_saved": False, "chance": {}}
CALIBRATED = {
    **BAGS,
    "bad_parameters": {"confidence_level": 1.0},
    "variants": {"folds": {"cv": 3}},
    "takes_sparse": True,  # as their model does
}

SUBJECTS = (
    Subject("AdaBoost", surefoot.AdaBoostClassifier, VOTES, **VOTING),
    Subject(
        "BaggedBoost", surefoot.BaggedBoostClassifier, {**VOTES, "n_members": 3}, weights="rows", chance={}, **VOTING
    ),
    Subject(
        "BestBoost",  # its default tries five models on up to ten splits
        surefoot.BestBoostClassifier,
        {**VOTES, "candidates": ("adaboost", "majority"), "max_depth": 1},
        weights="rows",
        **VOTING,
    ),
    Subject(
        "LarsenRitzert",
        surefoot.LarsenRitzertClassifier,
        {**VOTES, "n_members": 3},
        weights="rows",
        chance={},
        **VOTING,
    ),
    Subject(
        "MajorityBoost",
        surefoot.MajorityBoostClassifier,
        {**VOTES, "n_members": 3},
        weights="rows",
        chance={},
        **VOTING,
    ),
    Subject("GradientRegressor", surefoot.GradientBoostingRegressor, TREES, **DRAWN),
    Subject("GradientClassifier", surefoot.GradientBoostingClassifier, TREES, **DRAWN),
    Subject("SGLBRegressor", surefoot.BoostingEnsembleRegressor, MEMBERS, **DRAWN),
    Subject("SGLBClassifier", surefoot.BoostingEnsembleClassifier, MEMBERS, **DRAWN),
    Subject("SGBRegressor", surefoot.BoostingEnsembleRegressor, {**MEMBERS, "method": "sgb"}, weights="rows", **DRAWN),
    Subject(
        "SGBClassifier", surefoot.BoostingEnsembleClassifier, {**MEMBERS, "method": "sgb"}, weights="rows", **DRAWN
    ),
    Subject(
        "VirtualRegressor",  # answers with those of its virtual ensemble
        surefoot.GradientBoostingRegressor,
        {**TREES, "langevin": True, "n_estimators": 8},
        **{**GRADIENT, "chance": {}, "variants": {}, "wants": {"early_stopping": False}},
    ),
    Subject(
        "VirtualClassifier",
        surefoot.GradientBoostingClassifier,
        {**TREES, "langevin": True, "n_estimators": 8, "early_stopping": False},
        **{**GRADIENT, "chance": {}, "variants": {}, "wants": {"early_stopping": False}},
    ),
    Subject("VMatrixRegressor", surefoot.VMatrixBoostingRegressor, LEAVES, **VMATRIX),
    Subject("VMatrixClassifier", surefoot.VMatrixBoostingClassifier, LEAVES, **VMATRIX),
    Subject(
        "StableSelector",
        surefoot.StableSelector,
        {
            "selector": LassoSelector(alpha=0.2),
            "n_bags": 100,
            "bag_size": 0.5,
            "epsilon": 0.3,
            "random_state": 0,
        },
        **{**BAGS, "takes_missing": False, "takes_categories": True, "bad_parameters": {"n_bags": 0}},
    ),
    Subject(
        "StableClassifier",
        surefoot.StableClassifier,
        {"estimator": DecisionTreeClassifier(max_depth=2), "n_bags": 5, "epsilon": 1.0, "random_state": 0},
        **{**BAGS, "bad_parameters": {"n_bags": 0}},
    ),
    Subject(
        "ConformalRegressor",
        surefoot.ConformalRegressor,
        {"model": DecisionTreeRegressor(**TREE), "random_state": 0},
        **CALIBRATED,
    ),
    Subject(
        "ConformalClassifier",
        surefoot.ConformalClassifier,
        {"model": DecisionTreeClassifier(**TREE), "random_state": 0},
        **CALIBRATED,
    ),
)
VARIANTS = SUBJECTS + tuple(
    replace(subject, name=f"{subject.name}, {name}", settings={**subject.settings, **settings})
    for subject in SUBJECTS
    for name, settings in subject.variants.items()
)
BOOSTERS = tuple(subject for subject in SUBJECTS if not issubclass(subject.estimator, surefoot.StableClassifier))


def failing(cases, check):
    """The names of the cases for which ``check(case)`` fails, and why: one test then tries all cases on one model."""
    reasons = {}
    for name, case in cases.items():
        try:
            check(case)
        except (AssertionError, pytest.fail.Exception) as failure:
            reasons[name] = str(failure)[:300]
    return reasons


def each(subjects):
    """One test for each of the subjects."""
    return pytest.mark.parametrize("subject", subjects, ids=str)


def each_with_classes(subjects):
    """One test for each of the subjects and, of classifiers, for two and three classes."""
    pairs = [(subject, n) for subject in subjects for n in ((2, 3) if subject.is_classifier else (2,))]
    return pytest.mark.parametrize(("subject", "n_classes"), pairs, ids=str)


def those(**promises):
    """The subjects that promise all of this."""
    return tuple(s for s in SUBJECTS if all(getattr(s, name) == value for name, value in promises.items()))


each_subject = each(SUBJECTS)
each_variant = each(VARIANTS)
each_classifier = each(those(is_classifier=True))
each_weighted = each(tuple(subject for subject in SUBJECTS if subject.weights != "refused"))
