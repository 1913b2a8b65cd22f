"""Langevin noise relative to the noise of the data: it must not be larger where columns explain nearly all."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot import BoostingEnsembleRegressor
from surefoot.trees.gradient_grower import GrowthRules
from surefoot.uncertainty.families import Gamma, Normal
from surefoot.uncertainty.fit_spec import TrainingConfig
from surefoot.uncertainty.leaf_noise import LeafNoise

CONFIG = TrainingConfig(n_estimators=100, learning_rate=0.1, rules=GrowthRules(depth=2), langevin=True)


def noise_of(config, family, typical_scale):
    noise = LeafNoise(config=config, family=family, n_train=40.0)
    return noise.of_sums(np.full((4, 2), 10.0), 3.0, np.ones((4, 2)), typical_scale, None)


@pytest.mark.parametrize("scale", [0.01, 0.3, 5.0])
def test_the_noise_of_a_location_shrinks_with_the_scale_if_trial_models_end_training(scale):
    paper = noise_of(CONFIG, Normal(), np.log(scale))
    np.testing.assert_allclose(paper, np.sqrt(2 / (0.1 * 40) * 13))
    shrunk = noise_of(replace(CONFIG, runs_its_length=False), Normal(), np.log(scale))
    np.testing.assert_allclose(shrunk[:, 0], min(scale, 1.0) * paper[:, 0])
    np.testing.assert_array_equal(shrunk[:, 1], paper[:, 1])


def test_the_noise_of_the_log_of_a_mean_does_not_shrink():
    """A shape is not the size of the steps of a log."""
    stopped = replace(CONFIG, runs_its_length=False)
    np.testing.assert_array_equal(noise_of(stopped, Gamma(), -3.0), noise_of(CONFIG, Gamma(), -3.0))


def test_an_ensemble_is_likelier_with_smaller_noise_if_the_target_has_almost_no_noise(monkeypatch):
    gains = []
    for seed in range(3):
        generator = np.random.default_rng(seed)
        X = generator.integers(0, 4, size=(400, 3)) / 4.0  # every cell has training rows
        y = np.exp(3 * X[:, 0]) + 2 * X[:, 1] + 0.01 * generator.normal(size=400)
        losses = []
        for shrinks in (True, False):
            monkeypatch.setattr(LeafNoise, "shrinks_with_scale", shrinks)
            model = BoostingEnsembleRegressor(n_members=2, n_estimators=100, random_state=seed, n_jobs=1)
            predicted = model.fit(X[:200], y[:200]).predict_distribution(X[200:])
            losses.append(-predicted.logpdf(y[200:]).mean())
        gains.append(losses[1] - losses[0])
    assert min(gains) > 0.5
