"""Probabilities of question 1's boosters: calibrated on new rows, with a ranking as good as AdaBoost's; same votes."""

import json

import numpy as np
import pytest
from model_io.small_models import ANSWERS, STORED, read_rows, rows_for, small_model
from reference.models import BOOSTERS, several_classes, small_booster, two_classes
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

import surefoot
from surefoot.boosting import vote_link
from surefoot.boosting.calibration import MAX_VOTES, OutOfSampleVotes, collect_votes, member_link, shrinkage
from surefoot.boosting.training import assign_all_rows, assign_folds
from surefoot.boosting.vote_link import fit_link, smooth_frequencies, smooth_targets
from surefoot.data import Columns
from surefoot.data.problem import Problem

ENSEMBLES = [
    surefoot.AdaBoostClassifier(n_estimators=100),
    surefoot.MajorityBoostClassifier(n_estimators=100, random_state=0),
    surefoot.BaggedBoostClassifier(n_estimators=100, n_members=9, random_state=0),
    surefoot.LarsenRitzertClassifier(n_estimators=100, n_members=15, random_state=0),
]
each_ensemble = pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda e: type(e).__name__)


def known_truth(n_rows, seed, base=-1.0):
    """A table with known log-odds: a sum of functions of five columns; five more columns are noise."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 10))
    log_odds = base + X[:, 0] + 0.7 * X[:, 1] + (X[:, 2] > 0) - 0.5 * np.abs(X[:, 3]) + 0.5 * np.sin(2 * X[:, 4])
    y = (np.random.default_rng(seed + 1000).random(n_rows) < expit(log_odds)).astype(int)
    return X, y, expit(log_odds)


def slope_of(probabilities, y):
    logits = np.log(probabilities) - np.log1p(-probabilities)
    return LogisticRegression(C=1e6).fit(logits[:, np.newaxis], y).coef_[0, 0]


@each_ensemble
def test_calibration_slope_and_ranking_where_the_truth_is_known(ensemble):
    X_new, y_new, truth = known_truth(20_000, seed=1)
    slopes, errors, aucs, plain = [], [], [], []
    for seed in range(5):
        X, y, _ = known_truth(1500, seed=10 + seed)
        probabilities = clone(ensemble).fit(X, y).predict_proba(X_new)[:, 1]
        slopes.append(slope_of(probabilities, y_new))
        errors.append(probabilities.mean() - truth.mean())
        aucs.append(roc_auc_score(y_new, probabilities))
        votes = surefoot.AdaBoostClassifier(n_estimators=100, calibrate=False).fit(X, y).decision_function(X_new)
        plain.append(roc_auc_score(y_new, votes))
    assert 0.8 < np.mean(slopes) < 1.25
    assert abs(np.mean(errors)) < 0.03
    assert np.mean(aucs) > np.mean(plain) - 0.01


@each_ensemble
def test_probabilities_of_members_are_calibrated_too(ensemble):
    X, y, _ = known_truth(3000, seed=10)
    X_new, y_new, _ = known_truth(20_000, seed=1)
    model = clone(ensemble).fit(X, y)
    if isinstance(model, surefoot.AdaBoostClassifier):
        pytest.skip("has no members")
    slopes = [slope_of(member.predict_proba(X_new)[:, 1], y_new) for member in model.estimators_]
    assert 0.8 < np.mean(slopes) < 1.25


def test_several_classes_are_calibrated():
    generator = np.random.default_rng(0)
    X, X_new = generator.normal(size=(2000, 6)), generator.normal(size=(10_000, 6))
    effects = np.array([[1.0, 0, 0, -1], [0, 1.0, -1, 0], [0, 0, 1.0, -1], [0] * 4, [0] * 4, [0] * 4])
    y, y_new = (
        (softmax(table @ effects, axis=1).cumsum(axis=1) < generator.random((len(table), 1))).sum(axis=1)
        for table in (X, X_new)
    )
    for ensemble in ENSEMBLES[1:3]:
        probabilities = clone(ensemble).fit(X, y).predict_proba(X_new)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert 0.8 < slope_of(probabilities.ravel(), (y_new[:, np.newaxis] == np.arange(4)).ravel()) < 1.25
        assert log_loss(y_new, probabilities) < log_loss(y_new, np.tile(np.bincount(y) / len(y), (len(y_new), 1)))


@pytest.mark.parametrize("n_classes", [2, 3, 7, 40])
def test_links_are_those_of_a_general_optimiser(n_classes):
    generator = np.random.default_rng(n_classes)
    fractions, weights = generator.dirichlet(np.ones(n_classes), 400), generator.random(400)
    codes = np.array([generator.choice(n_classes, p=p) for p in softmax(4 * fractions, axis=1)])
    link = fit_link(fractions, codes, weights)
    targets = smooth_targets(codes, weights * 400 / weights.sum(), n_classes)

    def loss(parameters):
        return -(
            weights[:, np.newaxis] * targets * log_softmax(parameters[0] * fractions + parameters[1:], axis=1)
        ).sum()

    best = minimize(loss, np.zeros(n_classes + 1), tol=1e-10)
    assert loss(np.append(link.scale, link.offsets)) <= best.fun + 1e-9
    assert link.scale == pytest.approx(best.x[0], rel=1e-3)


@pytest.mark.parametrize("n_classes", [2, 7, 60])
@pytest.mark.parametrize("certainty", [0.0, 6.0, 200.0])
def test_links_of_many_classes_are_those_of_newtons_method(n_classes, certainty, monkeypatch):
    generator = np.random.default_rng(n_classes)
    fractions, weights = generator.dirichlet(np.full(n_classes, 0.3), 1000), generator.random(1000)
    probabilities = softmax(certainty * fractions + generator.normal(size=n_classes), axis=1)
    codes = np.minimum((probabilities.cumsum(axis=1) < generator.random((1000, 1))).sum(axis=1), n_classes - 1)
    monkeypatch.setattr(vote_link, "MAX_NEWTON_CLASSES", n_classes)
    newton = fit_link(fractions, codes, weights)
    monkeypatch.setattr(vote_link, "MAX_NEWTON_CLASSES", 0)
    quasi_newton = fit_link(fractions, codes, weights)
    assert quasi_newton.scale == pytest.approx(newton.scale, rel=1e-4)
    np.testing.assert_allclose(quasi_newton.of_fractions(fractions), newton.of_fractions(fractions), atol=1e-6)


@pytest.mark.parametrize("totals", [[100.0, 100, 100, 300, 600], [100.0, 100, 100, 100, 100]])
def test_links_of_classes_without_rows_are_those_of_a_general_optimiser(totals):
    generator = np.random.default_rng(0)
    fractions, codes = generator.dirichlet(np.ones(5), 300), generator.integers(0, 3, 300)  # never 3 or 4
    fractions[np.arange(300), codes] += 0.3
    totals = np.array(totals)
    link = fit_link(fractions, codes, np.ones(300), totals)
    targets, logs = smooth_targets(codes, np.ones(300), 5), np.log(smooth_frequencies(totals))

    def loss(parameters):
        return -(targets * log_softmax(parameters[0] * fractions + parameters[1] * logs, axis=1)).sum()

    best = minimize(loss, np.zeros(2), tol=1e-10).x
    assert link.scale == pytest.approx(best[0], rel=1e-3)
    np.testing.assert_allclose(link.offsets, best[1] * (logs - logs.mean()), atol=1e-3)


def test_classes_without_a_row_to_calibrate_on_are_as_likely_as_others_of_their_frequency():
    generator = np.random.default_rng(0)
    fractions, codes = generator.dirichlet(np.ones(60), 3000), np.repeat(np.arange(60), 50)
    fractions[np.arange(3000), codes] += 0.1
    few = np.flatnonzero(codes < 40)[::20]
    link = fit_link(fractions[few], codes[few], np.ones(len(few)), np.full(60, 50.0))
    likelihoods = link.of_fractions(fractions)[np.arange(3000), codes]
    assert likelihoods[codes >= 40].mean() == pytest.approx(likelihoods[codes < 40].mean(), rel=0.1)
    free = fit_link(fractions[few], codes[few], np.ones(len(few))).of_fractions(fractions)[np.arange(3000), codes]
    assert free[codes >= 40].mean() < 0.8 * free[codes < 40].mean()  # offsets fitted without rows are too low


def test_probabilities_of_nearly_separated_classes_are_not_underconfident():
    slopes = []
    for seed in range(5):
        X, y = make_classification(4000, 20, n_informative=8, class_sep=3.0, flip_y=0.005, random_state=seed)
        model = surefoot.BaggedBoostClassifier(n_estimators=100, random_state=seed).fit(X[:500], y[:500])
        slopes.append(slope_of(model.predict_proba(X[500:])[:, 1], y[500:]))
    assert 0.9 < np.mean(slopes) < 1.1  # larger with Platt's targets


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_targets_move_about_half_a_row_of_each_class(n_classes):
    targets = smooth_targets(np.arange(200 * n_classes) % n_classes, np.ones(200 * n_classes), n_classes)
    np.testing.assert_allclose(targets.sum(axis=1), 1)
    assert len(targets) - targets.max(axis=1).sum() == pytest.approx(n_classes / 2, rel=0.01)


@pytest.mark.parametrize("n_classes", [2, 9])
def test_smoothed_frequencies_are_the_means_of_smoothed_targets(n_classes):
    codes = np.random.default_rng(0).integers(0, n_classes, 50)
    means = smooth_targets(codes, np.ones(50), n_classes).mean(axis=0)
    np.testing.assert_allclose(smooth_frequencies(np.bincount(codes, minlength=n_classes)), means)


def test_the_number_of_votes_is_bounded_for_any_number_of_classes():
    n_classes = 3000
    y = np.tile(np.arange(n_classes, dtype=np.int32), 2)
    problem = Problem(Columns.from_array(y[:, np.newaxis] + 0.0), np.arange(n_classes), y, None, None)
    assignment = assign_all_rows(y, np.arange(len(y)))
    votes = collect_votes(problem, assignment, assign_folds(y[assignment.order])[:1], [EvenVote(n_classes)], 1)
    assert votes.fractions.size <= MAX_VOTES
    assert len(votes.codes) > 0.9 * min(MAX_VOTES // n_classes, len(y) // 10)
    np.testing.assert_array_equal(votes.class_totals, np.full(n_classes, 2.0))
    assert votes.weights.sum() == pytest.approx(len(y) // 10)  # the rows kept represent all held-out rows


class EvenVote:
    """A committee with the same vote for every class."""

    def __init__(self, n_classes):
        self.n_classes = n_classes

    def tally(self, values):
        return np.full((self.n_classes, values.shape[1]), 1 / self.n_classes)


def test_votes_that_separate_the_classes_or_are_always_wrong_have_finite_links():
    fractions, codes = np.array([[1.0, 0.0], [0.0, 1.0]] * 20), np.array([0, 1] * 20)
    right = fit_link(fractions, codes, np.ones(40)).of_fractions(fractions)
    np.testing.assert_allclose(right[:, 1], np.where(codes == 1, 20.5 / 21, 0.5 / 21))  # the targets, reached exactly
    wrong = fit_link(fractions[:, ::-1], codes, np.ones(40))
    assert wrong.scale == 0
    np.testing.assert_allclose(wrong.of_fractions(fractions), 0.5)


def test_shrinkage_is_that_of_independent_members_in_closed_form():
    generator = np.random.default_rng(0)
    n_rows, n_members, noise = 40_000, 6, 0.5
    signal = generator.normal(size=n_rows)
    votes = signal + noise * generator.normal(size=(n_members, n_rows))
    is_new = generator.random((n_members, n_rows)) < 0.5
    is_new[0] |= ~is_new.any(axis=0)
    two = np.stack([-votes, votes], axis=2)
    kept = shrinkage(OutOfSampleVotes(two, is_new, np.zeros(n_rows, int), np.ones(n_rows)), np.zeros(2), n_members)
    counts = is_new.sum(axis=0)
    expected = (1 + noise**2 / n_members) / (1 + noise**2 / counts)
    np.testing.assert_allclose(kept, expected, atol=0.02)


def test_the_link_of_members_uses_out_of_sample_votes_only():
    votes = np.array([[[0.9, 0.1], [0.1, 0.9]] * 10, [[0.1, 0.9], [0.9, 0.1]] * 10])  # the second is always wrong
    is_new = np.array([[True] * 20, [False] * 20])
    codes = np.array([0, 1] * 10)
    assert member_link(OutOfSampleVotes(votes, is_new, codes, np.ones(20))).scale > 0
    assert member_link(OutOfSampleVotes(votes, ~is_new, codes, np.ones(20))).scale == 0


def test_each_member_of_a_small_table_leaves_out_another_fold():
    codes = np.repeat([0, 1], [300, 40]).astype(np.int32)
    counts = np.array([member.counts() for member in assign_folds(codes)])
    assert (counts == 0).sum(axis=0).tolist() == [1] * 340
    assert [(fold[300:] == 0).sum() for fold in counts] == [4] * 10  # stratified


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("problem", [two_classes, several_classes])
def test_votes_do_not_depend_on_calibration(booster, problem):
    X, y = problem()
    one, other = (small_booster(booster, calibrate=calibrate).fit(X, y) for calibrate in (True, False))
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()
    assert one.predict(X).tobytes() == other.predict(X).tobytes()
    assert one.margins(X, y).tobytes() == other.margins(X, y).tobytes()


def test_votes_equal_those_of_stored_models_to_the_byte():
    stored = json.loads((STORED / "1" / ANSWERS).read_text(encoding="utf-8"))
    for name in ("stumps", "trees", "majority", "bagged", "larsen_ritzert"):
        model = small_model(name)
        X = rows_for(model, read_rows(STORED / "1"))
        for method in ("predict", "decision_function"):
            assert getattr(model, method)(X).tolist() == stored[name][method]


@pytest.mark.parametrize("booster", BOOSTERS)
def test_probabilities_are_the_same_for_any_number_of_jobs(booster):
    X, y = two_classes(n_rows=300)
    one, two = (small_booster(booster, n_jobs=n_jobs).fit(X, y).predict_proba(X) for n_jobs in (1, 2))
    assert one.tobytes() == two.tobytes()


@each_ensemble
def test_weights_of_rows_and_classes_shift_the_probabilities(ensemble):
    X, y, truth = known_truth(4000, seed=5)
    heavy = np.where(y == 1, 4.0, 1.0)
    expected = 4 * truth / (4 * truth + 1 - truth)  # positives four times as frequent
    by_row = clone(ensemble).fit(X, y, sample_weight=heavy).predict_proba(X)[:, 1]
    by_class = clone(ensemble).set_params(class_weight={0: 1, 1: 4}).fit(X, y).predict_proba(X)[:, 1]
    assert abs(by_row.mean() - expected.mean()) < 0.04
    np.testing.assert_allclose(by_class, by_row, rtol=1e-9)
    np.testing.assert_allclose(
        clone(ensemble).fit(X, y, sample_weight=1e-6 * heavy).predict_proba(X)[:, 1], by_row, rtol=1e-6
    )


@pytest.mark.parametrize("booster", BOOSTERS)
def test_rows_without_weight_do_not_calibrate(booster):
    X, y = two_classes(n_rows=240)
    weights = (np.arange(240) % 2).astype(float)
    weighted = small_booster(booster).fit(X, y, sample_weight=weights).predict_proba(X)
    without = small_booster(booster).fit(X[weights > 0], y[weights > 0]).predict_proba(X)
    np.testing.assert_allclose(weighted, without, rtol=1e-12)


def test_a_majority_of_one_part_is_calibrated_as_adaboost():
    X, y = two_classes(n_rows=300)
    one = surefoot.MajorityBoostClassifier(n_members=1, n_estimators=10, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        one.predict_proba(X), surefoot.AdaBoostClassifier(n_estimators=10).fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize("booster", BOOSTERS)
def test_calibrate_must_be_true_or_false(booster):
    X, y = two_classes()
    with pytest.raises(surefoot.ParameterError, match="calibrate must be True or False"):
        booster(calibrate="yes").fit(X, y)


def test_two_rows_are_enough():
    X = [[0.0], [1.0]]
    probabilities = surefoot.AdaBoostClassifier(n_estimators=2).fit(X, [0, 1]).predict_proba(X)
    np.testing.assert_allclose(probabilities, 0.5)  # each fold has one row, and its model knows only the other class
