"""How far a model could have come out elsewhere, had the noise of its training been other noise.

The rounds of a chain move on slowly: two trees in turn would be nearly equal, but for the noise of training (other
splits among almost equal ones, Langevin noise, other rows). Their difference is a draw of that noise. A *copy* of the
chain has other noise: these differences with random signs. Later trees correct what noise has done to the training
rows: a tree moves the rows of a leaf back by the learning rate times the mean deviation of the training rows in it.
Rows that are alike are corrected together; rows that share leaves with rows that are unlike them are hardly corrected,
and rows in leaves without training rows are not corrected at all.

All that a copy adds to a row is a sum over leaves, so copies of the chain cost little more than the chain itself.
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.linalg import hadamard

from surefoot._random import random_bits, stream_key
from surefoot.trees.noise_kernels import (
    WORDS,
    TreeArrays,
    add_to_deviations,
    add_trees_and_words,
    find_leaves_of,
    sum_deviations,
)
from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import Member

MAX_TRACED = 256  # trees: enough for the copies, and few enough that predictions take hardly longer
N_COPIES, BITS = 8, 16  # of each deviation: four in each of two words
MAX_SUM = 32_000  # no sum of deviations is above this, in its unit
SIGNS = 1  # label of the stream of random signs

# The squares of leaves, which are averaged with those of copies: the weight of leaves without training rows, the part
# of the trees that still learn more than noise, and the rate at which noise fades, per unit of rounds times rate.
EMPTY_WEIGHT, LEARNING_PART, FADING = 10.0, 0.25, 0.04


@dataclass(frozen=True)
class ChainConfig:
    """How a chain was trained, as far as the corrections by later trees depend on it."""

    rate: float
    l2: float
    min_information: float  # of a leaf of a classifier


@dataclass(frozen=True)
class ChainNoise:
    """Copies of a chain with other noise, as whole numbers in the leaves of the traced trees.

    Attributes
    ----------
    values : array of shape (n_trees, leaves, raw outputs + outputs)
        The values of the leaves, and their weighted squares.
    numbers : int32 array of shape (n_trees,)
        The place of each tree among the traced ones, or -1.
    words : int64 array of shape (traced trees, outputs, leaves, 2)
        The deviations of copies, as multiples of ``units``.
    units : array of shape (outputs,)
    """

    member: Member
    values: np.ndarray
    numbers: np.ndarray
    words: np.ndarray
    units: np.ndarray

    @classmethod
    def of(
        cls, member: Member, family: RegressionFamily | ClassificationFamily, config: ChainConfig, codes: np.ndarray
    ) -> "ChainNoise":
        """Copies that are corrected by rows with these ``codes``: the training rows, or a sample of them."""
        numbers = traced_numbers(member.trees.forest.n_trees)
        traced = np.flatnonzero(numbers >= 0).tolist()
        copies = NoisyCopies(member, family, config, codes)
        units = units_of(np.stack([copies.add(t) for t in traced]))
        # Once more, in whole numbers: later trees correct what is due to rounding, as they correct other noise.
        copies = NoisyCopies(member, family, config, codes, units)
        words = packed(np.stack([copies.add(t) for t in traced]), units)
        squares = leaf_squares(member.trees.forest, config, copies.n_outputs)
        values = np.concatenate([member.trees.forest.leaves, squares], axis=2)
        return cls(member=member, values=values, numbers=numbers, words=words, units=units)._balanced(codes)

    def _balanced(self, codes: np.ndarray) -> "ChainNoise":
        """The same noise with squares as large as those of the copies, in a typical row."""
        _, deviations, squares = self._sums(codes)
        typical = np.median(np.mean(deviations**2, axis=2), axis=1)
        balance = np.divide(typical, np.median(squares, axis=1), out=np.ones(len(typical)), where=typical > 0.0)
        values = self.values.copy()
        values[:, :, -len(balance) :] *= balance
        return replace(self, values=values)

    def raw_and_variance(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The raw outputs (outputs, rows) of the chain, and the variance of those that its noise moves.

        The copies have the right size, but are few; the sum of squares has little chance in it, but knows nothing of
        corrections. Their geometric mean has half of each.
        """
        raw, deviations, squares = self._sums(codes)
        return raw, np.sqrt(np.mean(deviations**2, axis=2) * squares)

    def _sums(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The raw outputs, the deviations of the copies (outputs, rows, copies), and the sums of squares."""
        trees, n_rows = self.member.trees, codes.shape[1]
        n_raw, n_outputs = len(trees.start), len(self.units)
        added = np.zeros((n_raw + n_outputs, n_rows))
        added[:n_raw] = trees.start[:, np.newaxis]
        sums = np.zeros((n_outputs, n_rows, WORDS), dtype=np.int64)
        arrays = arrays_of(trees.forest)._replace(leaves=self.values)
        add_trees_and_words(codes, trees.forest.symmetric, arrays, self.numbers, self.words, added, sums)
        raw, squares = added[:n_raw], added[n_raw:]
        np.clip(raw[-1], *trees.bounds[-1], out=raw[-1])
        return raw, unpacked(sums) * self.units[:, np.newaxis, np.newaxis], squares


class NoisyCopies:
    """Copies of a chain, followed through its training on some rows.

    Attributes
    ----------
    deviations : float32 array of shape (n_rows, outputs times copies)
        How far each copy is from the chain, after the trees so far: multiples of the ``units`` of the outputs, if any.
    """

    def __init__(
        self,
        member: Member,
        family: RegressionFamily | ClassificationFamily,
        config: ChainConfig,
        codes: np.ndarray,
        units: np.ndarray | None = None,
    ) -> None:
        self.member, self.family, self.config, self.codes = member, family, config, codes
        self.n_outputs = count_moved(family)
        self._forest, n_rows = member.trees.forest, codes.shape[1]
        self._arrays = arrays_of(self._forest)
        self._stride = stride_of(self._forest.n_trees)
        self.deviations = np.zeros((n_rows, self.n_outputs * N_COPIES), dtype=np.float32)
        self._raw, self._n_added = np.repeat(member.trees.start[:, np.newaxis], n_rows, axis=1), 0
        self._signs = signs_of_pairs()
        self._first_place, self._first_shock = np.empty(0, dtype=np.uint16), np.empty(0, dtype=np.float32)
        self._n_traced = 0
        self._units = None if units is None else np.repeat(units, N_COPIES)

    def add(self, t: int) -> np.ndarray:
        """Follow the copies through a traced tree; return what it adds to them, (outputs, leaves, copies).

        The tree corrects the copies. Then each gets noise of its own: the difference of this tree and the next traced
        one, with a sign for each copy. The next one adds its own part, so that their difference is complete then.
        """
        place = np.empty(self.codes.shape[1], dtype=np.uint16)
        find_leaves_of(self.codes, self._forest.symmetric, self._arrays, t, place)
        pair, second = divmod(self._n_traced, 2)
        values = self._forest.leaves[t, :, : self.n_outputs, np.newaxis]
        shock = self._rounded((values * self._signs[pair] * sqrt(self._stride)).reshape(len(values), -1))
        trace = self._rounded(-self._correction(t, place))
        if second:
            add_to_deviations(place, (trace - shock).astype(np.float32), self.deviations)
            add_to_deviations(self._first_place, self._first_shock, self.deviations)
        else:
            add_to_deviations(place, trace.astype(np.float32), self.deviations)
            self._first_place, self._first_shock = place, shock.astype(np.float32)
        self._n_traced += 1
        trace += -shock if second else shock
        return trace.reshape(len(values), self.n_outputs, N_COPIES).transpose(1, 0, 2)

    def _rounded(self, trace: np.ndarray) -> np.ndarray:
        return trace if self._units is None else np.rint(trace / self._units) * self._units

    def _correction(self, t: int, place: np.ndarray) -> np.ndarray:
        """How far the traced tree, and those up to the next, move the rows of each leaf towards the chain."""
        information = self._information(t)
        n_leaves = self._forest.leaves.shape[1]
        sums, totals = np.zeros((n_leaves, self.deviations.shape[1])), np.zeros((n_leaves, self.n_outputs))
        counts = np.zeros(n_leaves)
        sum_deviations(place, information, self.deviations, sums, totals, counts)
        # The rows may be a sample: all training rows have as much more information as there are more of them.
        full = totals * np.divide(self._forest.covers[t], counts, out=np.zeros(n_leaves), where=counts > 0)[:, None]
        l2 = self.config.l2 if self.family.natural else np.maximum(self.config.l2, self.config.min_information - full)
        tiny = np.finfo(np.float64).tiny
        means = full / np.maximum(full + l2, tiny) / np.maximum(totals, tiny)
        return (1.0 - (1.0 - self.config.rate) ** self._stride) * sums * np.repeat(means, N_COPIES, axis=1)

    def _information(self, t: int) -> np.ndarray:
        """The information of each row about each output before tree ``t``, (rows, outputs)."""
        if isinstance(self.family, RegressionFamily):
            return np.ones((self.codes.shape[1], self.n_outputs))
        self._forest.add(self.codes, self._n_added, t, self._raw)
        self._n_added = t
        probabilities = self.family.probabilities(self._raw)[:, -self.n_outputs :]
        return probabilities * (1.0 - probabilities)


def count_moved(family: RegressionFamily | ClassificationFamily) -> int:
    """The number of outputs that noise moves: the location of a distribution, or the scores of classes."""
    return 1 if isinstance(family, RegressionFamily) else family.n_outputs


def signs_of_pairs() -> np.ndarray:
    """The sign with which each copy has the difference of each pair of trees, (pairs, copies).

    The signs of pairs that follow each other are orthogonal: the mean square over the copies of a few differences is
    exactly the sum of their squares. With random signs it would be so only on average.
    """
    n_pairs = MAX_TRACED // 2
    flips = np.where(random_bits(stream_key(0, SIGNS), n_pairs) >> np.uint64(63), 1.0, -1.0)
    return hadamard(N_COPIES)[np.arange(n_pairs) % N_COPIES] * flips[:, np.newaxis]


def stride_of(n_trees: int) -> int:
    """The number of trees from one traced tree to the next."""
    return -(-n_trees // MAX_TRACED)


def traced_numbers(n_trees: int) -> np.ndarray:
    """The place of each tree among the traced ones, which come in pairs; -1 for the others."""
    stride = stride_of(n_trees)
    places = np.arange(stride - 1, n_trees, stride)
    numbers = np.full(n_trees, -1, dtype=np.int32)
    n_traced = len(places) // 2 * 2
    numbers[places[len(places) - n_traced :]] = np.arange(n_traced)
    return numbers


def leaf_squares(forest: VectorForest, config: ChainConfig, n_outputs: int) -> np.ndarray:
    """The weighted squares of the leaves, (trees, leaves, outputs)."""
    rounds = np.arange(forest.n_trees)
    fades = np.exp(-FADING * config.rate * (forest.n_trees - rounds)) * (rounds >= LEARNING_PART * forest.n_trees)
    weights = np.where(forest.covers > 0.0, fades[:, np.newaxis], EMPTY_WEIGHT)
    return weights[:, :, np.newaxis] * np.square(forest.leaves[:, :, :n_outputs])


def units_of(traces: np.ndarray) -> np.ndarray:
    """The unit of each output with which no sum of ``traces`` (trees, outputs, leaves, copies) is too large."""
    largest = np.abs(traces).max(axis=(2, 3)).sum(axis=0)
    return np.where(largest > 0.0, largest, 1.0) / MAX_SUM


def packed(traces: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The words of each leaf, four deviations in each."""
    numbers = np.rint(traces / units[:, np.newaxis, np.newaxis]).astype(np.int64)
    fours = numbers.reshape(*traces.shape[:-1], WORDS, N_COPIES // WORDS)
    return sum((fours[..., j] << (BITS * j) for j in range(N_COPIES // WORDS)), start=np.zeros_like(fours[..., 0]))


def unpacked(sums: np.ndarray) -> np.ndarray:
    """The numbers (..., copies) that sums of words hold."""
    parts, rest = [], sums
    for _ in range(N_COPIES // WORDS):
        low = (rest << (64 - BITS)) >> (64 - BITS)  # with its sign: what is left is a multiple of the next place
        parts.append(low)
        rest = (rest - low) >> BITS
    return np.stack(parts, axis=-1).reshape(*sums.shape[:-1], N_COPIES)


def arrays_of(forest: VectorForest) -> TreeArrays:
    """The arrays of a forest as kernels take them."""
    return TreeArrays(
        features=forest.features,
        shifts=forest.shifts,
        limits=forest.limits,
        sets=forest.sets,
        tables=forest.tables,
        leaves=forest.leaves,
    )
