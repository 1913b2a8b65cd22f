"""Tests by permuting whole groups, checked with scipy and simulation."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import comb

from surefoot._exceptions import DataError
from surefoot.metrics.auc import auc_of_ranks
from surefoot.shift import shift_report
from surefoot.shift.group_permutations import GroupPermutations
from surefoot.shift.shift_report_tables import ComparedTables
from surefoot.shift.two_sample_test import grouped_auc_interval, two_sample_test


def grouped_tables(generator, n_groups, n_target, size=15, spread=1.0, shift=0.0):
    """Two tables of two columns whose groups have different means."""
    tables, groups = [], []
    for number, moved in ((n_groups, 0.0), (n_target, shift)):
        labels = np.repeat(np.arange(number), size)
        means = generator.normal(moved, spread, size=(number, 2))
        tables.append(means[labels] + generator.normal(size=(len(labels), 2)))
        groups.append(np.array([f"{moved}-{label}" for label in labels]))
    return tables, groups


def test_p_values_are_those_of_scipys_permutation_test():
    generator = np.random.default_rng(0)
    own, target = generator.random((7, 10)) < 0.4, generator.random((5, 10)) < 0.7
    groups = GroupPermutations(np.repeat(np.arange(7), 10), np.repeat(np.arange(5), 10), seed=0)
    p_value = groups.p_value(np.concatenate([own.ravel(), target.ravel()])[:, np.newaxis])

    def apart(first, second):
        return abs(np.mean(second) - np.mean(first))

    expected = stats.permutation_test(
        (own.mean(axis=1), target.mean(axis=1)), apart, vectorized=False, n_resamples=np.inf, alternative="greater"
    )
    assert comb(12, 5) == 792  # all of them, in scipy
    assert p_value == pytest.approx(expected.pvalue, abs=3.5 * np.sqrt(0.25 / 999))


def test_aucs_are_permuted_by_whole_groups():
    generator = np.random.default_rng(1)
    scores = np.concatenate([np.repeat(generator.normal(size=8), 5), np.repeat(generator.normal(2, size=6), 5)])
    groups = GroupPermutations(np.repeat(np.arange(8), 5), np.repeat(np.arange(6), 5), seed=0)
    means = scores[::5]

    def auc(first, second):
        return stats.mannwhitneyu(second, first).statistic

    expected = stats.permutation_test((means[:8], means[8:]), auc, vectorized=False, alternative="greater")
    assert groups.auc_p_value(scores) == pytest.approx(expected.pvalue, abs=0.03)


def test_the_false_positive_rate_if_groups_differ():
    generator = np.random.default_rng(0)
    by_rows, by_groups, joint = 0, 0, 0
    for trial in range(40):
        tables, groups = grouped_tables(generator, 12, 10)
        plain = shift_report(*tables, random_state=trial)
        grouped = shift_report(*tables, groups=groups[0], groups_target=groups[1], random_state=trial)
        by_rows += min(column.p_value for column in plain.columns) < 0.05
        by_groups += min(column.p_value for column in grouped.columns) < 0.05
        joint += grouped.p_value < 0.05
    assert by_rows > 20  # rows of a group are not independent
    assert max(by_groups, joint) <= stats.binom.ppf(0.9999, 40, 0.05)


def test_a_shift_of_groups_is_detected():
    tables, groups = grouped_tables(np.random.default_rng(0), 20, 20, shift=2.5)
    report = shift_report(*tables, groups=groups[0], groups_target=groups[1], random_state=0)
    assert set(report.shifted_columns) == {"x0", "x1"}
    assert report.jointly_shifted
    assert {column.test for column in report.columns} == {"permutation of groups"}
    assert np.isnan(report.columns[0].interval).all()


def test_few_groups_are_not_tested():
    tables, groups = grouped_tables(np.random.default_rng(0), 15, 1, size=25, shift=9.0)
    report = shift_report(*tables, groups=groups[0], groups_target=groups[1], random_state=0)
    assert report.untested_columns == ("x0", "x1")
    assert np.isnan(report.p_value)
    assert "at least 4 groups of each table, and there are 15 of X and 1 of X_target" in report.note


def test_whole_groups_are_held_out():
    """A column that identifies groups tells the tables apart on rows of known groups, but not on new groups."""
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), 20)
    X = np.column_stack([generator.normal(size=40)[labels], generator.normal(size=800)])
    tables = ComparedTables.read(X[:400], X[400:], "from_dtype")
    shared = {"max_rows": None, "seed": 0, "n_jobs": None}
    groups = GroupPermutations(labels[:400], labels[400:], seed=0)
    assert two_sample_test(tables, **shared).auc > 0.9
    assert two_sample_test(tables, groups=groups, **shared).p_value > 0.01


def test_groups_of_one_row_have_delongs_interval():
    generator = np.random.default_rng(0)
    scores, is_target = generator.normal(size=400), np.arange(400) >= 250
    scores[is_target] += 1
    groups = GroupPermutations(np.arange(250), np.arange(150), seed=0)
    low, high = grouped_auc_interval(scores, is_target, groups)
    above, below = scores[is_target], scores[~is_target]
    wins = (above[:, np.newaxis] > below).astype(float)
    variance = wins.mean(axis=1).var(ddof=1) / 150 + wins.mean(axis=0).var(ddof=1) / 250
    auc = auc_of_ranks(stats.rankdata(scores), is_target)
    reach = stats.t.ppf(0.975, 149) * np.sqrt(variance) / (auc * (1 - auc))
    logits = np.log(auc / (1 - auc)) + np.array([-reach, reach])
    np.testing.assert_allclose([low, high], 1 / (1 + np.exp(-logits)), rtol=1e-9)


def test_groups_are_checked():
    X = np.arange(40.0).reshape(20, 2)
    with pytest.raises(DataError, match="groups and groups_target belong together"):
        shift_report(X, X, groups=np.arange(20))
    with pytest.raises(DataError, match=r"groups_target has shape \(19,\): pass one group for each of the 20 rows"):
        shift_report(X, X, groups=np.arange(20), groups_target=np.arange(19))
