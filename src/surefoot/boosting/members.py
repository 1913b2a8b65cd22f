"""Ensembles: votes of AdaBoosts."""

from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._fitted_state import reads_one_fit
from surefoot._parameters import check_choice
from surefoot.boosting.adaboost import AdaBoostClassifier
from surefoot.boosting.base import BaseBooster, two_columns
from surefoot.boosting.calibration import collect_votes, cross_fitted_link, ensemble_link, member_link
from surefoot.boosting.committee import Committee
from surefoot.boosting.training import (
    RowAssignment,
    Training,
    check_better_than_chance,
    prepare_training,
    train_members,
)
from surefoot.boosting.vote_link import VoteLink
from surefoot.data.problem import Problem


class MemberEnsemble(BaseBooster):
    """Members are AdaBoosts on rows of one shared table; a subclass assigns the rows (``_assign_rows``)."""

    voting: str = "hard"

    def _assign_rows(self, problem: Problem, seed: int) -> RowAssignment:
        raise NotImplementedError

    def _fit_problem(self, problem: Problem, seed: int) -> Self:
        check_choice("voting", self.voting, ("hard", "soft"))
        assignment = self._assign_rows(problem, seed)
        training = prepare_training(problem, assignment, self._settings(len(assignment.members), seed))
        committees = train_members(training, assignment.members)
        check_better_than_chance(committees, problem.n_classes)
        self._remember(problem)
        self._link, link = self._links(problem, assignment, training, committees) if self.calibrate else (None, None)
        parameters = self._member_parameters()
        self.estimators_ = [
            AdaBoostClassifier(**parameters)._set_committee(committee, problem, link) for committee in committees
        ]
        return self

    def _links(
        self, problem: Problem, assignment: RowAssignment, training: Training, committees: list[Committee]
    ) -> tuple[VoteLink, VoteLink]:
        """The links from votes to probabilities: one for the mean vote, one for the vote of a member."""
        votes = collect_votes(problem, assignment, assignment.members, committees, self.n_jobs)
        if votes is None:  # every member was trained on every row: there is one part, or very few rows
            link = cross_fitted_link(problem, assignment, training)
            return link, link
        return ensemble_link(votes, len(committees)), member_link(votes)

    @property
    @reads_one_fit
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
        return self._mean_over_members(values, self.voting)

    def _mean_vote_block(self, values: np.ndarray) -> np.ndarray:
        return self._mean_over_members(values, "soft")

    def _mean_over_members(self, values: np.ndarray, voting: str) -> np.ndarray:
        votes = np.zeros((self._n_tallies, values.shape[1]))
        for member in self.estimators_:
            tally = member._tally_block(values)
            votes += tally if voting == "soft" else _hard_vote(tally)
        return votes / len(self.estimators_)

    def _uncalibrated(self, tally: np.ndarray) -> np.ndarray:
        if self.voting == "soft":
            return super()._uncalibrated(tally)
        return two_columns((1 + tally[0]) / 2, self._decide(tally)) if len(tally) == 1 else tally.T


def _hard_vote(tally: np.ndarray) -> np.ndarray:
    """A member's vote for one class: +1 or -1 for two classes (+1 if they tie), else 1 in the row of the class."""
    if len(tally) == 1:
        return np.where(tally >= 0, 1.0, -1.0)
    vote = np.zeros_like(tally)
    vote[tally.argmax(axis=0), np.arange(tally.shape[1])] = 1.0
    return vote
