"""Interaction constraints: outputs are sums of functions of the columns of each group, in all kinds of models."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from reference.gradient_boosters import (
    ENSEMBLES,
    GRADIENT_BOOSTERS,
    assert_identical_boosters,
    assert_same_answers,
    forests,
    small,
    target_of,
)
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from surefoot import BoostingEnsembleRegressor, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError

POLICIES = ("symmetric", "depthwise", "leafwise")
each_estimator = pytest.mark.parametrize("estimator", GRADIENT_BOOSTERS)
each_policy = pytest.mark.parametrize("grow_policy", POLICIES)
SETTINGS = {"n_estimators": 30, "max_depth": 4, "early_stopping": False}
GROUPS = {
    "no_interactions": [],
    "pairwise": list(combinations(range(5), 2)),
    "groups": [(0, 1), (2, 3), (2, 4), (3, 4)],  # columns 2, 3 and 4 are in no group: they are one more
    "overlapping": [(0, 1), (0, 2), (1, 2), (1, 3), (1, 4), (3, 4)],
}
GIVEN = {
    "no_interactions": "no_interactions",
    "pairwise": "pairwise",
    "groups": [{0, 1}],
    "overlapping": [[0, 1, 2], (4, 3, 1)],
}


def table(estimator, n_rows=400, n_classes=2):
    """A target in which all columns interact."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    values = (X[:, 0] + X[:, 2]) * (X[:, 1] - X[:, 3]) + X[:, 4] * X[:, :4].sum(axis=1)
    return X, target_of(estimator, values + 0.1 * rng.normal(size=n_rows), n_classes)


def mean_outputs(model, X):
    """All outputs of all members but scales, which have a bound."""
    raw = model._raw(X)
    return raw[:, :1] if model.family_.has_scale else raw


def interacting(predict, n_columns=5, n_rows=60):
    """The pairs of columns whose effects do not add up somewhere."""
    rng = np.random.default_rng(1)
    here, there = rng.normal(size=(2, n_rows, n_columns))

    def at(*moved):
        return predict(np.where(np.isin(np.arange(n_columns), moved), there, here))

    return [
        (a, b)
        for a, b in combinations(range(n_columns), 2)
        if np.abs(at() - at(a) - at(b) + at(a, b)).max() > 1e-9
    ]  # fmt: skip


def crossings(model, groups):
    """The paths of trees with columns that are in no group together; a whole number is the maximum on a path."""
    found = []
    for member, forest in zip(model._members, forests(model), strict=True):
        sources = member.encoding.sources
        for features in forest.features:
            used = [frozenset()] * (2 * len(features) + 1)
            for node, feature in enumerate(features):
                below = used[node] | set(sources[feature] if feature >= 0 else ())
                used[2 * node + 1] = used[2 * node + 2] = below
            is_small = isinstance(groups, int)
            found += [
                path
                for path in used
                if (len(path) > groups if is_small else not any(path <= set(group) for group in groups))
            ]
    return found


@each_estimator
@each_policy
@pytest.mark.parametrize("name", GROUPS)
def test_only_columns_of_a_group_interact(estimator, grow_policy, name):
    X, y = table(estimator)
    model = small(estimator, interaction_cst=GIVEN[name], grow_policy=grow_policy, **SETTINGS).fit(X, y)
    found = interacting(lambda rows: mean_outputs(model, rows))
    # a sum of functions of pairs may have any pair, but not all three columns of a path
    assert set(found) <= set(GROUPS[name])
    assert name == "no_interactions" or len(found) > 1
    maximum = {"no_interactions": 1, "pairwise": 2}
    groups = {"groups": [{0, 1}, {2, 3, 4}], "overlapping": [{0, 1, 2}, {1, 3, 4}]}
    assert crossings(model, maximum.get(name) or groups[name]) == []


@each_policy
def test_three_classes(grow_policy):
    X, y = table(GradientBoostingClassifier, n_classes=3)
    model = small(GradientBoostingClassifier, interaction_cst=[{0, 1}], grow_policy=grow_policy, **SETTINGS).fit(X, y)
    assert interacting(lambda rows: model._raw(rows)) == GROUPS["groups"]


