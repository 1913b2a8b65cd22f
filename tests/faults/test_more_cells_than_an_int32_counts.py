"""Cells beyond number 2**31 are found where they are.

The tables are large only on paper: the system gives memory to the few pages that are written.
"""

import numpy as np
import pytest

from surefoot._exceptions import DataError
from surefoot._parallel import RowThreads
from surefoot.boosting.stump_boosting import boost_stumps, whole_weights
from surefoot.boosting.stump_kernels import GINI, Rule
from surefoot.data import BinEdges, BinnedTable, Columns
from surefoot.data.binned_table import MAX_ROWS
from surefoot.data.binner import find_bins
from surefoot.data.columns import Schema
from surefoot.trees import TreeGrower

N_USED = 600
N_BINS = 8
SHAPES = {"many cells": (3, 2**30), "most rows": (2, MAX_ROWS)}


def small_table(n_columns):
    """Codes (columns, rows), rows sorted by class, that the first and last column explain; where class 1 starts."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, N_BINS, size=(n_columns, N_USED)).astype(np.uint8)
    score = codes[0].astype(float) + codes[-1] + generator.normal(size=N_USED)
    order = np.argsort(score > np.median(score), kind="stable")
    return np.ascontiguousarray(codes[:, order]), int((score <= np.median(score)).sum())


def as_table(codes):
    values = np.arange(N_BINS, dtype=float)
    n_columns = len(codes)
    return BinnedTable(codes, [BinEdges(values, values)] * n_columns, np.full(n_columns, N_BINS, dtype=np.int64))


def at_the_end(codes, n_rows):
    """A table of ``n_rows`` rows whose last ones are ``codes``; its other pages are never touched."""
    large = np.zeros((len(codes), n_rows), dtype=np.uint8)
    large[:, -codes.shape[1] :] = codes
    return large


@pytest.fixture(params=SHAPES)
def twin_tables(request):
    """A small table, the same rows at the end of a large one, and the number of rows before them there."""
    n_columns, n_rows = SHAPES[request.param]
    assert n_columns * n_rows > 2**31
    codes, middle = small_table(n_columns)
    return as_table(codes), as_table(at_the_end(codes, n_rows)), middle, n_rows - N_USED


@pytest.mark.fault(number=9)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_stumps_on_the_last_rows(twin_tables, n_threads):
    small, large, middle, before = twin_tables
    rule = Rule(GINI, False, 1.0, 0.1)
    weights = np.random.default_rng(1).random(N_USED)
    expected = boost_stumps(small, (0, middle, N_USED), weights, rule, 12, n_threads=n_threads)
    bounds = (before, before + middle, before + N_USED)
    found = boost_stumps(large, bounds, weights, rule, 12, n_threads=n_threads)
    assert len(np.unique(expected.features)) > 1
    for name in expected._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@pytest.mark.fault(number=9)
def test_trees_on_the_last_rows(twin_tables):
    small, large, middle, before = twin_tables
    classes = (np.arange(N_USED) >= middle).astype(np.int32)
    whole, _ = whole_weights(np.random.default_rng(1).random(N_USED))
    far_classes = np.zeros(before + N_USED, dtype=np.uint8)  # one byte a row on paper
    far_classes[before:] = classes
    with RowThreads(1) as threads:
        expected = TreeGrower(small, classes, 2, 0, 3, GINI, threads).grow(np.arange(N_USED, dtype=np.int32), whole)
        rows = np.arange(before, before + N_USED).astype(np.int32)
        found = TreeGrower(large, far_classes, 2, before, 3, GINI, threads).grow(rows, whole)
    assert len(np.unique(expected.features)) > 1
    for name in ("features", "below", "above", "labels", "gains", "leaf_ends"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    np.testing.assert_array_equal(found.rows.astype(np.int64) - before, expected.rows)


@pytest.mark.fault(number=9)
def test_codes_are_written_to_the_last_rows(twin_tables):
    _, large, _, before = twin_tables
    values = np.random.default_rng(2).normal(size=(large.n_columns, N_USED))
    thresholds = np.array([-0.5, 0.0, 0.5, np.inf])
    tables, starts = np.tile(thresholds, large.n_columns), 4 * np.arange(large.n_columns + 1)
    find_bins(values, tables, starts, large.missing, before, large.codes)
    np.testing.assert_array_equal(large.codes[:, before:], np.searchsorted(thresholds[:-1], values, side="left"))
    assert not large.codes[:, before - 4096 : before].any()
    assert not large.codes[1, :4096].any()


@pytest.mark.fault(number=9)
def test_rows_are_fetched_from_the_end(twin_tables):
    small, large, _, before = twin_tables
    order = np.arange(before, before + N_USED)[::-1].astype(np.int32)
    large.reorder(order)
    np.testing.assert_array_equal(large.codes[:, :N_USED], small.codes[:, ::-1])


@pytest.mark.fault(number=9)
def test_more_rows_than_supported_are_refused():
    one_cell = np.broadcast_to(np.zeros((1, 1)), (MAX_ROWS + 1, 1))
    with pytest.raises(DataError, match=f"X has {MAX_ROWS + 1} rows"):
        BinnedTable.from_columns(Columns.from_array(one_cell, Schema(1)))
