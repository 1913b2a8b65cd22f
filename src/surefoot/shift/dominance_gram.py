"""Which target rows dominate which training rows, as packed bits: the paper's estimator without its N x N matrix.

``Z(i, q)`` is 1 where target row q reaches row i in every feature; then ``V = Z Z^T / M``. Eight targets share a byte.
Small lookup tables unpack a byte, into bytes to count with or into numbers to multiply by.
"""

from typing import NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel
from surefoot._parallel import RowThreads, row_blocks
from surefoot.shift.gram import ONE_THREAD, Gram, LeafOrder

ROWS_AT_ONCE = 16_384  # of a product, between two checks for Ctrl-C
COMPARE_CELLS = 4_000_000  # pairs of rows and targets that are compared at once
MAX_LANE_ROWS = 255  # rows whose bits are counted in a byte before it could overflow
SPREAD = np.array(
    [sum(((byte >> bit) & 1) << (8 * bit) for bit in range(8)) for byte in range(256)], dtype=np.uint64
)  # each bit of a byte in its own byte
UNPACKED = ((np.arange(256)[:, np.newaxis] >> np.arange(8)) & 1).astype(np.float64)
BITS_SET = UNPACKED.sum(axis=1).astype(np.uint8)


class Dominance(NamedTuple):
    """The bits of Z, the tables that unpack a byte, and the factor of ``Z Z^T``."""

    bits: np.ndarray
    spread: np.ndarray
    unpacked: np.ndarray
    factor: float


class DominanceGram(Gram):
    """``V = Z Z^T / M`` from the packed bits of Z, (rows, bytes)."""

    def __init__(self, bits: np.ndarray, n_targets: int) -> None:
        self.bits, self.n_targets = bits, n_targets
        self.n_rows = len(bits)

    def diagonal(self) -> np.ndarray:
        return BITS_SET[self.bits].sum(axis=1, dtype=np.int64) / self.n_targets

    def times(self, values: np.ndarray, threads: RowThreads = ONE_THREAD) -> np.ndarray:
        values = np.ascontiguousarray(values, dtype=np.float64)
        sums = np.zeros(8 * self.bits.shape[1])
        for start, stop in row_blocks(self.n_rows, ROWS_AT_ONCE):
            add_dominated(self.bits, UNPACKED, values, start, stop, sums)
        sums /= self.n_targets
        table = np.empty((self.bits.shape[1], 257))  # rows of 256 would all compete for one place in the cache
        sum_by_byte(UNPACKED, sums, table)
        out = np.empty(self.n_rows)
        threads.each(lambda block: sum_dominating(self.bits, table, *block, out), row_blocks(self.n_rows, ROWS_AT_ONCE))
        return out

    def submatrix(self, rows: np.ndarray) -> np.ndarray:
        # whole numbers below 2**24 are exact in single precision, in whatever order they are added
        chosen = np.unpackbits(self.bits[rows], axis=1).astype(np.float32)
        return (chosen @ chosen.T).astype(np.float64) / self.n_targets

    def subset(self, rows: np.ndarray) -> "DominanceGram":
        return DominanceGram(self.bits[rows], self.n_targets)

    def leaf_submatrix(self, rows: np.ndarray, n_features: int) -> None:
        return None

    def prefix_energies(
        self, submatrix: np.ndarray | None, leaf: LeafOrder, features: np.ndarray, out: np.ndarray
    ) -> None:
        is_unweighted = bool((leaf.weights[leaf.rows] == 1.0).all())
        dominance = Dominance(bits=self.bits, spread=SPREAD, unpacked=UNPACKED, factor=1.0 / self.n_targets)
        places = leaf.order, leaf.starts, leaf.ends
        sum_bit_energies(dominance, leaf.rows, leaf.weights, is_unweighted, features, *places, out)


@kernel
def add_dominated(bits, unpacked, values, start, stop, sums):
    """Add, for each target, the values of the rows ``start`` to ``stop`` that it dominates to ``sums``."""
    for i in range(start, stop):
        value = values[i]
        if value == 0.0:
            continue
        row = bits[i]
        for k in range(bits.shape[1]):
            ones = unpacked[row[k]]
            part = sums[8 * k : 8 * k + 8]
            for bit in range(8):
                part[bit] += value * ones[bit]


@kernel
def sum_by_byte(unpacked, sums, table):
    """Write, for each place of a byte and each value of it, the sum over the targets whose bits are set."""
    for k in range(table.shape[0]):
        for byte in range(256):
            total = 0.0
            for bit in range(8):
                total += sums[8 * k + bit] * unpacked[byte, bit]
            table[k, byte] = total


@kernel
def sum_dominating(bits, table, start, stop, out):
    """Write, for the rows ``start`` to ``stop``, the sum over the targets that dominate them."""
    n_bytes = bits.shape[1]
    fours = n_bytes - n_bytes % 4
    for i in range(start, stop):
        row = bits[i]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0  # side by side: a single sum would wait for itself at every step
        for k in range(0, fours, 4):
            a += table[k, row[k]]
            b += table[k + 1, row[k + 1]]
            c += table[k + 2, row[k + 2]]
            d += table[k + 3, row[k + 3]]
        for k in range(fours, n_bytes):
            a += table[k, row[k]]
        out[i] = a + b + (c + d)


@inner_kernel(allocates=True)
def flush_lanes(lanes, counts):
    """Add the bytes of ``lanes`` to ``counts`` and set them to 0."""
    for k in range(lanes.shape[0]):
        word = lanes[k]
        part = counts[8 * k : 8 * k + 8]
        for bit in range(8):
            part[bit] += float(np.int64((word >> np.uint64(8 * bit)) & np.uint64(255)))
        lanes[k] = np.uint64(0)


@kernel(allocates=True)
def sum_bit_energies(dominance, rows, weights, is_unweighted, features, order, starts, ends, energies):
    """Write the energy of a leaf's rows up to each rank, column by column: the rows add their bits by rank."""
    bits, spread, unpacked = dominance.bits, dominance.spread, dominance.unpacked
    n_bytes = bits.shape[1]
    lanes, counts = np.zeros(n_bytes, np.uint64), np.empty(8 * n_bytes)
    for f in features:
        counts[:] = 0.0
        energy, k = 0.0, 0
        for place in range(starts[f], starts[f + 1]):
            filled, before = 0, k
            while k < ends[place]:
                i = rows[order[f, k]]
                row = bits[i]
                if is_unweighted:
                    for byte in range(n_bytes):
                        lanes[byte] += spread[row[byte]]
                    filled += 1
                    if filled == MAX_LANE_ROWS:
                        flush_lanes(lanes, counts)
                        filled = 0
                else:
                    for byte in range(n_bytes):
                        ones = unpacked[row[byte]]
                        part = counts[8 * byte : 8 * byte + 8]
                        for bit in range(8):
                            part[bit] += weights[i] * ones[bit]
                k += 1
            if filled > 0:
                flush_lanes(lanes, counts)
            if k > before:
                a, b, c, d = 0.0, 0.0, 0.0, 0.0  # side by side: a single sum would wait for itself at every step
                for q in range(0, 8 * n_bytes, 4):
                    a += counts[q] * counts[q]
                    b += counts[q + 1] * counts[q + 1]
                    c += counts[q + 2] * counts[q + 2]
                    d += counts[q + 3] * counts[q + 3]
                energy = a + b + (c + d)
            energies[place] = dominance.factor * energy
