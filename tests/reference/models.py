"""The five boosters in a small size, data for them, and what it means that two fitted models are the same."""

import numpy as np
import pandas as pd
import polars as pl

from surefoot import (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    BestBoostClassifier,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
)

BOOSTERS = (
    AdaBoostClassifier,
    BaggedBoostClassifier,
    BestBoostClassifier,
    LarsenRitzertClassifier,
    MajorityBoostClassifier,
)
FRAMES = ("pandas", "polars")


def small_booster(booster, **parameters):
    """Few rounds and members, a fixed seed; ``parameters`` go on top."""
    settings = {"n_estimators": 6, "random_state": 0}
    if "n_members" in booster().get_params():
        settings["n_members"] = 3
    if booster is BestBoostClassifier:  # its default tries five models on up to ten splits
        settings |= {"candidates": ("adaboost", "majority"), "max_depth": 1}
    return booster(**(settings | parameters))


def two_classes(n_rows=80, n_columns=4, seed=0):
    """A table of normal numbers and labels 0 and 1 that its first two columns explain in part."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    score = X[:, 0] + 0.5 * X[:, min(1, n_columns - 1)] + 0.7 * generator.normal(size=n_rows)
    return X, (score > 0).astype(np.int64)


def several_classes(n_rows=120, n_columns=4, n_classes=3, seed=0):
    """As ``two_classes``, with labels 0, 1, ..., ``n_classes - 1``."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    score = X[:, 0] + 0.5 * generator.normal(size=n_rows)
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def make_frame(kind, numbers=None, categories=None):
    """A pandas or polars frame of number columns (dict) and categorical columns (dict of lists of str or None)."""
    numbers, categories = numbers or {}, categories or {}
    if kind == "pandas":
        return pd.DataFrame({**numbers, **{name: pd.Categorical(labels) for name, labels in categories.items()}})
    return pl.DataFrame(
        {**numbers, **{name: pl.Series(labels, dtype=pl.Categorical) for name, labels in categories.items()}}
    )


def committees(model):
    """The votes a fitted model is made of: one for AdaBoost, one per member for ensembles."""
    if isinstance(model, BestBoostClassifier):
        return committees(model.best_estimator_)
    if isinstance(model, AdaBoostClassifier):
        return [model._committee]
    return [member._committee for member in model.estimators_]


def model_arrays(model):
    """Every array of a fitted model of native trees, by name."""
    arrays = {}
    for member, committee in enumerate(committees(model)):
        for name in committee.forest.__dataclass_fields__:
            arrays[f"member {member}, {name}"] = getattr(committee.forest, name)
        arrays[f"member {member}, vote weights"] = committee.vote_weights
        arrays[f"member {member}, errors"] = committee.errors
    return arrays


def assert_identical_models(one, other):
    """Equal to the last bit."""
    ours, theirs = model_arrays(one), model_arrays(other)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        assert array.shape == theirs[name].shape, name
        assert array.tobytes() == theirs[name].tobytes(), name


def difference_in_trees(one, other):
    """What differs between the trees of two models, or None: splits and labels exactly, votes up to rounding."""
    for member, (ours, theirs) in enumerate(zip(committees(one), committees(other), strict=True)):
        if len(ours) != len(theirs):
            return f"member {member}: {len(ours)} against {len(theirs)} rounds"
        for name in ("features", "thresholds", "missing_right", "sets", "labels"):
            a, b = getattr(ours.forest, name), getattr(theirs.forest, name)
            if not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
                rounds = np.flatnonzero([a[t].tobytes() != b[t].tobytes() for t in range(len(a))])
                return f"member {member}: {name} of round {rounds[0]}"
        if not np.allclose(ours.vote_weights, theirs.vote_weights, rtol=1e-8, atol=0):
            return f"member {member}: vote weights"
    return None
