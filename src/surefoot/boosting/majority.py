"""Majority-of-X: AdaBoost on disjoint parts of the rows, and a vote."""

from typing import Any

from surefoot._parameters import check_integer
from surefoot._random import random_permutation, stream_key
from surefoot.boosting.members import MemberEnsemble
from surefoot.boosting.row_assignment import RowAssignment, assign_parts
from surefoot.data.problem import Problem


class MajorityBoostClassifier(MemberEnsemble):
    """AdaBoost on each of ``n_members`` disjoint parts of the rows, and a majority vote (Høgsgaard et al. 2024).

    With five parts its expected error is optimal, up to a constant, among all ways to boost a weak learner; plain
    AdaBoost's is not. It does the same work on smaller pieces. Best on large tables: on small ones the parts
    are too small.

    Parameters
    ----------
    n_members : int, default=5
        Number of parts; the rows are shuffled by ``random_state`` first. An odd number cannot tie.
    voting : {"hard", "soft"}, default="hard"
        ``"hard"`` counts the members' decisions, as in the paper; ``"soft"`` adds up their normalised votes.

    The other parameters are those of :class:`AdaBoostClassifier`, and so are the kinds of input.

    Attributes
    ----------
    estimators_ : list of AdaBoostClassifier
        The members, fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import MajorityBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MajorityBoostClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> len(model.estimators_)
    5
    """

    def __init__(
        self,
        *,
        n_members: int = 5,
        voting: str = "hard",
        estimator: Any = None,
        max_depth: int = 1,
        n_estimators: int = 300,
        learning_rate: float = 1.0,
        variant: str = "adaboost",
        margin_precision: float = 0.1,
        max_bins: int | None = 255,
        class_weight: Any = None,
        calibrate: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator=estimator, max_depth=max_depth, n_estimators=n_estimators, learning_rate=learning_rate,
            variant=variant, margin_precision=margin_precision, max_bins=max_bins, class_weight=class_weight,
            calibrate=calibrate, random_state=random_state, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.n_members = n_members
        self.voting = voting

    def _assign_rows(self, problem: Problem, seed: int) -> RowAssignment:
        rows = problem.weighted_rows()
        n_members = check_integer("n_members (parts of the rows that have weight)", self.n_members, 1, len(rows))
        return assign_parts(problem.codes, rows, n_members, random_permutation(stream_key(seed), len(rows)))
