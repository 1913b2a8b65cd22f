"""Intervals of all levels hold what they should, as far as held-out rows tell: against closed forms and scipy."""

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


def shares(n_rows):
    return np.full(n_rows, 1 / n_rows)


def test_the_distance_from_uniform_is_the_integral_that_defines_it():
    levels = np.random.default_rng(0).beta(1.5, 1.0, size=7)
    weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0]) / 11

    def squared(level):
        return (weights[levels <= level].sum() - level) ** 2 / (level * (1 - level))

    edges = np.concatenate([[0.0], np.sort(levels), [1.0]])
    expected = sum(integrate.quad(squared, low, high)[0] for low, high in pairwise(edges))
    assert distance_from_uniform(levels, weights) == pytest.approx(expected, rel=1e-6)


def test_the_distance_from_uniform_takes_weights_for_copies():
    levels = np.random.default_rng(1).random(20)
    weights = np.arange(1, 21) % 3 + 1
    copies = np.repeat(levels, weights)
    whole = distance_from_uniform(levels, weights / weights.sum())
    assert whole == pytest.approx(distance_from_uniform(copies, shares(len(copies))), abs=1e-12)


@pytest.mark.parametrize("name", [name for name, family in REGRESSION_FAMILIES.items() if family().has_scale])
def test_probabilities_are_those_of_the_distribution(name):
    generator = np.random.default_rng(2)
    y = np.exp(generator.normal(3.0, 0.5, size=200))
    family = REGRESSION_FAMILIES[name].for_target(y)
    raw = np.stack([generator.normal(size=200) / 3, generator.normal(size=200) / 3])
    found = family.probabilities_below(raw, family.internal(y))
    np.testing.assert_allclose(found, family.distribution(raw).cdf(y), rtol=1e-9, atol=1e-12)


def inside(line, y, raw):
    """The share of rows inside central intervals of each level."""
    z = np.abs(y - raw[0]) / np.exp(line.shift + line.slope * raw[1])
    return np.array([np.mean(z < stats.norm.ppf((1 + level) / 2)) for level in LEVELS])


def test_where_noise_differs_unseen_intervals_of_all_levels_are_nearer_to_what_they_promise():
    """A third of the rows have twice the noise of the others, and the model says nothing of it."""
    off, off_evened = [], []
    for seed in range(5):
        generator = np.random.default_rng(seed)
        y = np.where(generator.random(2000) < 1 / 3, 2.0, 1.0) * generator.normal(size=2000)
        raw, family = np.zeros((2, 2000)), REGRESSION_FAMILIES["normal"]()
        rows = RecalibrationSearch(family, raw[np.newaxis], y, np.ones(2000))
        likely = rows.best(calibrates_intervals=False)
        even = rows.with_calibrated_intervals(likely)  # with the tails of a Normal
        off.append(np.abs(inside(likely, y, raw) - LEVELS).max())
        off_evened.append(np.abs(inside(even, y, raw) - LEVELS).max())
        assert rows.loss(even) - rows.loss(likely) < 1.5 * MAX_COST
    assert np.mean(off) > 0.05
    assert np.mean(off_evened) < 0.035


def test_a_distribution_that_is_right_is_left_where_it_is():
    generator = np.random.default_rng(3)
    y, raw = generator.normal(size=20_000), np.zeros((1, 2, 20_000))
    found = fit_recalibration(REGRESSION_FAMILIES["normal"](), raw, y, np.ones(20_000), calibrates_intervals=True)
    assert found.shift == pytest.approx(0.0, abs=0.02)


def test_a_few_wild_rows_do_not_make_the_others_lose_likelihood():
    """Even intervals would have a scale of 1, under which a wild row costs thousands of nats."""
    generator = np.random.default_rng(4)
    y = generator.normal(size=500)
    y[:5] *= 50
    raw, family = np.zeros((1, 2, 500)), REGRESSION_FAMILIES["normal"]()
    likely, even = (
        fit_recalibration(family, raw, y, np.ones(500), calibrates_intervals=calibrates) for calibrates in (False, True)
    )
    rows = RecalibrationSearch(family, raw, y, shares(500))
    assert even.shift < likely.shift
    assert rows.loss(even) - rows.loss(likely) < 2 * MAX_COST
