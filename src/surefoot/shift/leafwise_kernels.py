"""The passes over the rows of a leaf, and over the candidates: the places where the leaf could be split.

The codes that the rows of a leaf have in a column are ranked: numbers in their order, categories by their mean slope,
missing values last. Each rank is a candidate: the rows up to it go left. There are two sweeps: missing values go right
at every candidate, or left.

*The gain.* With D and U of the present leaves, ``inverse = D^-1`` and ``values = D^-1 U``, splitting leaf l adds one
unknown: the difference that the left part a makes. Its row of the new D contains ``cross`` (2 V between a and every
leaf), twice the energy of a on the diagonal, and l2 wherever l has it. The score ``-1/2 U^T D^-1 U`` then falls by half
of slope**2 / stiffness, less the cost of the second l2.
"""

from typing import NamedTuple

import numpy as np

from surefoot._jit import kernel

COUNT, WEIGHT, SLOPE, CROSS = 0, 1, 2, 3  # columns of the sums of a candidate; the crosses are the last
TIE = 1e-10  # gains this close are equal: the first candidate wins
CATEGORY_SHRINKAGE = 10.0  # a category's mean slope is shrunk towards zero, as by so many further rows
MIN_STIFFNESS = 1e-9  # relative to a candidate's own: below it, the left part is a mix of the present leaves


class LeafCandidates(NamedTuple):
    """The candidates of a leaf, column after column."""

    starts: np.ndarray  # (columns + 1,): where the candidates of each column begin
    sums: np.ndarray  # (sweeps, candidates, COUNT, WEIGHT, SLOPE and the crosses)
    energies: np.ndarray  # (sweeps, candidates): those of the V-matrix


class LeafSystem(NamedTuple):
    """The equations of the present leaves, ``values = inverse @ U``, and the factors of V and of the squares."""

    n_leaves: int
    inverse: np.ndarray
    values: np.ndarray
    v_factor: float
    squares_factor: float
    l2: float


@kernel(allocates=True)
def rank_codes(codes, missing, is_categorical, rows, weights, slopes, ranks, starts):
    """Write the rank of every code in a leaf, column by column, and where each column's ranks begin, laid end to end.

    A code without rows gets the rank of the next one with rows, so that it goes right at every candidate before that,
    or the last rank if there is no next one; a category without rows goes right. ``weights`` and ``slopes`` are those
    of the leaf's rows.
    """
    for f in range(codes.shape[0]):
        n_codes = missing[f]
        mass, pull = np.zeros(n_codes + 1), np.zeros(n_codes + 1)
        for i in range(rows.shape[0]):
            code = codes[f, rows[i]]
            mass[code] += weights[i]
            pull[code] += slopes[i]
        order = np.arange(n_codes)
        if is_categorical[f]:
            order = np.argsort(pull[:n_codes] / (mass[:n_codes] + CATEGORY_SHRINKAGE), kind="mergesort")
        n_ranks = 0
        for code in order:
            if mass[code] > 0.0 or not is_categorical[f]:
                ranks[f, code] = n_ranks
            if mass[code] > 0.0:
                n_ranks += 1
        for code in order:
            if is_categorical[f]:
                if mass[code] == 0.0:
                    ranks[f, code] = n_ranks
            elif ranks[f, code] == n_ranks and n_ranks > 0:  # beyond the last code with rows: large, not missing
                ranks[f, code] = n_ranks - 1
        ranks[f, n_codes] = n_ranks
        starts[f + 1] = starts[f] + n_ranks + 1


@kernel(allocates=True)
def sweep_columns(codes, features, ranks, rows, values, starts, column, sums):
    """Add up ``values`` (rows of the leaf, k) along some columns; write to ``sums[:, :, column : column + k]``.

    Missing values have the last rank: the first sweep adds them at the end, the second has them from the start.
    """
    k = values.shape[1]
    for f in features:
        n_ranks = starts[f + 1] - starts[f]
        by_rank = np.zeros((n_ranks, k))
        for i in range(rows.shape[0]):
            r = ranks[f, codes[f, rows[i]]]
            for c in range(k):
                by_rank[r, c] += values[i, c]
        for c in range(k):
            running = 0.0
            for r in range(n_ranks):
                running += by_rank[r, c]
                sums[0, starts[f] + r, column + c] = running
                if sums.shape[0] == 2:
                    sums[1, starts[f] + r, column + c] = running + by_rank[n_ranks - 1, c]


@kernel(allocates=True)
def find_best_split(candidates, system, leaf, min_rows, best):
    """Find the candidate with the largest gain in a leaf; write (gain, sweep, column, rank) to ``best``."""
    starts, sums, energies = candidates.starts, candidates.sums, candidates.energies
    n_leaves, inverse, values, l2 = system.n_leaves, system.inverse, system.values, system.l2
    v_factor, squares_factor = system.v_factor, system.squares_factor
    own = inverse[leaf, leaf]
    damp = l2 / (1.0 + l2 * own)
    cost = 0.5 * damp * values[leaf] * values[leaf]
    project, cross = np.empty(n_leaves), np.empty(n_leaves)
    best[0], best[1], best[2], best[3] = 0.0, -1.0, -1.0, -1.0
    for f in range(starts.shape[0] - 1):
        last = starts[f + 1] - 1
        n_rows = sums[0, last, COUNT]
        for sweep in range(sums.shape[0]):
            if sweep == 1 and sums[1, starts[f], COUNT] == sums[0, starts[f], COUNT]:
                break  # nothing is missing in this column: the second sweep equals the first
            for place in range(starts[f], last):
                count = sums[sweep, place, COUNT]
                if count < min_rows or n_rows - count < min_rows:
                    continue
                for m in range(n_leaves):
                    cross[m] = sums[sweep, place, CROSS + m]
                cross[leaf] += l2
                project[:] = 0.0
                for m in range(n_leaves):
                    row = inverse[m]
                    x = cross[m]
                    for other in range(n_leaves):
                        project[other] += x * row[other]
                explained, fitted = 0.0, 0.0
                for m in range(n_leaves):
                    explained += cross[m] * project[m]
                    fitted += cross[m] * values[m]
                along = project[leaf]
                slope = sums[sweep, place, SLOPE] - fitted + damp * along * values[leaf]
                whole = 2.0 * (v_factor * energies[sweep, place] + squares_factor * sums[sweep, place, WEIGHT]) + l2
                stiffness = whole - explained + damp * along * along
                if stiffness <= MIN_STIFFNESS * whole:
                    continue
                gain = 0.5 * slope * slope / stiffness - cost
                if gain > best[0] * (1.0 + TIE):
                    best[0], best[1], best[2], best[3] = gain, float(sweep), float(f), float(place - starts[f])


@kernel
def split_rows_of_leaf(column, goes_right, rows, left, right):
    """Write rows whose code goes left to ``left``, the others to ``right``, in their order; return how many go left."""
    n_left, n_right = 0, 0
    for i in range(rows.shape[0]):
        if goes_right[column[rows[i]]]:
            right[n_right] = rows[i]
            n_right += 1
        else:
            left[n_left] = rows[i]
            n_left += 1
    return n_left
