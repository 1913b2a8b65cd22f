"""Bags of rows: each a pure function of the pool's seed and the bag's number, so that none has to be kept."""

from dataclasses import dataclass

import numpy as np

from surefoot._jit import kernel
from surefoot._random import random_bits, stream_key

BAGS = 3_000_017  # label of a stream
SCAN_SHARE = 16  # where fewer than one row in so many is drawn, sorting them is cheaper than looking through all rows


@dataclass(frozen=True)
class BagPool:
    """All bags of ``size`` rows that a seed may ever give."""

    n_rows: int
    size: int
    replace: bool
    seed: int

    @property
    def share(self) -> float:
        """The chance that a bag holds a given row."""
        return 1.0 - (1.0 - 1.0 / self.n_rows) ** self.size if self.replace else self.size / self.n_rows

    def bags(self, first: int, stop: int) -> np.ndarray:
        """Bags number ``first`` to ``stop - 1``: int32 (bags, size), rows ascending, as often as they were drawn."""
        leaves_out = not self.replace and 2 * self.size > self.n_rows  # fewer draws: those that the bag shall not hold
        draws = self.n_rows - self.size if leaves_out else self.size
        bits = random_bits(stream_key(self.seed, BAGS), (stop - first) * draws, first * draws).reshape(-1, draws)
        out = np.empty((stop - first, self.size), dtype=np.int32)
        counts = np.zeros(self.n_rows, dtype=np.int32)
        if self.replace:
            draw_with_replacement(bits, counts, out)
        else:
            draw_without_replacement(bits, leaves_out, np.arange(self.n_rows, dtype=np.int32), counts, out)
        return out


@kernel
def draw_with_replacement(bits, counts, out):
    """Read random bits (bags, draws) and counts that are 0; write the rows of each bag in ascending order."""
    n_rows, size = counts.shape[0], out.shape[1]
    for b in range(out.shape[0]):
        for i in range(size):
            out[b, i] = min(np.int64((bits[b, i] >> np.uint64(11)) * 2.0**-53 * n_rows), n_rows - 1)
        if size * SCAN_SHARE < n_rows:
            out[b] = np.sort(out[b])
            continue
        for i in range(size):
            counts[out[b, i]] += 1
        place = 0
        for row in range(n_rows):
            for _ in range(counts[row]):
                out[b, place] = row
                place += 1
            counts[row] = 0


@kernel
def draw_without_replacement(bits, leaves_out, places, counts, out):
    """Read random bits, all rows as places, and counts that are 0; write the rows of each bag in ascending order.

    The drawn rows are those of a shuffle that is broken off; undone, the places are in order again for the next bag.
    """
    n_rows, draws = places.shape[0], bits.shape[1]
    swaps = np.empty(draws, dtype=np.int64)
    for b in range(out.shape[0]):
        for i in range(draws):
            left = n_rows - i
            other = i + min(np.int64((bits[b, i] >> np.uint64(11)) * 2.0**-53 * left), left - 1)
            swaps[i] = other
            places[i], places[other] = places[other], places[i]
        if not leaves_out and draws * SCAN_SHARE < n_rows:
            out[b] = np.sort(places[:draws])
        else:
            for i in range(draws):
                counts[places[i]] = 1
            place = 0
            for row in range(n_rows):
                if (counts[row] == 0) == leaves_out:
                    out[b, place] = row
                    place += 1
                counts[row] = 0
        for i in range(draws - 1, -1, -1):
            other = swaps[i]
            places[i], places[other] = places[other], places[i]
