"""The density ratio of two tables, at their rows and at others."""

import numpy as np
import pandas as pd
import pytest

from surefoot.shift.density_ratio import DensityRatio, effective_rows


def shifted(generator, n_rows, shift):
    X = generator.normal(size=(n_rows, 3))
    X[:, 0] += shift
    return X


@pytest.fixture(scope="module")
def tables():
    generator = np.random.default_rng(0)
    return shifted(generator, 1500, 0.0), shifted(generator, 800, 0.8), shifted(generator, 1500, 0.8)


def test_other_rows_have_the_ratio_on_the_same_scale(tables):
    X, Z, new = tables
    ratio = DensityRatio.fit(X, Z)
    assert ratio.weights.mean() == pytest.approx(1)
    slope = np.polyfit(0.8 * new[:, 0] - 0.32, np.log(ratio.of(new)), 1)[0]
    assert 0.8 < slope < 1.1
    assert np.corrcoef(np.log(ratio.of(X)), np.log(ratio.weights))[0, 1] > 0.95
    assert ratio.of(new).mean() == pytest.approx(np.exp(0.64), rel=0.15)  # the mean of the ratio under the second


def test_balanced_weights_have_the_means_of_the_deployment_rows(tables):
    X, Z, new = tables
    distance = {}
    for balanced in (False, True):
        ratio = DensityRatio.fit(X, Z, balanced=balanced)
        distance[balanced] = np.abs(np.average(X, axis=0, weights=ratio.weights) - Z.mean(axis=0)).max()
        assert 100 < effective_rows(ratio.weights) < 1500
    assert distance[True] < 0.03
    assert distance[True] < distance[False] / 2
    plain, balanced = (DensityRatio.fit(X, Z, balanced=each) for each in (False, True))
    changes = np.log(balanced.of(new) / plain.of(new))  # the same linear function of the columns at all rows
    design = np.column_stack([np.ones(len(new)), new])
    assert np.abs(changes - design @ np.linalg.lstsq(design, changes, rcond=None)[0]).max() < 1e-8


def test_frames_with_categories_and_missing_values():
    generator = np.random.default_rng(0)

    def draw(n_rows, p, labels="ab"):
        city = generator.choice(list(labels), size=n_rows, p=[p, 1 - p])
        x = np.where(generator.random(n_rows) < 0.1, np.nan, generator.normal(size=n_rows))
        return pd.DataFrame({"x": x, "city": pd.Categorical(city)})

    X, Z = draw(1000, 0.8), draw(1000, 0.2)
    ratio = DensityRatio.fit(X, Z, balanced=True)
    is_a = (X["city"] == "a").to_numpy()
    assert ratio.weights[~is_a].mean() / ratio.weights[is_a].mean() == pytest.approx(16, rel=0.5)
    new = ratio.of(draw(100, 0.5, "bc"))  # the training rows have no city c
    assert np.isfinite(new).all()
    flipped = X.assign(city=X["city"].cat.reorder_categories(["b", "a"]))
    np.testing.assert_allclose(ratio.of(flipped), ratio.of(X))
    single = pd.DataFrame({"x": [0.3], "city": pd.Categorical(["b"])})
    assert ratio.of(single)[0] > 2
