"""Bagged AdaBoost: AdaBoost on bootstrap samples of the rows, and a vote."""

from math import ceil, log
from typing import Any

from surefoot._parameters import check_integer, check_number
from surefoot._random import bootstrap_counts, stream_key
from surefoot.boosting.members import MemberEnsemble
from surefoot.boosting.row_assignment import RowAssignment, assign_draws
from surefoot.data.problem import Problem


class BaggedBoostClassifier(MemberEnsemble):
    """AdaBoost on bootstrap samples of the rows, and a majority vote (Larsen 2023).

    With about ``log(n_rows / failure_probability)`` members its error is optimal, up to a constant, with probability
    ``1 - failure_probability``. Best on small tables.

    Parameters
    ----------
    n_members : int or None, default=None
        None: ``ceil(log(n_rows / failure_probability))``, made odd so that members cannot tie.
    failure_probability : float, default=0.05
        The delta of the guarantee, used when ``n_members`` is None.
    max_samples : float, default=1.0
        Rows drawn (with replacement) for each member, as a share of the rows.
    voting : {"hard", "soft"}, default="hard"

    The other parameters are those of :class:`AdaBoostClassifier`, and so are the kinds of input.

    Attributes
    ----------
    estimators_ : list of AdaBoostClassifier
        The members, fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import BaggedBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BaggedBoostClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> len(model.estimators_)
    11
    """

    def __init__(
        self,
        *,
        n_members: int | None = None,
        failure_probability: float = 0.05,
        max_samples: float = 1.0,
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
        self.failure_probability = failure_probability
        self.max_samples = max_samples
        self.voting = voting

    def _assign_rows(self, problem: Problem, seed: int) -> RowAssignment:
        check_number("failure_probability", self.failure_probability, 0, 1, most_included=False)
        check_number("max_samples", self.max_samples, 0, 1, most_included=True)
        rows = problem.weighted_rows()
        n_members = self._count_members(len(rows))
        draws = max(1, round(self.max_samples * len(rows)))
        return assign_draws(
            problem.codes, rows, n_members, lambda k: bootstrap_counts(stream_key(seed, k), len(rows), draws)
        )

    def _count_members(self, n_rows: int) -> int:
        if self.n_members is not None:
            return check_integer("n_members", self.n_members, 1)
        return ceil(log(n_rows / self.failure_probability)) | 1
