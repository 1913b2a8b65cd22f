"""How biased samples are drawn, and what they contain."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from surefoot_experiments.shift import biased_sample
from surefoot_experiments.shift.biased_sample import BiasedSample, draw_rows, generator_for, selection_scores
from surefoot_experiments.shift.protocol import COMPONENT, ONE_FEATURE, SELECTIONS, STRENGTH, TWO_FEATURES
from surefoot_experiments.shift.tables import TABLES
from surefoot_experiments.skeleton.run import find_data_folder
from surefoot_experiments.uncertainty.datasets import load_table

needs_data = pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA names no data folder")


def table_of(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 1] += 2 * X[:, 0]
    X[:, 2] = 7.0  # constant
    return X


def test_the_upper_quartile_has_ten_times_the_odds_of_the_lower():
    scores = selection_scores(np.arange(1001.0)[:, np.newaxis], ONE_FEATURE, np.random.default_rng(0))
    odds = np.exp(STRENGTH * np.sort(scores))
    assert odds[750] / odds[250] == pytest.approx(10, rel=0.005)
    assert scores.mean() == pytest.approx(0)
    assert scores.std() == pytest.approx(1, abs=1e-5)


def test_one_feature_is_never_the_constant_one():
    X = table_of()
    matches = set()
    for seed in range(40):
        scores = selection_scores(X, ONE_FEATURE, np.random.default_rng(seed))
        along = {k: round(spearmanr(X[:, k], scores)[0], 6) for k in (0, 1, 3)}
        favoured = [(k, sign) for k, sign in along.items() if abs(sign) == 1]
        assert len(favoured) == 1
        matches.add(favoured[0])
    assert matches == {(k, sign) for k in (0, 1, 3) for sign in (-1, 1)}  # any feature, and either end


def test_two_features_by_the_mean_of_their_ranks():
    X = table_of()
    sums = [rankdata(X[:, i]) + rankdata(X[:, j]) for i, j in ((0, 1), (0, 3), (1, 3))]
    for seed in range(5):
        scores = selection_scores(X, TWO_FEATURES, np.random.default_rng(seed))
        assert max(abs(spearmanr(each, scores)[0]) for each in sums) == pytest.approx(1)


def test_the_principal_component_is_that_of_scikit_learn():
    X = table_of()
    first = PCA(1).fit_transform(StandardScaler().fit_transform(X))[:, 0]
    scores = selection_scores(X, COMPONENT, np.random.default_rng(0))
    assert abs(spearmanr(first, scores)[0]) == pytest.approx(1)


def test_ties_get_their_mean_rank():
    X = np.repeat([[0.0], [1.0]], [30, 10], axis=0)
    scores = selection_scores(X, ONE_FEATURE, np.random.default_rng(0))
    gap = abs(scores[-1] - scores[0])
    assert gap == pytest.approx(np.sqrt(12) * 20 / 40)  # half of the rows lie between the mean ranks
    assert len(np.unique(scores)) == 2


@given(st.integers(20, 900), st.integers(0, 5))
def test_rows_are_drawn_once(n_rows, seed):
    rng = np.random.default_rng(seed)
    train, held_out = draw_rows(rng.uniform(-1.7, 1.7, n_rows), rng)
    assert len(train) == min(300, n_rows // 2)
    assert len(held_out) == -(-len(train) // 5)
    both = np.concatenate([train, held_out])
    assert len(np.unique(both)) == len(both)
    assert both.max() < n_rows


def test_high_scores_are_favoured_in_training_and_held_out_rows_alike():
    rng = np.random.default_rng(0)
    scores = np.sqrt(12) * ((np.arange(4000) + 0.5) / 4000 - 0.5)
    means = np.array([[scores[rows].mean() for rows in draw_rows(scores, rng)] for _ in range(200)])
    expected = np.average(scores, weights=np.exp(STRENGTH * scores))  # hardly anything runs out
    assert means.mean(axis=0) == pytest.approx([expected, expected], abs=0.05)
    assert abs(means[:, 0].mean() - means[:, 1].mean()) < 3 * np.sqrt(0.7 / 60 / 200)


def test_every_sample_has_its_own_random_numbers():
    keys = [("boston", 0, ONE_FEATURE), ("boston", 1, ONE_FEATURE), ("yacht", 0, ONE_FEATURE), ("boston", 0, COMPONENT)]
    draws = [generator_for(*key).integers(2**60) for key in keys]
    assert len(set(draws)) == len(keys)
    assert draws[0] == generator_for(*keys[0]).integers(2**60)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_parts_of_a_sample_are_disjoint(shift_tables, selection):
    table = load_table(TABLES["boston"], shift_tables)
    sample = BiasedSample.from_table(table, 3, selection)
    rows = {name: {tuple(row) for row in getattr(sample, name).X} for name in ("train", "source", "unbiased", "test")}
    assert len(rows["train"]) == len(rows["unbiased"]) == 37
    assert not rows["test"] & (rows["train"] | rows["source"] | rows["unbiased"])
    assert not rows["train"] & rows["source"]
    assert {tuple(row) for row in sample.X_target} == rows["test"]
    frame = table.X.to_numpy()
    for part in (sample.train, sample.source, sample.unbiased, sample.test):
        for x, y in zip(part.X, part.y, strict=True):
            assert table.y[np.flatnonzero((frame == x).all(axis=1))[0]] == y
    assert 0.05 < sample.shift < 0.6
    again = BiasedSample.from_table(table, 3, selection)
    assert (again.train.X == sample.train.X).all()


def test_a_large_target_is_cut_but_scored_on_all_rows(shift_tables, monkeypatch):
    monkeypatch.setattr(biased_sample, "MAX_TARGET_ROWS", 6)
    sample = BiasedSample.from_table(load_table(TABLES["boston"], shift_tables), 0, ONE_FEATURE)
    assert len(sample.X_target) == 6
    assert len(sample.test.y) == 15


@needs_data
@pytest.mark.parametrize("dataset", TABLES.values(), ids=lambda entry: entry.name)
def test_samples_of_the_real_tables(dataset):
    folder = find_data_folder(None, "")
    if not dataset.is_in(folder):
        pytest.skip(f"SUREFOOT_DATA has no {dataset.file}")
    table = load_table(dataset, folder)
    for selection in SELECTIONS:
        sample = BiasedSample.from_table(table, 1, selection)
        assert len(sample.train.y) == min(300, len(table.splits[1][0]) // 2)
        assert len(sample.X_target) == min(1000, len(sample.test.y))
        assert 0.1 < sample.shift < 0.6
