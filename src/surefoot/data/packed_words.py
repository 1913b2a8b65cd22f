"""Eight cells of a row in a 64-bit word: how trees read a table, in memory and on disk."""

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._parallel import RowThreads, row_blocks

GROUP = 8  # codes in a word: one load reads eight cells, and the histograms of eight columns fit the fastest cache

PACKED_ROWS = 1 << 15  # a block stays in the cache while its columns are interleaved
ONE_THREAD = RowThreads(1)


def count_groups(n_columns: int) -> int:
    """The number of words in a row."""
    return -(-n_columns // GROUP)


def pack_codes(
    codes: np.ndarray,
    new_array: Callable[[tuple[int, int], Any], np.ndarray] = np.zeros,
    threads: RowThreads = ONE_THREAD,
) -> np.ndarray:
    """Codes (columns, rows) of one byte, eight columns in a word: (groups, rows), in an array of ``new_array``."""
    n_columns, n_rows = codes.shape
    n_groups = count_groups(n_columns)
    words = new_array((n_groups, n_rows), "<u8")
    cells = words.view(np.uint8).reshape(n_groups, n_rows, GROUP)

    def pack(group: int) -> None:
        columns = range(GROUP * group, min(GROUP * (group + 1), n_columns))
        for start, stop in row_blocks(n_rows, PACKED_ROWS):
            for j in columns:
                cells[group, start:stop, j % GROUP] = codes[j, start:stop]

    threads.each(pack, range(n_groups))
    return words.astype(np.uint64, copy=False)


def unpack_column(words: np.ndarray, j: int) -> np.ndarray:
    """The codes of column ``j`` as uint8, from the words (groups, rows) of ``pack_codes``."""
    return (words[j // GROUP] >> np.uint64(GROUP * (j % GROUP))).astype(np.uint8)
