"""Held-out rows: how many splits and folds there are, and which rows they hold out."""

import numpy as np
import pytest

from surefoot import ParameterError
from surefoot._random import stream_key
from surefoot.data.held_out import MIN_ROWS_TO_SPLIT, random_splits, split_held_out, stratified_folds


def split_half_positive(n_rows, n_positive=None):
    codes = np.arange(n_rows) < (n_rows // 2 if n_positive is None else n_positive)
    return random_splits(np.arange(n_rows), 0.2, 0, strata=codes.astype(np.int32))


def test_small_tables_are_split_often_and_large_ones_once():
    assert len(split_half_positive(500)) == 10
    assert len(split_half_positive(5000)) == 2
    assert len(split_half_positive(10_000)) == 1
    assert len(split_half_positive(10_000, n_positive=1000)) == 5
    for train, held_out in split_half_positive(500):
        assert len(held_out) == 100
        assert sorted([*train, *held_out]) == list(range(500))


def test_splits_are_stratified_where_every_class_has_two_rows():
    for _, held_out in split_half_positive(500, n_positive=50):
        assert (held_out < 50).sum() == 10
    assert len(split_half_positive(500, n_positive=1)) == 10


def test_a_fraction_that_holds_out_every_row_is_refused():
    with pytest.raises(ParameterError, match="holds out all 3 rows"):
        random_splits(np.arange(3), 0.9, 0, strata=np.array([0, 0, 1]))


def test_folds_hold_out_every_row_of_a_small_table_once_and_enough_of_a_large_one():
    folds = stratified_folds(np.repeat([0, 1], [300, 40]).astype(np.int32))
    assert np.bincount(folds).tolist() == [34] * 10
    assert np.bincount(folds[300:]).tolist() == [4] * 10  # stratified
    assert stratified_folds(np.repeat([0, 1], 50_000).astype(np.int32)).max() == 0
    assert stratified_folds(np.repeat([0, 1], [98_000, 2000]).astype(np.int32)).max() == 4
    assert sorted(stratified_folds(np.array([0, 1, 1], dtype=np.int32))) == [0, 1, 2]


def test_one_split_is_stratified_and_its_parts_hold_out_different_rows():
    rows, strata = np.arange(10, 110), np.arange(110) % 2
    splits = [split_held_out(rows, stream_key(0), 0.2, strata=strata, part=part) for part in range(3)]
    for train, held_out in splits:
        assert sorted([*train, *held_out]) == rows.tolist()
        assert np.bincount(strata[held_out]).tolist() == [10, 10]
    assert len(set(np.concatenate([split.held_out for split in splits]).tolist())) == 60


def test_one_split_holds_out_nothing_of_a_very_small_table_and_never_a_whole_class():
    rows = np.arange(MIN_ROWS_TO_SPLIT)
    assert len(split_held_out(rows[1:], stream_key(0), 0.5).held_out) == 0
    assert len(split_held_out(rows, stream_key(0), 0.0).held_out) == 0
    strata = np.append(np.zeros(len(rows) - 1, dtype=int), 1)
    assert (split_held_out(rows, stream_key(0), 0.9, strata=strata).train == rows[-1]).any()
