"""How far a model could have come out elsewhere, had the noise of its training been other noise.

The rounds of a chain move on slowly: two trees in turn would be nearly equal, but for the noise of training (other
splits among almost equal ones, Langevin noise, other rows). Their difference is a draw of that noise. A *copy* of the
chain has other noise: these differences with random signs. Later trees correct what noise has done to the training
rows: a tree moves the rows of a leaf back by the learning rate times the mean deviation of the training rows in it.
Rows that are alike are corrected together; rows that share leaves with rows that are unlike them are hardly corrected,
and rows in leaves without training rows are not corrected at all.

Many copies are followed, on training rows and on made-up rows, to find the variance between them. The log of this
variance is then written into the leaves of the trees as one more output, by boosting with the trees as they are. So
the variance of a new row costs little more than its prediction.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.linalg import hadamard

from surefoot._random import random_bits, random_permutation, stream_key
from surefoot.trees.noise_kernels import (
    TreeArrays,
    add_to_deviations,
    add_trees_together,
    find_leaves_of,
    fit_leaves,
    sum_deviations,
)
from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import Member

N_COPIES = 64
MAX_TRACED = 1024  # trees that the copies follow; of a longer chain, every second, third, ...
SIGNS, MADE_UP = 1, 4  # labels of the streams of random signs, and of made-up rows

MIN_MADE_UP, MADE_UP_WEIGHT = 5000, 0.3  # rows, and their weight over that of the training rows
PASSES, RATE = 3, 0.3  # over the trees, in which the log of the variance is written into their leaves
MIN_LOG_VARIANCE, MIN_RELATIVE = -600.0, 1e-9  # of a chain without noise; of a row, over a typical one

# The squares of leaves, with which the variance of copies is averaged: the weight of the copies in the mean, that of
# leaves without training rows, the part of the trees that still learn more than noise, and the rate at which noise
# fades, per rounds times rate.
COPIES_WEIGHT = 0.75
EMPTY_WEIGHT, LEARNING_PART, FADING = 10.0, 0.25, 0.04


@dataclass(frozen=True)
class ChainConfig:
    """How a chain was trained, as far as the corrections by later trees depend on it."""

    rate: float
    l2: float
    min_information: float  # of a leaf of a classifier


@dataclass(frozen=True)
class ChainNoise:
    """How far a chain could have come out elsewhere.

    Attributes
    ----------
    member : Member
    start : array of shape (outputs,)
        Where the raw outputs and the log of the variance start.
    values : array of shape (n_trees, leaves, outputs)
        What each leaf adds to them.
    """

    member: Member
    start: np.ndarray
    values: np.ndarray

    @classmethod
    def of(
        cls, member: Member, family: RegressionFamily | ClassificationFamily, config: ChainConfig, codes: np.ndarray
    ) -> "ChainNoise":
        """The noise that is corrected by rows with these ``codes``: the training rows, or a sample of them."""
        forest, n_train = member.trees.forest, codes.shape[1]
        rows = np.concatenate([codes, made_up_rows(codes)], axis=1)
        copies = NoisyCopies(member, family, config, rows, n_train)
        for t in traced_trees(forest.n_trees):
            copies.add(t)
        target = log_variance(copies, n_train)
        made_up = MADE_UP_WEIGHT * n_train / (rows.shape[1] - n_train)
        weights = np.repeat([1.0, made_up], [n_train, rows.shape[1] - n_train])
        start, values = written_into_leaves(forest, rows, target, weights)
        return cls(
            member=member,
            start=np.append(member.trees.start, start),
            values=np.concatenate([forest.leaves, values], axis=2),
        )

    def raw_and_variance(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The raw outputs (outputs, rows) of the chain, and the variance (1, rows) of those that its noise moves."""
        trees = self.member.trees
        added = np.repeat(self.start[:, np.newaxis], codes.shape[1], axis=1)
        arrays = arrays_of(trees.forest)._replace(leaves=self.values)
        add_trees_together(codes, trees.forest.symmetric, arrays, added)
        raw, log_of_variance = added[:-1], added[-1:]
        np.clip(raw[-1], *trees.bounds[-1], out=raw[-1])
        return raw, np.exp(np.maximum(log_of_variance, MIN_LOG_VARIANCE))


