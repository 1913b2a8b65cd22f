"""Ranges of columns and columns of dates: saved since version 2, checked, and absent from old files."""

from dataclasses import replace

import numpy as np
import pytest
from crafting import pack, read, refusal, unpack
from small_models import STORED, small_model, table

import surefoot

RANGES = "model.columns.ranges.npy"


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The parts of a file of the current version."""
    path = tmp_path_factory.mktemp("ranges") / "model.surefoot"
    surefoot.save(small_model("stumps"), path)
    return unpack(path.read_bytes())


def test_ranges_are_those_of_the_table(parts):
    X, _ = table()
    ranges = read(pack(*parts))._schema.ranges
    assert ranges == {0: (X["a"].min(), X["a"].max()), 1: (X["b"].min(), X["b"].max())}


def test_old_files_have_none():
    model = surefoot.load(STORED / "1" / "stumps.surefoot")
    assert (model._schema.ranges, model._schema.dates) == ({}, None)


@pytest.mark.parametrize("dates", [None, frozenset(), frozenset({1})])
def test_dates_are_saved(dates, tmp_path):
    model = surefoot.load(STORED / "1" / "stumps.surefoot")
    model._schema = replace(model._schema, dates=dates)
    surefoot.save(model, tmp_path / "m")
    assert surefoot.load(tmp_path / "m")._schema.dates == dates


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[0.0, 1.0]], "ranges and columns differ in number"),
        ([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [np.nan, np.nan]], "range of a categorical column"),
        ([[1.0, 0.0], *[[np.nan, np.nan]] * 3], "end before they begin"),
        ([[0.0, np.inf], *[[np.nan, np.nan]] * 3], "end before they begin"),
        ([[0.0, np.nan], *[[np.nan, np.nan]] * 3], "end before they begin"),
    ],
)
def test_invalid_ranges_are_refused(parts, value, message):
    state, arrays = parts
    assert message in refusal(pack(state, {**arrays, RANGES: np.array(value)}))
