"""Larsen and Ritzert's booster: AdaBoost on overlapping sub-samples of a recursive division, and a vote."""

from typing import Any

from surefoot._exceptions import ManyMembersWarning, warn_caller
from surefoot._parameters import check_integer
from surefoot._random import random_permutation, stream_key
from surefoot.boosting.members import MemberEnsemble
from surefoot.boosting.plan import Plan, plan_draws
from surefoot.boosting.subsamples import choose_paths, subsample_levels, subsample_positions
from surefoot.data.problem import Problem


class LarsenRitzertClassifier(MemberEnsemble):
    """AdaBoost on the sub-samples of Hanneke's recursive division, and a majority vote (Larsen & Ritzert 2022).

    The first booster proved to need no more rows than necessary. Of its about ``n_rows**0.79`` sub-samples, each of
    about two thirds of the rows, ``n_members`` are drawn; each is built from its path through the division, never the
    whole list.

    Parameters
    ----------
    n_members : int or None, default=29
        Sub-samples drawn, without repeats (all, if there are fewer). None: every one, as in the proof; a
        ``ManyMembersWarning`` says how many before training starts.
    voting : {"hard", "soft"}, default="hard"

    The other parameters are those of :class:`AdaBoostClassifier`, and so are the kinds of input.

    Attributes
    ----------
    estimators_ : list of AdaBoostClassifier
        The members, fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import LarsenRitzertClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LarsenRitzertClassifier(n_members=5, n_estimators=50, random_state=0).fit(X, y)
    >>> len(model.estimators_)
    5
    """

    def __init__(
        self,
        *,
        n_members: int | None = 29,
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

    def _plan(self, problem: Problem, seed: int) -> Plan:
        rows = problem.weighted_rows()
        shuffled = random_permutation(stream_key(seed, 0), len(rows))
        paths = self._paths(3 ** subsample_levels(len(rows)), len(rows), seed)
        return plan_draws(problem.codes, rows, len(paths), lambda k: subsample_positions(len(rows), paths[k])[shuffled])

    def _paths(self, n_paths: int, n_rows: int, seed: int) -> list[int] | range:
        if self.n_members is None:
            warn_caller(f"n_members=None: training all {n_paths} sub-samples of {n_rows} rows.", ManyMembersWarning)
            return range(n_paths)
        n_members = check_integer("n_members", self.n_members, 1)
        return choose_paths(stream_key(seed, 1), n_paths, min(n_members, n_paths))
