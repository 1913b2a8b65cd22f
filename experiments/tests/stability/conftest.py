"""Small files in the format of the real ones, and settings for a run of a few seconds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from noisy_trajectories import predators_and_prey

from surefoot_experiments.stability.settings import StabilitySettings

TINY = StabilitySettings(
    regression_trials=3,
    regression_bags=60,
    larger_draws=2,
    larger_bags=60,
    dynamics_trials=2,
    dynamics_bags=40,
    fewer_bags=(5, 20),
    graph_bags=20,
    penalty_step=100,
    tree_draws=1,
    tree_bags=20,
    tree_left_out_bags=10,
)


def write_tables(folder: Path) -> Path:
    """Three trials of regression, three trajectories, and a made-up table of lynx and hare."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    tables = rng.standard_normal((3, 30, 9))
    tables[:, :, 1] = tables[:, :, 0] + 0.1 * tables[:, :, 1]
    tables[:, :, 8] = tables[:, :, 0] + tables[:, :, 2] + 0.3 * tables[:, :, 8]
    np.savez(folder / "correlated_regression_trials.npz", data=tables)
    times = np.linspace(0, 16, 21)
    states = [predators_and_prey(times, 0.05, seed) for seed in range(4)]
    np.savez(folder / "lotka_volterra_trials.npz", data=np.stack(states[:3]), t=times, cv=states[3])
    pelts = 20 * predators_and_prey(times, 0.05, 9)
    frame = pd.DataFrame({"year": 1900 + np.arange(21), "lynx": pelts[:, 1], "hare": 2 * pelts[:, 0]})
    frame.to_parquet(folder / "lynx_hare.parquet")
    return folder


@pytest.fixture(scope="session")
def stability_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("stability") / "tables")


@pytest.fixture(scope="session")
def tiny_stability() -> StabilitySettings:
    return TINY


@pytest.fixture
def tiny_settings_of_stability(monkeypatch: pytest.MonkeyPatch) -> StabilitySettings:
    monkeypatch.setattr(StabilitySettings, "make", lambda quick: replace(TINY, quick=quick))
    return TINY
