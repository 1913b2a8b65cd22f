"""Where the target comes from, when boosting stops, and what ``blend`` does at its ends."""

import numpy as np
import pandas as pd
import pytest
from reference.vmatrix_boosters import VMATRIX_BOOSTERS, answers, problem, small
from reference.vmatrix_trees import blended
from scipy.stats import norm

from surefoot import CoverageWarning, VMatrix, VMatrixBoostingRegressor
from surefoot._random import random_permutation, seed_from, stream_key
from surefoot.shift.base import HOLD_OUT, TARGET_ROWS

each_estimator = pytest.mark.parametrize("estimator", VMATRIX_BOOSTERS)
SOME = {"blend": 0.7, "orientation": "both"}


@each_estimator
@pytest.mark.parametrize("kind", ["mean", "joint", "product"])
def test_without_a_target_the_training_rows_stand_in(estimator, kind):
    X, y, _ = problem(estimator)
    settings = {**SOME, "kind": kind, "max_target": len(X)}
    one, other = small(estimator, **settings).fit(X, y), small(estimator, **settings).fit(X, y, X_target=X)
    np.testing.assert_array_equal(answers(one, X), answers(other, X))
    assert one.coverage_ == other.coverage_ > 0.9


def test_rows_beyond_max_target_are_drawn_by_the_seed():
    X, y, T = problem()
    T = np.concatenate([T, T + 0.3])
    drawn = small(max_target=30, **SOME).fit(X, y, X_target=T)
    again = small(max_target=30, **SOME).fit(X, y, X_target=T)
    np.testing.assert_array_equal(drawn.predict(X), again.predict(X))
    chosen = random_permutation(stream_key(seed_from(0), TARGET_ROWS), len(T))[:30]
    assert len(set(chosen.tolist())) == 30
    by_hand = small(**SOME).fit(X, y, X_target=T[chosen])
    np.testing.assert_allclose(drawn.predict(X), by_hand.predict(X), atol=1e-10)
    assert not np.array_equal(drawn.predict(X), small(**SOME).fit(X, y, X_target=T).predict(X))
    other_seed = small(max_target=30, random_state=1, **SOME).fit(X, y, X_target=T)
    assert not np.array_equal(drawn.predict(X), other_seed.predict(X))


def test_the_order_of_the_target_does_not_matter():
    X, y, T = problem()
    for kind in ("mean", "joint"):
        one, other = (small(kind=kind, **SOME).fit(X, y, X_target=rows).predict(X) for rows in (T, T[::-1]))
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_the_product_is_close_to_the_exact_one_for_many_target_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + X[:, 1] ** 2
    T = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 20_000)  # dependent: joint and product are far apart
    settings = {"blend": 1.0, "max_target": 20_000, "l2_regularization": 10.0, "learning_rate": 1.0, "n_estimators": 1}
    exact, distribution = (
        small(**settings).fit(X, y, V=V).predict(X)
        for V in (VMatrix.from_target(X, T, kind="product"), VMatrix.from_distributions(X, [norm(0, 1)] * 2))
    )
    product, joint = (
        small(**settings, kind=kind, orientation="lower").fit(X, y, X_target=T).predict(X)
        for kind in ("product", "joint")
    )
    spread = exact.std()
    assert np.sqrt(np.mean((product - exact) ** 2)) < 0.15 * spread
    assert np.sqrt(np.mean((product - distribution) ** 2)) < 0.15 * spread
    assert np.sqrt(np.mean((joint - exact) ** 2)) > 0.3 * spread


@each_estimator
def test_at_its_ends_blend_is_the_matrix_or_nothing_of_it(estimator):
    X, y, T = problem(estimator)
    V = VMatrix.from_target(X, T, orientation="both").dense()
    plain = answers(small(estimator, blend=0.0).fit(X, y), X)
    for fit in ({"X_target": T}, {"V": V}, {"X_target": X + 1e6}):
        np.testing.assert_array_equal(plain, answers(small(estimator, blend=0.0).fit(X, y, **fit), X))
    np.testing.assert_allclose(plain, answers(small(estimator, blend=1.0).fit(X, y, V=np.eye(len(X))), X), atol=1e-9)
    paper = small(estimator, blend=1.0).fit(X, y, V=V)
    assert not np.allclose(plain, answers(paper, X), atol=1e-3)
    # a blend is a matrix of its own
    half = blended(V, 0.5)
    mixed, by_hand = small(estimator, blend=0.5).fit(X, y, V=V), small(estimator, blend=1.0).fit(X, y, V=half)
    np.testing.assert_allclose(answers(mixed, X), answers(by_hand, X), atol=1e-9)


