"""Gradients as whole numbers, and several of them in one 64-bit word.

From the low end, a word holds the count of rows (``count_bits``), the second gradient and the first (``field_bits``
each, signed). Adding words adds all three. A field can hold the sum over any set of rows, because the gradients are
scaled by the sum of their absolute values: for 100,000 rows that leaves about forty steps for an average gradient, for
10,000 about six hundred. The scale is a power of two, so that a row of weight 2 counts as exactly two rows.
"""

import numpy as np

from surefoot._jit import kernel

WIDE_BITS = 50  # if each statistic has a word of its own, sums stay below 2**50
FINE_STEPS = 64.0  # with fewer steps for an average gradient, rounding is random, so that it has no bias
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
HALF_WORD = np.uint64(32)


def field_bits(count_bits: int) -> int:
    """Bits of each of the two gradients in a word with a count of ``count_bits``."""
    return (64 - count_bits) // 2


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


@kernel
def pack_rows(scores, weights, rows, scales, rounds_randomly, key, count_bits, values):
    """Write the word of each row: its whole weight times (first score, second score, 1), scaled and rounded."""
    n_scores = scores.shape[0]
    first = scores[0]
    second = scores[n_scores - 1]
    scale_1 = scales[0]
    scale_2 = scales[1] if n_scores == 2 else 0.0
    bits = (64 - count_bits) // 2
    dither_1, dither_2 = 0.5, 0.5
    for place in range(rows.shape[0]):
        i = rows[place]
        if rounds_randomly:
            z = np.uint64(key) + np.uint64(i + 1) * GOLDEN
            z = (z ^ (z >> np.uint64(30))) * MIX_1
            z = (z ^ (z >> np.uint64(27))) * MIX_2
            z = z ^ (z >> np.uint64(31))
            dither_1 = float(z >> HALF_WORD) * 2.0**-32
            dither_2 = float(z & np.uint64(0xFFFFFFFF)) * 2.0**-32
        g1 = np.int64(np.floor(first[i] * scale_1 + dither_1))
        g2 = np.int64(np.floor(second[i] * scale_2 + dither_2))
        word = (((g1 << bits) + g2) << count_bits) + 1
        values[place, 0] = word * np.int64(weights[i])


@kernel
def widen_rows(scores, weights, rows, scales, weight_scale, values):
    """Write the count, weight and weighted scores of each row as whole numbers, one word each."""
    for place in range(rows.shape[0]):
        i = rows[place]
        values[place, 0] = 1 if weights[i] > 0.0 else 0
        values[place, 1] = np.int64(np.rint(weights[i] * weight_scale))
        for k in range(scores.shape[0]):
            values[place, 2 + k] = np.int64(np.rint(scores[k, i] * weights[i] * scales[k]))
