"""With default parameters, held-out rows are more likely than under the best constant normal distribution.

These are the splits on which the scale once was far too small; `benchmarks/likelihood.py` has all splits of nine sets.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from surefoot import BoostingEnsembleRegressor


@pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA does not name a folder with the data")
@pytest.mark.parametrize("split", [6, 15])
def test_the_scale_of_a_long_chain_does_not_become_too_small(split):
    folder = Path(os.environ["SUREFOOT_DATA"])
    table, splits = pd.read_parquet(folder / "concrete.parquet"), np.load(folder / "concrete_splits.npz")
    X, y = table.drop(columns="target").to_numpy(np.float64), table["target"].to_numpy(np.float64)
    train, test = splits[f"train_{split}"], splits[f"test_{split}"]
    constant = -norm.logpdf(y[test], y[train].mean(), y[train].std()).mean()
    model = BoostingEnsembleRegressor(n_members=1, random_state=split).fit(X[train], y[train])
    assert -model.predict_distribution(X[test]).logpdf(y[test]).mean() < constant - 1.0


def test_later_trees_do_not_change_a_scale_that_is_frozen():
    """Pure noise is soon overfitted, and then held-out rows become less likely with every tree."""
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 5)), generator.normal(size=300)
    model = BoostingEnsembleRegressor(n_members=1, n_estimators=300, random_state=0).fit(X, y)
    scale = np.abs(model.estimators_[0]._members[0].trees.forest.leaves[:, :, 1]).max(axis=1)
    assert scale[0] > 0
    assert (scale[250:] == 0).all()
    std = model.predict_distribution(generator.normal(size=(200, 5))).std
    assert 0.7 < np.median(std) < 1.4
