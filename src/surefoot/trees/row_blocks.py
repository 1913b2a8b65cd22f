"""Rows in blocks of fixed size, so that sums of floats do not depend on who adds them up.

The blocks depend on nothing but the number of a row. Floats are added up within each block, and then block by block:
the result is the same for any number of threads.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from surefoot._jit import inner_kernel, kernel
from surefoot._parallel import RowThreads

BLOCK_ROWS = 1 << 14  # the codes of eight columns of a block fit the second cache of a core


def even_ranges(n: int, n_ranges: int) -> list[tuple[int, int]]:
    """The numbers from 0 to n cut into at most ``n_ranges`` ranges of about the same length; none is empty."""
    n_ranges = max(min(n, n_ranges), 1)
    cuts = [k * n // n_ranges for k in range(n_ranges + 1)]
    return list(pairwise(cuts))


def count_blocks(n_rows: int) -> int:
    """The number of blocks of a table."""
    return max(-(-n_rows // BLOCK_ROWS), 1)


def rows_of_blocks(blocks: tuple[int, int], n_rows: int) -> tuple[int, int]:
    """The first row of some blocks of a table, and the first row after them."""
    return blocks[0] * BLOCK_ROWS, min(blocks[1] * BLOCK_ROWS, n_rows)


@dataclass(frozen=True)
class BlockRows:
    """Some rows of a table: those of block b are ``rows[starts[b]:starts[b + 1]]``."""

    rows: np.ndarray  # uint32, in ascending order
    starts: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, n_rows: int) -> "BlockRows":
        """Rows of a table of ``n_rows``."""
        ends = np.arange(1, count_blocks(n_rows)) * BLOCK_ROWS
        starts = np.concatenate([[0], np.searchsorted(rows, ends), [len(rows)]]).astype(np.int64)
        return cls(np.ascontiguousarray(rows, dtype=np.uint32), starts)

    def __len__(self) -> int:
        return len(self.rows)

    def in_blocks(self, blocks: tuple[int, int]) -> slice:
        """Where the rows of some blocks are in ``rows``."""
        return slice(int(self.starts[blocks[0]]), int(self.starts[blocks[1]]))

    def whole_blocks(self, places: tuple[int, int]) -> tuple[int, int]:
        """The blocks that lie between two places in ``rows``; a block is in one of several ranges, or is cut by one."""
        first, last = np.searchsorted(self.starts, places).tolist()
        last -= int(self.starts[last] > places[1])
        return first, max(first, last)

    @property
    def n_blocks(self) -> int:
        return len(self.starts) - 1

    def block_ranges(self, n_ranges: int) -> list[tuple[int, int]]:
        """All blocks cut into ranges with about the same number of rows."""
        if n_ranges == 1:
            return [(0, self.n_blocks)]
        middles = (self.starts[:-1] + self.starts[1:]) / 2.0
        ends = np.arange(1, n_ranges) * (len(self.rows) / n_ranges)
        cuts = [0, *np.searchsorted(middles, ends).tolist(), self.n_blocks]
        return [(first, last) for first, last in pairwise(cuts) if first < last]

    def draw(
        self, key: np.uint64, probability: float, n_rows: int, threads: RowThreads
    ) -> tuple["BlockRows", np.ndarray]:
        """Some of the rows, each drawn independently; and all other rows of a table of ``n_rows``."""
        limit = np.uint64(min(int(probability * 2.0**64), (1 << 64) - 1))
        ranges = self.block_ranges(threads.n_threads)
        counts = np.zeros(self.n_blocks, dtype=np.int64)
        threads.run(lambda blocks: count_drawn(self.starts, blocks, key, limit, counts), ranges)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        drawn, others = np.empty(starts[-1], dtype=np.uint32), np.empty(n_rows - starts[-1], dtype=np.uint32)
        given = self.rows, self.starts, BLOCK_ROWS, n_rows, key, limit, starts
        threads.run(lambda blocks: write_drawn(*given, blocks, drawn, others), ranges)
        return BlockRows(drawn, starts), others


GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


@inner_kernel
def is_drawn(key, place, limit):
    """Return whether the number ``place`` of the stream ``key`` (as in ``_random.py``) is below the limit."""
    z = np.uint64(key) + np.uint64(place + 1) * GOLDEN
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return (z ^ (z >> np.uint64(31))) < limit


@kernel
def count_drawn(starts, blocks, key, limit, counts):
    """Write how many rows of each of some blocks are drawn."""
    for block in range(blocks[0], blocks[1]):
        n = 0
        for place in range(starts[block], starts[block + 1]):
            n += is_drawn(key, place, limit)
        counts[block] = n


@kernel
def write_drawn(rows, starts, block_rows, n_rows, key, limit, drawn_starts, blocks, drawn, others):
    """Write the drawn rows of some blocks to ``drawn``, and all other rows of these blocks to ``others``."""
    for block in range(blocks[0], blocks[1]):
        place, stop, to = starts[block], starts[block + 1], drawn_starts[block]
        first = block * block_rows
        out = first - to
        for row in range(first, min(first + block_rows, n_rows)):
            took = False
            if place < stop and rows[place] == row:
                took = is_drawn(key, place, limit)
                place += 1
            if took:
                drawn[to] = row
                to += 1
            else:
                others[out] = row
                out += 1
