"""``max_features``: each tree uses a part of the columns; the seed decides which."""

import warnings

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import (
    CLASSIFIERS,
    ENSEMBLES,
    GRADIENT_BOOSTERS,
    SINGLE,
    assert_identical_boosters,
    forests,
    problem,
    small,
)

from surefoot import GradientBoostingRegressor, NoTrainingNoiseWarning, ParameterError, VirtualEnsemble
from surefoot.uncertainty import training

each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
POLICIES = ("symmetric", "depthwise", "leafwise")


def columns_of_trees(model):
    """The columns that each tree splits on."""
    return [
        {j for feature in features[features >= 0] for j in member.encoding.sources[feature]}
        for member, forest in zip(model._members, forests(model), strict=True)
        for features in forest.features
    ]


@each_estimator
@pytest.mark.parametrize("grow_policy", POLICIES)
def test_each_tree_uses_a_part_of_the_columns(estimator, grow_policy):
    X, y = problem(estimator, n_rows=200, n_columns=8)
    settings = {"n_estimators": 20, "grow_policy": grow_policy, "early_stopping": False}
    used = columns_of_trees(small(estimator, max_features=0.25, **settings).fit(X, y))
    assert max(map(len, used)) == 2
    assert set().union(*used) == set(range(8))
    assert len(set(map(frozenset, used))) > 8


def test_statistics_are_drawn_with_their_columns():
    rng = np.random.default_rng(0)
    codes = {"many": 60, "few": 3, "kind": 4}
    frame = pd.DataFrame({name: pd.Categorical(rng.integers(0, n, 600).astype(str)) for name, n in codes.items()})
    y = frame["few"].astype(int) * frame["kind"].astype(int) + rng.normal(size=600)
    model = small(GradientBoostingRegressor, max_features=0.67, n_estimators=40, early_stopping=False).fit(frame, y)
    sources = model._members[0].encoding.sources
    used = [{sources[f] for f in features[features >= 0]} for features in model._members[0].trees.forest.features]
    assert any(len(source) == 2 for source in sources)
    assert any((1, 2) in tree for tree in used)  # trees have statistics of a pair, as members of ensembles do
    assert max(len(set().union(*tree)) for tree in used) == 2


@each_estimator
def test_models_differ_by_their_seed(estimator):
    X, y = problem(estimator, n_rows=200)
    settings = {"method": "sgb", "subsample": 1.0} if estimator in ENSEMBLES else {}
    models = [small(estimator, max_features=0.5, random_state=seed, **settings).fit(X, y) for seed in (0, 0, 1)]
    assert_identical_boosters(models[0], models[1])
    raws = [model._raw(X) for model in models]
    assert not np.array_equal(raws[0], raws[2])
    if estimator in ENSEMBLES:
        assert not np.array_equal(*raws[0])
        assert models[0].predict_uncertainty(X).knowledge.max() > 0
        with pytest.raises(ParameterError, match=r"subsample or max_features must be below 1") as error:
            small(estimator, **settings).fit(X, y)
        assert error.value.argument == "subsample"


@pytest.mark.parametrize("estimator", SINGLE)
@pytest.mark.parametrize("noise", [{"max_features": 0.5}, {"split_noise": 0.5}])
def test_virtual_ensembles_know_that_there_was_noise(estimator, noise):
    X, y = problem(estimator, n_rows=200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VirtualEnsemble(small(estimator, **noise).fit(X, y), n_members=2).predict_uncertainty(X)
    with pytest.warns(NoTrainingNoiseWarning):
        VirtualEnsemble(small(estimator, split_noise=0).fit(X, y), n_members=2).predict_uncertainty(X)


@each_estimator
def test_more_trees_are_drawn_as_in_one_fit(estimator):
    X, y = problem(estimator, n_rows=200)
    settings = {"max_features": 0.5, "warm_start": True, "interaction_cst": [[0, 1]], "grow_policy": "leafwise"}
    model = small(estimator, n_estimators=3, **settings).fit(X, y)
    model.set_params(n_estimators=8).fit(X, y)
    whole = small(estimator, n_estimators=8, **settings).fit(X, y)
    np.testing.assert_array_equal(model._raw(X), whole._raw(X))
    changes = [{"max_features": 0.75}, {"interaction_cst": None}, {"max_leaf_nodes": 4}, {"split_noise": 1.0}]
    for change in changes:
        with pytest.raises(ParameterError, match="only n_estimators may change"):
            model.set_params(**{**settings, "max_leaf_nodes": None, "split_noise": "auto", **change}).fit(X, y)


def test_first_models_use_all_columns(monkeypatch):
    """They look for combinations of categories: that should not depend on chance."""
    rng = np.random.default_rng(0)
    codes = {"many": 60, "few": 3}
    frame = pd.DataFrame({name: pd.Categorical(rng.integers(0, n, 2100).astype(str)) for name, n in codes.items()})
    y = frame["few"].astype(int) + rng.normal(size=2100)
    seen = []
    train = training.train_first_model
    monkeypatch.setattr(
        training, "train_first_model", lambda *given: seen.append(train(*given)[0].config.rules) or train(*given)
    )
    monkeypatch.setattr(training, "FIRST_TREES", 2)
    small(GradientBoostingRegressor, max_features=0.5, early_stopping=False).fit(frame, y)
    assert [rules.max_features for rules in seen] == [1.0] * len(seen)
    assert len(seen) > 0


# Noise in the choice of splits.


def twice_the_same_column(estimator, n_rows=200):
    X, y = problem(estimator, n_rows=n_rows)
    return np.repeat(X, 2, axis=1), y


@each_estimator
def test_without_noise_the_first_of_equal_columns_is_used(estimator):
    X, y = twice_the_same_column(estimator)
    settings = {"n_estimators": 20, "early_stopping": False}
    odd = {1, 3, 5, 7}
    assert not any(tree & odd for tree in columns_of_trees(small(estimator, split_noise=0, **settings).fit(X, y)))
    assert any(tree & odd for tree in columns_of_trees(small(estimator, split_noise=0.5, **settings).fit(X, y)))
    has_noise = estimator in ENSEMBLES or estimator in CLASSIFIERS
    auto = columns_of_trees(small(estimator, split_noise="auto", **settings).fit(X, y))
    assert any(tree & odd for tree in auto) == has_noise


@each_estimator
def test_noise_is_in_standard_errors_and_does_not_fade(estimator, monkeypatch):
    X, y = problem(estimator)
    seen = []
    module = "surefoot.trees.gradient_grower.GradientTreeGrower.use_noise"
    monkeypatch.setattr(module, lambda grower, noise, *rest: seen.append(noise))
    small(estimator, split_noise=0.75).fit(X, y)
    assert set(seen) == {1.5}  # kernels count half standard errors


def test_one_half_is_the_noise_of_a_single_classifier():
    X, y = twice_the_same_column(CLASSIFIERS[0])
    settings = {"n_estimators": 10, "early_stopping": False}
    auto = small(CLASSIFIERS[0], **settings).fit(X, y)
    zero = small(CLASSIFIERS[0], split_noise=0.0, **settings).fit(X, y)
    half = [small(CLASSIFIERS[0], split_noise=0.5, random_state=k, **settings).fit(X, y) for k in range(2)]
    assert auto._members[0].trees.forest.gains.sum() < zero._members[0].trees.forest.gains.sum()
    assert not np.array_equal(half[0]._raw(X), half[1]._raw(X))  # the seed decides, other than for "auto"
