"""The members of virtual ensembles of surefoot's own boosters, as raw outputs of blocks of rows."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri, softmax

from surefoot._random import random_permutation, stream_key
from surefoot.uncertainty.chain_noise import ChainNoise
from surefoot.uncertainty.decomposition import NATS, Uncertainty
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import Member, raw_uncertainty
from surefoot.uncertainty.member_predictions import (
    ClassificationMembers,
    Members,
    RegressionMembers,
    two_class_probabilities,
)
from surefoot.uncertainty.spread_kernels import spread_two_classes, spread_uncertainty

MAX_INCREMENTS = 40
SCORES = 2  # label of the stream of random orders


class VirtualMembers(ABC):
    """Members of a virtual ensemble of one chain."""

    def __init__(self, chain: Member, n_members: int) -> None:
        self.chain, self.n_members = chain, n_members

    @property
    def n_outputs(self) -> int:
        return self.chain.trees.forest.n_outputs

    @abstractmethod
    def raw(self, codes: np.ndarray) -> np.ndarray:
        """Raw outputs (members, outputs, rows) for a block of codes."""

    def uncertainty(self, codes: np.ndarray, family: RegressionFamily | ClassificationFamily) -> Uncertainty:
        """The uncertainty of the rows of a block."""
        return raw_uncertainty(self.raw(codes), family)


class TruncatedChain(VirtualMembers):
    """The chain, truncated after several numbers of trees."""

    def __init__(self, chain: Member, sizes: Sequence[int]) -> None:
        super().__init__(chain, len(sizes))
        self.sizes = sizes

    def raw(self, codes: np.ndarray) -> np.ndarray:
        raw = np.empty((self.n_members, self.n_outputs, codes.shape[1]))
        self.chain.add_cut(codes, self.sizes, raw)
        return raw


class SpreadChain(VirtualMembers):
    """The chain, with outputs spread by as much as its noise moves them.

    ``n_spread`` is the number of outputs that noise moves: the location of a distribution, or the scores of classes.
    """

    def __init__(self, chain: Member, n_members: int, n_spread: int) -> None:
        super().__init__(chain, n_members)
        self.scores, self.orders = normal_scores(n_members), random_orders(n_members, n_spread)

    @abstractmethod
    def raw_and_variance(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The raw outputs (outputs, rows) of the chain, and the variance of those that its noise moves, or of all."""

    def uncertainty(self, codes: np.ndarray, family: RegressionFamily | ClassificationFamily) -> Uncertainty:
        if isinstance(family, RegressionFamily):
            return super().uncertainty(codes, family)
        raw, variance = self.raw_and_variance(codes)
        data, knowledge = np.empty((2, codes.shape[1]))
        if len(raw) == 1:
            spread_two_classes(raw[0], np.sqrt(variance[0]), self.scores, data, knowledge)
        else:
            spread_uncertainty(raw, np.sqrt(variance), self.scores, self.orders, data, knowledge)
        return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit=NATS)

    def raw(self, codes: np.ndarray) -> np.ndarray:
        raw, variance = self.raw_and_variance(codes)
        members = np.repeat(raw[np.newaxis], self.n_members, axis=0)
        members[:, : self.orders.shape[1]] += self.scores[self.orders][:, :, np.newaxis] * np.sqrt(variance)
        return members


class CopiesOfChain(SpreadChain):
    """The chain, and how far copies of it with other noise come out from it."""

    def __init__(self, noise: ChainNoise, n_members: int, n_spread: int) -> None:
        super().__init__(noise.member, n_members, n_spread)
        self.noise = noise

    def raw_and_variance(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.noise.raw_and_variance(codes)


class IncrementsOfChain(SpreadChain):
    """The chain, and how much it moves to and fro in the second half of its rounds."""

    def raw_and_variance(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes = increment_sizes(self.chain.trees.forest.n_trees)
        cuts = np.empty((len(sizes), self.n_outputs, codes.shape[1]))
        self.chain.add_cut(codes, sizes, cuts)
        return cuts[-1], increment_variance(cuts[:, : self.orders.shape[1]])


def increment_sizes(n_trees: int) -> tuple[int, ...]:
    """Numbers of trees, evenly spaced over the second half, between which a chain is compared."""
    n_increments = min(MAX_INCREMENTS, n_trees // 2)
    step = n_trees // (2 * n_increments)
    return tuple(range(n_trees - n_increments * step, n_trees + 1, step))


def increment_variance(cuts: np.ndarray) -> np.ndarray:
    """The variance of the sum of increments between ``cuts`` (cuts, ...), each less their mean, with random signs.

    The mean increment is the direction in which the chain still moves, which says how far training has come.
    """
    increments = np.diff(cuts, axis=0)
    return np.square(increments - increments.mean(axis=0)).sum(axis=0)


def spread_by_increments(truncated: Members, n_members: int) -> Members:
    """Members of a model, spread by how much its truncated versions move to and fro; the last of them is the model."""
    if isinstance(truncated, RegressionMembers):
        scores = normal_scores(n_members)
        spread = scores[:, np.newaxis] * np.sqrt(increment_variance(truncated.means))
        variances = None if truncated.variances is None else np.repeat(truncated.variances[-1:], n_members, axis=0)
        return RegressionMembers(truncated.means[-1] + spread, variances)
    tiny = np.finfo(np.float64).tiny
    outputs = np.log(np.maximum(truncated.probabilities, tiny))
    two_classes = outputs.shape[-1] == 2
    if two_classes:
        outputs = outputs[..., 1:] - outputs[..., :1]  # the log-odds
    scores = normal_scores(n_members)[random_orders(n_members, outputs.shape[-1])][:, np.newaxis, :]
    members = outputs[-1] + scores * np.sqrt(increment_variance(outputs))
    probabilities = two_class_probabilities(members[..., 0]) if two_classes else softmax(members, axis=-1)
    return ClassificationMembers(probabilities, truncated.classes)


def normal_scores(n_members: int) -> np.ndarray:
    """Numbers with mean 0 and variance 1 over the members, distributed like normal ones, in order and symmetric."""
    scores = ndtri((np.arange(n_members) + 0.5) / n_members)
    scores = (scores - scores[::-1]) / 2.0
    return scores / scores.std()


def random_orders(n_members: int, n_outputs: int) -> np.ndarray:
    """The place among the scores that each member has, for each output."""
    orders = [random_permutation(stream_key(0, SCORES, k), n_members) for k in range(n_outputs)]
    return np.stack(orders, axis=1)
