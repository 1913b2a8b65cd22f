"""The spread between seeds of our Langevin models against CatBoost's, on the same table with the same trees.

CatBoost adds its noise only to Gradient leaves: with its default Newton leaves, models with different seeds are equal.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from surefoot import GradientBoostingRegressor

cb = pytest.importorskip("catboost")
pd = pytest.importorskip("pandas")

FOLDER = os.environ.get("SUREFOOT_DATA")
SEEDS = range(6)
NO_DRAWS = {"bootstrap_type": "No", "thread_count": 1, "verbose": 0}


@pytest.fixture(scope="module")
def concrete():
    if FOLDER is None or not (Path(FOLDER) / "concrete.parquet").exists():
        pytest.skip("SUREFOOT_DATA names no folder with concrete.parquet")
    table = pd.read_parquet(Path(FOLDER) / "concrete.parquet")
    y = table.pop("target").to_numpy(dtype=float)
    return table.to_numpy(dtype=float), (y - y.mean()) / y.std()  # CatBoost's noise is in the target's units


def between_seeds(predictions):
    """Typical standard deviation of the prediction of a row between seeds."""
    return np.sqrt(np.var(list(predictions), axis=0, ddof=1).mean())


@pytest.mark.parametrize("split_noise", [False, True])
@pytest.mark.parametrize(("n_trees", "depth", "rate"), [(100, 4, 0.1), (100, 6, 0.1), (200, 4, 0.05)])
def test_seeds_differ_as_much_as_those_of_catboost(concrete, n_trees, depth, rate, split_noise, monkeypatch):
    """With noise only in the leaves, and with additional noise in the choice of splits, for both libraries."""
    X, y = concrete
    if not split_noise:
        monkeypatch.setattr("surefoot.uncertainty.boosting_loop.SPLIT_NOISE", 1e-9)  # the rest breaks ties
    theirs = between_seeds(
        cb.CatBoostRegressor(
            iterations=n_trees, depth=depth, learning_rate=rate, l2_leaf_reg=3.0, posterior_sampling=True,
            leaf_estimation_method="Gradient", leaf_estimation_iterations=1, random_seed=seed,
            random_strength=float(split_noise), allow_writing_files=False, **NO_DRAWS,
        ).fit(X, y).predict(X)
        for seed in SEEDS
    )  # fmt: skip
    ours = between_seeds(
        GradientBoostingRegressor(
            n_estimators=n_trees, max_depth=depth, learning_rate=rate, l2_regularization=3.0, langevin=True,
            early_stopping=False, random_state=seed,
        ).fit(X, y).predict(X)
        for seed in SEEDS
    )  # fmt: skip
    assert theirs > 0.005
    assert theirs / 1.5 < ours < theirs * 1.5
