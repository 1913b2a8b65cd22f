"""The cost of splits by columns that look like groups or times."""

import numpy as np
import pandas as pd
import pytest

from surefoot.report.checks import suggest_roles
from surefoot.report.checks.column_roles import role_excess
from surefoot.report.checks.split_comparison import SplitComparison, as_fraction, is_ruled_out, is_shown
from surefoot.report.inputs.target import Target
from surefoot.report.statistics import Estimate

N = 600


def measured(X, y, column):
    target = Target.read(y, len(y))[0]
    (question,) = [each for each in suggest_roles(X, target) if each.column == column]
    comparison = SplitComparison.of(X.assign(**{column: read(X[column])}), target, None, 0, 1)
    return role_excess(comparison, X[column], question)


def read(column):
    is_date = pd.api.types.is_datetime64_any_dtype(column)
    return column.astype("int64").astype(float) if is_date else pd.Categorical(column)


def patients(rng, own_level):
    """Rows of 40 patients; a patient's level is part of the target, and unknown for new patients."""
    patient = rng.integers(40, size=N)
    X = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    levels = rng.normal(size=40)[patient]
    y = X.a + own_level * levels + 0.5 * rng.normal(size=N)
    centres = rng.normal(size=(40, 3))[patient]
    X = X.assign(**{f"v{j}": centres[:, j] for j in range(3)}, patient=[f"p{k}" for k in patient])
    return X, y.to_numpy()


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_matter_and_groups_that_do_not(seed):
    rng = np.random.default_rng(seed)
    assert is_shown(measured(*patients(rng, 2.0), "patient"))
    assert not is_shown(measured(*patients(rng, 0.0), "patient"))


@pytest.mark.parametrize("seed", range(5))
def test_times_that_matter_and_times_that_do_not_in_shuffled_rows(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    when = rng.permutation(N)
    X["date"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(when, unit="D")
    turning = np.where(when < 0.85 * N, 2, -2) * X.a + rng.normal(size=N)
    assert is_shown(measured(X, turning.to_numpy(), "date"))
    excess = measured(X, (2 * X.a + rng.normal(size=N)).to_numpy(), "date")
    assert not is_shown(excess)
    assert excess.low < 0 < excess.high


@pytest.mark.parametrize("seed", range(3))
def test_with_enough_rows_times_are_shown_not_to_matter(seed):
    rng, n = np.random.default_rng(seed), 6000
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    X["date"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(n), unit="h")
    assert is_ruled_out(measured(X, (2 * X.a + rng.normal(size=n)).to_numpy(), "date"))


def test_a_model_without_errors_does_not_divide_by_zero():
    assert as_fraction(Estimate(0.0, 0.0, 0.0), 0.0) == Estimate(0.0, 0.0, 0.0)
    assert is_shown(as_fraction(Estimate(0.1, 0.05, 0.2), 0.0))
    assert as_fraction(Estimate(1.0, -1.0, 3.0), 2.0) == Estimate(0.5, -0.5, 1.5)
