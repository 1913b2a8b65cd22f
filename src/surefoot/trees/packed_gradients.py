"""Gradients as whole numbers, and several of them in one 64-bit word.

From the low end, a word holds the count of rows (``count_bits``), the second gradient and the first (``field_bits``
each, signed). Adding words adds all three. A field can hold the sum over any set of rows, because the gradients are
scaled by the sum of their absolute values: for 100,000 rows that leaves about forty steps for an average gradient, for
10,000 about six hundred. The scale is a power of two, so that a row of weight 2 counts as exactly two rows.
"""

from dataclasses import dataclass
from functools import cached_property
from math import floor, log2
from typing import NamedTuple

import numpy as np

from surefoot._jit import kernel

MAX_PACKED = 1 << 20  # with fewer rows (by weight), sums of two scores and the count fit one word with steps to spare
MAX_PACKED_WEIGHT = 1 << 16  # the same for weighted rows: a row with a large weight would have few steps left
MIN_SUM = 1e-200  # scores with a smaller sum count as 0
MAX_EXPONENT = 200  # of a scale
WIDE_BITS = 50  # if each statistic has a word of its own, sums stay below 2**50
FINE_STEPS = 64.0  # with fewer steps for an average gradient, rounding is random, so that it has no bias


def field_bits(count_bits: int) -> int:
    """Bits of each of the two gradients in a word with a count of ``count_bits``."""
    return (64 - count_bits) // 2


class SumScales(NamedTuple):
    """The scales that turn the scores of one tree into whole numbers, and the units that turn sums back."""

    scores: np.ndarray
    weight: float
    rounds_randomly: bool
    units: np.ndarray


@dataclass(frozen=True)
class GradientFormat:
    """How the count, the weight and the scores of a row are written as whole numbers; the same for all rows."""

    n_scores: int
    whole: bool  # all weights are whole numbers: a row of weight k counts as k rows
    packed: bool  # one word for each row
    total_weight: float

    @classmethod
    def of(cls, n_scores: int, weights: np.ndarray | None, n_rows: int) -> "GradientFormat":
        """The format for the rows of a table with these weights (None: all 1)."""
        total = float(n_rows) if weights is None else float(weights.sum())
        whole = weights is None or bool((np.rint(weights) == weights).all())
        packed = whole and n_scores <= 2 and total < (MAX_PACKED if weights is None else MAX_PACKED_WEIGHT)
        return cls(n_scores=n_scores, whole=whole, packed=packed, total_weight=total)

    @cached_property
    def n_words(self) -> int:
        """Words of a row."""
        return 1 if self.packed else 2 + self.n_scores

    @cached_property
    def count_bits(self) -> int:
        return max(1, int(self.total_weight).bit_length())

    @cached_property
    def _weight_scale(self) -> float:
        return 2.0 ** floor(log2(2.0**WIDE_BITS / max(self.total_weight, MIN_SUM)))

    @cached_property
    def _max_sum(self) -> float:
        """The largest sum of a score that fits."""
        return 2.0 ** ((field_bits(self.count_bits) if self.packed else WIDE_BITS) - 1) - 1

    def scales(self, sums: list[float], total: float, n_rows: int) -> SumScales:
        """The scales for ``n_rows`` rows with these weighted sums of absolute scores, and this sum of weights."""
        weight = max(total if self.packed else n_rows, 1.0)
        room = self._max_sum - weight  # rounding adds at most 1 for each row
        scales = [2.0 ** min(floor(log2(room / max(part, MIN_SUM))), MAX_EXPONENT) for part in sums]
        steps = min([part * scale for part, scale in zip(sums, scales, strict=True)]) / weight
        weight_unit = 1.0 if self.packed else 1.0 / self._weight_scale
        units = [1.0, weight_unit, *[1.0 / scale for scale in scales], 1.0]
        return SumScales(
            scores=np.array([*scales, 0.0]),
            weight=self._weight_scale,
            rounds_randomly=steps < FINE_STEPS,
            units=np.array(units[: max(4, 2 + self.n_scores)]),
        )


@kernel
def absolute_sums(scores, weights, rows, starts, blocks, sums):
    """Write, for some blocks, the weighted sum of the absolute values of each score, and the sum of the weights.

    If there are no ``weights``, all of them are 1.
    """
    n_scores, weighted = scores.shape[0], weights.shape[0] > 0
    for block in range(blocks[0], blocks[1]):
        first, last = starts[block], starts[block + 1]
        fours = first + (last - first) // 4 * 4
        for k in range(n_scores):
            score = scores[k]
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0  # an addition need not wait for the one before
            for place in range(first, fours, 4):
                i0, i1, i2, i3 = rows[place], rows[place + 1], rows[place + 2], rows[place + 3]
                if weighted:
                    t0, t1 = t0 + abs(score[i0]) * weights[i0], t1 + abs(score[i1]) * weights[i1]
                    t2, t3 = t2 + abs(score[i2]) * weights[i2], t3 + abs(score[i3]) * weights[i3]
                else:
                    t0, t1 = t0 + abs(score[i0]), t1 + abs(score[i1])
                    t2, t3 = t2 + abs(score[i2]), t3 + abs(score[i3])
            for i in rows[fours:last]:
                t0 += abs(score[i]) * (weights[i] if weighted else 1.0)
            sums[block, k] = (t0 + t1) + (t2 + t3)
        total = float(last - first)
        if weighted:
            total = 0.0
            for place in range(first, last):
                total += weights[rows[place]]
        sums[block, n_scores] = total
