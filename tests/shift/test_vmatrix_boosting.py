"""The trees: with the identity those of squared-loss boosting, with other matrices those of brute force."""

import numpy as np
import pandas as pd
import pytest
from reference.vmatrix_boosters import naive_boosting, problem, small
from reference.vmatrix_trees import blended, naive_v, score
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from surefoot import VMatrix, VMatrixBoostingRegressor

SQUARES = {} if GradientBoostingRegressor().criterion == "deprecated" else {"criterion": "squared_error"}
LONG = {"n_estimators": 60, "learning_rate": 0.1, "early_stopping": False}
PLAIN = {"by blend": {"blend": 0.0}, "by its matrix": {"blend": 1.0}, "half of each": {"blend": 0.5}}


def rounded(n=400, seed=0, values=8):
    """Columns of few values, all of which are in most leaves, so that thresholds are the same in other libraries."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, 4)) / 4.0
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def own_matrix(name, n_rows):
    return {} if name == "by blend" else {"V": np.eye(n_rows)}


@pytest.mark.parametrize("name", PLAIN)
def test_with_the_identity_it_agrees_with_scikit_learn(name):
    X, y = rounded()
    theirs = GradientBoostingRegressor(
        n_estimators=60, learning_rate=0.1, max_leaf_nodes=8, max_depth=10, min_samples_leaf=20,
        random_state=0, **SQUARES,
    ).fit(X, y)  # fmt: skip
    ours = VMatrixBoostingRegressor(
        **LONG, **PLAIN[name], max_leaf_nodes=8, min_samples_leaf=20, l2_regularization=0.0
    ).fit(X, y, **own_matrix(name, len(X)))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-8)
    new = rounded(seed=1)[0] + np.random.default_rng(2).uniform(-0.1, 0.1, X.shape)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=0, atol=1e-8)
    importances = np.array(
        [stage[0].tree_.compute_feature_importances(normalize=False) for stage in theirs.estimators_]
    )
    np.testing.assert_allclose(ours.feature_importances_, importances.sum(0) / importances.sum(), atol=1e-6)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("l2", [0.5, 10.0])
def test_with_the_identity_l2_is_twice_that_of_squared_loss(name, l2):
    X, y = rounded(600)
    X[::9, 1] = np.nan
    settings = {"max_leaf_nodes": 8, "min_samples_leaf": 15, "learning_rate": 0.1}
    with threadpool_limits(1):
        theirs = HistGradientBoostingRegressor(
            max_iter=60, l2_regularization=l2 / 2, max_depth=10, early_stopping=False, **settings
        ).fit(X, y)
    ours = small(n_estimators=60, l2_regularization=l2, early_stopping=False, **settings, **PLAIN[name])
    ours.fit(X, y, **own_matrix(name, len(X)))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=2e-5)  # theirs are single precision
    new = rounded(seed=3)[0]
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=0, atol=2e-5)


@pytest.mark.parametrize("kind", ["mean", "joint", "product"])
@pytest.mark.parametrize(("blend", "orientation"), [(1.0, "lower"), (0.4, "both")])
def test_the_rounds_are_those_of_brute_force(kind, blend, orientation):
    rng = np.random.default_rng(4)
    X, T = rng.integers(0, 5, (28, 2)).astype(float), rng.integers(2, 7, (14, 2)).astype(float)
    y = X[:, 0] - X[:, 1] ** 2 + rng.normal(size=28)
    V = VMatrix.from_target(X, T, kind=kind, orientation=orientation)
    by_hand = naive_v(X, T, kind) if orientation == "lower" else (naive_v(X, T, kind) + naive_v(-X, -T, kind)) / 2
    loss = blended(by_hand, blend)
    rounds = naive_boosting(X, y, loss, 4, 0.3, 4, l2=1.5, least_rows=3)
    settings = {"l2_regularization": 1.5, "learning_rate": 0.3, "max_leaf_nodes": 4, "min_samples_leaf": 3}
    for n_rounds, fitted in enumerate(rounds, start=1):
        model = small(n_estimators=n_rounds, blend=blend, **settings).fit(X, y, V=V)
        np.testing.assert_allclose(model.predict(X), fitted, atol=1e-9)
    same = small(n_estimators=4, blend=blend, kind=kind, orientation=orientation, **settings)
    np.testing.assert_allclose(same.fit(X, y, X_target=T).predict(X), rounds[-1], atol=1e-9)


@pytest.mark.parametrize("kind", ["mean", "joint"])
def test_writing_the_matrix_out_changes_nothing(kind):
    """Above 500 rows the matrix is no longer written out."""
    X, y, T = problem(n_rows=1_300, seed=3)
    X, T = X.round(1), T.round(1)
    X[::11, 1] = np.nan
    settings = {"kind": kind, "orientation": "both", "blend": 0.8}
    by_target = small(**settings).fit(X, y, X_target=T)
    matrix = VMatrix.from_target(X, T, kind=kind, orientation="both")
    np.testing.assert_allclose(by_target.predict(X), small(**settings).fit(X, y, V=matrix).predict(X), atol=1e-10)
    by_dense = small(**settings).fit(X, y, V=matrix.dense())
    np.testing.assert_allclose(by_target.predict(X), by_dense.predict(X), atol=1e-8)
    assert by_target.coverage_ == matrix.coverage


def test_an_asymmetric_matrix_gives_the_model_of_its_symmetric_part():
    X, y, _ = problem(n_rows=50)
    rng = np.random.default_rng(5)
    root = rng.normal(size=(50, 50))
    V = root @ root.T / 50 + 0.5 * np.eye(50)
    skew = rng.normal(size=(50, 50))
    one = small(blend=0.8).fit(X, y, V=V)
    other = small(blend=0.8).fit(X, y, V=V + skew - skew.T)
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-9)
    assert not np.allclose(one.predict(X), small(blend=0.8).fit(X, y, V=np.eye(50)).predict(X), atol=1e-3)


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 7.0, 1e300])
def test_the_scale_of_a_matrix_does_not_matter(scale):
    X, y, T = problem()
    V = VMatrix.from_target(X, T, orientation="both").dense()
    one, other = (small(blend=0.6).fit(X, y, V=matrix).predict(X) for matrix in (V, V * scale))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("missing_means", [-3.0, 3.0])
@pytest.mark.parametrize("blend", [0.0, 0.5, 1.0])
def test_missing_values_go_where_the_score_falls_most(missing_means, blend):
    """Every threshold with missing values on either side, and missing values against all others."""
    rng = np.random.default_rng(6)
    X = rng.integers(0, 6, (40, 1)).astype(float)
    y = X[:, 0] / 4 + 0.1 * rng.normal(size=40)
    gone = rng.random(40) < 0.3
    y[gone], X[gone, 0] = missing_means + 0.1 * rng.normal(size=gone.sum()), np.nan
    V = np.eye(40) if blend == 0 else naive_v(X, X, "mean")
    V = blended(V, blend)
    model = small(n_estimators=1, max_leaf_nodes=2, min_samples_leaf=1, learning_rate=1.0, blend=blend,
                  orientation="lower", kind="mean").fit(X, y)  # fmt: skip
    start = V.sum(axis=0) @ y / V.sum()
    tries = []
    for threshold in range(6):
        for left in (X[:, 0] <= threshold, (X[:, 0] <= threshold) | gone):
            if 0 < left.sum() < 40:
                tries.append(score(V, y - start, [np.flatnonzero(left), np.flatnonzero(~left)], 1.0)[0])
    step = model.predict(X) - start
    leaves = [np.flatnonzero(step == value) for value in np.unique(step)]
    assert score(V, y - start, leaves, 1.0)[0] == pytest.approx(min(tries))


def test_values_beyond_those_of_a_leaf_are_not_treated_as_missing():
    """In the leaf of a = 0 there are only small values of b, and missing values have another target."""
    rng = np.random.default_rng(7)
    a, b = np.repeat([0.0, 1.0], 60), np.concatenate([rng.integers(0, 3, 60), rng.integers(0, 9, 60)]).astype(float)
    b[:20] = np.nan
    y = 20.0 * a + np.where(np.isnan(b), 8.0, 0.0)
    X = np.stack([a, b], axis=1)
    model = small(n_estimators=1, max_leaf_nodes=3, learning_rate=1.0, l2_regularization=0.0, blend=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict([[0, np.nan], [0, 1], [0, 8]]), [8.0, 0.0, 0.0], atol=1e-9)


def test_missing_values_in_new_rows_go_to_the_larger_side():
    rare = (np.random.default_rng(9).random((300, 1)) < 0.2).astype(float)
    for column in (rare, 1 - rare):
        model = small(blend=0.5, orientation="both").fit(column, 5 * rare[:, 0])
        common = column[rare[:, 0] == 0][:1]
        assert model.predict([[np.nan]]) == model.predict(common) != model.predict(1 - common)


@pytest.mark.parametrize("blend", [0.0, 0.6])
def test_categories_are_split_as_well_as_any_prefix_in_the_order_of_slopes(blend):
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 6, 60)
    y = np.array([2.0, -1.0, 0.5, 3.0, -2.0, 0.0])[codes] + 0.3 * rng.normal(size=60)
    X = pd.DataFrame({"c": pd.Categorical.from_codes(codes, list("uvwxyz"))})
    V = naive_v(codes[:, np.newaxis].astype(float), codes[:, np.newaxis].astype(float), "mean", categorical=(0,))
    V = blended(V, blend)
    model = small(n_estimators=1, max_leaf_nodes=2, min_samples_leaf=1, learning_rate=1.0, blend=blend, kind="mean")
    model.fit(X, y)
    start = V.sum(axis=0) @ y / V.sum()
    residuals = y - start
    slopes = 2 * V @ residuals
    value = 2 * V.sum(axis=0) @ residuals / (2 * V.sum() + 1.0)  # of the root; slopes less what it explains
    unexplained = slopes - 2 * V.sum(axis=0) * value
    order = sorted(range(6), key=lambda c: unexplained[codes == c].sum() / ((codes == c).sum() + 10.0))
    tries = []
    for k in range(1, 6):
        left = np.isin(codes, order[:k])
        tries.append(score(V, residuals, [np.flatnonzero(left), np.flatnonzero(~left)], 1.0)[0])
    step = model.predict(X) - start
    leaves = [np.flatnonzero(step == v) for v in np.unique(step)]
    assert len(leaves) == 2
    assert score(V, residuals, leaves, 1.0)[0] == pytest.approx(min(tries))
    assert len(set(model.predict(X).tolist())) == 2
    later = pd.DataFrame({"c": pd.Categorical(["u", None, "new"])})
    assert np.isfinite(model.predict(later)).all()
