"""Predators and prey with noise."""

import numpy as np
from scipy.integrate import odeint


def predators_and_prey(times: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """A noisy trajectory as in D.1.1."""
    states = odeint(lambda u, _: [2 / 3 * u[0] - 4 / 3 * u[0] * u[1], u[0] * u[1] - u[1]], [1.0, 1.0], times)
    states[1:] += noise * np.random.default_rng(seed).standard_normal((len(times) - 1, 2))
    return states
