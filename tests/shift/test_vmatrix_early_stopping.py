"""Trial models find the number of rounds on held-out rows; the model is then trained on all rows."""

import numpy as np
import pytest
from reference.vmatrix_boosters import VMATRIX_BOOSTERS, answers, problem, small
from reference.vmatrix_trees import blended

from surefoot import GradientBoostingRegressor, VMatrix, VMatrixBoostingClassifier, VMatrixBoostingRegressor
from surefoot._random import seed_from, stream_key
from surefoot.data.held_out import MAX_TRIALS, split_held_out
from surefoot.shift.base import HOLD_OUT
from surefoot.shift.training import HoldOut

each_estimator = pytest.mark.parametrize("estimator", VMATRIX_BOOSTERS)
SHARED = ("early_stopping", "validation_fraction", "n_iter_no_change")


@each_estimator
def test_defaults_are_those_of_gradient_boosting(estimator):
    ours, theirs = estimator().get_params(), GradientBoostingRegressor().get_params()
    assert {name: ours[name] for name in SHARED} == {name: theirs[name] for name in SHARED}


def few_values(n_rows=120, seed=0):
    """A table whose bins are the same for any of its parts."""
    rng = np.random.default_rng(seed)
    X, T = rng.integers(0, 4, (n_rows, 2)).astype(float), rng.integers(1, 5, (30, 2)).astype(float)
    return X, X[:, 0] - X[:, 1] ** 2 / 3 + 2 * rng.normal(size=n_rows), T


@pytest.mark.parametrize(("blend", "kind"), [(0.5, "mean"), (1.0, "joint"), (0.7, "product"), (0.0, "mean")])
def test_losses_are_the_mean_of_models_that_hold_rows_out(blend, kind):
    X, y, T = few_values()
    settings = {"blend": blend, "learning_rate": 0.5, "n_estimators": 30, "random_state": 3}
    stopping = {"validation_fraction": 0.2, "n_iter_no_change": 4}
    model = VMatrixBoostingRegressor(kind=kind, **settings, **stopping).fit(X, y, X_target=T)
    V = VMatrix.from_target(X, T, kind=kind).dense()
    losses = np.zeros(len(model.validation_loss_))
    key = stream_key(seed_from(3), HOLD_OUT)
    for part in range(MAX_TRIALS):
        train, held_out = split_held_out(np.arange(120), key, 0.2, part=part)
        loss = blended(V[np.ix_(held_out, held_out)], blend)
        for n_rounds in range(1, len(losses) + 1):
            trial = VMatrixBoostingRegressor(early_stopping=False, **{**settings, "n_estimators": n_rounds})
            trial.fit(X[train], y[train], V=V[np.ix_(train, train)])
            residuals = y[held_out] - trial.predict(X[held_out])
            losses[n_rounds - 1] += residuals @ loss @ residuals / len(held_out) / MAX_TRIALS
    np.testing.assert_allclose(model.validation_loss_, losses, rtol=1e-7)
    assert model.n_iter_ == np.argmin(losses) + 1
    assert len(losses) == min(model.n_iter_ + 4, 30)


@each_estimator
@pytest.mark.parametrize("early_stopping", ["auto", True])
def test_the_model_is_trained_on_all_rows(estimator, early_stopping):
    X, y, T = problem(estimator, n_rows=150)
    settings = {"n_estimators": 60, "learning_rate": 0.5, "n_iter_no_change": 3}
    model = small(estimator, early_stopping=early_stopping, **settings).fit(X, y, X_target=T)
    assert 1 <= model.n_iter_ < 60
    whole = small(estimator, **{**settings, "n_estimators": model.n_iter_}).fit(X, y, X_target=T)
    np.testing.assert_array_equal(answers(model, X), answers(whole, X))
    assert len(whole.validation_loss_) == 0


def test_weightless_rows_are_neither_trained_on_nor_held_out():
    X, y, T = few_values()
    weights = (np.arange(120) % 4 > 0).astype(float)
    y[weights == 0] = 1e6
    model = small(early_stopping=True, n_estimators=20, learning_rate=0.5).fit(X, y, weights, X_target=T)
    assert model.validation_loss_.max() < 100
    assert np.abs(model.predict(X)).max() < 100