class NoisyCopies:
    """Copies of a chain, followed through its training.

    Attributes
    ----------
    deviations : float32 array of shape (n_rows, outputs times copies)
        How far each copy is from the chain, after the trees so far.
    raw : array of shape (raw outputs, n_rows)
        The raw outputs of the chain before the last tree.
    squares : array of shape (n_rows, outputs)
        The weighted squares of the leaves so far.
    """

    def __init__(
        self,
        member: Member,
        family: RegressionFamily | ClassificationFamily,
        config: ChainConfig,
        codes: np.ndarray,
        n_train: int,
    ) -> None:
        self.family, self.config, self.codes = family, config, codes
        self.n_outputs = count_moved(family)
        self._forest, n_rows = member.trees.forest, codes.shape[1]
        self._arrays, self._stride = arrays_of(self._forest), stride_of(self._forest.n_trees)
        self._leaf_squares = leaf_squares(self._forest, config, self.n_outputs)
        self._train = slice(n_train)  # the rows that correct the copies
        self.deviations = np.zeros((n_rows, self.n_outputs * N_COPIES), dtype=np.float32)
        self.raw, self._n_added = np.repeat(member.trees.start[:, np.newaxis], n_rows, axis=1), 0
        self.squares = np.zeros((n_rows, self.n_outputs))
        self._signs = signs_of_pairs()
        self._first_place, self._first_shock = np.empty(0, dtype=np.uint16), np.empty(0, dtype=np.float32)
        self._n_traced = 0

    def add(self, t: int) -> None:
        """Follow the copies through a traced tree.

        The tree corrects the copies. Then each gets noise of its own: the difference of this tree and the next traced
        one, with a sign for each copy. The next one adds its own part, so that their difference is complete then.
        """
        place = np.empty(self.codes.shape[1], dtype=np.uint16)
        find_leaves_of(self.codes, self._forest.symmetric, self._arrays, t, place)
        pair, second = divmod(self._n_traced, 2)
        values = self._forest.leaves[t, :, : self.n_outputs, np.newaxis]
        shock = (values * self._signs[pair] * sqrt(self._stride)).reshape(len(values), -1)
        change = -self._correction(t, place[self._train])
        if second:
            add_to_deviations(self._first_place, self._first_shock, self.deviations)
            change -= shock
        else:
            self._first_place, self._first_shock = place, shock.astype(np.float32)
        add_to_deviations(place, change.astype(np.float32), self.deviations)
        self.squares += self._leaf_squares[t, place]
        self._n_traced += 1

    def _correction(self, t: int, place: np.ndarray) -> np.ndarray:
        """How far the traced tree, and those up to the next, move the rows of each leaf towards the chain."""
        information = self._information(t)
        n_leaves = self._forest.leaves.shape[1]
        sums, totals = np.zeros((n_leaves, self.deviations.shape[1])), np.zeros((n_leaves, self.n_outputs))
        counts = np.zeros(n_leaves)
        sum_deviations(place, information, self.deviations[self._train], sums, totals, counts)
        # The rows may be a sample: all training rows have as much more information as there are more of them.
        full = totals * np.divide(self._forest.covers[t], counts, out=np.zeros(n_leaves), where=counts > 0)[:, None]
        l2 = self.config.l2 if self.family.natural else np.maximum(self.config.l2, self.config.min_information - full)
        tiny = np.finfo(np.float64).tiny
        means = full / np.maximum(full + l2, tiny) / np.maximum(totals, tiny)
        return (1.0 - (1.0 - self.config.rate) ** self._stride) * sums * np.repeat(means, N_COPIES, axis=1)

    def _information(self, t: int) -> np.ndarray:
        """The information of each training row about each output before tree ``t``, (rows, outputs)."""
        if isinstance(self.family, RegressionFamily):
            return np.ones((len(self.deviations[self._train]), self.n_outputs))
        self._forest.add(self.codes, self._n_added, t, self.raw)
        self._n_added = t
        probabilities = self.family.probabilities(self.raw[:, self._train])[:, -self.n_outputs :]
        return probabilities * (1.0 - probabilities)


