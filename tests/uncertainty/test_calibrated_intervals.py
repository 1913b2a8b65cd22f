"""Held-out rows calibrate intervals of all levels: against closed forms and scipy."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from surefoot.uncertainty.families import REGRESSION_FAMILIES
from surefoot.uncertainty.recalibration import (
    MAX_COST,
    RecalibrationSearch,
    distance_from_uniform,
    fit_recalibration,
)

LEVELS = np.array([0.5, 0.8, 0.9, 0.95])


def equal_fractions(n_rows):
    return np.full(n_rows, 1 / n_rows)


def test_the_distance_from_uniform_is_the_integral_that_defines_it():
    levels = np.random.default_rng(0).beta(1.5, 1.0, size=7)
    weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0]) / 11

    def squared(level):
        return (weights[levels <= level].sum() - level) ** 2 / (level * (1 - level))

    edges = np.concatenate([[0.0], np.sort(levels), [1.0]])
    expected = sum(integrate.quad(squared, low, high)[0] for low, high in pairwise(edges))
    assert distance_from_uniform(levels, weights) == pytest.approx(expected, rel=1e-6)


def test_a_weight_of_k_counts_as_k_copies_in_the_distance_from_uniform():
    levels = np.random.default_rng(1).random(20)
    weights = np.arange(1, 21) % 3 + 1
    copies = np.repeat(levels, weights)
    whole = distance_from_uniform(levels, weights / weights.sum())
    assert whole == pytest.approx(distance_from_uniform(copies, equal_fractions(len(copies))), abs=1e-12)


CONTINUOUS = [
    name
    for name, family in REGRESSION_FAMILIES.items()
    if family().has_scale and family.is_distribution and not family.is_discrete
]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_probabilities_are_those_of_the_distribution(name):
    generator = np.random.default_rng(2)
    y = np.exp(generator.normal(3.0, 0.5, size=200))
    family = REGRESSION_FAMILIES[name].for_target(y)
    raw = np.stack([generator.normal(size=200) / 3, generator.normal(size=200) / 3])
    below = family.probabilities_below(raw, family.internal(y))
    np.testing.assert_allclose(below, family.distribution(raw).cdf(y), rtol=1e-9, atol=1e-12)


def inside(line, y, raw):
    """The fraction of rows inside central intervals of each level."""
    z = np.abs(y - raw[0]) / np.exp(line.shift + line.slope * raw[1])
    return np.array([np.mean(z < stats.norm.ppf((1 + level) / 2)) for level in LEVELS])


def test_calibration_improves_the_coverage_if_noise_differs_unknown_to_the_model():
    """A third of the rows have twice the noise of the others, which the model does not predict."""
    off, off_calibrated = [], []
    for seed in range(5):
        generator = np.random.default_rng(seed)
        y = np.where(generator.random(2000) < 1 / 3, 2.0, 1.0) * generator.normal(size=2000)
        raw, family = np.zeros((2, 2000)), REGRESSION_FAMILIES["normal"]()
        rows = RecalibrationSearch(family, raw[np.newaxis], y, np.ones(2000))
        likeliest = rows.best(calibrates_intervals=False)
        calibrated = rows.with_calibrated_intervals(likeliest)  # with the tails of a normal distribution
        off.append(np.abs(inside(likeliest, y, raw) - LEVELS).max())
        off_calibrated.append(np.abs(inside(calibrated, y, raw) - LEVELS).max())
        assert rows.loss(calibrated) - rows.loss(likeliest) < 1.5 * MAX_COST
    assert np.mean(off) > 0.05
    assert np.mean(off_calibrated) < 0.035


def test_a_correct_distribution_is_not_changed():
    generator = np.random.default_rng(3)
    y, raw = generator.normal(size=20_000), np.zeros((1, 2, 20_000))
    fitted = fit_recalibration(REGRESSION_FAMILIES["normal"](), raw, y, np.ones(20_000), calibrates_intervals=True)
    assert fitted.shift == pytest.approx(0.0, abs=0.02)


def test_calibration_with_a_few_outliers_costs_little_likelihood():
    """Calibrated intervals would need a scale of 1, under which an outlier costs thousands of nats."""
    generator = np.random.default_rng(4)
    y = generator.normal(size=500)
    y[:5] *= 50
    raw, family = np.zeros((1, 2, 500)), REGRESSION_FAMILIES["normal"]()
    likeliest, calibrated = (
        fit_recalibration(family, raw, y, np.ones(500), calibrates_intervals=calibrates) for calibrates in (False, True)
    )
    rows = RecalibrationSearch(family, raw, y, equal_fractions(500))
    assert calibrated.shift < likeliest.shift
    assert rows.loss(calibrated) - rows.loss(likeliest) < 2 * MAX_COST
