"""Probabilities of classes, against scipy and scikit-learn."""

import numpy as np
import pytest
from scipy import special
from sklearn.metrics import log_loss

from surefoot._exceptions import ParameterError
from surefoot.uncertainty.families import Bernoulli, Categorical


def example(n_classes, n=300, scale=3.0, seed=0):
    """(family, raw, y)."""
    generator = np.random.default_rng(seed)
    family = Bernoulli() if n_classes == 2 else Categorical(n_classes)
    raw = generator.normal(scale=scale, size=(family.n_outputs, n))
    y = generator.integers(0, n_classes, n)
    return family, raw, y.astype(np.float64 if n_classes == 2 else np.int32)


some_classes = pytest.mark.parametrize("n_classes", [2, 3, 7])


@some_classes
def test_likelihood_is_the_log_loss_of_the_probabilities(n_classes):
    family, raw, y = example(n_classes)
    assert family.nll(raw, y).mean() == pytest.approx(log_loss(y, family.probabilities(raw)), rel=1e-9)


@some_classes
def test_probabilities_are_those_of_scipy(n_classes):
    family, raw, _ = example(n_classes)
    scores = np.stack([np.zeros(raw.shape[1]), raw[0]]) if n_classes == 2 else raw
    probabilities = family.probabilities(raw)
    assert probabilities.shape == (raw.shape[1], n_classes)
    assert probabilities.flags.c_contiguous
    np.testing.assert_allclose(probabilities, special.softmax(scores, axis=0).T, rtol=1e-12)


@some_classes
def test_steps_and_information_are_derivatives_of_the_likelihood(n_classes):
    family, raw, y = example(n_classes)
    steps, information = np.empty_like(raw), np.empty_like(raw)
    family.gradients(raw, y, (0, len(y)), steps, information)
    h = 1e-4
    for k in range(family.n_outputs):
        shift = np.zeros((family.n_outputs, 1))
        shift[k] = h
        ahead, centre, behind = (family.nll(raw + sign * shift, y) for sign in (1, 0, -1))
        np.testing.assert_allclose(steps[k], (behind - ahead) / (2 * h), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(information[k], (ahead - 2 * centre + behind) / h**2, rtol=1e-4, atol=1e-6)


@some_classes
@pytest.mark.parametrize("weighted", [False, True])
def test_the_start_gives_each_class_its_fraction(n_classes, weighted):
    family, _, y = example(n_classes)
    weights = np.random.default_rng(1).gamma(1.0, 1.0, len(y)) if weighted else None
    start = family.start(y, weights, n_classes)
    totals = np.bincount(y.astype(int), weights=weights, minlength=n_classes)
    np.testing.assert_allclose(family.probabilities(start[:, np.newaxis])[0], totals / totals.sum(), rtol=1e-9)


@some_classes
def test_a_weight_of_k_counts_as_k_copies(n_classes):
    family, _, y = example(n_classes)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    copied = family.start(np.repeat(y, weights), None, n_classes)
    np.testing.assert_allclose(family.start(y, weights.astype(float), n_classes), copied, rtol=1e-9, atol=1e-12)


@some_classes
def test_a_class_that_is_missing_starts_small_but_finite(n_classes):
    family, _, y = example(n_classes)
    start = family.start(np.zeros_like(y), None, n_classes)
    assert np.isfinite(start).all()
    assert family.probabilities(start[:, np.newaxis])[0, 1:].max() < 1e-8


def test_scores_of_a_start_add_up_to_0():
    _, _, y = example(5)
    assert Categorical(5).start(y, None).sum() == pytest.approx(0, abs=1e-12)


@some_classes
@pytest.mark.parametrize("size", [30.0, 700.0, 1e3, 1e6])
def test_large_outputs_stay_finite_and_exact(n_classes, size):
    family, raw, y = example(n_classes)
    raw = np.sign(raw) * size
    steps, information = np.empty_like(raw), np.empty_like(raw)
    family.gradients(raw, y, (0, len(y)), steps, information)
    probabilities = family.probabilities(raw)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    assert np.isfinite(family.nll(raw, y)).all()
    assert (information >= 0).all()
    assert (information <= 0.25).all()
    own = np.eye(n_classes)[y.astype(int)]
    expected = (own - probabilities)[:, 1:] if n_classes == 2 else own - probabilities
    np.testing.assert_allclose(steps.T, expected, atol=1e-15)


def test_small_probabilities_of_confident_predictions_are_precise():
    steps, information = np.empty((1, 2)), np.empty((1, 2))
    Bernoulli().gradients(np.array([[50.0, -50.0]]), np.array([1.0, 0.0]), (0, 2), steps, information)
    np.testing.assert_allclose(steps[0], [np.exp(-50), -np.exp(-50)], rtol=1e-12)
    np.testing.assert_allclose(information[0], np.exp(-50), rtol=1e-12)
    np.testing.assert_allclose(
        Bernoulli().nll(np.array([[50.0, 50.0]]), np.array([1.0, 0.0])), [np.exp(-50), 50], rtol=1e-12
    )


def test_ten_thousand_classes():
    family = Categorical(10_000)
    y = np.arange(10_000, dtype=np.int32)[::-1].copy()
    raw = np.zeros((10_000, 3))
    np.testing.assert_allclose(family.nll(raw, y[:3]), np.log(10_000))
    assert family.start(y, None).shape == (family.n_outputs,)


def test_no_rows():
    for family, dtype in ((Bernoulli(), np.float64), (Categorical(4), np.int32)):
        raw = np.empty((family.n_outputs, 0))
        assert family.nll(raw, np.empty(0, dtype)).shape == (0,)
        assert family.probabilities(raw).shape == (0, family.n_classes)


def test_facts_about_the_families():
    assert (Bernoulli().n_outputs, Bernoulli().n_classes, Bernoulli().natural) == (1, 2, False)
    assert (Categorical(4).n_outputs, Categorical(4).n_classes, Categorical(4).natural) == (4, 4, False)
    assert len(Categorical(4).parameters) == 4


@pytest.mark.parametrize("n_classes", [1, 0, 2.5, "3"])
def test_classes_are_counted_in_whole_numbers(n_classes):
    with pytest.raises(ParameterError, match="n_classes must be"):
        Categorical(n_classes)
