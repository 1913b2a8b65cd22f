"""Ratios to plain boosting and their averages, against scipy and by hand."""

import numpy as np
import pytest
from made_up_results import result, results
from scipy.stats import bootstrap, gmean, ttest_rel

from surefoot_experiments.shift.ratios import averages, compare_budgets, task_ratios


def test_a_ratio_is_the_geometric_mean_over_common_splits():
    plain, mean = [2.0, 4.0, 5.0, 9.0], [1.0, 5.0, 4.0]
    lines = [result("plain", value, split=k) for k, value in enumerate(plain)]
    lines += [result("mean", value, split=k) for k, value in enumerate(mean)]
    (entry,) = task_ratios(lines)
    assert entry.ratio == pytest.approx(gmean(np.array(mean) / plain[:3]))
    assert entry.p_value == pytest.approx(ttest_rel(np.log(mean), np.log(plain[:3])).pvalue)
    assert (entry.wins, entry.losses, entry.splits) == (2, 1, 3)
    assert not entry.is_better
    assert not entry.is_worse


def test_clear_differences_are_marked():
    ratios = {entry.method: entry for entry in task_ratios(results({"mean": 0.9, "joint": 1.2}, ("yacht",)))}
    assert ratios["mean"].is_better
    assert ratios["joint"].is_worse


def test_refused_samples_have_no_ratio():
    lines = [result("plain", 2.0, split=k) for k in (0, 1)]
    lines += [result("joint", float("nan"), split=0, refusal="no row"), result("joint", 3.0, split=1)]
    (entry,) = task_ratios(lines)
    assert (entry.ratio, entry.splits) == (pytest.approx(1.5), 1)
    assert np.isnan(entry.p_value)
    assert task_ratios([result("plain", 2.0), result("joint", float("nan"))]) == []
    assert task_ratios([result("mean", 2.0)]) == []


def test_each_dataset_has_the_same_weight():
    places = {("boston", "one feature"): 1.0, ("boston", "two features"): 4.0, ("wine", "one feature"): 8.0}
    lines = []
    for (name, selection), ratio in places.items():
        lines += [result(method, value, dataset=name, selection=selection)
                  for method, value in (("plain", 1.0), ("mean", ratio))]  # fmt: skip
    (entry,) = averages(task_ratios(lines))
    assert entry.ratio == pytest.approx(np.sqrt(np.sqrt(1.0 * 4.0) * 8.0))
    assert entry.tasks == 3


def test_the_interval_is_that_of_scipy():
    by = np.array([0.9, 0.95, 1.0, 1.02, 1.1, 0.85, 0.97, 1.04, 0.99])
    lines = []
    for k, ratio in enumerate(by):
        lines += [result("plain", 1.0, dataset=str(k)), result("mean", ratio, dataset=str(k))]
    (entry,) = averages(task_ratios(lines))
    expected = bootstrap((np.log(by),), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(5))
    assert np.log([entry.low, entry.high]) == pytest.approx(expected.confidence_interval, abs=0.003)
    assert entry.helps is None


@pytest.mark.parametrize(("ratio", "helps"), [(0.9, True), (1.1, False)])
def test_help_and_harm(ratio, helps):
    assert {entry.budget: entry.helps for entry in averages(task_ratios(results({"mean": ratio})))} == {
        "flexible": helps, "small": helps, "both": helps,
    }  # fmt: skip


def test_one_dataset_gives_no_interval():
    (entry, *_) = averages(task_ratios(results({"mean": 0.5}, ("yacht",))))
    assert np.isnan(entry.low)
    assert entry.helps is None


def test_one_budget_over_another():
    lines = results({"mean": 0.8}, budgets=("flexible",)) + results({"mean": 0.6}, budgets=("small",))
    entry = compare_budgets(task_ratios(lines), "mean", "small", "flexible")
    assert entry is not None
    assert entry.ratio == pytest.approx(0.75)
    assert entry.helps is True
    assert compare_budgets(task_ratios(lines), "joint", "small", "flexible") is None
