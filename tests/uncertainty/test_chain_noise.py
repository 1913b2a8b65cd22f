"""Copies of a chain with other noise: the kernels, the size of their differences, and where they are large."""

import pickle

import numpy as np
import pandas as pd
import pytest
from reference.chain_noise import copies_of_rows, leaves_fitted_in_turn, sums_of_row
from reference.gradient_boosters import problem, small
from scipy.special import expit, softmax
from scipy.stats import spearmanr

from surefoot import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    VirtualEnsemble,
)
from surefoot.metrics import ood_auc
from surefoot.uncertainty import chain_noise
from surefoot.uncertainty.chain_noise import (
    MAX_TRACED,
    N_COPIES,
    ChainConfig,
    ChainNoise,
    NoisyCopies,
    log_variance,
    made_up_rows,
    signs_of_pairs,
    traced_trees,
    written_into_leaves,
)
from surefoot.uncertainty.decomposition import classification_uncertainty
from surefoot.uncertainty.spread_kernels import spread_two_classes, spread_uncertainty
from surefoot.uncertainty.virtual_members import increment_sizes, increment_variance, normal_scores, random_orders

SETTINGS = {"langevin": True, "early_stopping": False, "random_state": 0}


def table(n_rows=400, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.uniform(-1, 1, size=(n_rows, 4))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * generator.normal(size=n_rows)


def outside(n_rows=300, seed=1):
    """Rows whose columns are far from where training rows are together."""
    generator = np.random.default_rng(seed)
    return generator.choice([-2.0, 2.0], size=(n_rows, 4)) + 0.1 * generator.normal(size=(n_rows, 4))


@pytest.mark.parametrize("policy", ["symmetric", "depthwise"])
@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
@pytest.mark.parametrize("categories", [False, True])
def test_the_pass_over_the_trees_equals_sums_row_by_row(estimator, policy, categories):
    X, y = problem(estimator, n_classes=3)
    frame = pd.DataFrame(X)
    if categories:
        frame[0] = pd.Categorical(frame[0].rank().astype(int) % 5)
    model = estimator(n_estimators=7, max_depth=3, grow_policy=policy, **SETTINGS).fit(frame, y)
    member = model._members[0]
    codes = member.encoding.codes(model._columns(frame), 0, len(frame))
    noise = ChainNoise.of(member, model.family_, ChainConfig(rate=0.1, l2=3.0, min_information=0.25), codes)
    raw, variance = noise.raw_and_variance(codes)
    for row in range(0, len(frame), 9):
        expected = noise.start + sums_of_row(codes[:, row], member.trees.forest, noise.values)
        np.testing.assert_allclose(raw[0, row], expected[0], rtol=1e-12)
        np.testing.assert_allclose(np.log(variance[0, row]), expected[-1], rtol=1e-12)


def followed(model, X, rate, l2, n_train=None):
    """The copies of a model after all of its trees; all rows correct them, or the first ones."""
    member = model._members[0]
    codes = member.encoding.codes(model._columns(X), 0, len(X))
    config = ChainConfig(rate=rate, l2=l2, min_information=0.25)
    copies = NoisyCopies(member, model.family_, config, codes, len(X) if n_train is None else n_train)
    for t in traced_trees(member.trees.forest.n_trees):
        copies.add(t)
    return copies, codes


@pytest.mark.parametrize("n_train", [60, 40])
def test_copies_equal_those_followed_row_by_row(n_train):
    X, y = table(60)
    model = GradientBoostingRegressor(n_estimators=40, max_depth=3, **SETTINGS).fit(X[:n_train], y[:n_train])
    copies, codes = followed(model, X, model.learning_rate, model.l2_regularization, n_train)
    forest = model._members[0].trees.forest
    by_hand = copies_of_rows(
        codes, forest, range(40), signs_of_pairs(), model.learning_rate, model.l2_regularization, n_train
    )
    np.testing.assert_allclose(copies.deviations, by_hand, rtol=0, atol=1e-5 * np.abs(by_hand).max())


@pytest.mark.parametrize("policy", ["symmetric", "depthwise"])
def test_leaves_are_fitted_one_tree_after_another(policy):
    X, y = table(80)
    model = GradientBoostingRegressor(n_estimators=9, max_depth=3, grow_policy=policy, **SETTINGS).fit(X, y)
    member = model._members[0]
    codes = member.encoding.codes(model._columns(X), 0, len(X))
    generator = np.random.default_rng(0)
    target, weights = generator.normal(size=80) + 3.0, generator.uniform(0.1, 1.0, size=80)
    start, values = written_into_leaves(member.trees.forest, codes, target[:, np.newaxis], weights)
    expected = leaves_fitted_in_turn(codes, member.trees.forest, target, weights, chain_noise.PASSES, chain_noise.RATE)
    np.testing.assert_allclose(start[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(values[:, :, 0], expected[1], rtol=1e-9, atol=1e-12)


def test_the_leaves_hold_the_variance_of_the_copies():
    X, y = table(600)
    model = GradientBoostingRegressor(n_estimators=200, **SETTINGS).fit(X[:400], y[:400])
    copies, _ = followed(model, X, model.learning_rate, model.l2_regularization, 400)
    target = np.exp(log_variance(copies, 400)[:, 0])
    knowledge = model.virtual_ensemble(X_train=X[:400]).predict_uncertainty(X).knowledge / model.family_.spread**2
    for rows, least, ratio in ((slice(400), 0.95, 0.9), (slice(400, None), 0.8, 0.7)):
        assert spearmanr(knowledge[rows], target[rows]).statistic > least
        assert ratio < np.median(knowledge[rows] / target[rows]) < 1 / ratio


def test_made_up_rows_have_the_values_of_each_column():
    codes = np.arange(300, dtype=np.uint8).reshape(3, 100) % 50
    rows = made_up_rows(codes)
    assert rows.shape[1] >= chain_noise.MIN_MADE_UP
    assert rows.dtype == codes.dtype
    for own, made in zip(codes, rows, strict=True):
        np.testing.assert_array_equal(np.bincount(made), np.bincount(own) * (rows.shape[1] // 100))
    together = {tuple(row) for row in codes.T}
    assert np.mean([tuple(row) in together for row in rows.T]) < 0.1


def test_a_model_of_a_constant_has_no_knowledge_uncertainty():
    X = table(50)[0]
    model = GradientBoostingRegressor(n_estimators=10, subsample=0.5, early_stopping=False).fit(X, np.ones(50))
    np.testing.assert_array_equal(model.virtual_ensemble(X_train=X).predict_uncertainty(X).knowledge < 1e-200, True)


def test_signs_of_successive_pairs_are_orthogonal():
    signs = signs_of_pairs()
    for first in range(0, len(signs) - N_COPIES, 5):
        products = signs[first : first + N_COPIES] @ signs[first : first + N_COPIES].T
        np.testing.assert_array_equal(products, N_COPIES * np.eye(N_COPIES))


@pytest.mark.parametrize("n_members", [2, 6, 7])
@pytest.mark.parametrize(("n_outputs", "n_spreads"), [(1, 1), (3, 3), (3, 1)])
def test_the_uncertainty_of_spread_classifiers_is_that_of_their_members(n_members, n_outputs, n_spreads):
    generator = np.random.default_rng(0)
    raw = generator.normal(size=(n_outputs, 500)) * generator.permutation(np.logspace(-2, 2.5, 500))
    spread = generator.permutation(np.logspace(-8, 2.5, 500)) * generator.uniform(0.5, 2, size=(n_spreads, 500))
    scores, orders = normal_scores(n_members), random_orders(n_members, n_outputs)
    members = raw + scores[orders][:, :, np.newaxis] * spread
    two = np.stack([expit(-members[:, 0]), expit(members[:, 0])], axis=-1)
    expected = classification_uncertainty(two if n_outputs == 1 else softmax(members.transpose(0, 2, 1), axis=-1))
    data, knowledge = np.empty((2, 500))
    if n_outputs == 1:
        spread_two_classes(raw[0], spread[0], scores, data, knowledge)
    else:
        spread_uncertainty(raw, spread, scores, orders, data, knowledge)
    np.testing.assert_allclose(knowledge, expected.knowledge, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(data, expected.data, rtol=1e-9, atol=1e-14)
    small = (spread.max(axis=0) < 1e-3) & (expected.total > 1e-3)  # this is not lost in the entropies either
    assert small.sum() > 50
    np.testing.assert_allclose(knowledge[small], expected.knowledge[small], rtol=1e-6, atol=1e-25)


@pytest.mark.parametrize("n_trees", [4, 5, 20, MAX_TRACED - 1, MAX_TRACED, MAX_TRACED + 1, 5000, 5003])
def test_traced_trees_come_in_pairs_at_equal_distances_up_to_the_last(n_trees):
    places = list(traced_trees(n_trees))
    assert len(places) % 2 == 0
    assert 2 <= len(places) <= MAX_TRACED
    assert len(set(np.diff(places))) == 1
    assert places[-1] == n_trees - 1
    assert places[0] >= 0


def test_copies_are_as_far_apart_as_models_with_other_seeds():
    X, y = table()
    seeds = [
        GradientBoostingRegressor(n_estimators=200, **{**SETTINGS, "random_state": s}).fit(X, y) for s in range(12)
    ]
    truth = np.var([model.predict(X) for model in seeds], axis=0, ddof=1).mean()
    copies = [model.virtual_ensemble(X_train=X).predict_uncertainty(X).knowledge.mean() for model in seeds[:4]]
    assert truth / 3 < np.mean(copies) < 3 * truth
    truncated = seeds[0].virtual_ensemble(method="truncation").predict_uncertainty(X).knowledge.mean()
    assert truncated < truth / 2


def test_without_corrections_the_noise_of_one_leaf_adds_up_as_a_random_walk_does():
    """Copies that no row corrects have the variance of the differences of pairs: the closed form of random signs."""
    X, y = table(200)
    model = GradientBoostingRegressor(n_estimators=40, l2_regularization=1e12, **SETTINGS).fit(X, y)
    copies, _ = followed(model, X, rate=0.1, l2=1e12)
    member = model._members[0]
    leaves = np.stack([each[0] for each in member.stages(model._columns(X))])
    steps = np.diff(np.concatenate([np.full((1, len(X)), member.trees.start[0]), leaves]), axis=0)
    expected = np.square(steps[0::2] - steps[1::2]).sum(axis=0)
    # signs are orthogonal, so there is no chance in this; the chain shrinks by about 1% while it is trained
    np.testing.assert_allclose(np.square(copies.deviations).mean(axis=1), expected, rtol=0.03)


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, GradientBoostingClassifier])
def test_knowledge_is_larger_for_rows_unlike_the_training_rows_as_in_a_true_ensemble(estimator):
    X, y = table()
    regression = estimator is GradientBoostingRegressor
    target = y if regression else (y > 0).astype(int)
    kind = BoostingEnsembleRegressor if regression else BoostingEnsembleClassifier
    common = {"n_estimators": 150, "early_stopping": False, "random_state": 0}
    ensemble = kind(n_members=10, **common).fit(X, target)
    model = ensemble.estimators_[0]
    X_test = table(300, seed=2)[0]

    def auc(uncertain):
        inside, far = (uncertain.predict_uncertainty(rows).knowledge for rows in (X_test, outside()))
        return ood_auc(inside, far)

    virtual = model.virtual_ensemble(X_train=X)
    assert auc(virtual) > auc(ensemble) - 0.05
    assert auc(virtual) > auc(model.virtual_ensemble(method="truncation"))
    knowledge = virtual.predict_uncertainty(X_test).knowledge
    assert spearmanr(knowledge, ensemble.predict_uncertainty(X_test).knowledge).statistic > 0.5


def test_a_sample_of_the_training_rows_says_nearly_the_same():
    X, y = table(2000)
    model = GradientBoostingRegressor(n_estimators=100, **SETTINGS).fit(X, y)
    whole, half = (model.virtual_ensemble(X_train=rows).predict_uncertainty(X).knowledge for rows in (X, X[::2]))
    assert spearmanr(whole, half).statistic > 0.9
    assert 0.8 < np.median(whole / half) < 1.25


@pytest.mark.parametrize("method", ["copies", "increments"])
@pytest.mark.parametrize("n_classes", [None, 2, 4])
def test_members_have_the_uncertainty_that_is_predicted(method, n_classes):
    estimator = GradientBoostingRegressor if n_classes is None else GradientBoostingClassifier
    X, y = problem(estimator, n_classes=n_classes or 2)
    model = small(estimator, langevin=True, n_estimators=40, early_stopping=False).fit(X, y)
    virtual = model.virtual_ensemble(7, method=method, X_train=X if method == "copies" else None)
    assert virtual.method_ == method
    assert virtual.members_ == (40,) * 7
    members, parts = virtual.predict_members(X), virtual.predict_uncertainty(X)
    by_hand = members.uncertainty()
    np.testing.assert_allclose(parts.knowledge, by_hand.knowledge, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(parts.data, by_hand.data, rtol=1e-9)
    assert (parts.total == parts.data + parts.knowledge).all()
    if n_classes is None:
        np.testing.assert_allclose(members.means.mean(axis=0), model.predict(X), rtol=1e-9)
    else:
        assert members.probabilities.shape == (7, len(X), n_classes)
    again = pickle.loads(pickle.dumps(virtual)).predict_uncertainty(X)
    np.testing.assert_array_equal(again.knowledge, parts.knowledge)
    alone = virtual.predict_uncertainty(X[3:4])
    np.testing.assert_array_equal(alone.knowledge, parts.knowledge[3:4])


def test_a_model_that_only_drifts_has_no_variance_of_increments():
    rounds = np.arange(41)[:, np.newaxis]
    drift = rounds * np.array([0.0, 1.0, -3.0])
    np.testing.assert_allclose(increment_variance(drift), 0.0, atol=1e-20)
    noise = np.random.default_rng(0).normal(size=(4001, 3))
    walk = np.cumsum(noise, axis=0) + 0.5 * np.arange(4001)[:, np.newaxis]
    np.testing.assert_allclose(increment_variance(walk) / 4000, 1.0, atol=0.1)


@pytest.mark.parametrize(
    ("n_trees", "expected"), [(4, (2, 3, 4)), (100, tuple(range(60, 101))), (1000, tuple(range(520, 1001, 12)))]
)
def test_increments_are_evenly_spaced_up_to_all_trees(n_trees, expected):
    assert increment_sizes(n_trees) == expected


@pytest.mark.parametrize("n_members", [2, 3, 10])
def test_scores_have_mean_0_and_variance_1(n_members):
    scores = normal_scores(n_members)
    np.testing.assert_array_equal(scores, -scores[::-1])
    np.testing.assert_allclose(scores.var(), 1)
    for order in random_orders(n_members, 3).T:
        np.testing.assert_array_equal(np.sort(order), np.arange(n_members))


def test_increments_of_another_library_are_those_of_its_staged_predictions():
    from sklearn.ensemble import GradientBoostingRegressor as Other

    X, y = table()
    model = Other(n_estimators=100, subsample=0.5, random_state=0).fit(X, y)
    stages = np.stack(list(model.staged_predict(X)))[59::1]
    expected = np.square(np.diff(stages, axis=0) - np.diff(stages, axis=0).mean(axis=0)).sum(axis=0)
    np.testing.assert_allclose(VirtualEnsemble(model).predict_uncertainty(X).knowledge, expected, rtol=1e-9)


def test_what_does_not_go_together_is_refused():
    from sklearn.ensemble import GradientBoostingRegressor as Other
    from sklearn.ensemble import RandomForestRegressor

    X, y = table(100)
    own = GradientBoostingRegressor(n_estimators=20, **SETTINGS).fit(X, y)
    other = Other(n_estimators=20, subsample=0.5).fit(X, y)
    forest = RandomForestRegressor(n_estimators=20).fit(X, y)
    with pytest.raises(ParameterError, match="method='copies' needs X_train"):
        VirtualEnsemble(own, method="copies")
    with pytest.raises(ParameterError, match="X_train is for method='copies', got method='increments'"):
        VirtualEnsemble(own, method="increments", X_train=X)
    with pytest.raises(ParameterError, match="for gradient boosters of surefoot, got a GradientBoostingRegressor"):
        VirtualEnsemble(other, X_train=X)
    with pytest.raises(ParameterError, match="is for boosters, got a RandomForestRegressor"):
        VirtualEnsemble(forest, method="increments")
    with pytest.raises(ParameterError, match="method must be one of"):
        VirtualEnsemble(own, method="cuts")
    with pytest.raises(ValueError, match="3 features"):
        VirtualEnsemble(own, X_train=X[:, :3])
    with pytest.raises(ValueError, match="0 sample"):
        VirtualEnsemble(own, X_train=X[:0])
