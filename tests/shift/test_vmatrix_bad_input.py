"""Bad input is refused by name and leaves the estimator unchanged; odd input gives finite predictions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.vmatrix_boosters import VMATRIX_BOOSTERS, answers, problem, small
from sklearn.exceptions import NotFittedError

from surefoot import CoverageWarning, DataError, ParameterError, VMatrix, VMatrixBoostingRegressor

each_estimator = pytest.mark.parametrize("estimator", VMATRIX_BOOSTERS)
NAN, INF = float("nan"), float("inf")

BAD = {
    "n_estimators": [0, -3, 2.5, "ten", None, True],
    "max_leaf_nodes": [1, 257, None, 2.5],
    "learning_rate": [0, 0.0, -0.1, 1.5, NAN, "fast", None],
    "l2_regularization": [-1.0, NAN, INF, None, "some"],
    "min_gain": [-1.0, NAN, INF, None],
    "min_samples_leaf": [0, -1, 0.5, None],
    "kind": ["average", None, 1],
    "orientation": ["up", None, 1],
    "blend": [-0.1, 1.1, NAN, None, "half", True],
    "max_target_rows": [1, 0, 2.5, None],
    "max_bins": [1, 256, None],
    "early_stopping": ["yes", None, 1],
    "validation_fraction": [0.0, 1.0, -0.1, NAN],
    "n_iter_no_change": [0, 2.5, None],
    "categorical_features": ["dtype", [7], ["z"]],
    "random_state": ["seed", -1],
}


@each_estimator
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_parameters_are_refused_by_name(estimator, name, value):
    X, y, _ = problem(estimator)
    with pytest.raises(ValueError, match=name if name != "random_state" else r"seed|Seed"):
        small(estimator, **{name: value}).fit(X, y)


X, Y, T = problem()
FRAME = pd.DataFrame(X, columns=list("abc"))
N = len(X)
REFUSED = {
    "X_target with fewer columns": ({"X_target": T[:, :2]}, DataError, "X_target cannot be read.*2 features"),
    "X_target of one row": ({"X_target": T[:1]}, DataError, "X_target has 1 row: at least 2"),
    "X_target without rows": ({"X_target": T[:0]}, DataError, "X_target.*0 sample"),
    "X_target with infinities": ({"X_target": T * INF}, DataError, "X_target.*infinity"),
    "no overlap": ({"X_target": X - 1e6}, DataError, "No row of X is dominated by a row of X_target.*orientation"),
    "V and X_target": ({"V": np.eye(N), "X_target": T}, DataError, "X_target and V exclude each other"),
    "V of another size": ({"V": np.eye(N - 1)}, DataError, "V has 79 rows, but X has 80"),
    "V that is not square": ({"V": np.ones((N, 2))}, DataError, "V must be a square matrix"),
    "V with NaN": ({"V": np.full((N, N), NAN)}, DataError, "V has entries that are not finite"),
    "V with negative eigenvalues": ({"V": np.eye(N) - 0.1}, ParameterError, "V has negative eigenvalues.*identity"),
    "V of words": ({"V": [["a"]]}, DataError, "V must be numbers"),
    "V that is zero": ({"V": np.zeros((N, N))}, DataError, "V is zero on its diagonal"),
    "y with NaN": ({"y": np.where(np.arange(N) == 3, NAN, Y)}, DataError, "y contains NaN"),
    "y with infinities": ({"y": np.where(np.arange(N) == 3, INF, Y)}, DataError, "y contains infinity"),
    "y too short": ({"y": Y[:-1]}, ValueError, "inconsistent numbers"),
    "no y": ({"y": None}, ValueError, "y to be passed"),
    "X with infinities": ({"X": X * INF}, ValueError, "X contains infinity"),
    "X without rows": ({"X": X[:0], "y": Y[:0]}, ValueError, "0 sample"),
    "X_target with other names": (
        {"X": FRAME, "X_target": FRAME.rename(columns={"a": "z"})}, DataError, r"X_target lacks columns.*\['a'\]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("fitted", [False, True])
def test_bad_data_are_refused_and_leave_the_estimator_unchanged(name, fitted):
    changes, error, message = REFUSED[name]
    model = small(blend=0.5, kind="mean", orientation="lower", l2_regularization=2.0)
    before = None
    if fitted:
        before = model.fit(X, Y, X_target=T).predict(X)
    attributes = dict(vars(model))
    with pytest.raises(error, match=f"(?s){message}"):
        model.fit(**({"X": X, "y": Y} | changes))
    assert vars(model) == attributes
    if fitted:
        np.testing.assert_array_equal(model.predict(X), before)
    else:
        with pytest.raises(NotFittedError):
            model.predict(X)
        assert not hasattr(model, "feature_importances_")


@each_estimator
def test_low_coverage_gives_a_warning_with_a_remedy(estimator):
    rows, y, _ = problem(estimator)
    model = small(estimator, blend=0.5, kind="joint", orientation="lower")
    with pytest.warns(CoverageWarning, match=r"Only \d+% of the rows.*kind='mean' or orientation='both'") as caught:
        model.fit(rows, y, X_target=np.quantile(rows, [0.4, 0.5], axis=0))
    assert caught[0].filename == __file__
    assert 0 < model.coverage_ < 0.5
    assert np.isfinite(answers(model, rows)).all()
    model.set_params(kind="mean", orientation="both").fit(rows, y, X_target=T)  # the remedy: no warning
    assert model.coverage_ > 0.5


@pytest.mark.filterwarnings("ignore::surefoot.CoverageWarning")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("blend", [0.5, 1.0])
def test_held_out_rows_that_no_target_dominates(seed, blend):
    line = np.arange(60.0)[:, np.newaxis]
    model = small(early_stopping=True, random_state=seed, blend=blend, orientation="lower", kind="mean")
    model.fit(line, line[:, 0], X_target=[[2.0], [2.0]])
    assert np.isfinite(model.predict(line)).all()
    assert np.isfinite(model.validation_loss_).all()


@pytest.mark.filterwarnings("ignore::surefoot.CoverageWarning")
@pytest.mark.parametrize("l2", [0.0, 1e-300, 1e-12])
@pytest.mark.parametrize("kind", ["mean", "joint", "product"])
@pytest.mark.parametrize("orientation", ["lower", "both"])
def test_a_singular_system_gives_no_nan(l2, kind, orientation):
    singular = {"blend": 1.0, "l2_regularization": l2, "min_samples_leaf": 1, "max_leaf_nodes": 30}
    rows = np.round(X * 2) / 2  # many equal rows
    model = small(kind=kind, orientation=orientation, **singular, learning_rate=1.0, n_estimators=20)
    model.fit(rows, Y, X_target=T[:4] + 1)
    predicted = model.predict(rows)
    assert np.isfinite(predicted).all()
    assert np.abs(predicted).max() < 1e4 * np.abs(Y).max()


MATRICES = {
    "of rank one": np.ones((N, N)),
    "of few rows": np.diag((np.arange(N) < 50).astype(float)),
    "blind to constants": np.eye(N) - 1 / N,
}


@pytest.mark.parametrize("l2", [0.0, 1.0])
@pytest.mark.parametrize("name", MATRICES)
def test_given_singular_matrices_give_no_nan(name, l2):
    model = small(blend=1.0, l2_regularization=l2, min_samples_leaf=1, n_estimators=20).fit(X, Y, V=MATRICES[name])
    assert np.isfinite(model.predict(X)).all()
    assert (np.abs(model.predict(X)) < 3 * np.abs(Y).max()).all()


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-150, 1e150, 1e200, 1e307])
def test_targets_of_any_size_give_the_same_trees(scale, early_stopping):
    settings = {"early_stopping": early_stopping, "blend": 0.5, "n_estimators": 10}
    centred = (Y - 10.0) / 16.0
    plain, scaled = (small(**settings).fit(X, y, X_target=T) for y in (centred, centred * scale))
    assert scaled.n_iter_ == plain.n_iter_
    if scale > 1e-300:
        np.testing.assert_allclose(scaled.predict(X) / scale, plain.predict(X), rtol=1e-9, atol=1e-12)
    assert np.isfinite(scaled.predict(X)).all()
    assert scaled.feature_importances_.sum() == pytest.approx(1.0)


def test_min_gain_is_in_units_of_the_target():
    def n_splits(scale, min_gain):
        model = small(n_estimators=1, blend=0.5, min_gain=min_gain * scale**2).fit(X, scale * Y, X_target=T)
        return (model._boosted[0].forest.features >= 0).sum()

    assert 0 < n_splits(1.0, 40.0) < n_splits(1.0, 0.0)
    assert n_splits(1.0, 40.0) == n_splits(1e-100, 40.0) == n_splits(1e100, 40.0)


ODD = {
    "one row": X[:1],
    "two rows": X[:2],
    "one column": X[:, :1],
    "constant": np.ones((N, 2)),
    "a constant column": np.where(np.arange(3) == 1, 7.0, X),
    "an all-missing column": np.where(np.arange(3) == 1, NAN, X),
    "nothing but missing": np.full((N, 2), NAN),
    "both ends": np.sign(X) * 1.7e308,
    "all sizes": X * 10.0 ** np.linspace(-320, 307, N)[:, np.newaxis],
}


@pytest.mark.filterwarnings("ignore::surefoot.CoverageWarning")
@each_estimator
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kind", ["mean", "joint", "product"])
def test_odd_tables_give_finite_answers(estimator, name, kind):
    rows = ODD[name]
    y = np.arange(len(rows)) % 2 if len(rows) > 1 else np.array([5])
    model = small(estimator, kind=kind, orientation="both", min_samples_leaf=1)
    if len(rows) == 1 and estimator is not VMatrixBoostingRegressor:
        with pytest.raises(DataError, match="one class"):
            model.fit(rows, y)
        return
    model.fit(rows, y)
    assert np.isfinite(answers(model, rows)).all()
    assert np.isfinite(answers(model, np.full_like(rows, NAN))).all()
    if "column" not in name and len(np.unique(rows[~np.isnan(rows)])) < 2:
        np.testing.assert_allclose(answers(model, rows)[:, -1], y.mean())
    if name in ("a constant column", "an all-missing column"):
        assert model.feature_importances_[1] == 0


@settings(max_examples=40, deadline=None)
@given(
    rows=arrays(float, (11, 2), elements=st.one_of(st.floats(allow_infinity=False), st.sampled_from([0.0, 1.0]))),
    y=arrays(float, 11, elements=st.floats(-1e300, 1e300)),
    kind=st.sampled_from(["mean", "joint", "product"]),
    blend=st.sampled_from([0.0, 0.3, 1.0]),
    l2=st.sampled_from([0.0, 1.0]),
)
def test_any_finite_table_gives_finite_numbers(rows, y, kind, blend, l2):
    model = small(kind=kind, orientation="both", blend=blend, l2_regularization=l2, min_samples_leaf=1)
    assert np.isfinite(model.fit(rows, y, X_target=rows[::-1]).predict(rows)).all()


def test_remedies_do_not_name_settings_that_are_in_use():
    with pytest.raises(DataError, match=r"shift_report\(X, X_target\), or try orientation='both'\."):
        small(kind="mean", orientation="lower").fit([[1.0], [2.0], [3.0]], [1, 2, 3], X_target=[[0.0], [0.5]])


@pytest.mark.parametrize("argument", ["kind", "V"])
def test_a_product_of_many_rows_is_refused_with_a_remedy(argument):
    rows, target = np.zeros((10_001, 1)), np.zeros((2, 1))
    fit = {"X_target": target}
    if argument == "V":
        fit = {"V": VMatrix.from_target(rows, target, kind="product")}
    with pytest.raises(
        ParameterError, match=r"kind='product'.*at most 10,000 rows, but X has 10,001: use kind='mean'"
    ) as e:
        small(kind="product").fit(rows, np.zeros(10_001), **fit)
    assert e.value.argument == argument
