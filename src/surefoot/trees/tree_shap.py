"""SHAP values of forests of perfect trees, by the training rows on each side of every split.

A split is *known* to a coalition of columns if the coalition has every column that the split reads: a row then goes its
own way, and otherwise both ways, by the training rows on each side. What a tree predicts for a coalition is a sum of
terms, one for every set of splits on the way to a leaf: the term of a set counts where all of its splits are known, and
is divided equally among the columns that they read. That is the Shapley value, for splits that read one column and for
splits that read several.

In a symmetric tree, a row's leaf says how it goes at every split. The values are computed once for each leaf that rows
reach, however many rows there are. The same holds for background rows, if no split reads several columns: they are
counted in their leaves.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from surefoot._jit import inner_kernel, kernel
from surefoot._parallel import row_blocks
from surefoot.trees.background_shap import MixedWork, add_background_shap
from surefoot.trees.path_shap import EdgeWork, PathWork, add_edge_shap, add_path_shap
from surefoot.trees.vector_forest import VectorForest

EMPTY_FRACTION = 1e-9  # weight of a leaf without training rows, as a fraction of the tree's: ratios need some weight
MAX_COUNTED_DEPTH = 8  # a table of all mixtures has 4**depth entries
CALL_TERMS = 1 << 25  # of one call of a kernel, so that Ctrl-C does not have to wait for long


class ShapTrees(NamedTuple):
    """The arrays of a forest as the kernels read them."""

    features: np.ndarray
    shifts: np.ndarray
    limits: np.ndarray
    sets: np.ndarray
    tables: np.ndarray
    fractions: np.ndarray  # (trees, nodes): of the weight of a node, how much goes left
    leaves: np.ndarray
    players: (
        np.ndarray
    )  # int32, (features, columns of one): the columns of the table that a feature reads, padded by -1


@dataclass(frozen=True)
class ShapForest:
    """A forest whose SHAP values are to be computed, and the mean of each tree over the training rows."""

    trees: ShapTrees
    symmetric: bool
    depth: int
    means: np.ndarray  # (trees, outputs)

    @classmethod
    def of(cls, forest: VectorForest, sources: tuple[tuple[int, ...], ...], outputs: list[int]) -> Self:
        """For some of the outputs; ``sources`` lists the columns of the table that each feature is computed from."""
        fractions = left_fractions(forest)
        players = np.full((len(sources), max(map(len, sources), default=1)), -1, dtype=np.int32)
        for feature, source in enumerate(sources):
            players[feature, : len(source)] = source
        names = ("features", "shifts", "limits", "sets", "tables")
        copies = {name: np.array(getattr(forest, name)) for name in names}  # kernels compile again for other layouts
        leaves = np.ascontiguousarray(forest.leaves[:, :, outputs])
        trees = ShapTrees(fractions=fractions, leaves=leaves, players=players, **copies)
        return cls(trees=trees, symmetric=forest.symmetric, depth=forest.depth, means=_means(leaves, fractions))

    def add(self, codes: np.ndarray, start: int, stop: int, values: np.ndarray) -> None:
        """Add the SHAP values of the trees ``start`` to ``stop`` to ``values`` (outputs, columns, rows)."""
        if not self.symmetric:
            self._add_row_by_row(codes, start, stop, values)
            return
        n_rows = codes.shape[1]
        work = SymmetricWork.of(self, n_rows, values.shape)
        leaf_terms = self.depth * (min(n_rows, 1 << self.depth) * 2**self.depth + n_rows)
        step = max(CALL_TERMS // (len(values) * (3**self.depth + leaf_terms)), 1)
        for first in range(start, stop, step):
            add_symmetric_shap(codes, self.trees, first, min(first + step, stop), work, values)

    def _add_row_by_row(self, codes: np.ndarray, start: int, stop: int, values: np.ndarray) -> None:
        reads_one = self._width == 1
        work = EdgeWork.of(self.depth, len(values)) if reads_one else PathWork.of(self.depth, self._width)
        add = add_edge_shap if reads_one else add_path_shap
        n_terms = len(values) * (10 * 2**self.depth if reads_one else 4**self.depth)
        for trees in row_blocks(stop - start, max(CALL_TERMS // (n_terms * codes.shape[1]), 1)):
            for rows in row_blocks(codes.shape[1], max(CALL_TERMS // n_terms, 1)):
                add(codes, self.trees, start + trees[0], start + trees[1], rows, work, values)

    @property
    def has_few_mixtures(self) -> bool:
        """Whether a mixture of two rows is always in a leaf that follows from the leaves of both, and those are few."""
        return self.symmetric and self._width == 1 and self.depth <= MAX_COUNTED_DEPTH

    def add_against(self, codes: np.ndarray, background: np.ndarray, start: int, stop: int, values: np.ndarray) -> None:
        """Add the mean of the SHAP values against all background rows; for forests with few mixtures."""
        n_rows = codes.shape[1]
        work = SymmetricWork.of(self, n_rows, values.shape)
        counts = CountWork.of(self.depth, background.shape[1])
        n_leaves = 1 << self.depth
        leaf_terms = self.depth * (min(n_rows, n_leaves) * n_leaves + n_rows)
        step = max(CALL_TERMS // (len(values) * (2 * n_leaves**2 + leaf_terms) + background.size), 1)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            add_counted_shap(codes, background, self.trees, first, last, work, counts, values)

    def add_mixed(self, codes: np.ndarray, start: int, stop: int, values: np.ndarray) -> None:
        """Add the SHAP values against one background row, from the codes (mixtures, features, rows) of mixtures."""
        work = MixedWork.of(self.depth, self._width)
        n_trees = max(CALL_TERMS // (len(values) * codes.shape[2] * 2**self.depth), 1)
        for trees in row_blocks(stop - start, n_trees):
            for rows in row_blocks(codes.shape[2], max(CALL_TERMS // (len(values) * 2**self.depth), 1)):
                add_background_shap(codes, self.trees, start + trees[0], start + trees[1], rows, work, values)

    @property
    def _width(self) -> int:
        """The largest number of columns that a feature reads."""
        return int(self.trees.players.shape[1])


def left_fractions(forest: VectorForest) -> np.ndarray:
    """The fraction of the training rows of every node (trees, nodes) that goes left; 1 where it does not split."""
    covers = forest.covers.astype(np.float64)
    weights = np.maximum(covers, EMPTY_FRACTION * covers.sum(axis=1, keepdims=True))
    fractions = np.ones(forest.features.shape)
    for level in range(forest.depth - 1, -1, -1):
        nodes = slice((1 << level) - 1, (2 << level) - 1)
        left, right = weights[:, 0::2], weights[:, 1::2]
        weights = np.where(forest.features[:, nodes] >= 0, left + right, left)
        fractions[:, nodes] = left / weights
    return fractions


def _means(leaves: np.ndarray, fractions: np.ndarray) -> np.ndarray:
    """The mean of every tree (trees, outputs), by the fractions that go left."""
    values = leaves
    while values.shape[1] > 1:
        n_nodes = values.shape[1] // 2
        left = fractions[:, n_nodes - 1 : 2 * n_nodes - 1, np.newaxis]
        values = left * values[:, 0::2] + (1.0 - left) * values[:, 1::2]
    return values[:, 0]


class SymmetricWork(NamedTuple):
    """Arrays that ``add_symmetric_shap`` overwrites."""

    place: np.ndarray  # the leaf of each row
    reached: np.ndarray  # whether any row is in a leaf
    terms: np.ndarray  # (3**depth, outputs)
    next_terms: np.ndarray
    first_term: np.ndarray  # of each set of levels: the index of its term, but for the row's side at its levels
    columns: np.ndarray  # the columns that a tree reads
    unions: np.ndarray  # of each set of levels: a bit for each of the columns that its splits read
    leaf_values: np.ndarray  # (columns of the tree, outputs, leaves)

    @classmethod
    def of(cls, forest: ShapForest, n_rows: int, shape: tuple[int, ...]) -> Self:
        n_outputs, n_columns, _ = shape
        n_leaves = 1 << forest.depth
        n_read = min(forest.depth * forest.trees.players.shape[1], n_columns)
        return cls(
            place=np.empty(n_rows, dtype=np.uint16),
            reached=np.empty(n_leaves, dtype=np.bool_),
            terms=np.empty((3**forest.depth, n_outputs)),
            next_terms=np.empty((3**forest.depth, n_outputs)),
            first_term=np.empty(n_leaves, dtype=np.int64),
            columns=np.empty(n_read, dtype=np.int64),
            unions=np.empty(n_leaves, dtype=np.int64),
            leaf_values=np.empty((n_read, n_outputs, n_leaves)),
        )


class CountWork(NamedTuple):
    """Arrays that ``add_counted_shap`` overwrites."""

    place: np.ndarray  # the leaf of each background row
    reached: np.ndarray
    fractions: np.ndarray  # of the background rows in each leaf
    partial: np.ndarray  # and in each set of leaves that differ only at known levels

    @classmethod
    def of(cls, depth: int, n_rows: int) -> Self:
        n_leaves = 1 << depth
        return cls(
            place=np.empty(n_rows, dtype=np.uint16),
            reached=np.empty(n_leaves, dtype=np.bool_),
            fractions=np.empty(n_leaves),
            partial=np.empty(n_leaves),
        )


@kernel
def add_symmetric_shap(codes, trees, start, stop, work, values):
    """Read codes and the trees ``start`` to ``stop``; add SHAP values to ``values`` (outputs, columns, rows)."""
    depth = 0
    while (1 << depth) < trees.leaves.shape[1]:
        depth += 1
    for t in range(start, stop):
        find_leaves(codes, trees, t, depth, work.place, work.reached)
        terms = expand_levels(trees, t, depth, work.terms, work.next_terms)
        add_rows(terms, trees, t, depth, work, values)


@kernel
def add_counted_shap(codes, background, trees, start, stop, work, counts, values):
    """As ``add_symmetric_shap``, with the codes of background rows instead of the training rows of the leaves."""
    depth = 0
    while (1 << depth) < trees.leaves.shape[1]:
        depth += 1
    for t in range(start, stop):
        find_leaves(background, trees, t, depth, counts.place, counts.reached)
        counts.fractions[:] = 0.0
        for b in range(background.shape[1]):
            counts.fractions[counts.place[b]] += 1.0 / background.shape[1]
        find_leaves(codes, trees, t, depth, work.place, work.reached)
        expand_mixtures(trees, t, depth, counts, work.terms)
        add_rows(work.terms, trees, t, depth, work, values)


@inner_kernel
def add_rows(terms, trees, t, depth, work, values):
    """Add the values of the leaf of every row."""
    n_read = find_unions(trees, t, depth, work.first_term, work.columns, work.unions)
    for leaf in range(trees.leaves.shape[1]):
        if work.reached[leaf]:
            divide_terms(terms, work.first_term, work.unions, leaf, depth, n_read, work.leaf_values)
    for p in range(n_read):
        for k in range(values.shape[0]):
            of_leaf, out = work.leaf_values[p, k], values[k, work.columns[p]]
            for i in range(out.shape[0]):
                out[i] += of_leaf[np.uint64(work.place[i])]


@inner_kernel
def expand_mixtures(trees, t, depth, counts, terms):
    """Write the terms of ``expand_levels``, where background rows decide the sides of unknown levels together."""
    n_leaves, n_outputs = trees.leaves.shape[1], trees.leaves.shape[2]
    for unknown in range(n_leaves):
        counts.partial[:] = 0.0
        for leaf in range(n_leaves):
            counts.partial[leaf & unknown] += counts.fractions[leaf]
        own = known = n_leaves - 1 - unknown
        while own >= 0:  # all leaves of which only known levels are on the right
            term = term_of(own, unknown, depth)
            for k in range(n_outputs):
                terms[term, k] = 0.0
            other = unknown
            while other >= 0:
                for k in range(n_outputs):
                    terms[term, k] += counts.partial[other] * trees.leaves[t, own | other, k]
                other = (other - 1) & unknown if other > 0 else -1
            own = (own - 1) & known if own > 0 else -1
    step = 1
    for _ in range(depth):  # left and right become differences from unknown
        for term in range(terms.shape[0]):
            if (term // step) % 3 == 2:
                for k in range(n_outputs):
                    terms[term - step, k] -= terms[term, k]
                    terms[term - 2 * step, k] -= terms[term, k]
        step *= 3


@inner_kernel
def term_of(own, unknown, depth):
    """The index of a term: for every level 0 if left, 1 if right, 2 if unknown."""
    term, power = 0, 1
    for level in range(depth):
        term += power * (2 if (unknown >> level) & 1 else (own >> level) & 1)
        power *= 3
    return term


@inner_kernel
def find_leaves(codes, trees, t, depth, place, reached):
    """Write the leaf of every row, its first split in the highest bit, and which leaves have rows."""
    n_rows = codes.shape[1]
    place[:] = 0
    for level in range(depth):
        node = (1 << level) - 1
        feature, shift, limit = trees.features[t, node], trees.shifts[t, node], trees.limits[t, node]
        column = codes[max(feature, 0)]
        if trees.sets[t, node] >= 0:
            table = trees.tables[trees.sets[t, node]]
            for i in range(n_rows):
                place[i] = np.uint16(2 * place[i] + table[column[i]])
        else:
            for i in range(n_rows):
                place[i] = np.uint16(place[i] + place[i]) | np.uint16(np.uint8(column[i] - shift) > limit)
    reached[:] = False
    for i in range(n_rows):
        reached[place[i]] = True


@inner_kernel
def expand_levels(trees, t, depth, terms, next_terms):
    """Write one term for each choice, at every level, of left, right or unknown; return the array that has them.

    An unknown level is the mean of both sides. Left and right are the differences from that mean.
    """
    n_outputs = trees.leaves.shape[2]
    n_nodes, n_terms = trees.leaves.shape[1], 1
    for leaf in range(n_nodes):
        for k in range(n_outputs):
            terms[leaf, k] = trees.leaves[t, leaf, k]
    for _ in range(depth):
        n_nodes //= 2
        for node in range(n_nodes):
            left_part = trees.fractions[t, n_nodes - 1 + node]
            for s in range(n_terms):
                left, right = 2 * node * n_terms + s, (2 * node + 1) * n_terms + s
                out = 3 * node * n_terms + s
                for k in range(n_outputs):
                    difference = terms[left, k] - terms[right, k]
                    next_terms[out, k] = (1.0 - left_part) * difference
                    next_terms[out + n_terms, k] = -left_part * difference
                    next_terms[out + 2 * n_terms, k] = terms[right, k] + left_part * difference
        n_terms *= 3
        terms, next_terms = next_terms, terms
    return terms


@inner_kernel
def find_unions(trees, t, depth, first_term, columns, unions):
    """For every set of levels, write where its terms start and which columns it reads; return how many there are."""
    n_read = 0
    first_term[0] = 0
    power = 1
    for _ in range(depth):
        first_term[0] += 2 * power
        power *= 3
    unions[0] = 0
    for level in range(depth):
        power //= 3
        feature = trees.features[t, (1 << level) - 1]
        mask = 0
        if feature >= 0:
            for s in range(trees.players.shape[1]):
                column = trees.players[feature, s]
                if column < 0:
                    continue
                p = 0
                while p < n_read and columns[p] != column:
                    p += 1
                if p == n_read:
                    columns[p] = column
                    n_read += 1
                mask |= 1 << p
        bit = 1 << (depth - 1 - level)  # as in the number of a leaf
        for other in range(0, 1 << depth, 2 * bit):
            first_term[other | bit] = first_term[other] - 2 * power
            unions[other | bit] = unions[other] | mask
    return n_read


@inner_kernel
def divide_terms(terms, first_term, unions, leaf, depth, n_read, leaf_values):
    """Divide each term of a leaf equally among the columns that its splits read; write the sums."""
    n_outputs = terms.shape[1]
    for p in range(n_read):
        for k in range(n_outputs):
            leaf_values[p, k, leaf] = 0.0
    for levels in range(1, 1 << depth):
        union = unions[levels]
        if union == 0:
            continue
        term, power, right = first_term[levels], 1, levels & leaf
        while right > 0:
            if right & 1:
                term += power
            right >>= 1
            power *= 3
        n_columns = 0
        for p in range(n_read):
            n_columns += (union >> p) & 1
        part = 1.0 / n_columns
        for p in range(n_read):
            if (union >> p) & 1:
                for k in range(n_outputs):
                    leaf_values[p, k, leaf] += part * terms[term, k]
