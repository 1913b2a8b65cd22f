"""surefoot's own gradient boosters as sequences of trees."""

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot._numbers import passed_as
from surefoot._parallel import RowThreads, row_blocks, threads_for
from surefoot._random import random_permutation, stream_key
from surefoot.data import Columns
from surefoot.uncertainty.adapters.base import TreeSequence, check_fitted
from surefoot.uncertainty.chain_noise import ChainConfig, ChainNoise, count_moved
from surefoot.uncertainty.decomposition import NATS, TARGET_SQUARED, Uncertainty
from surefoot.uncertainty.explanations.shap_values import ShapValues
from surefoot.uncertainty.families import RegressionFamily
from surefoot.uncertainty.leaf_noise import EVEN_ODDS
from surefoot.uncertainty.member import PREDICT_BLOCK, Member
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers
from surefoot.uncertainty.virtual_members import CopiesOfChain, IncrementsOfChain, TruncatedChain, VirtualMembers

MAX_REFERENCE_ROWS = 10_000  # the mean of a leaf is as good from a sample
REFERENCE_ROWS = 3  # label of the stream of random numbers that draws them


class OwnModel(TreeSequence):
    """A fitted gradient booster of surefoot: one pass computes all members."""

    can_learn_noise = True

    def __init__(self, model: Any) -> None:
        check_fitted(model)
        remedy = None if model._differs_by_seed else "langevin=True or subsample=0.5"
        super().__init__(model, int(model.n_iter_), remedy)

    def predict_uncertainty(self, X: Any, sizes: tuple[int, ...], index: Any = None) -> Uncertainty:
        columns, members = self.model._columns(X), self._members(sizes)
        data, knowledge = np.empty(columns.n_rows), np.empty(columns.n_rows)

        def decompose(codes: np.ndarray, start: int, stop: int) -> None:
            block = members.uncertainty(codes, self.model.family_)
            data[start:stop], knowledge[start:stop] = block.data, block.knowledge

        self._for_each_block(columns, decompose)
        unit = TARGET_SQUARED if isinstance(self.model.family_, RegressionFamily) else NATS
        return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit=unit, index=index)

    def shap_knowledge(self, X: Any, sizes: tuple[int, ...], background: Any) -> ShapValues:
        if self.method != "truncation":
            raise ParameterError(
                "shap_knowledge of a virtual ensemble is for method='truncation': set it, or train an ensemble.",
                argument="method",
            )
        explained: ShapValues = self.model._knowledge_values(X, background, sizes)
        return explained

    def predict_members(self, X: Any, sizes: tuple[int, ...]) -> Members:
        return self._predict(X, self._members(sizes))

    def predict_truncated(self, X: Any, sizes: tuple[int, ...]) -> Members:
        return self._predict(X, TruncatedChain(self._chain, sizes))

    def _predict(self, X: Any, members: VirtualMembers) -> Members:
        columns = self.model._columns(X)
        raws = np.empty((members.n_members, members.n_outputs, columns.n_rows))

        def keep(codes: np.ndarray, start: int, stop: int) -> None:
            raws[:, :, start:stop] = members.raw(codes)

        self._for_each_block(columns, keep)
        family = self.model.family_
        if not isinstance(family, RegressionFamily):
            return ClassificationMembers(np.stack([family.probabilities(raw) for raw in raws]), self.model.classes_)
        distributions = [family.distribution(raw) for raw in raws]
        return RegressionMembers(
            np.stack([distribution.mean for distribution in distributions]),
            np.stack([distribution.var for distribution in distributions]),
        )

    def learn_noise(self, X_train: Any) -> None:
        """Follow copies of the chain through the training on these rows, or on a sample of them."""
        with passed_as("X_train"):
            model, columns = self.model, self.model._columns(X_train)
        n_rows = min(columns.n_rows, MAX_REFERENCE_ROWS)
        rows = np.sort(random_permutation(stream_key(0, REFERENCE_ROWS), columns.n_rows)[:n_rows])
        config = ChainConfig(
            rate=float(model.learning_rate),
            l2=float(model.l2_regularization),
            min_information=EVEN_ODDS if model.temperature is None else 1.0,
        )
        self._noise = ChainNoise.of(self._chain, model.family_, config, codes_of_rows(self._chain, columns, rows))

    @property
    def _chain(self) -> Member:
        chain: Member = self.model._members[0]
        return chain

    def _members(self, sizes: tuple[int, ...]) -> VirtualMembers:
        if self.method == "truncation":
            return TruncatedChain(self._chain, sizes)
        if self.method == "copies":
            return CopiesOfChain(self._noise, len(sizes), count_moved(self.model.family_))
        return IncrementsOfChain(self._chain, len(sizes), count_moved(self.model.family_))

    def _for_each_block(self, columns: Columns, use: Callable[[np.ndarray, int, int], None]) -> None:
        """Call ``use(codes, start, stop)`` for blocks of rows, in several threads."""

        def fill(block: tuple[int, int]) -> None:
            use(self._chain.encoding.codes(columns, *block), *block)

        with RowThreads(threads_for(self.model.n_jobs, columns.n_rows * (columns.n_columns + self.n_trees))) as threads:
            threads.each(fill, row_blocks(columns.n_rows, PREDICT_BLOCK))


def codes_of_rows(chain: Member, columns: Columns, rows: np.ndarray) -> np.ndarray:
    """The codes of some rows of a table, read block by block; ``rows`` are in order."""
    parts = []
    for start, stop in row_blocks(columns.n_rows, PREDICT_BLOCK):
        own = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)] - start
        parts.append(chain.encoding.codes(columns, start, stop)[:, own])
    return np.ascontiguousarray(np.concatenate(parts, axis=1))
