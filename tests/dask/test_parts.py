"""Parts have every row once, are of about equal size, and are random where partitions are cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.dask.parts import Piece, cut_parts, deal_parts, groups_of, home_of

LENGTHS = st.lists(st.integers(0, 40), min_size=1, max_size=12).filter(any)


def rows_of(parts, lengths, seed):
    """The rows of each part, as positions in the whole table."""
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return [np.concatenate([starts[p.partition] + p.rows(lengths[p.partition], seed) for p in part]) for part in parts]


@pytest.mark.parametrize("deals", [False, True])
@settings(deadline=None)
@given(lengths=LENGTHS, n_parts=st.integers(1, 7), seed=st.integers(0, 5))
def test_every_row_is_in_one_part(deals, lengths, n_parts, seed):
    n_parts = min(n_parts, sum(lengths))
    parts = deal_parts(lengths, n_parts) if deals else cut_parts(lengths, n_parts, seed)
    rows = rows_of(parts, lengths, seed)
    assert sorted(np.concatenate(rows).tolist()) == list(range(sum(lengths)))
    assert all((np.diff(part) > 0).all() for part in rows)
    sizes, size = np.array([len(part) for part in rows]), sum(lengths) / n_parts
    assert len(sizes) == n_parts
    assert (np.abs(sizes - size) < (1 if deals else 1 + 0.2 * size)).all()


def test_partitions_of_similar_length_are_not_cut():
    lengths = [100, 104, 97, 99, 100, 103, 98, 100, 101, 99]
    parts = cut_parts(lengths, 5, seed=3)
    assert [len(part) for part in parts] == [2] * 5
    assert all(piece.n_rows == lengths[piece.partition] for part in parts for piece in part)
    assert parts != cut_parts(lengths, 5, seed=4)


def test_rows_of_a_cut_partition_are_divided_at_random():
    first, second = rows_of(cut_parts([1000], 2, seed=0), [1000], 0)
    assert len(first) == len(second) == 500
    assert abs(np.mean(first) - np.mean(second)) < 100  # 5 standard errors
    assert not np.array_equal(first, rows_of(cut_parts([1000], 2, seed=1), [1000], 1)[0])


def test_rows_are_dealt_from_every_partition_to_every_part():
    counts = np.zeros((3, 4))
    for number, part in enumerate(deal_parts([40, 41, 6], 4)):
        for piece in part:
            counts[piece.partition, number] = piece.n_rows
    assert counts.tolist() == [[10, 10, 10, 10], [11, 10, 10, 10], [1, 2, 2, 1]]


def test_partitions_are_grouped_by_the_part_that_has_most_of_them():
    parts = [[Piece(0, 0, 10), Piece(1, 0, 4)], [Piece(1, 4, 10), Piece(3, 0, 1)]]
    assert groups_of(parts, 4) == [0, 1, 0, 1]
    assert home_of(parts[0], ["a", "b", "b", "b"]) == "a"
    assert home_of([Piece(0, 0, 1), Piece(1, 0, 1)], ["b", "a"]) == "a"
