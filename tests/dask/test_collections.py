"""Dask collections are read as the local estimators read the same rows, or refused with one clear error."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from dask import compute, delayed

from surefoot import DataError
from surefoot.dask.collections import Partition, blocks_of, is_collection, known_lengths, read_partitions
from surefoot.dask.summaries import TableSummary, summarise
from surefoot.data import Columns


def table(frames, **options):
    """The summary of a table whose partitions are these frames (or triples of X, y and weights)."""
    triples = [frame if isinstance(frame, tuple) else (frame, None, None) for frame in frames]
    columns = (None if parts[0] is None else list(map(delayed, parts)) for parts in zip(*triples, strict=True))
    partitions = read_partitions(*columns)
    return TableSummary.of([summarise(made(each), **options) for each in partitions])


def made(blocks):
    """A partition from its blocks."""
    return Partition(*compute(*blocks, scheduler="sync"))


def category(labels, categories=None):
    return pd.DataFrame({"number": np.arange(float(len(labels))), "kind": pd.Categorical(labels, categories)})


def joined(frames):
    """All rows, as a user would join them for a local estimator."""
    return pd.concat(frames, ignore_index=True).astype({"kind": "category"})


FRAMES = {
    "the same dtype": [category(["b", "a"], ["b", "a", "c"]), category(["c"], ["b", "a", "c"])],
    "a category without rows": [category(["b"], ["z", "b", "a"]), category(["a"], ["z", "b", "a"])],
    "other categories": [category(["b", "x"]), category(["c", "a", None])],
    "another order": [category(["b", "a"], ["b", "a"]), category(["a", "b"], ["a", "b"])],
    "numbers": [category([3, 1]), category([10, 2])],
    "an empty partition": [category(["b"]), category([]).iloc[:0], category(["a"])],
}


@pytest.mark.parametrize("name", FRAMES)
def test_categories_and_ranges_are_those_of_the_joined_rows(name):
    frames = FRAMES[name]
    used = [frame for frame in frames if len(frame)]
    assert table(frames).schema == Columns.from_frame(joined(used)).schema


def test_categories_of_polars_are_those_of_the_joined_rows():
    frames = [
        pl.DataFrame({"kind": labels}, schema={"kind": pl.Enum(["c", "b", "a"])}) for labels in (["a", "b"], ["c", "a"])
    ]
    assert table(frames).schema == Columns.from_frame(pl.concat(frames)).schema


def test_very_many_categories_are_sorted_by_their_weight():
    generator = np.random.default_rng(0)
    labels = generator.choice([f"k{k:03}" for k in range(300)], size=2000)
    weights = generator.integers(1, 5, size=2000).astype(float)
    frames = [category(labels[:900]), category(labels[900:])]
    parts = [(frames[0], None, weights[:900]), (frames[1], None, weights[900:])]
    assert table(parts).schema == Columns.from_frame(joined(frames), weights=weights).schema


def test_listed_columns_are_categories():
    arrays = [np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([[2.0, 7.0]])]
    expected = Columns.from_array(np.concatenate(arrays), categorical=[0]).schema
    assert table(arrays, categorical=[0]).schema == expected


def test_rows_without_weight_do_not_count():
    parts = [(np.array([[1.0], [9.0]]), None, np.array([2.0, 0.0])), (np.array([[5.0]]), None, np.array([0.0]))]
    summary = table(parts)
    assert summary.schema.ranges == {0: (1.0, 1.0)}
    assert (summary.lengths, summary.weighted_lengths, summary.max_weight) == ((2, 1), (1, 0), 2.0)


def test_codes_of_a_partition_are_those_of_the_joined_rows():
    frames = FRAMES["other categories"]
    columns = Columns.from_frame(joined(frames))
    codes = [table(frames).read_columns(frame).category_codes(1) for frame in frames]
    np.testing.assert_array_equal(np.concatenate(codes), columns.category_codes(1))


def test_labels_are_counted():
    y = [np.array(["b", "a", "b"]), np.array(["c"])]
    X = [np.zeros((3, 1)), np.zeros((1, 1))]
    first = read_partitions(list(map(delayed, X)), list(map(delayed, y)))[0]
    summary = summarise(made(first), with_labels=True)
    assert summary.labels.tolist() == ["a", "b"]
    assert summary.label_counts.tolist() == [1, 2]


NUMBERS = category(["a", "b"])
REFUSED = {
    "no rows": ([NUMBERS.iloc[:0]], "X has no rows"),
    "no weight": ([(NUMBERS, None, np.zeros(2))], "sample_weight is zero for every row"),
    "another number of columns": ([NUMBERS, NUMBERS[["kind"]]], "X has 1 columns in partition 1 and 2 in partition 0"),
    "other names": ([NUMBERS, NUMBERS.rename(columns={"number": "n"})], "partition 1 have other names"),
    "another order": ([NUMBERS, NUMBERS[["kind", "number"]]], "partition 1 have other names, or another order"),
    "numbers and categories": ([NUMBERS, NUMBERS.assign(kind=[1.0, 2.0])], "'kind' of X is categorical in one"),
    "frames and arrays": ([NUMBERS[["number"]], np.zeros((2, 1))], "frames and arrays"),
    "text": ([NUMBERS.assign(kind=["a", "b"])], "'kind' of X has dtype String"),
    "fewer targets": ([(NUMBERS, np.zeros(3), None)], "y has 3 rows in a partition in which X has 2"),
    "fewer weights": ([(NUMBERS, np.zeros(2), np.ones(1))], "sample_weight has 1 rows"),
    "negative weights": ([(NUMBERS, None, np.array([1.0, -1.0]))], "sample_weight has negative values"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused(name):
    frames, message = REFUSED[name]
    with pytest.raises(DataError, match=message):
        table(frames)


def test_collections_are_told_from_tables():
    frame = dd.from_pandas(NUMBERS, npartitions=2)
    for collection in (frame, frame["number"], da.zeros((4, 2)), [delayed(NUMBERS)]):
        assert is_collection(collection)
    for local in (NUMBERS, np.zeros((4, 2)), [[1.0]], [], None):
        assert not is_collection(local)


def test_a_table_in_memory_is_refused():
    with pytest.raises(DataError, match=r"X must be a Dask DataFrame.* got ndarray: for a table in memory") as info:
        blocks_of(np.zeros((2, 2)))
    assert info.value.argument == "X"


def test_columns_in_several_chunks_are_joined():
    X = da.from_array(np.arange(24.0).reshape(6, 4), chunks=(3, 2))
    blocks = [block.compute(scheduler="sync") for block in blocks_of(X)]
    np.testing.assert_array_equal(np.concatenate(blocks), np.arange(24.0).reshape(6, 4))
    assert known_lengths(X) == [3, 3]


@pytest.mark.parametrize("name", ["y", "sample_weight"])
def test_other_partitions_are_refused(name):
    X = da.zeros((10, 2), chunks=(5, 2))
    for chunks in ((4, 6), (10,)):
        values = da.zeros(10, chunks=(chunks,))
        y, weights = (values, None) if name == "y" else (da.zeros(10, chunks=5), values)
        with pytest.raises(DataError, match=f"{name} is not in the partitions of X"):
            read_partitions(X, y, weights)


def test_unknown_lengths_are_found_when_the_rows_are_read():
    frame = dd.from_pandas(NUMBERS, npartitions=2)
    X = frame[["number"]].to_dask_array()
    assert known_lengths(X) == []
    partitions = map(made, read_partitions(X, frame["number"]))
    assert TableSummary.of(list(map(summarise, partitions))).lengths == (1, 1)
