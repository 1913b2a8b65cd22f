"""The kernels of the families against their twins in plain Python, row by row."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import families as twins
from reference.families import gradients_of
from scipy import special

from surefoot._jit import kernel
from surefoot.uncertainty.families import (
    RATIO_MAX,
    Z_MAX,
    Bernoulli,
    Categorical,
    Gamma,
    Laplace,
    LogNormal,
    Normal,
    Poisson,
    StudentT,
)
from surefoot.uncertainty.families.gamma import shape_terms
from surefoot.uncertainty.families.normal import exp
from surefoot.uncertainty.families.poisson import log_factorial_excess

exp, log_factorial_excess = map(kernel, (exp, log_factorial_excess))

FLOOR, CAP = -2.0, 3.0
number = st.floats(-20, 20)
log_scale = st.one_of(st.floats(-4, 5), st.sampled_from([FLOOR, CAP]))
some_stretches = st.one_of(st.just(1.0), st.floats(1, 10))


@st.composite
def rows(draw, outputs, targets, max_size=40):
    """raw, y and stretch."""
    n = draw(st.integers(0, max_size))
    raw = np.array([draw(arrays(np.float64, n, elements=output)) for output in outputs])
    return raw, draw(arrays(np.float64, n, elements=targets)), draw(arrays(np.float64, n, elements=some_stretches))


def assert_rows_agree(family, raw, y, stretch, row, row_nll):
    steps, scores = gradients_of(family, raw, y, stretch)
    nll = family.nll(raw, y)
    for i in range(len(y)):
        expected_steps, expected_scores = row(raw[:, i].tolist(), float(y[i]), float(stretch[i]))
        np.testing.assert_allclose(steps[:, i], expected_steps, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(scores[:, i], expected_scores, rtol=1e-8, atol=1e-9)
        assert nll[i] == pytest.approx(row_nll(raw[:, i].tolist(), float(y[i])), rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=500)
@given(x=st.floats(-700, 700))
def test_exponentials_are_exact_to_the_last_digits(x):
    assert exp(x) == pytest.approx(math.exp(x), rel=2 * np.finfo(float).eps, abs=0)


@pytest.mark.parametrize("kind", [Normal, LogNormal])
@settings(deadline=None, max_examples=60)
@given(data=rows([number, log_scale], number))
def test_normal(kind, data):
    assert_rows_agree(
        kind(floor=FLOOR, cap=CAP),
        *data,
        lambda raw, y, stretch: twins.normal_row(raw, y, stretch, FLOOR, CAP, Z_MAX),
        lambda raw, y: twins.normal_row_nll(raw, y, FLOOR, CAP),
    )


@settings(deadline=None, max_examples=60)
@given(data=rows([number, log_scale], number))
def test_laplace(data):
    assert_rows_agree(
        Laplace(floor=FLOOR, cap=CAP),
        *data,
        lambda raw, y, stretch: twins.laplace_row(raw, y, stretch, FLOOR, CAP, Z_MAX),
        lambda raw, y: twins.laplace_row_nll(raw, y, FLOOR, CAP),
    )


@settings(deadline=None, max_examples=60)
@given(data=rows([number, log_scale], number), df=st.floats(2.01, 1000))
def test_student_t(data, df):
    assert_rows_agree(
        StudentT(df, floor=FLOOR, cap=CAP),
        *data,
        lambda raw, y, stretch: twins.student_t_row(raw, y, stretch, df, FLOOR, CAP, Z_MAX),
        lambda raw, y: twins.student_t_row_nll(raw, y, df, FLOOR, CAP),
    )


@settings(deadline=None, max_examples=60)
@given(data=rows([log_scale], st.integers(0, 1000).map(float)), log_mean=st.floats(-6, 6))
def test_poisson(data, log_mean):
    assert_rows_agree(
        Poisson(log_mean=log_mean, floor=FLOOR, cap=CAP),
        *data,
        lambda raw, y, stretch: twins.poisson_row(raw, y, log_mean, FLOOR, CAP, RATIO_MAX, Z_MAX),
        lambda raw, y: twins.poisson_row_nll(raw, y, log_mean, FLOOR, CAP),
    )


@settings(deadline=None, max_examples=60)
@given(data=rows([st.floats(-3, 3), log_scale], st.floats(-8, 4)))
def test_gamma(data):
    family = Gamma(floor=FLOOR, cap=CAP)
    assert_rows_agree(
        family,
        *data,
        lambda raw, y, stretch: twins.gamma_row(raw, y, stretch, FLOOR, CAP, RATIO_MAX, Z_MAX),
        lambda raw, y: twins.gamma_row_nll(raw, y, FLOOR, CAP),
    )
    inverse = family.inverse_information(data[0])
    for i in range(data[0].shape[1]):
        expected = twins.gamma_row_inverse_information(data[0][:, i].tolist(), FLOOR, CAP)
        np.testing.assert_allclose(inverse[:, i], expected, rtol=1e-8)


@settings(deadline=None)
@given(k=st.floats(1e-6, 500))
def test_terms_of_the_shape(k):
    slope, information = shape_terms(k)
    assert slope == pytest.approx(k * (np.log(k) - special.digamma(k)), rel=1e-9)
    assert information == pytest.approx(k * k * special.polygamma(1, k) - k, rel=1e-8)


@pytest.mark.parametrize("k", [1e6, 1e9, 1e12])
def test_terms_of_large_shapes_go_to_one_half(k):
    slope, information = shape_terms(k)
    assert slope == pytest.approx(0.5 + 1 / (12 * k), rel=1e-14)
    assert information == pytest.approx(0.5 + 1 / (6 * k), rel=1e-14)


@settings(deadline=None)
@given(x=st.floats(0.1, 1000))
def test_log_factorial_excess(x):
    assert log_factorial_excess(x) == pytest.approx(special.gammaln(x + 1) - x * np.log(x) + x, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(data=st.data(), n=st.integers(0, 40))
def test_bernoulli(data, n):
    raw = data.draw(arrays(np.float64, (1, n), elements=st.floats(-15, 15)))
    y = data.draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0])))
    steps, information = np.empty_like(raw), np.empty_like(raw)
    Bernoulli().gradients(raw, y, (0, len(y)), steps, information)
    nll = Bernoulli().nll(raw, y)
    for i in range(n):
        expected = twins.bernoulli_row(raw[:, i].tolist(), y[i])
        assert (steps[0, i], information[0, i], nll[i]) == pytest.approx(expected, rel=1e-8, abs=1e-12)


@settings(deadline=None, max_examples=20)
@given(data=st.data(), n=st.sampled_from([0, 1, 7, 255, 256, 257, 600]), n_classes=st.integers(2, 6))
def test_categorical(data, n, n_classes):
    seed = data.draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    raw = generator.normal(scale=data.draw(st.floats(0, 10)), size=(n_classes, n))
    y = generator.integers(0, n_classes, n).astype(np.int32)
    family = Categorical(n_classes)
    steps, information = np.empty_like(raw), np.empty_like(raw)
    family.gradients(raw, y, (0, len(y)), steps, information)
    nll, probabilities = family.nll(raw, y), family.probabilities(raw)
    for i in range(n):
        expected = twins.categorical_row(raw[:, i].tolist(), int(y[i]))
        np.testing.assert_allclose(steps[:, i], expected[0], rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(information[:, i], expected[1], rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(probabilities[i], expected[2], rtol=1e-8)
        assert nll[i] == pytest.approx(expected[3], rel=1e-8, abs=1e-9)