@each_policy
@pytest.mark.parametrize("name", ["no_interactions", "groups", "overlapping"])
def test_the_same_pairs_interact_as_in_scikit_learn(grow_policy, name):
    X, y = table(GradientBoostingRegressor)
    settings = {"interaction_cst": GIVEN[name], "max_depth": 4}
    model = small(GradientBoostingRegressor, **{**SETTINGS, **settings}, grow_policy=grow_policy).fit(X, y)
    with threadpool_limits(1):
        peer = HistGradientBoostingRegressor(max_iter=60, min_samples_leaf=5, **settings).fit(X, y)
        theirs = interacting(peer.predict)
    assert interacting(lambda rows: mean_outputs(model, rows)) == theirs == GROUPS[name]


@each_estimator
def test_without_constraints_all_columns_interact(estimator):
    X, y = table(estimator)
    free = small(estimator, grow_policy="depthwise", **SETTINGS).fit(X, y)
    assert interacting(lambda rows: mean_outputs(free, rows)) == list(combinations(range(5), 2))
    for given in ([range(5)], [{0, 1}, [0, 1, 2, 3, 4]], []):
        model = small(estimator, grow_policy="depthwise", interaction_cst=given, **SETTINGS).fit(X, y)
        assert_identical_boosters(free, model)


@each_estimator
def test_names_and_positions_mean_the_same(estimator):
    X, y = table(estimator)
    frame = pd.DataFrame(X, columns=list("abcde"))
    given = ([["a", "b"]], [{"b", 0}], ({1, 0}, {2, 3, 4}), np.array([[0, 1]]))
    models = [small(estimator, interaction_cst=one).fit(frame, y) for one in given]
    for model in models[1:]:
        assert_same_answers(models[0], model, frame)
    with pytest.raises(ParameterError, match=r"interaction_cst names a column that X does not have: 'z'"):
        small(estimator, interaction_cst=[["a", "z"]]).fit(frame, y)


@each_policy
@pytest.mark.parametrize("settings", [{}, {"langevin": True}, {"subsample": 0.5, "early_stopping": True}])
def test_monotone_constraints_hold_too(grow_policy, settings):
    X, y = table(GradientBoostingRegressor)
    limits = {"interaction_cst": [{0, 1}], "monotonic_cst": [1, 0, -1, 0, 0], "max_features": 0.8}
    model = small(GradientBoostingRegressor, **{**SETTINGS, **limits, **settings}, grow_policy=grow_policy).fit(X, y)
    assert set(interacting(lambda rows: mean_outputs(model, rows))) <= set(GROUPS["groups"])
    rows = np.repeat(X[:20], 50, axis=0)
    for column, sign in ((0, 1), (2, -1)):
        moved = rows.copy()
        moved[:, column] = np.tile(np.linspace(-3, 3, 50), 20)
        assert (sign * np.diff(model.predict(moved).reshape(20, 50), axis=1) >= 0).all()


def frame_of_categories(n_rows=2400):
    """Two columns with many categories whose pair determines the target, and two with few."""
    rng = np.random.default_rng(0)
    codes = {"many": 60, "rare": 70, "few": 3, "kind": 4}
    frame = pd.DataFrame({name: pd.Categorical(rng.integers(0, n, n_rows).astype(str)) for name, n in codes.items()})
    values = frame.apply(lambda column: column.astype(int))
    y = 3.0 * ((values["many"] + values["rare"]) % 2) + values["few"] * values["kind"] + rng.normal(size=n_rows)
    return frame.assign(number=rng.normal(size=n_rows)), y


@pytest.mark.parametrize("grow_policy", ["symmetric", "depthwise"])
@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, BoostingEnsembleRegressor])
def test_statistics_of_several_columns_count_as_all_of_them(estimator, grow_policy):
    frame, y = frame_of_categories()
    settings = {"n_estimators": 8, "max_depth": 3, "early_stopping": False, "grow_policy": grow_policy}
    groups = [{"many", "few"}, {"rare", "kind"}]  # the number is alone
    model = small(estimator, interaction_cst=groups, **settings).fit(frame, y)
    positions = [{0, 2}, {1, 3}, {4}]
    assert crossings(model, positions) == []
    sources = {source for member in model._members for source in member.encoding.sources if len(source) > 1}
    assert estimator in ENSEMBLES or (0, 1) in sources  # the pair has statistics, which this model must not use
    assert crossings(small(estimator, **settings).fit(frame, y), positions) != []
    importances = small(estimator, interaction_cst="no_interactions", **settings).fit(frame, y)
    assert crossings(importances, 1) == []
