"""Trials: splits, and one training for all numbers of members."""

import numpy as np
import pytest

from surefoot import BaggedBoostClassifier, LarsenRitzertClassifier
from surefoot_experiments.weak_to_strong.datasets import SOURCES, LoadedTable
from surefoot_experiments.weak_to_strong.trials import (
    ADABOOST,
    BAGGED,
    LARSEN_RITZERT,
    MAJORITY,
    Trial,
    TrialDataset,
    adversarial_dataset,
    plan_trials,
    prefix_accuracies,
    run_trial,
    table_dataset,
)


def make_table(n_rows: int = 500, source: int = 0) -> LoadedTable:
    rng = np.random.default_rng(1)
    X = np.column_stack([np.arange(n_rows), rng.normal(size=(n_rows, 4))])
    y = np.where(X[:, 1] + X[:, 2] ** 2 + rng.normal(size=n_rows) > 1, 1, -1)
    return LoadedTable(SOURCES[source], "made-up", X, y)


def test_a_fifth_is_held_out_and_seeds_differ() -> None:
    dataset = table_dataset(make_table(), None)
    first, second = dataset.split(0), dataset.split(1)
    assert (len(first.y), len(first.y_test), dataset.train_rows) == (400, 100, 400)
    rows = np.concatenate([first.X[:, 0], first.X_test[:, 0]])
    assert sorted(rows) == list(range(500))
    assert set(first.X_test[:, 0]) != set(second.X_test[:, 0])
    np.testing.assert_array_equal(first.X, dataset.split(0).X)


def test_max_rows_limits_the_rows() -> None:
    dataset = table_dataset(make_table(), 100)
    split = dataset.split(0)
    assert (dataset.rows, len(split.y), len(split.y_test)) == (100, 80, 20)
    assert "part of the paper's 300,000 rows" in dataset.note


@pytest.mark.parametrize(
    ("learner", "booster"), [(BAGGED, BaggedBoostClassifier), (LARSEN_RITZERT, LarsenRitzertClassifier)]
)
def test_prefixes_predict_like_smaller_ensembles(learner: str, booster: type) -> None:
    split = table_dataset(make_table(), None).split(0)
    accuracies, seconds = run_trial(Trial("higgs", 0, learner, (3, 5, 9)), split, 20, 1)
    assert len(seconds) == 3
    options = {"max_samples": 0.95} if learner == BAGGED else {}
    for accuracy, count in zip(accuracies, (3, 5, 9), strict=True):
        alone = booster(n_members=count, n_estimators=20, random_state=0, **options).fit(split.X, split.y)
        assert accuracy == alone.score(split.X_test, split.y_test)


def test_every_member_count_of_majority_has_its_own_training() -> None:
    trials = plan_trials(table_dataset(make_table(), None), 0, (3, 5))
    assert [(trial.learner, trial.counts) for trial in trials] == [
        (ADABOOST, (1,)),
        (MAJORITY, (3,)),
        (MAJORITY, (5,)),
        (BAGGED, (3, 5)),
        (LARSEN_RITZERT, (3, 5)),
    ]


def test_a_table_with_few_subsamples_uses_all_of_them() -> None:
    dataset = table_dataset(make_table(60), None)
    trial = plan_trials(dataset, 0, (3, 5, 29))[-1]
    assert trial.counts == (3, 5)
    assert len(run_trial(trial, dataset.split(0), 3, 1)[0]) == 2


@pytest.mark.parametrize(
    ("dataset", "n_members"),
    [(table_dataset(make_table(768, source=-1), None), 81), (adversarial_dataset(0.05, 30), 243)],
)
def test_small_datasets_use_all_subsamples(dataset: TrialDataset, n_members: int) -> None:
    trial = plan_trials(dataset, 0, (3, 5))[-1]
    assert trial.counts == (n_members,)
    accuracies, _ = run_trial(trial, dataset.split(0), 2, 1)
    assert 0.4 < accuracies[0] <= 1


def test_a_tie_counts_as_plus_one() -> None:
    class ConstantClassifier:
        def __init__(self, answer: int) -> None:
            self.answer = answer

        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.full(len(X), self.answer)

    split = table_dataset(make_table(), None).split(0)
    accuracies = prefix_accuracies([ConstantClassifier(-1), ConstantClassifier(1)], split, (1, 2))
    fraction = float(np.mean(split.y_test == 1))
    assert accuracies == pytest.approx([1 - fraction, fraction])
