"""The spiral: three classes that wind around each other in a plane.

The paper shows its dataset only as a picture, so the spirals are our own. As in the paper, coordinates in rotated axes
and the radius are further features, because trees split along axes only.
"""

from typing import Any

import numpy as np

from surefoot import BoostingEnsembleClassifier
from surefoot_experiments.uncertainty.maps import make_map
from surefoot_experiments.uncertainty.methods import UncertaintySettings

N_CLASSES, ROWS_PER_CLASS = 3, 1000
TURNS, NOISE = 1.5, 0.03  # noise in units of the outermost radius
ROTATIONS = (15.0, 30.0, 45.0, 60.0, 75.0)  # degrees
EXTENT, STEPS = 1.8, 121  # half the width of the map, in units of the outermost radius, and its number of steps
SEED = 0


def training_rows() -> tuple[np.ndarray, np.ndarray]:
    """Points, spread evenly over the area, and their classes."""
    rng = np.random.default_rng(SEED)
    radius = np.sqrt(rng.uniform(0.02, 1.0, size=(N_CLASSES, ROWS_PER_CLASS)))
    angle = 2 * np.pi * (TURNS * radius + np.arange(N_CLASSES)[:, np.newaxis] / N_CLASSES)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    points += NOISE * rng.normal(size=points.shape)
    return points.reshape(-1, 2), np.repeat(np.arange(N_CLASSES), ROWS_PER_CLASS)


def features(points: np.ndarray) -> np.ndarray:
    """Coordinates in the given and in rotated axes, and the radius."""
    angles = np.deg2rad((0.0, *ROTATIONS))
    axes = np.concatenate([[np.cos(angles), np.sin(angles)], [-np.sin(angles), np.cos(angles)]], axis=1)
    return np.column_stack([points @ axes, np.hypot(*points.T)])


def run(settings: UncertaintySettings, n_jobs: int | None) -> Any:
    """Train the ensemble and make a map of a grid of points."""
    import pandas as pd

    points, classes = training_rows()
    ensemble = BoostingEnsembleClassifier(
        method="sglb",
        n_members=settings.members,
        n_estimators=settings.trees,
        early_stopping=False,
        random_state=SEED,
        n_jobs=n_jobs,
    ).fit(features(points), classes)
    steps = np.linspace(-EXTENT, EXTENT, STEPS)
    places = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    frame = pd.DataFrame(places, columns=["x1", "x2"])
    return make_map(frame, ensemble, features(places), settings.members)
