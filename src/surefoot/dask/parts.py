"""Disjoint parts of a table in partitions, one for each member of a majority vote.

Parts depend on the lengths of the partitions and on the seed, never on the workers.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from surefoot._random import random_permutation, stream_key

ORDER = 11_000_027  # label of a stream of random numbers: the order of the partitions
SHUFFLE = 13_000_027  # label of a stream of random numbers: the order of the rows of a partition
TOLERANCE = 0.1  # of the size of a part: by so much an end may move, so that no partition is cut


class Piece(NamedTuple):
    """Rows of one partition, by their places in a shuffle of the partition; all places are the whole partition."""

    partition: int
    start: int
    stop: int

    @property
    def n_rows(self) -> int:
        return self.stop - self.start

    def rows(self, length: int, seed: int) -> np.ndarray:
        """The rows of the piece in ascending order; ``length`` is that of its partition."""
        if self.n_rows == length:
            return np.arange(length)
        shuffled = random_permutation(stream_key(seed, SHUFFLE, self.partition), length)
        return np.sort(shuffled[self.start : self.stop])


Part = list[Piece]


def cut_parts(lengths: Sequence[int], n_parts: int, seed: int) -> list[Part]:
    """Parts of about equal size, made of whole partitions in random order where that is possible.

    A partition is cut only if the sizes of parts would otherwise differ by more than a fifth. Its rows are then divided
    at random.
    """
    order = random_permutation(stream_key(seed, ORDER), len(lengths))
    ends = np.cumsum(np.asarray(lengths, dtype=np.int64)[order])
    cuts = _cuts(ends, n_parts)
    parts: list[Part] = [[] for _ in range(n_parts)]
    for partition, end in zip(order.tolist(), ends.tolist(), strict=True):
        start = end - lengths[partition]
        for part, (low, high) in enumerate(pairwise(cuts)):
            first, stop = max(start, low), min(end, high)
            if first < stop:
                parts[part].append(Piece(partition, first - start, stop - start))
    return [sorted(part) for part in parts]


def _cuts(ends: np.ndarray, n_parts: int) -> list[int]:
    """Where parts begin and end: at the end of a partition, if one is close."""
    total = int(ends[-1])
    cuts = [0]
    for k in range(1, n_parts):
        cut = total * k // n_parts
        nearest = int(ends[np.argmin(np.abs(ends - cut))])
        cuts.append(nearest if abs(nearest - cut) <= TOLERANCE * total / n_parts else cut)
    return [*cuts, total]


def deal_parts(lengths: Sequence[int], n_parts: int) -> list[Part]:
    """Parts that each have the same number of rows, but for one, of every partition, and in all."""
    parts: list[Part] = [[] for _ in range(n_parts)]
    dealt = 0
    for partition, length in enumerate(lengths):
        counts = [(length - 1 - (part - dealt) % n_parts) // n_parts + 1 for part in range(n_parts)]
        stops = np.cumsum(counts).tolist()
        for part, (count, stop) in enumerate(zip(counts, stops, strict=True)):
            if count > 0:
                parts[part].append(Piece(partition, stop - count, stop))
        dealt += length
    return parts


def groups_of(parts: Sequence[Part], n_partitions: int) -> list[int]:
    """For each partition, the part that has most of its rows (0 if it has no rows)."""
    largest = [(0, 0)] * n_partitions
    for number, part in enumerate(parts):
        for piece in part:
            largest[piece.partition] = max(largest[piece.partition], (piece.n_rows, -number))
    return [-number for _, number in largest]


def home_of(part: Part, homes: Sequence[str]) -> str:
    """The worker that has most rows of a part."""
    rows: dict[str, int] = {}
    for piece in part:
        rows[homes[piece.partition]] = rows.get(homes[piece.partition], 0) + piece.n_rows
    return min(rows, key=lambda home: (-rows[home], home))
