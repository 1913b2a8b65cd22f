"""Mean distances of Student t variables against closed forms, and scores of mixtures."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import beta

from surefoot import Distribution
from surefoot.metrics import crps
from surefoot.metrics.student_t_distance import student_t_distance
from surefoot.uncertainty import MixtureDistribution

each_df = pytest.mark.parametrize("df", [2.2, 3.0, 5.3, 30.0, 1000.0])
ONE = np.ones(1)


def mixture(name, df, n_rows=30, width=1.0):
    """Three members with different scales, which agree in some rows only."""
    generator = np.random.default_rng(0)
    locations = width * generator.normal(size=(3, n_rows))
    scales = np.exp(generator.normal(size=(3, n_rows)))
    df = np.broadcast_to(df, 3)
    members = zip(locations, scales, df, strict=True)
    return MixtureDistribution([Distribution(name, stats.t, loc=loc, scale=scale, df=d) for loc, scale, d in members])


@each_df
def test_two_variables_with_equal_scales(df):
    expected = 4 * np.sqrt(df) / (df - 1) * beta(0.5, df - 0.5) / beta(0.5, df / 2) ** 2
    assert student_t_distance(df)(0 * ONE, ONE, ONE)[0] == pytest.approx(expected, rel=1e-8)


@each_df
def test_one_variable_and_a_number(df):
    shift = np.array([-1e6, -3.0, 0.0, 0.4, 50.0])
    expected = shift * (2 * stats.t(df).cdf(shift) - 1) + 2 * stats.t(df).pdf(shift) * (df + shift**2) / (df - 1)
    np.testing.assert_allclose(student_t_distance(df)(3 * shift, 3 * ONE, 0 * ONE), 3 * expected, rtol=1e-9)


@each_df
@pytest.mark.parametrize("width", [0.1, 30.0])
def test_mixtures_score_as_by_integration(df, width):
    y = np.random.default_rng(1).normal(size=30)
    by_integration = crps(y, mixture("unknown family", df, width=width))
    assert crps(y, mixture("student_t", df, width=width)) == pytest.approx(by_integration, rel=1e-5)


def test_members_with_different_degrees_of_freedom_are_integrated():
    y, df = np.zeros(30), (3.0, 5.0, 50.0)
    assert crps(y, mixture("student_t", df)) == crps(y, mixture("unknown family", df))
