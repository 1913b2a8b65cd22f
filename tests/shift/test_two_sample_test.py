"""The joint test, checked with scikit-learn, scipy and simulation."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from surefoot import _parallel
from surefoot.metrics.auc import auc_of_ranks
from surefoot.shift import two_sample_test as module
from surefoot.shift.shift_report_tables import ComparedTables
from surefoot.shift.two_sample_test import auc_interval, two_sample_test


def run(X, X_target, seed=0, max_rows=None, n_jobs=None, categorical="from_dtype"):
    return two_sample_test(ComparedTables.read(X, X_target, categorical), max_rows=max_rows, seed=seed, n_jobs=n_jobs)


@pytest.mark.parametrize("digits", [1, 8])
def test_the_area_is_that_of_scikit_learn(digits):
    generator = np.random.default_rng(0)
    scores, is_target = generator.normal(size=300).round(digits), generator.random(300) < 0.3
    assert auc_of_ranks(stats.rankdata(scores), is_target) == pytest.approx(roc_auc_score(is_target, scores), rel=1e-12)


def test_auc_and_p_value_are_those_of_the_held_out_scores(monkeypatch):
    seen = []

    def spied(ranks, is_target):
        seen.append((ranks, is_target))
        return auc_of_ranks(ranks, is_target)

    monkeypatch.setattr(module, "auc_of_ranks", spied)
    generator = np.random.default_rng(0)
    result = run(generator.normal(size=(301, 3)), generator.normal(0.4, size=(160, 3)))
    scores, is_target = seen[-1]
    assert (len(scores), is_target.sum()) == (151 + 80, 80)  # the other half, of both
    assert result.auc == pytest.approx(roc_auc_score(is_target, scores))
    expected = stats.mannwhitneyu(scores[is_target], scores[~is_target], alternative="greater")
    assert result.p_value == pytest.approx(expected.pvalue)
    assert result.p_value < 0.01


def test_only_the_joint_test_detects_a_change_of_dependence():
    generator = np.random.default_rng(1)
    X, X_target = generator.normal(size=(2, 800, 4))
    X_target[:, 1] = 0.9 * X_target[:, 0] + np.sqrt(1 - 0.81) * X_target[:, 1]
    assert stats.ks_2samp(X[:, 1], X_target[:, 1]).pvalue > 0.05
    result = run(X, X_target)
    assert result.p_value < 1e-6
    assert set(np.argsort(result.importances)[-2:]) == {0, 1}


def test_p_values_are_uniform_without_shift():
    generator = np.random.default_rng(0)
    p_values = []
    for trial in range(60):
        X, X_target = (np.column_stack([generator.normal(size=n), generator.integers(0, 60, n)]) for n in (90, 60))
        p_values.append(run(X, X_target, seed=trial, categorical=[1]).p_value)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001
    assert (np.array(p_values) < 0.05).sum() <= stats.binom.ppf(0.9999, 60, 0.05)


@pytest.mark.parametrize(("shift", "sizes"), [(0.0, (25, 60)), (1.0, (40, 40)), (2.5, (60, 25))])
def test_the_coverage_of_the_interval(shift, sizes):
    truth = stats.norm.cdf(shift / np.sqrt(2))
    generator = np.random.default_rng(0)
    is_target = np.repeat([False, True], sizes)
    hits = 0
    for _ in range(1000):
        ranks = stats.rankdata(generator.normal(is_target * shift))
        low, high = auc_interval(auc_of_ranks(ranks, is_target), *sizes)
        hits += low <= truth <= high
    assert 0.925 <= hits / 1000 <= 0.985


@pytest.mark.parametrize("auc", [0.0, 0.2, 0.5, 0.93, 1.0])
def test_the_ends_of_the_interval_are_just_plausible(auc):
    n = 50
    low, high = auc_interval(auc, n, n)
    assert 0 <= low <= auc <= high <= 1
    assert high - low > 0.01
    for end in {low, high} - {0.0, 1.0}:
        twice, both = end / (2 - end), 2 * end**2 / (1 + end)  # Hanley and McNeil's Q1 and Q2
        variance = (end * (1 - end) + (n - 1) * (twice - end**2) + (n - 1) * (both - end**2)) / n**2
        assert abs(auc - end) == pytest.approx(1.959964 * np.sqrt(variance), rel=1e-5)


def test_the_seed_matters_and_threads_do_not(monkeypatch):
    monkeypatch.setattr(_parallel, "THREADED_CELLS", 0)
    generator = np.random.default_rng(0)
    X, X_target = generator.normal(size=(2, 60, 2))
    one, two = run(X, X_target, n_jobs=1), run(X, X_target, n_jobs=2)
    assert (one.auc, one.p_value, one.importances.tolist()) == (two.auc, two.p_value, two.importances.tolist())
    assert run(X, X_target, seed=1).auc != one.auc


def test_max_rows_limits_the_rows(monkeypatch):
    sizes = []
    halves = module._halves
    monkeypatch.setattr(module, "_halves", lambda *counts: sizes.append(counts) or halves(*counts))
    generator = np.random.default_rng(0)
    run(generator.normal(size=(300, 2)), generator.normal(size=(40, 2)), max_rows=50)
    assert sizes == [(50, 40)]


def test_constant_columns_are_ignored():
    result = run(np.ones((30, 2)), np.ones((40, 2)))
    assert (result.auc, result.p_value, result.importances.tolist()) == (0.5, 1.0, [0, 0])
    assert result.interval[0] < 0.5 < result.interval[1]
    assert "the same" in result.note


@pytest.mark.parametrize("sizes", [(19, 500), (500, 1)])
def test_few_rows_have_no_joint_test_and_a_note(sizes):
    result = run(*(np.arange(size, dtype=float).reshape(-1, 1) for size in sizes))
    assert np.isnan([result.auc, result.p_value, *result.interval, *result.importances]).all()
    assert f"there are {sizes[0]} of X and {sizes[1]} of X_target" in result.note


def test_twenty_disjoint_rows_are_told_apart():
    result = run(np.arange(20.0).reshape(-1, 1), np.arange(100.0, 120.0).reshape(-1, 1))
    assert result.auc > 0.9
    assert result.p_value < 0.001


@pytest.mark.parametrize("n_categories", [4, 200, 10_000])
def test_shift_of_many_categories_is_detected(n_categories):
    generator = np.random.default_rng(0)
    X = generator.integers(0, n_categories, size=(400, 1))
    X_target = generator.integers(n_categories // 2, n_categories, size=(400, 1))
    assert run(X, X_target, categorical=[0]).p_value < 0.001