@pytest.mark.parametrize(
    ("n_rows", "fraction", "n_trials"),
    [(9, 0.1, 0), (10, 0.1, 5), (800, 0.1, 5), (2000, 0.1, 2), (4000, 0.1, 1), (60, 0.5, 2)],
)
def test_there_are_as_many_trials_as_give_400_held_out_rows(n_rows, fraction, n_trials):
    splits = HoldOut(fraction, stream_key(0, HOLD_OUT), None).splits(np.arange(n_rows))
    assert len(splits) == n_trials
    for train, held_out in splits:
        assert sorted([*train, *held_out]) == list(range(n_rows))
    held_out = [row for _, rows in splits for row in rows]
    assert len(set(held_out)) == len(held_out)


def test_each_class_is_held_out_in_its_fraction():
    classes = np.repeat([0, 1, 2], [100, 60, 40])
    for _, held_out in HoldOut(0.1, stream_key(0, HOLD_OUT), classes).splits(np.arange(200)):
        assert np.bincount(classes[held_out]).tolist() == [10, 6, 4]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_class_has_its_own_number_of_rounds(n_classes):
    X, y, T = problem(VMatrixBoostingClassifier, n_rows=150, n_classes=n_classes)
    settings = {"early_stopping": True, "n_estimators": 60, "learning_rate": 0.5, "n_iter_no_change": 3}
    model = small(VMatrixBoostingClassifier, **settings).fit(X, y, X_target=T)
    losses = [model.validation_loss_] if n_classes == 2 else model.validation_loss_
    assert len(losses) == len(model._boosted)
    best = [int(np.argmin(loss)) + 1 for loss in losses]
    assert [boosted.forest.n_trees for boosted in model._boosted] == best
    assert model.n_iter_ == max(best)


@each_estimator
def test_a_table_that_is_too_small_is_trained_without(estimator):
    X, y, _ = problem(estimator, n_rows=9)
    model = small(estimator, early_stopping=True, min_samples_leaf=1).fit(X, y)
    assert model.n_iter_ == 6
    assert len(model.validation_loss_) == 0


@pytest.mark.filterwarnings("ignore::surefoot.CoverageWarning")
@pytest.mark.parametrize("n_dominated", [1, 3, 30])
@pytest.mark.parametrize("blend", [0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_trials_without_dominated_rows_are_left_out(n_dominated, blend, seed):
    """The pure loss depends on dominated rows alone; a trial needs one to train on and one to hold out."""
    line = np.arange(60.0)[:, np.newaxis]
    y = np.sin(line[:, 0])
    model = small(early_stopping=True, random_state=seed, blend=blend, orientation="lower", kind="mean")
    model.fit(line, y, X_target=[[n_dominated - 1.0]] * 2)
    assert np.isfinite(model.predict(line)).all()
    splits = HoldOut(0.1, stream_key(seed_from(seed), HOLD_OUT), None).splits(np.arange(60))
    n_usable = sum((train < n_dominated).any() and (held_out < n_dominated).any() for train, held_out in splits)
    assert (len(model.validation_loss_) > 0) == (blend < 1 or n_usable > 0)
    assert n_dominated > 1 or n_usable == 0


def test_it_stops_where_there_is_nothing_to_split():
    X, y, _ = problem()
    for settings in ({}, {"early_stopping": True}):
        assert small(n_estimators=500, min_gain=1e9, **settings).fit(X, y).n_iter_ == 1
        constant = small(n_estimators=500, **settings).fit(np.ones((30, 2)), np.arange(30.0))
        assert constant.n_iter_ == 1
        np.testing.assert_allclose(constant.predict(np.ones((1, 2))), 14.5)


def test_progress_shows_the_held_out_loss(capsys):
    X, y, _ = problem()
    small(verbose=1, early_stopping=True).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "[VMatrixBoostingRegressor] trial model: done" in lines[0]
    assert "held-out loss" in lines[0]
    assert "member 1 of 1: done" in lines[1]
