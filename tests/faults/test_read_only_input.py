"""Data that must not be written to: read-only arrays and memory-mapped files."""

import numpy as np
import pytest
from reference.models import BOOSTERS, assert_identical_models, small_booster, two_classes


def locked(array):
    array = array.copy(order="K")
    array.setflags(write=False)
    return array


def mapped(array, path):
    np.save(path, array)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("max_depth", [1, 2])
def test_read_only_arrays_give_the_same_model(booster, order, max_depth):
    X, y = two_classes()
    X[2, 1] = np.nan
    X, weights = np.array(X, order=order), np.random.default_rng(0).random(len(X))
    free = small_booster(booster, max_depth=max_depth).fit(X, y, sample_weight=weights)
    model = small_booster(booster, max_depth=max_depth).fit(locked(X), locked(y), sample_weight=locked(weights))
    assert_identical_models(free, model)
    np.testing.assert_array_equal(model.decision_function(locked(X)), free.decision_function(X))


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_mapped_files_give_the_same_model(booster, order, tmp_path):
    X, y = two_classes()
    X, weights = np.array(X, order=order), np.random.default_rng(0).random(len(X))
    free = small_booster(booster).fit(X, y, sample_weight=weights)
    X_file, y_file = mapped(X, tmp_path / "X.npy"), mapped(y, tmp_path / "y.npy")
    assert isinstance(X_file, np.memmap)
    model = small_booster(booster).fit(X_file, y_file, sample_weight=mapped(weights, tmp_path / "w.npy"))
    assert_identical_models(free, model)
    np.testing.assert_array_equal(model.predict_proba(X_file), free.predict_proba(X))
