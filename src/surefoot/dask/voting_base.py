"""What Majority-of-X and Bagged AdaBoost on a cluster share: parts of the rows, their training, the fitted model."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from distributed import Client
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot._fitted_state import new_fit, reads_one_fit
from surefoot._parameters import check_boolean, check_choice
from surefoot._random import seed_from
from surefoot.boosting.adaboost import AdaBoostClassifier
from surefoot.boosting.committee import Committee
from surefoot.boosting.members import MemberEnsemble
from surefoot.boosting.training import check_better_than_chance
from surefoot.dask.cluster import find_client, retry_if_a_worker_leaves
from surefoot.dask.collections import Blocks, known_lengths, read_partitions
from surefoot.dask.member_training import Links, MemberPlan, PieceReader, part_homes, train_on_parts
from surefoot.dask.model import DaskClassifier
from surefoot.dask.partition_comparison import warn_if_unlike
from surefoot.dask.parts import Part, cut_parts, deal_parts, groups_of
from surefoot.dask.worker_table import WorkerTable
from surefoot.data.problem import require_target


class DaskMemberEnsemble(DaskClassifier, MemberEnsemble):
    """A vote of AdaBoosts that are trained where their rows are; a subclass counts the parts and the members."""

    shuffle: bool

    def _count_parts(self, n_partitions: int, n_rows: int | None) -> int:
        """The number of parts; ``n_rows`` is None before the rows are counted."""
        raise NotImplementedError

    def _plan(self, n_parts: int, n_rows: int, seed: int) -> MemberPlan:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the booster.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array, or list of delayed frames, of shape (n_rows, n_columns)
            The training data. Partitions may be of unequal size, or empty.
        y : Dask Series, Dask Array, or list of delayed arrays
            Labels of the rows, from two or more classes, in the partitions of X.
        sample_weight : Dask Series, Dask Array, list of delayed arrays, or None, default=None
            Weights of the rows, in the partitions of X. None: all rows have the same weight.

        Returns
        -------
        self : object
            The fitted booster.
        """
        self._check_parameters()
        check_boolean("shuffle", self.shuffle)
        check_choice("voting", self.voting, ("hard", "soft"))
        require_target(self, y)
        client, partitions = find_client(self.client), read_partitions(X, y, sample_weight)
        seed, lengths = seed_from(self.random_state), known_lengths(X)
        with new_fit(self) as fitted:
            results = retry_if_a_worker_leaves(lambda: fitted._train(client, partitions, lengths, seed))
            fitted._set_members(*results)
        return self

    def _train(
        self, client: Client, partitions: Sequence[Blocks], lengths: list[int], seed: int
    ) -> tuple[PieceReader, list[Committee], Links | None]:
        """Load the rows, cut the parts, and train the members."""
        n_parts = self._count_parts(len(partitions), sum(lengths) or None)
        expected = self._cut(lengths or [1] * len(partitions), n_parts, seed)  # before the rows are counted
        groups = range(len(partitions)) if self.shuffle else groups_of(expected, len(partitions))
        table = WorkerTable.load(client, partitions, groups, with_labels=True)
        reader = PieceReader.of(table.summary, table.summaries, self.class_weight, seed)
        n_rows, n_classes = table.summary.n_weighted, len(reader.classes)
        if self.variant == "adaboost_star" and n_classes > 2:
            raise ParameterError(f"variant='adaboost_star' is for two classes, y has {n_classes}.")
        n_parts = self._count_parts(sum(length > 0 for length in table.summary.weighted_lengths), n_rows)
        parts = self._cut(table.summary.weighted_lengths, n_parts, seed)
        if n_parts > 1 and not self.shuffle:
            warn_if_unlike(table.summaries)
        homes = part_homes(parts, table.homes, self.shuffle)
        plan = self._plan(n_parts, n_rows, seed)
        committees, links = train_on_parts(table, parts, homes, plan, reader, link=self.calibrate)
        check_better_than_chance(committees, n_classes)
        return reader, committees, links

    def _cut(self, lengths: Sequence[int], n_parts: int, seed: int) -> list[Part]:
        return deal_parts(lengths, n_parts) if self.shuffle else cut_parts(lengths, n_parts, seed)

    def _set_members(self, reader: PieceReader, committees: list[Committee], links: Links | None) -> None:
        """Set the attributes of a fitted model."""
        problem = reader.empty()
        self._remember(problem)
        self._link, member_link = (None, None) if links is None else links
        parameters = self._member_parameters()
        self.estimators_ = [
            AdaBoostClassifier(**parameters)._set_committee(committee, problem, member_link) for committee in committees
        ]

    @reads_one_fit
    def decision_function(self, X: Any) -> Any:
        """Compute the vote of the members.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
            For two classes one number per row, above 0 for ``classes_[1]``; else one column per class. A Dask Array,
            not yet computed, if X is a Dask collection.
        """
        check_is_fitted(self)
        n_columns = None if len(self.classes_) == 2 else len(self.classes_)
        return self._lazily("decision_function", X, np.float64, n_columns)
