"""Blocks of rows, and rows that are drawn from them, against plain lists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot._parallel import RowThreads
from surefoot._random import random_bits
from surefoot.trees import row_blocks
from surefoot.trees.row_blocks import BlockRows, even_ranges, rows_of_blocks


@pytest.mark.parametrize(("n", "n_ranges"), [(0, 2), (1, 3), (7, 1), (7, 3), (100, 16)])
def test_ranges_cover_all_numbers_and_are_about_even(n, n_ranges):
    ranges = even_ranges(n, n_ranges)
    assert [number for first, last in ranges for number in range(first, last)] == list(range(n))
    lengths = [last - first for first, last in ranges]
    assert max(lengths) - min(lengths) <= 1
    assert len(ranges) == max(min(n, n_ranges), 1)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), block_rows=st.integers(1, 40), n_rows=st.integers(1, 100))
def test_rows_are_divided_by_their_number(seed, block_rows, n_rows):
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(n_rows) < rng.random())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_ROWS", block_rows)
        blocks = BlockRows.of(rows, n_rows)
        for n_ranges in (1, 2, 5):
            ranges = blocks.block_ranges(n_ranges)
            assert len(ranges) <= n_ranges
            found = [row for some in ranges for row in blocks.rows[blocks.in_blocks(some)].tolist()]
            assert found == rows.tolist()
        for block in range(blocks.n_blocks):
            first, last = rows_of_blocks((block, block + 1), n_rows)
            own = blocks.rows[blocks.in_blocks((block, block + 1))]
            assert own.tolist() == [row for row in rows.tolist() if first <= row < last]


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 10_000),
    block_rows=st.integers(1, 40),
    n_rows=st.integers(1, 100),
    n_ranges=st.integers(1, 9),
)
def test_a_block_is_whole_in_one_range_or_cut_by_ranges(seed, block_rows, n_rows, n_ranges):
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(n_rows) < rng.random())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_ROWS", block_rows)
        blocks = BlockRows.of(rows, n_rows)
    seen = []
    for start, stop in even_ranges(len(blocks), n_ranges):
        first, last = blocks.whole_blocks((start, stop))
        assert not seen or first == last or first > seen[-1]
        seen += range(first, last)
        for block in range(first, last):
            assert start <= blocks.starts[block] <= blocks.starts[block + 1] <= stop
        for block in set(range(blocks.n_blocks)).difference(seen):  # what is left out does not fit
            begin, end = blocks.starts[block], blocks.starts[block + 1]
            assert begin == end or not (start <= begin and end <= stop)


def test_blocks_are_divided_where_the_ranges_are_most_even():
    n_rows = 300_000  # 18.3 blocks
    (_, middle), _ = BlockRows.of(np.arange(n_rows), n_rows).block_ranges(2)
    assert abs(middle * row_blocks.BLOCK_ROWS - n_rows / 2) <= row_blocks.BLOCK_ROWS / 2


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 10_000),
    block_rows=st.integers(1, 40),
    n_rows=st.integers(1, 100),
    probability=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    n_threads=st.integers(1, 3),
)
def test_rows_are_drawn_independently_and_the_others_are_all_the_rest(seed, block_rows, n_rows, probability, n_threads):
    rng = np.random.default_rng(seed)
    rows = np.union1d(np.flatnonzero(rng.random(n_rows) < 0.7), [n_rows - 1])
    key = np.uint64(seed)
    expected = rows[random_bits(key, len(rows)) < np.uint64(min(int(probability * 2.0**64), 2**64 - 1))]
    with pytest.MonkeyPatch.context() as patch, RowThreads(n_threads) as threads:
        patch.setattr(row_blocks, "BLOCK_ROWS", block_rows)
        drawn, others = BlockRows.of(rows, n_rows).draw(key, probability, n_rows, threads)
        again = BlockRows.of(expected, n_rows)
    assert drawn.rows.tolist() == expected.tolist()
    assert drawn.starts.tolist() == again.starts.tolist()
    assert others.tolist() == sorted(set(range(n_rows)) - set(expected.tolist()))
    assert others.dtype == drawn.rows.dtype == np.uint32
