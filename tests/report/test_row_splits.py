"""Training and test rows of the folds."""

import numpy as np
import pytest

from surefoot import DataError
from surefoot.report.inputs.splits import Splits, rows_of_memory, smaller_folds
from surefoot.report.inputs.target import Target


def target_of(n, classes=None):
    values = np.arange(n) + 0.5 if classes is None else np.arange(n) % classes
    return Target.read(np.asarray(values), n, None if classes is None else "classes")[0]


def check(splits):
    """No test row is in its training set, and every held-out row is in one test set."""
    for train, test in splits.folds:
        assert not set(train) & set(test)
    assert np.array_equal(np.sort(np.concatenate([test for _, test in splits.folds])), splits.held_out)


@pytest.mark.parametrize(("n", "n_folds"), [(60, 10), (150, 10), (151, 5), (25_000, 3)])
def test_every_row_is_held_out_once(n, n_folds):
    splits = Splits.draw(target_of(n), None, None, False, 0)
    check(splits)
    assert len(splits.folds) == n_folds
    assert len(splits.held_out) == n
    assert splits.units is None


def test_folds_are_stratified():
    splits = Splits.draw(target_of(400, 4), None, None, False, 0)
    check(splits)
    for _, test in splits.folds:
        assert np.array_equal(np.bincount(test % 4), [20] * 4)


@pytest.mark.parametrize("n", [60, 400, 25_000])  # ten, five and three folds
@pytest.mark.parametrize("fraction", [0.25, 0.5])
def test_smaller_folds_hold_out_every_row_once_and_are_stratified(n, fraction):
    target = target_of(n, 4)
    splits = Splits.draw(target, None, None, False, 0)
    folds = smaller_folds(splits, target, None, fraction, 0)
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), splits.held_out)
    for train, test in folds:
        assert not set(train) & set(test)
        assert len(train) == pytest.approx(fraction * len(splits.folds[0][0]), abs=4)
        assert np.ptp(np.bincount(target.y[train], minlength=4)) <= 1
        assert len(test) == pytest.approx(n / 2, abs=8)


@pytest.mark.parametrize("classes", [None, 2])
def test_groups_stay_whole(classes):
    groups = (np.arange(240) // 8).astype(str).astype(object)
    splits = Splits.draw(target_of(240, classes), groups, None, False, 0)
    check(splits)
    for train, test in splits.folds:
        assert not set(groups[train]) & set(groups[test])
    for half, test in smaller_folds(splits, target_of(240, classes), None, 0.5, 0):
        assert len(half) == pytest.approx(len(splits.folds[0][0]) / 2, abs=8)
        assert not set(groups[half]) & set(groups[test])
        assert all(np.sum(groups[half] == group) == 8 for group in set(groups[half]))
    with pytest.raises(DataError, match="at least 4"):
        Splits.draw(target_of(240), (np.arange(240) % 3).astype(object), None, False, 0)


def test_by_time_training_rows_are_earlier_than_test_rows():
    time = np.random.default_rng(0).permutation(400).astype(float)
    splits = Splits.draw(target_of(400), None, time, False, 0)
    check(splits)
    for train, test in splits.folds:
        assert time[train].max() < time[test].min()
    assert time[splits.later].min() == 320
    assert set(time[splits.held_out]) == set(range(160, 320))
    assert len(np.unique(splits.held_out_units)) >= 20  # runs of neighbours
    late = smaller_folds(splits, target_of(400), time, 0.5, 0)[-1][0]
    assert time[late].min() > np.median(time[splits.folds[-1][0]]) - 1
    with_new = Splits.draw(target_of(400), None, time, True, 0)
    assert not len(with_new.later)
    assert set(time[with_new.held_out]) == set(range(200, 400))


def test_by_time_groups_of_the_test_set_are_not_in_the_training_set():
    time = np.arange(400.0)
    changing = (np.arange(400) // 10).astype(str).astype(object)
    for train, test in Splits.draw(target_of(400), changing, time, False, 0).folds:
        assert not set(changing[train]) & set(changing[test])
    lasting = (np.arange(400) % 10).astype(str).astype(object)
    for train, test in Splits.draw(target_of(400), lasting, time, False, 0).folds:
        assert set(lasting[train]) == set(lasting[test])


def test_a_constant_time_cannot_be_split():
    with pytest.raises(DataError, match="time has too few distinct values"):
        Splits.draw(target_of(100), None, np.zeros(100), False, 0)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_the_memory_of_an_autoregressive_series(memory):
    """In closed form: (1 + r) / (1 - r)."""
    steps, values = np.random.default_rng(0).normal(size=100_000), np.zeros(100_000)
    for i in range(1, len(values)):
        values[i] = memory * values[i - 1] + steps[i]
    assert rows_of_memory(values) == pytest.approx((1 + memory) / (1 - memory), rel=0.15)
    assert rows_of_memory(np.ones(50)) == 1


def test_runs_of_a_slow_target_are_long():
    generator, time = np.random.default_rng(0), np.arange(1000.0)
    quick, slow = generator.normal(size=1000), np.cumsum(generator.normal(size=1000))
    n_runs = [len(np.unique(Splits.draw(Target.read(y, 1000)[0], None, time, True, 0).units)) for y in (quick, slow)]
    assert n_runs[0] == 60
    assert n_runs[1] < 10
