"""A row without weight is equivalent to a removed row."""

import numpy as np
import pytest
from reference.models import assert_identical_models, make_frame, two_classes

from surefoot import AdaBoostClassifier


def test_values_of_rows_without_weight_make_no_thresholds():
    X, y = two_classes(n_rows=1000, n_columns=1)
    weights = (np.arange(1000) % 3 > 0).astype(float)
    weighted = AdaBoostClassifier(n_estimators=5).fit(X, y, sample_weight=weights)
    removed = AdaBoostClassifier(n_estimators=5).fit(X[weights > 0], y[weights > 0])
    assert_identical_models(weighted, removed)


def test_few_weighted_rows_in_a_table_large_enough_to_be_sampled():
    n_rows = 300_000
    X, y = two_classes(n_rows=n_rows, n_columns=2)
    weights = np.zeros(n_rows)
    weights[np.random.default_rng(0).choice(n_rows, size=40, replace=False)] = 1.0
    weighted = AdaBoostClassifier(n_estimators=5).fit(X, y, sample_weight=weights)
    removed = AdaBoostClassifier(n_estimators=5).fit(X[weights > 0], y[weights > 0])
    assert_identical_models(weighted, removed)


@pytest.mark.parametrize("max_depth", [1, 2])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_category_of_rows_without_weight_only_is_unknown(kind, max_depth):
    labels = np.array(["x", "y", "z", "w"] * 30)
    y = np.where(np.arange(120) % 11 == 0, labels == "y", labels == "x").astype(int)
    weights = (labels != "w").astype(float)
    kept = weights > 0
    everything = make_frame(kind, categories={"a": labels})
    weighted = AdaBoostClassifier(n_estimators=5, max_depth=max_depth).fit(everything, y, sample_weight=weights)
    removed = AdaBoostClassifier(n_estimators=5, max_depth=max_depth)
    removed.fit(make_frame(kind, categories={"a": labels[kept]}), y[kept])
    np.testing.assert_array_equal(weighted.decision_function(everything), removed.decision_function(everything))
