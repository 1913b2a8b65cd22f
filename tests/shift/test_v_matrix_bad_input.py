"""Bad input for a V-matrix is refused by name, with a remedy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm, poisson

from surefoot import DataError, ParameterError, VMatrix
from surefoot.shift.gram import MAX_DENSE_ROWS

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
FRAME = pd.DataFrame(X, columns=["a", "b"])
CATEGORIES = pd.DataFrame({"a": pd.Categorical(["u", "v", "u"]), "b": [0.0, 1.0, 2.0]})
INF = np.inf

BAD_TARGETS = {
    "one row": (X, X[:1], DataError, "X_target has 1 row: at least 2"),
    "no rows": (X, X[:0], DataError, "X_target.*0 sample"),
    "fewer columns": (X, X[:, :1], DataError, "X_target.*has 1 features.*2 features"),
    "more columns": (X, np.hstack([X, X]), DataError, "X_target.*has 4 features"),
    "other names": (FRAME, FRAME.rename(columns={"b": "c"}), DataError, r"X_target lacks columns.*\['b'\]"),
    "infinite": (X, np.where(X == 2, INF, X), DataError, "X_target.*infinity"),
    "words": (FRAME, FRAME.assign(b=["u", "v", "w"]), DataError, "X_target.*'b'"),
    "categories for numbers": (FRAME, CATEGORIES, DataError, "X_target.*'a'.*categorical"),
    "numbers for categories": (CATEGORIES, FRAME, DataError, "X_target.*'a'.*categorical"),
    "an array for categories": (CATEGORIES, X, DataError, "X_target.*frame"),
    "one dimension": (X, X[:, 0], DataError, "X_target.*2D"),
    "infinite rows": (np.where(X == 2, INF, X), X, ValueError, "X contains infinity"),
    "no rows of X": (X[:0], X, ValueError, "0 sample"),
    "no columns": (X[:, :0], X[:, :0], ValueError, "0 feature"),
}


@pytest.mark.parametrize("name", BAD_TARGETS)
@pytest.mark.parametrize("kind", ["mean", "joint", "product"])
def test_targets_that_do_not_fit_are_refused(name, kind):
    rows, target, error, message = BAD_TARGETS[name]
    with pytest.raises(error, match=f"(?s){message}"):
        VMatrix.from_target(rows, target, kind=kind)


@pytest.mark.parametrize("kind", ["average", None, 1, ["mean"]])
def test_unknown_kinds_are_refused(kind):
    with pytest.raises(ParameterError, match=r"kind must be one of 'mean', 'joint', 'product'"):
        VMatrix.from_target(X, X, kind=kind)


@pytest.mark.parametrize("orientation", ["up", None, True])
def test_unknown_orientations_are_refused(orientation):
    for make in (lambda: VMatrix.from_target(X, X, orientation=orientation), lambda: of_normals(X, orientation)):
        with pytest.raises(ParameterError, match="orientation must be one of 'lower', 'upper', 'both'"):
            make()


def of_normals(rows, orientation="lower"):
    return VMatrix.from_distributions(rows, [norm(0, 1)] * 2, orientation=orientation)


BAD_DISTRIBUTIONS = {
    "too few": (X, [norm(0, 1)], DataError, "distributions has 1 entries, but X has 2 columns"),
    "too many": (X, [norm(0, 1)] * 3, DataError, "distributions has 3 entries"),
    "one, for two columns": (X, norm(0, 1), DataError, "distributions has 1 entries"),
    "a name": (X, [norm(0, 1), "normal"], ParameterError, "frozen distributions of scipy.stats.*'normal'"),
    "of several numbers": (X, [norm(0, 1), multivariate_normal(np.zeros(2))], ParameterError, "frozen distributions"),
    "without parameters": (X, [norm(0, 1), poisson], ParameterError, "distributions must be frozen"),
    "impossible": (X, [norm(0, 1), norm(0, -1)], ParameterError, "distributions contains one without prob"),
    "missing values": (np.where(X == 2, np.nan, X), [norm(0, 1)] * 2, DataError, "X has missing values: fill"),
    "categories": (CATEGORIES, [norm(0, 1)] * 2, DataError, "X has categorical columns.*from_target"),
    "infinity": (np.where(X == 2, INF, X), [norm(0, 1)] * 2, ValueError, "X contains infinity"),
}


@pytest.mark.parametrize("name", BAD_DISTRIBUTIONS)
def test_distributions_that_do_not_fit_are_refused(name):
    rows, distributions, error, message = BAD_DISTRIBUTIONS[name]
    with pytest.raises(error, match=message):
        VMatrix.from_distributions(rows, distributions)


BAD_MATRICES = {
    "not square": (np.ones((2, 3)), r"V must be a square matrix.*\(2, 3\)"),
    "one dimension": (np.ones(4), r"V must be a square matrix.*\(4,\)"),
    "three dimensions": (np.ones((2, 2, 2)), "V must be a square matrix"),
    "empty": (np.ones((0, 0)), "V must be a square matrix"),
    "a number": (3.0, "V must be a square matrix"),
    "ragged": ([[1.0, 2.0], [3.0]], "V cannot be read"),
    "NaN": ([[1.0, np.nan], [0.0, 1.0]], "V has entries that are not finite"),
    "infinite": ([[INF, 0.0], [0.0, 1.0]], "V has entries that are not finite"),
    "complex": (1j * np.eye(2), "V must be real numbers"),
    "words": ([["a", "b"], ["c", "d"]], "V must be numbers"),
}


@pytest.mark.parametrize("name", BAD_MATRICES)
def test_bad_matrices_are_refused(name):
    V, message = BAD_MATRICES[name]
    with pytest.raises(DataError, match=message):
        VMatrix.from_dense(V)


BAD_LOSSES = {
    "too few": ([1.0, 2.0], "3 numbers, one for each row"),
    "too many": (np.ones(4), "3 numbers, one for each row"),
    "two dimensions": (np.ones((3, 1)), "3 numbers, one for each row"),
    "NaN": ([1.0, np.nan, 2.0], "must be finite numbers"),
    "infinite": ([1.0, INF, 2.0], "must be finite numbers"),
    "words": (["a", "b", "c"], "must be numbers"),
    "complex": ([1j, 0, 0], "must be real numbers"),
}


@pytest.mark.parametrize("name", BAD_LOSSES)
def test_losses_that_do_not_fit_are_refused(name):
    losses, message = BAD_LOSSES[name]
    for v in (VMatrix.from_target(X, X), of_normals(X), VMatrix.from_dense(np.eye(3))):
        with pytest.raises(DataError, match=f"^losses {message}" if "must be" in message else message):
            v.quadratic(losses)
        with pytest.raises(DataError, match=f"right side of @ {message}" if "must be" in message else message):
            v @ losses


def test_large_matrices_are_not_written_out():
    v = VMatrix.from_target(np.zeros((MAX_DENSE_ROWS + 1, 1)), np.zeros((2, 1)))
    with pytest.raises(DataError, match=r"4\.0e\+08 entries: use it by @ and quadratic"):
        v.dense()
    assert v.quadratic(np.ones(MAX_DENSE_ROWS + 1)) == pytest.approx((MAX_DENSE_ROWS + 1) ** 2)


def test_extreme_values():
    huge = np.array([[-1.7e308], [0.0], [5e-324], [1.7e308]])
    for kind in ("mean", "joint", "product"):
        v = VMatrix.from_target(huge, huge, kind=kind)
        np.testing.assert_array_equal(v.diagonal(), [1.0, 0.75, 0.5, 0.25])
    np.testing.assert_allclose(VMatrix.from_distributions(huge, [norm(0, 1)]).diagonal(), [1.0, 0.5, 0.5, 0.0])
    np.testing.assert_array_equal(VMatrix.from_dense(np.eye(2) * 1.5e308).dense(), np.eye(2) * 1.5e308)
