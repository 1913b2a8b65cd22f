"""Leave-one-out encoding against loops and against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import TargetEncoder

from surefoot_experiments.uncertainty.leave_one_out import LeaveOneOutEncoder


def table(n_rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    letters = np.array(["a", "b", "c", None], dtype=object)[rng.integers(4, size=n_rows)]
    letters[7] = "alone"
    frame = pd.DataFrame({"x": rng.normal(size=n_rows), "letter": pd.Categorical(letters)})
    return frame, rng.integers(2, size=n_rows).astype(float)


def test_training_rows_get_the_mean_of_the_others() -> None:
    X, y = table()
    encoded = LeaveOneOutEncoder(noise=0.0).fit_transform(X, y)
    letters = X["letter"].astype(object).where(X["letter"].notna(), "missing").tolist()
    for i in range(len(y)):
        others = [y[j] for j in range(len(y)) if j != i and letters[j] == letters[i]]
        assert encoded[i, 1] == pytest.approx(np.mean(others) if others else y.mean())
    np.testing.assert_array_equal(encoded[:, 0], X["x"])


def test_new_rows_get_the_same_mean_as_in_scikit_learn() -> None:
    X, y = table()
    encoder = LeaveOneOutEncoder()
    encoder.fit_transform(X, y)
    known = X["letter"].notna()
    theirs = TargetEncoder(smooth=0.0, target_type="continuous").fit(X.loc[known, ["letter"]].astype(str), y[known])
    ours = encoder.transform(X[known])[:, 1]
    np.testing.assert_allclose(ours, theirs.transform(X.loc[known, ["letter"]].astype(str))[:, 0])


def test_a_new_category_gets_the_mean_of_all_targets() -> None:
    X = pd.DataFrame({"letter": pd.Categorical(["a", "a", "b"], ["a", "b", "z"])})
    encoder = LeaveOneOutEncoder()
    encoder.fit_transform(X, np.array([0.0, 1.0, 1.0]))
    new = pd.DataFrame({"letter": pd.Categorical(["z", None, "a"], ["a", "b", "z"])})
    np.testing.assert_allclose(encoder.transform(new)[:, 0], [2 / 3, 2 / 3, 1 / 2])


def test_noise_multiplies_only_training_rows() -> None:
    X, y = table(4000)
    calm = LeaveOneOutEncoder(noise=0.0)
    noisy = LeaveOneOutEncoder(noise=0.3, seed=1)
    ratio = noisy.fit_transform(X, y)[:, 1] / calm.fit_transform(X, y)[:, 1]
    assert ratio.mean() == pytest.approx(1.0, abs=0.03)
    assert ratio.std() == pytest.approx(0.3, abs=0.03)
    np.testing.assert_array_equal(noisy.transform(X), calm.transform(X))
