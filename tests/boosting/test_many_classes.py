"""Votes on thousands of classes: fits and predictions take bounded memory, or are refused."""

import tracemalloc

import numpy as np
import pytest

from surefoot import AdaBoostClassifier, DataError, _parallel
from surefoot.boosting import training

pytestmark = pytest.mark.fault(number=6)


def two_rows_each(n_classes):
    labels = np.repeat(np.arange(n_classes), 2)
    return labels[:, np.newaxis].astype(float), labels


def test_predicting_labels_does_not_hold_the_votes_for_all_classes():
    X, y = two_rows_each(4000)
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    tracemalloc.start()
    try:
        model.predict(np.tile(X, (2, 1)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    votes = 4 * 4000 * 4000 * 8
    assert peak < votes / 2


def test_blocks_of_rows_do_not_change_predictions(monkeypatch):
    X, y = two_rows_each(30)
    model = AdaBoostClassifier(n_estimators=5, max_depth=2).fit(X, y)
    labels, votes, chances = model.predict(X), model.decision_function(X), model.predict_proba(X)
    np.testing.assert_array_equal(labels, model.classes_[votes.argmax(axis=1)])
    monkeypatch.setattr(_parallel, "BLOCK_OUTPUTS", 40)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.decision_function(X), votes)
    np.testing.assert_array_equal(model.predict_proba(X), chances)


@pytest.mark.parametrize("max_depth", [1, 2])
def test_too_many_bins_and_classes_are_refused(max_depth):
    X, y = two_rows_each(10_000)
    model = AdaBoostClassifier(n_estimators=2, max_depth=max_depth, max_bins=None)
    with pytest.raises(DataError, match=r"y has 10,000 classes and a column of X has 10,00[01] bins.*max_bins to 255"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_many_bins_and_classes_are_used_up_to_the_limit(monkeypatch):
    X, y = two_rows_each(50)
    model = AdaBoostClassifier(n_estimators=2, max_bins=None)
    monkeypatch.setattr(training, "MAX_SUMS", 51 * 50)
    model.fit(X, y)
    monkeypatch.setattr(training, "MAX_SUMS", 51 * 50 - 1)
    with pytest.raises(DataError, match="Merge rare classes"):
        model.fit(X, y)
