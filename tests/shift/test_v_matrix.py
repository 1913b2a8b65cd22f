"""The matrix agrees with its definition: by counting, by closed forms, and by large samples."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.models import FRAMES, make_frame
from reference.vmatrix_trees import naive_v
from scipy.stats import binom, expon, norm, poisson, uniform

from surefoot import VMatrix

KINDS, ORIENTATIONS = ("mean", "joint", "product"), ("lower", "upper", "both")
each_kind = pytest.mark.parametrize("kind", KINDS)
each_orientation = pytest.mark.parametrize("orientation", ORIENTATIONS)
numbers_with_ties = st.one_of(st.integers(-3, 3).map(float), st.just(np.nan), st.sampled_from([0.5, -0.0, 1e308]))
tables = st.integers(1, 4).flatmap(
    lambda d: st.tuples(
        st.integers(1, 9).flatmap(lambda n: arrays(float, (n, d), elements=numbers_with_ties)),
        st.integers(2, 11).flatmap(lambda m: arrays(float, (m, d), elements=numbers_with_ties)),
    )
)


def expected(X, T, kind, orientation, categorical=()):
    """The matrix by definition; the upper orientation is the lower one for negated numbers."""
    turn = np.array([1.0 if k in categorical else -1.0 for k in range(X.shape[1])])
    lower, upper = naive_v(X, T, kind, categorical), naive_v(turn * X, turn * T, kind, categorical)
    return {"lower": lower, "upper": upper, "both": (lower + upper) / 2}[orientation]


def assert_agrees_with_itself(v, seed=0):
    """Products, forms, diagonal and coverage agree with the matrix that is written out."""
    dense = v.dense()
    n = len(dense)
    g = np.random.default_rng(seed).normal(size=n)
    assert v.shape == (n, n)
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_allclose(v @ g, dense @ g, atol=1e-12)
    np.testing.assert_allclose(v.quadratic(g), g @ dense @ g, atol=1e-11)
    np.testing.assert_allclose(v.diagonal(), np.diag(dense), atol=1e-14)
    assert v.coverage == np.mean(np.diag(dense) > 0)


@settings(max_examples=60, deadline=None)
@given(tables=tables, kind=st.sampled_from(KINDS), orientation=st.sampled_from(ORIENTATIONS))
def test_the_matrix_agrees_with_its_definition(tables, kind, orientation):
    X, T = tables
    v = VMatrix.from_target(X, T, kind=kind, orientation=orientation)
    np.testing.assert_allclose(v.dense(), expected(X, T, kind, orientation), atol=1e-12)
    assert_agrees_with_itself(v)


@each_kind
@each_orientation
def test_many_rows_and_targets(kind, orientation):
    rng = np.random.default_rng(1)
    X, T = rng.integers(0, 9, (22, 3)).astype(float), rng.integers(0, 9, (35, 3)).astype(float)
    X[rng.random(X.shape) < 0.2], T[rng.random(T.shape) < 0.2] = np.nan, np.nan
    v = VMatrix.from_target(X, T, kind=kind, orientation=orientation)
    np.testing.assert_allclose(v.dense(), expected(X, T, kind, orientation), atol=1e-12)
    assert_agrees_with_itself(v)


@each_kind
def test_more_rows_than_a_block(kind):
    """Products take blocks of rows: more than one, checked by the definition on a few rows."""
    rng = np.random.default_rng(2)
    X, T = rng.normal(size=(20_000 if kind != "product" else 6_000, 2)), rng.normal(size=(9, 2)) + 1
    v = VMatrix.from_target(X, T, kind=kind, orientation="both")
    g = np.zeros(len(X))
    some = np.array([0, 1, 5_000, len(X) - 1])
    g[some] = [1.0, -2.0, 3.0, 0.5]
    np.testing.assert_allclose((v @ g)[some], expected(X[some], T, kind, "both") @ g[some], atol=1e-12)
    assert v.quadratic(g) == pytest.approx((g * (v @ g)).sum())


@each_kind
@each_orientation
@pytest.mark.parametrize("frame", FRAMES)
def test_categories_by_equality_missing_with_missing(kind, orientation, frame):
    """The target has categories that the rows do not have, and the reverse."""
    labels, target_labels = ["a", "b", None, "c", "a", None, "d"], ["b", "z", None, "a", "z", "b", "c"]
    code = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 3.0, "z": 9.0, None: np.nan}
    x, t = [1.0, 2.0, np.nan, 2.0, 0.0, 1.0, 5.0], [2.0, np.nan, 1.0, 1.0, 3.0, 0.0, 2.0]
    X = np.array([[code[label] for label in labels], x]).T
    T = np.array([[code[label] for label in target_labels], t]).T
    v = VMatrix.from_target(
        make_frame(frame, None, {"c": labels}).assign(x=x) if frame == "pandas" else _polars(labels, x),
        make_frame(frame, None, {"c": target_labels}).assign(x=t) if frame == "pandas" else _polars(target_labels, t),
        kind=kind,
        orientation=orientation,
    )
    np.testing.assert_allclose(v.dense(), expected(X, T, kind, orientation, categorical=(0,)), atol=1e-12)
    assert_agrees_with_itself(v)


def _polars(labels, x):
    import polars as pl

    return pl.DataFrame({"c": pl.Series(labels, dtype=pl.Categorical), "x": pl.Series(x, nan_to_null=True)})


def test_more_categories_than_a_byte_can_count_are_distinct():
    labels = [f"c{k:03d}" for k in range(300)]
    X, T = pd.DataFrame({"c": pd.Categorical(labels)}), pd.DataFrame({"c": pd.Categorical([*labels[::2], "c298"])})
    for kind in KINDS:
        v = VMatrix.from_target(X, T, kind=kind)
        by_hand = np.diag([(1.0 if k % 2 == 0 else 0.0) + (k == 298) for k in range(300)]) / 151
        np.testing.assert_allclose(v.dense(), by_hand, atol=1e-15)


@each_kind
@each_orientation
def test_the_matrix_has_no_negative_eigenvalues(kind, orientation):
    rng = np.random.default_rng(3)
    X, T = rng.integers(0, 5, (30, 3)).astype(float), rng.integers(0, 6, (12, 3)).astype(float)
    X[::7, 1], T[::5, 1] = np.nan, np.nan
    v = VMatrix.from_target(X, T, kind=kind, orientation=orientation)
    assert np.linalg.eigvalsh(v.dense()).min() > -1e-12
    exact = VMatrix.from_distributions(X[:, ::2], [norm(2, 1), poisson(2)], orientation=orientation)
    assert np.linalg.eigvalsh(exact.dense()).min() > -1e-12


@each_kind
@each_orientation
def test_increasing_functions_of_a_feature_change_nothing(kind, orientation):
    rng = np.random.default_rng(4)
    X, T = rng.normal(size=(25, 2)), rng.normal(size=(18, 2))
    X[:5] = T[:5]  # ties between the tables
    X[7, 0] = T[8, 0] = np.nan
    one = VMatrix.from_target(X, T, kind=kind, orientation=orientation)
    other = VMatrix.from_target(np.exp(X) * 7 - 3, np.exp(T) * 7 - 3, kind=kind, orientation=orientation)
    np.testing.assert_array_equal(one.dense(), other.dense())


CLOSED = {
    "normal": (norm(1, 2), lambda x: norm.cdf((1 - x) / 2), lambda x: norm.cdf((x - 1) / 2)),
    "exponential": (expon(scale=2), lambda x: np.exp(-x.clip(0) / 2), lambda x: 1 - np.exp(-x.clip(0) / 2)),
    "uniform": (uniform(0, 4), lambda x: np.clip(1 - x / 4, 0, 1), lambda x: np.clip(x / 4, 0, 1)),
}


@pytest.mark.parametrize("name", CLOSED)
def test_given_distributions_have_their_closed_forms(name):
    distribution, reach_up, reach_down = CLOSED[name]
    x = np.array([-1.0, 0.0, 0.5, 2.0, 2.0, 4.5])
    for orientation, reach, outer in (("lower", reach_up, np.maximum), ("upper", reach_down, np.minimum)):
        v = VMatrix.from_distributions(x[:, np.newaxis], [distribution], orientation=orientation)
        np.testing.assert_allclose(v.dense(), reach(outer.outer(x, x)), atol=1e-14)
        assert_agrees_with_itself(v)


def test_at_jumps_a_value_counts_as_reached():
    x = np.array([-1.0, 0.0, 1.0, 2.0, 2.5, 3.0, 4.0])
    for distribution in (poisson(1.3), binom(3, 0.4), poisson(2, loc=1)):
        chances = [sum(distribution.pmf(k) for k in range(200) if k >= value) for value in x]
        v = VMatrix.from_distributions(x[:, np.newaxis], [distribution])
        np.testing.assert_allclose(v.diagonal(), chances, atol=1e-14)
        np.testing.assert_allclose(v.dense(), np.minimum.outer(chances, chances), atol=1e-14)
        upper = VMatrix.from_distributions(x[:, np.newaxis], [distribution], orientation="upper").diagonal()
        np.testing.assert_allclose(upper, [sum(distribution.pmf(k) for k in range(200) if k <= a) for a in x])


@each_orientation
def test_a_large_target_has_the_matrix_of_its_distribution(orientation):
    rng = np.random.default_rng(5)
    distributions = [norm(0, 1), expon(scale=2), poisson(2), binom(5, 0.3)]
    T = np.stack([d.rvs(100_000, random_state=rng) for d in distributions], axis=1).astype(float)
    X = T[:20] - 0.0
    exact = VMatrix.from_distributions(X, distributions, orientation=orientation).dense()
    for kind in ("joint", "product"):
        estimate = VMatrix.from_target(X, T, kind=kind, orientation=orientation).dense()
        assert np.abs(estimate - exact).max() < 0.008, kind  # five standard errors of a fraction of 100,000


def test_all_kinds_agree_for_one_feature():
    rng = np.random.default_rng(6)
    X, T = rng.integers(0, 5, (15, 1)).astype(float), rng.integers(0, 6, (8, 1)).astype(float)
    mean, joint, product = (VMatrix.from_target(X, T, kind=kind, orientation="both").dense() for kind in KINDS)
    np.testing.assert_allclose(mean, joint)
    np.testing.assert_allclose(mean, product)


def test_the_symmetric_part_of_a_given_matrix_is_kept():
    V = np.random.default_rng(7).normal(size=(6, 6))
    given = V.copy()
    v = VMatrix.from_dense(V)
    np.testing.assert_allclose(v.dense(), (V + V.T) / 2)
    assert_agrees_with_itself(v)
    losses = np.arange(6.0)
    assert v.quadratic(losses) == pytest.approx(losses @ V @ losses)
    v.diagonal()[:] = 0
    v.dense()[:] = 0
    np.testing.assert_array_equal(V, given)
    assert v.quadratic(losses) == pytest.approx(losses @ V @ losses)
    assert "VMatrix(n_rows=6" in repr(v)


def test_tables_are_not_modified_and_may_be_read_only():
    rng = np.random.default_rng(8)
    X, T = rng.normal(size=(9, 2)), rng.normal(size=(7, 2))
    X[0, 0] = np.nan
    before = X.tobytes(), T.tobytes()
    for kind in KINDS:
        plain = VMatrix.from_target(X, T, kind=kind, orientation="both").dense()
        locked, locked_target = np.asfortranarray(X), T.copy()
        locked.flags.writeable = locked_target.flags.writeable = False
        again = VMatrix.from_target(locked, locked_target, kind=kind, orientation="both").dense()
        np.testing.assert_array_equal(plain, again)
        named = [pd.DataFrame(table, columns=["a", "b"]) for table in (X, T)]
        np.testing.assert_array_equal(plain, VMatrix.from_target(*named, kind=kind, orientation="both").dense())
    assert (X.tobytes(), T.tobytes()) == before
