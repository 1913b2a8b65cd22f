"""Rows in blocks of fixed size, so that sums of floats do not depend on who adds them up.

The blocks depend on nothing but the number of a row. Floats are added up within each block, and then block by block:
the result is the same for any number of threads.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

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

    @property
    def n_blocks(self) -> int:
        return len(self.starts) - 1

    def block_ranges(self, n_ranges: int) -> list[tuple[int, int]]:
        """All blocks cut into ranges with about the same number of rows."""
        ends = np.arange(1, n_ranges) * (len(self.rows) / n_ranges)
        cuts = [0, *np.searchsorted(self.starts[:-1], ends).tolist(), self.n_blocks]
        return [(first, last) for first, last in pairwise(cuts) if first < last]
