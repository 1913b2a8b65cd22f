"""The two synthetic datasets, and figures 2, 3 and 4."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from surefoot_experiments.uncertainty import heart, spiral
from surefoot_experiments.uncertainty.figures import draw_figure_2, draw_figure_3, draw_figure_4
from surefoot_experiments.uncertainty.maps import read_map, write_map
from surefoot_experiments.uncertainty.methods import UncertaintySettings


def test_there_are_no_rows_inside_the_heart() -> None:
    X, _ = heart.training_rows(4)
    counts = np.zeros((9, 9), int)
    np.add.at(counts, (X["x1"].cat.codes.to_numpy(), X["x2"].cat.codes.to_numpy()), 1)
    assert set(counts[heart.mask()]) == {0}
    assert set(counts[~heart.mask()]) == {4}
    np.testing.assert_array_equal(heart.mask(), heart.mask()[:, ::-1])


def test_cells_have_their_level_and_their_noise() -> None:
    X, y = heart.training_rows(3000)
    cell = X["x1"].cat.codes.to_numpy() * 9 + X["x2"].cat.codes.to_numpy()
    expected = heart.variances().ravel()
    for k in np.unique(cell):
        assert y[cell == k].var() == pytest.approx(expected[k], rel=0.15)
        assert -0.02 < y[cell == k].mean() < 1.02
    assert set(expected[np.unique(cell)]) == {heart.LOW_NOISE, heart.HIGH_NOISE}


def test_an_ensemble_of_few_trees_detects_the_heart(tmp_path: Path) -> None:
    settings = UncertaintySettings(trees=150, members=5, rows_per_cell=60)
    frame = heart.run(settings, 1)
    write_map(tmp_path / "heart.csv", frame)
    again = read_map(tmp_path / "heart.csv")
    aucs = heart.detection_aucs(again)
    values = again["SGLB ensemble knowledge"]
    assert aucs["SGLB ensemble"]["knowledge"] == pytest.approx(roc_auc_score(again["inside"], values))
    assert aucs["SGLB ensemble"]["knowledge"] > 0.95
    outside = ~again["inside"]
    errors = np.abs(again["SGLB ensemble data"] - again["true_variance"])[outside]
    assert np.median(errors) < 0.5 * heart.LOW_NOISE


def test_knowledge_uncertainty_separates_the_heart_perfectly() -> None:
    aucs = heart.detection_aucs(heart.run(UncertaintySettings(trees=250, members=6, rows_per_cell=300), 2))
    assert aucs["SGLB ensemble"]["knowledge"] == 1.0
    assert aucs["vSGLB"]["knowledge"] == 1.0


def test_the_spirals_wind_around_each_other() -> None:
    points, classes = spiral.training_rows()
    assert np.bincount(classes).tolist() == [spiral.ROWS_PER_CLASS] * 3
    radius, angle = np.hypot(*points.T), np.arctan2(points[:, 1], points[:, 0])
    unwound = np.exp(1j * (angle - 2 * np.pi * spiral.TURNS * radius))
    middle = [np.angle(unwound[(classes == k) & (radius > 0.3)].mean()) for k in range(3)]
    np.testing.assert_allclose(np.diff(np.unwrap(middle)), np.deg2rad(120), atol=0.05)


def test_features_are_rotated_axes_and_the_radius() -> None:
    points = np.random.default_rng(0).normal(size=(20, 2))
    features = spiral.features(points)
    assert features.shape == (20, 2 * (1 + len(spiral.ROTATIONS)) + 1)
    np.testing.assert_allclose(features[:, 0], points[:, 0])
    np.testing.assert_allclose(features[:, 1 + len(spiral.ROTATIONS)], points[:, 1])
    np.testing.assert_allclose(features[:, 3], (points[:, 0] + points[:, 1]) / np.sqrt(2))
    np.testing.assert_allclose(features[:, -1], np.linalg.norm(points, axis=1))


def test_figures_are_drawn_from_maps(tiny: UncertaintySettings, tmp_path: Path) -> None:
    write_map(tmp_path / "heart.csv", heart.run(tiny, 1))
    write_map(tmp_path / "spiral.csv", spiral.run(tiny, 1))
    maps = read_map(tmp_path / "heart.csv"), read_map(tmp_path / "spiral.csv")
    assert (len(maps[0]), len(maps[1])) == (81, spiral.STEPS**2)
    draw_figure_2(tmp_path / "figure-2.png", maps[0])
    draw_figure_3(tmp_path / "figure-3.png", maps[1])
    draw_figure_4(tmp_path / "figure-4.png", *maps)
    for number in (2, 3, 4):
        assert (tmp_path / f"figure-{number}.png").read_bytes().startswith(b"\x89PNG")