@each_estimator
def test_plain_squares_see_every_row(estimator):
    X, y, _ = problem(estimator)
    model = small(estimator, blend=0.3, kind="joint", orientation="lower")
    with pytest.warns(CoverageWarning):
        model.fit(X, y, X_target=X[np.argsort(X.sum(axis=1))[:25]])
    assert 0 < model.coverage_ < 0.5
    assert model.set_params(blend=0.0).fit(X, y).coverage_ == 1.0  # not that of the fit before


def test_held_out_rows_stop_it_by_their_blended_loss():
    X, y, T = problem(n_rows=200)
    settings = {"early_stopping": True, "validation_fraction": 0.25, "n_iter_no_change": 5, "learning_rate": 0.5}
    model = VMatrixBoostingRegressor(n_estimators=300, random_state=3, kind="mean", **SOME, **settings)
    model.fit(X, y, X_target=T)
    losses = model.validation_loss_
    assert model.n_trees_ == np.argmin(losses) + 1
    assert len(losses) == model.n_trees_ + 5 < 300
    order = random_permutation(stream_key(seed_from(3), HOLD_OUT), 200)
    held_out = np.sort(order[:50])
    V = VMatrix.from_target(X[held_out], T, kind="mean", orientation="both").dense()
    V = blended(V, 0.7)
    residuals = y[held_out] - model.predict(X[held_out])
    assert residuals @ V @ residuals / 50 == pytest.approx(losses[model.n_trees_ - 1])
    # the held-out rows say when to stop, and nothing else
    others = y.copy()
    others[held_out] = others[held_out][::-1]
    first = model.set_params(n_estimators=1).fit(X, y, X_target=T).predict(X)
    np.testing.assert_array_equal(first, model.fit(X, others, X_target=T).predict(X))


@pytest.mark.parametrize("n_rows", [9_999, 10_000, 10_001])
def test_rows_are_held_out_by_themselves_above_ten_thousand(n_rows):
    X, y, _ = problem(n_rows=n_rows, n_columns=1)
    model = small(n_estimators=1, max_target=10).fit(X, y)
    assert len(model.validation_loss_) == (1 if n_rows > 10_000 else 0)
    assert len(small(n_estimators=1, max_target=10, early_stopping=False).fit(X, y).validation_loss_) == 0


def test_without_anything_to_gain_it_ends():
    X, y, _ = problem()
    assert small(n_estimators=500, min_gain=1e9).fit(X, y).n_trees_ == 1
    constant = small(n_estimators=500).fit(np.ones((30, 2)), np.arange(30.0))
    assert constant.n_trees_ == 1
    np.testing.assert_allclose(constant.predict(np.ones((1, 2))), 14.5)


def test_progress_is_told(capsys):
    X, y, _ = problem()
    small(verbose=1, early_stopping=True).fit(X, y)
    said = capsys.readouterr().err
    assert "VMatrixBoostingRegressor" in said
    assert "held-out loss" in said


def test_columns_of_frames_are_matched_by_name():
    X, y, T = problem(VMATRIX_BOOSTERS[0])
    for names in ([f"c{j}" for j in range(X.shape[1])], list(range(X.shape[1]))):
        rows, target = pd.DataFrame(X, columns=names), pd.DataFrame(T, columns=names)
        turned = target[names[::-1]]
        one, other = (small(blend=0.5).fit(rows, y, X_target=t) for t in (target, turned))
        np.testing.assert_array_equal(one.predict(rows), other.predict(rows))
        v, w = (VMatrix.from_target(rows, t) for t in (target, turned))
        np.testing.assert_array_equal(v.diagonal(), w.diagonal())


@pytest.mark.parametrize("scale", [1e-6, 100.0, 1e6])
def test_the_scale_of_weights_and_copies_of_the_table_do_not_change_the_blend(scale):
    X, y, T = problem(VMATRIX_BOOSTERS[0])
    settings = {"blend": 0.5, "l2_regularization": 0.0, "min_samples_leaf": 1}
    one = small(**settings).fit(X, y, X_target=T).predict(X)
    np.testing.assert_allclose(
        small(**settings).fit(X, y, np.full(len(X), scale), X_target=T).predict(X), one, atol=1e-8
    )
    twice = small(**settings).fit(np.tile(X, (2, 1)), np.tile(y, 2), X_target=T).predict(X)
    np.testing.assert_allclose(twice, one, atol=1e-8)
