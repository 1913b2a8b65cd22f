"""The target of a fit, and the ends of ``blend``."""

import numpy as np
import pandas as pd
import pytest
from reference.vmatrix_boosters import VMATRIX_BOOSTERS, answers, problem, small
from reference.vmatrix_trees import blended
from scipy.stats import norm

from surefoot import CoverageWarning, VMatrix
from surefoot._random import random_permutation, seed_from, stream_key
from surefoot.shift.base import TARGET_ROWS

each_estimator = pytest.mark.parametrize("estimator", VMATRIX_BOOSTERS)
SOME = {"blend": 0.7, "orientation": "both"}


@each_estimator
@pytest.mark.parametrize("kind", ["mean", "joint", "product"])
def test_without_a_target_the_training_rows_stand_in(estimator, kind):
    X, y, _ = problem(estimator)
    settings = {**SOME, "kind": kind, "max_target_rows": len(X)}
    one, other = small(estimator, **settings).fit(X, y), small(estimator, **settings).fit(X, y, X_target=X)
    np.testing.assert_array_equal(answers(one, X), answers(other, X))
    assert one.coverage_ == other.coverage_ > 0.9


def test_the_seed_draws_max_target_rows():
    X, y, T = problem()
    T = np.concatenate([T, T + 0.3])
    drawn = small(max_target_rows=30, **SOME).fit(X, y, X_target=T)
    again = small(max_target_rows=30, **SOME).fit(X, y, X_target=T)
    np.testing.assert_array_equal(drawn.predict(X), again.predict(X))
    chosen = random_permutation(stream_key(seed_from(0), TARGET_ROWS), len(T))[:30]
    assert len(set(chosen.tolist())) == 30
    by_hand = small(**SOME).fit(X, y, X_target=T[chosen])
    np.testing.assert_allclose(drawn.predict(X), by_hand.predict(X), atol=1e-10)
    assert not np.array_equal(drawn.predict(X), small(**SOME).fit(X, y, X_target=T).predict(X))
    other_seed = small(max_target_rows=30, random_state=1, **SOME).fit(X, y, X_target=T)
    assert not np.array_equal(drawn.predict(X), other_seed.predict(X))


def test_the_order_of_the_target_does_not_matter():
    X, y, T = problem()
    for kind in ("mean", "joint"):
        one, other = (small(kind=kind, **SOME).fit(X, y, X_target=rows).predict(X) for rows in (T, T[::-1]))
        np.testing.assert_allclose(one, other, atol=1e-10)


@each_estimator
@pytest.mark.parametrize("kind", ["mean", "joint", "product"])
@pytest.mark.parametrize("n_rows", [80, 600])
def test_every_kind_is_that_of_vmatrix(estimator, kind, n_rows):
    """A booster with a kind grows, to the byte, the trees of a booster with the VMatrix of that kind."""
    X, y, T = problem(estimator, n_rows=n_rows)
    X, T = X.round(1), T.round(1)
    X[::9, 1], T[::5, 1] = np.nan, np.nan
    for orientation in ("lower", "both"):
        settings = {"kind": kind, "orientation": orientation, "early_stopping": True}
        V = VMatrix.from_target(X, T, kind=kind, orientation=orientation)
        by_kind, by_matrix = (small(estimator, **settings).fit(X, y, **fit) for fit in ({"X_target": T}, {"V": V}))
        assert _trees(by_kind) == _trees(by_matrix)
        assert by_kind.coverage_ == by_matrix.coverage_ == V.coverage


def _trees(model):
    """The bytes of all trees."""
    return [
        array.tobytes()
        for boosted in model._boosted
        for array in (np.array(boosted.start), *vars(boosted.forest).values(), boosted.held_out_loss)
        if isinstance(array, np.ndarray)
    ]


def test_the_product_of_a_large_target_is_that_of_its_distribution():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + X[:, 1] ** 2
    T = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 20_000)  # dependent: joint and product are far apart
    settings = {"blend": 1.0, "max_target_rows": 20_000, "l2_regularization": 10.0, "learning_rate": 1.0}
    settings |= {"n_estimators": 1, "orientation": "lower"}
    product, joint = (small(**settings, kind=kind).fit(X, y, X_target=T).predict(X) for kind in ("product", "joint"))
    exact = small(**settings).fit(X, y, V=VMatrix.from_distributions(X, [norm(0, 1)] * 2)).predict(X)
    assert np.sqrt(np.mean((product - exact) ** 2)) < 0.15 * exact.std()
    assert np.sqrt(np.mean((joint - exact) ** 2)) > 0.3 * exact.std()


@each_estimator
def test_blend_1_is_the_matrix_and_blend_0_squared_loss(estimator):
    X, y, T = problem(estimator)
    V = VMatrix.from_target(X, T, orientation="both").dense()
    plain = answers(small(estimator, blend=0.0).fit(X, y), X)
    for fit in ({"X_target": T}, {"V": V}, {"X_target": X + 1e6}):
        np.testing.assert_array_equal(plain, answers(small(estimator, blend=0.0).fit(X, y, **fit), X))
    np.testing.assert_allclose(plain, answers(small(estimator, blend=1.0).fit(X, y, V=np.eye(len(X))), X), atol=1e-9)
    paper = small(estimator, blend=1.0).fit(X, y, V=V)
    assert not np.allclose(plain, answers(paper, X), atol=1e-3)
    # a blend can be passed as a matrix
    half = blended(V, 0.5)
    mixed, by_hand = small(estimator, blend=0.5).fit(X, y, V=V), small(estimator, blend=1.0).fit(X, y, V=half)
    np.testing.assert_allclose(answers(mixed, X), answers(by_hand, X), atol=1e-9)


@each_estimator
def test_squared_loss_covers_every_row(estimator):
    X, y, _ = problem(estimator)
    model = small(estimator, blend=0.3, kind="joint", orientation="lower")
    with pytest.warns(CoverageWarning):
        model.fit(X, y, X_target=X[np.argsort(X.sum(axis=1))[:25]])
    assert 0 < model.coverage_ < 0.5
    assert model.set_params(blend=0.0).fit(X, y).coverage_ == 1.0  # not that of the fit before


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
