"""Ensembles of AdaBoosts that vote."""

from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError
from surefoot._parameters import check_choice
from surefoot.boosting.adaboost import (
    NO_BETTER_THAN_CHANCE,
    AdaBoostClassifier,
    cross_fitted_link,
    is_no_better_than_chance,
)
from surefoot.boosting.base import BaseBooster, two_columns
from surefoot.boosting.committee import Committee
from surefoot.boosting.row_assignment import RowAssignment
from surefoot.boosting.training import Training, prepare_training, train_members
from surefoot.boosting.unseen_votes import collect_votes, ensemble_link, member_link
from surefoot.boosting.vote_link import VoteLink
from surefoot.data.problem import Problem

SHARED = (
    "estimator",
    "max_depth",
    "n_estimators",
    "learning_rate",
    "variant",
    "margin_precision",
    "max_bins",
    "calibrate",
    "random_state",
    "n_jobs",
    "verbose",
)


class MemberEnsemble(BaseBooster):
    """Members are AdaBoosts on rows of one shared table; a subclass says which rows (``_assign_rows``)."""

    voting: str = "hard"

    def _assign_rows(self, problem: Problem, seed: int) -> RowAssignment:
        raise NotImplementedError

    def _fit_problem(self, problem: Problem, seed: int) -> Self:
        check_choice("voting", self.voting, ("hard", "soft"))
        assignment = self._assign_rows(problem, seed)
        training = prepare_training(problem, assignment, self._settings(len(assignment.members), seed))
        committees = train_members(training, assignment.members)
        if all(is_no_better_than_chance(committee, problem.n_classes) for committee in committees):
            raise DataError(f"The first weak learner of every member {NO_BETTER_THAN_CHANCE}")
        self._remember(problem)
        self._link, link = self._links(problem, assignment, training, committees) if self.calibrate else (None, None)
        shared = {name: getattr(self, name) for name in SHARED}
        self.estimators_ = [AdaBoostClassifier(**shared)._adopt(one, problem, link) for one in committees]
        return self

    def _links(
        self, problem: Problem, assignment: RowAssignment, training: Training, committees: list[Committee]
    ) -> tuple[VoteLink, VoteLink]:
        """The links from votes to probabilities: of the mean vote, and of a member's."""
        votes = collect_votes(problem, assignment, assignment.members, committees, self.n_jobs)
        if votes is None:  # every member has seen every row: one part, or very few rows
            link = cross_fitted_link(problem, assignment, training)
            return link, link
        return ensemble_link(votes, len(committees)), member_link(votes)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean of the members' feature importances.

        Returns
        -------
        array of shape (n_features,)
            Importances of the columns.
        """
        check_is_fitted(self)
        return np.mean([member.feature_importances_ for member in self.estimators_], axis=0)

    def _tally_block(self, values: np.ndarray) -> np.ndarray:
        votes = np.zeros((1 if len(self.classes_) == 2 else len(self.classes_), values.shape[1]))
        for member in self.estimators_:
            tally = member._tally_block(values)
            votes += tally if self.voting == "soft" else _ballot(tally)
        return votes / len(self.estimators_)

    def _mean_vote_block(self, values: np.ndarray) -> np.ndarray:
        votes = np.zeros((1 if len(self.classes_) == 2 else len(self.classes_), values.shape[1]))
        for member in self.estimators_:
            votes += member._tally_block(values)
        return votes / len(self.estimators_)

    def _uncalibrated(self, tally: np.ndarray) -> np.ndarray:
        if self.voting == "soft":
            return super()._uncalibrated(tally)
        return two_columns((1 + tally[0]) / 2, self._decide(tally)) if len(tally) == 1 else tally.T


def _ballot(tally: np.ndarray) -> np.ndarray:
    """One member's whole vote for its winner: +1 or -1 for two classes (a tie is +1), else 1 in the winner's row."""
    if len(tally) == 1:
        return np.where(tally >= 0, 1.0, -1.0)
    ballot = np.zeros_like(tally)
    ballot[tally.argmax(axis=0), np.arange(tally.shape[1])] = 1.0
    return ballot
