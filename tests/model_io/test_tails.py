"""The dispersion of a normal distribution is saved and checked, and is absent from old files."""

import numpy as np
import pytest
from crafting import pack, refusal, unpack
from small_models import STORED

import surefoot
from surefoot.uncertainty.families import Normal


@pytest.fixture(scope="module")
def heavy():
    """A model of a target with heavy-tailed noise, and its rows."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 2))
    y = X[:, 0] + 0.5 * generator.standard_t(3, size=400)
    model = surefoot.GradientBoostingRegressor(max_depth=2, random_state=0, n_jobs=1).fit(X, y)
    assert model.family_.dispersion > 0
    return model, X


def test_the_dispersion_is_saved_to_the_last_bit(heavy, tmp_path):
    model, X = heavy
    surefoot.save(model, tmp_path / "m")
    again = surefoot.load(tmp_path / "m")
    assert again.family_ == model.family_
    for before, after in zip(
        model.predict_distribution(X).interval(0.9), again.predict_distribution(X).interval(0.9), strict=True
    ):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("version", ["1", "2"])
def test_old_files_have_none(version):
    family = surefoot.load(STORED / version / "normal.surefoot").family_
    assert isinstance(family, Normal)
    assert family.dispersion == 0


@pytest.mark.parametrize("dispersion", [-0.1, 0.5, 7.0])
def test_an_invalid_dispersion_is_refused(dispersion, heavy, tmp_path):
    surefoot.save(heavy[0], tmp_path / "m")
    state, arrays = unpack((tmp_path / "m").read_bytes())
    state["model"]["family"]["dispersion"] = dispersion
    assert "dispersion must be at least 0 and below 0.5" in refusal(pack(state, arrays))