def made_up_rows(codes: np.ndarray) -> np.ndarray:
    """Rows with values of training rows, drawn for each column alone: many are unlike all training rows."""
    n_rows, parts = codes.shape[1], []
    for repeat in range(-(-MIN_MADE_UP // n_rows)):
        orders = [random_permutation(stream_key(0, MADE_UP, repeat, j), n_rows) for j in range(len(codes))]
        parts.append(np.stack([column[order] for column, order in zip(codes, orders, strict=True)]))
    return np.concatenate(parts, axis=1)


def log_variance(copies: NoisyCopies, n_train: int) -> np.ndarray:
    """The log of the variance that noise gives each row, (rows, 1).

    The copies have the right size, but there is chance in them; the sum of squares has little chance in it, but knows
    nothing of corrections. Their weighted geometric mean has some of each. For several classes, it is the variance of
    all outputs that gives the same knowledge uncertainty, to first order, as their own variances.
    """
    n_rows, n_outputs = copies.squares.shape
    weights = np.ones((n_rows, n_outputs))
    if isinstance(copies.family, ClassificationFamily) and n_outputs > 1:
        probabilities = copies.family.probabilities(copies.raw)
        weights = np.maximum(probabilities * (1.0 - probabilities), np.finfo(np.float64).tiny)
    by_output = np.square(copies.deviations.reshape(n_rows, n_outputs, N_COPIES)).mean(axis=2, dtype=np.float64)
    variances, squares = (np.average(each, axis=1, weights=weights) for each in (by_output, copies.squares))
    typical = np.median(variances[:n_train])
    if typical == 0.0:  # trees without splits
        return np.full((n_rows, 1), MIN_LOG_VARIANCE)
    relative = COPIES_WEIGHT * relative_logs(variances, n_train)
    relative += (1.0 - COPIES_WEIGHT) * relative_logs(squares, n_train)
    return (np.log(typical) + relative)[:, np.newaxis]


def relative_logs(values: np.ndarray, n_train: int) -> np.ndarray:
    """The logs of positive numbers over that of a typical training row."""
    typical = np.median(values[:n_train])
    return np.log(np.maximum(values / typical, MIN_RELATIVE)) if typical > 0.0 else np.zeros(len(values))


def written_into_leaves(
    forest: VectorForest, codes: np.ndarray, target: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A start and values of leaves (trees, leaves, outputs) whose sums are close to a ``target`` (rows, outputs)."""
    arrays, n_leaves = arrays_of(forest), forest.leaves.shape[1]
    start = np.average(target, axis=0, weights=weights)
    residuals = target - start
    values = np.zeros((forest.n_trees, n_leaves, target.shape[1]))
    sums, totals = np.empty((n_leaves, target.shape[1])), np.empty(n_leaves)
    place = np.empty(codes.shape[1], dtype=np.uint16)
    for _ in range(PASSES):
        for t in range(forest.n_trees):
            find_leaves_of(codes, forest.symmetric, arrays, t, place)
            fit_leaves(place, weights, RATE, residuals, values[t], sums, totals)
    return start, values


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


def traced_trees(n_trees: int) -> range:
    """The trees that the copies follow: pairs, at equal distances, up to the last tree."""
    stride = stride_of(n_trees)
    n_traced = n_trees // stride // 2 * 2
    return range(n_trees - 1 - (n_traced - 1) * stride, n_trees, stride)


def leaf_squares(forest: VectorForest, config: ChainConfig, n_outputs: int) -> np.ndarray:
    """The weighted squares of the leaves, (trees, leaves, outputs)."""
    rounds = np.arange(forest.n_trees)
    fades = np.exp(-FADING * config.rate * (forest.n_trees - rounds)) * (rounds >= LEARNING_PART * forest.n_trees)
    weights = np.where(forest.covers > 0.0, fades[:, np.newaxis], EMPTY_WEIGHT)
    return weights[:, :, np.newaxis] * np.square(forest.leaves[:, :, :n_outputs])


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
