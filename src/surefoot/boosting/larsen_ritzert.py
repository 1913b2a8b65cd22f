"""Larsen and Ritzert's booster: AdaBoost on overlapping sub-samples of a recursive division, and a vote."""

from typing import Any

from surefoot._exceptions import ManyMembersWarning, warn_caller
from surefoot._parameters import check_integer
from surefoot._random import random_permutation, stream_key
from surefoot.boosting.members import MemberEnsemble
from surefoot.boosting.row_assignment import RowAssignment, assign_draws
from surefoot.boosting.subsamples import choose_paths, subsample_levels, subsample_positions
from surefoot.data.problem import Problem


class LarsenRitzertClassifier(MemberEnsemble):
    """AdaBoost on the sub-samples of Hanneke's recursive division, and a majority vote (Larsen & Ritzert 2022).

    The first booster proved to need no more rows than necessary. Of its about ``n_rows**0.79`` sub-samples, each of
    about two thirds of the rows, ``n_members`` are drawn; each is built from its path through the division, never the
    whole list.

    Missing values and categorical columns are taken as they are; sparse input is refused; there is no ``partial_fit``.

    Parameters
    ----------
    n_members : int or None, default=29
        Number of sub-samples, drawn without repeats (all, if there are fewer). None: every one, as in the proof; a
        ``ManyMembersWarning`` gives their number before training starts.
    voting : {"hard", "soft"}, default="hard"
        ``"hard"`` counts the members' decisions, as in the paper; ``"soft"`` adds up their normalised votes.
    estimator : classifier, default=None
        The weak learner. None: the native tree of depth ``max_depth``. Any scikit-learn classifier whose ``fit`` takes
        ``sample_weight`` can replace it; it gets the table as an array of floats, categories as codes.
    max_depth : int, default=1
        Depth of the native tree, at most 12.
    n_estimators : int, default=300
        Maximum number of boosting rounds of each member. Fewer are used if a round is perfect or no better than chance.
    learning_rate : float, default=1.0
        Scales every vote; above 0 and at most 2.
    variant : {"adaboost", "adaboost_star"}, default="adaboost"
        ``"adaboost_star"`` is AdaBoost*_v (Rätsch & Warmuth 2005, two classes only): its trees minimise the weighted
        error instead of Gini's impurity. With stumps, after about ``2 log(n_rows) / margin_precision**2`` rounds every
        training margin is within ``margin_precision`` of the best that stumps on these bins can reach.
    margin_precision : float, default=0.1
        The v of AdaBoost*_v.
    max_bins : int or None, default=255
        Numeric columns are cut into at most so many quantile bins; None makes every distinct value a threshold.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``.
    calibrate : bool, default=True
        Calibrate ``predict_proba`` on the votes of members that have not seen the row, which needs no more fits.
        False: class fractions of the members' votes, which are not calibrated. Votes and predictions do not
        depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the division and of the drawn sub-samples, and of the seeds of ``estimator``.
    n_jobs : int or None, default=None
        Members that are trained at the same time. The model does not depend on it.
    verbose : int, default=0
        1 reports the end of the training, 2 also its progress.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    estimators_ : list of AdaBoostClassifier
        The members, fitted.
    feature_importances_ : array of shape (n_features,)
        Mean of the members' feature importances.
    n_features_in_ : int
        Number of columns of the training table.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, where the training table has them.

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
            estimator=estimator,
            max_depth=max_depth,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            variant=variant,
            margin_precision=margin_precision,
            max_bins=max_bins,
            class_weight=class_weight,
            calibrate=calibrate,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.n_members = n_members
        self.voting = voting

    def _assign_rows(self, problem: Problem, seed: int) -> RowAssignment:
        rows = problem.weighted_rows()
        shuffled = random_permutation(stream_key(seed, 0), len(rows))
        paths = self._paths(3 ** subsample_levels(len(rows)), len(rows), seed)
        return assign_draws(
            problem.codes, rows, len(paths), lambda k: subsample_positions(len(rows), paths[k])[shuffled]
        )

    def _paths(self, n_paths: int, n_rows: int, seed: int) -> list[int] | range:
        if self.n_members is None:
            warn_caller(f"n_members=None: training all {n_paths} sub-samples of {n_rows} rows.", ManyMembersWarning)
            return range(n_paths)
        n_members = check_integer("n_members", self.n_members, 1)
        return choose_paths(stream_key(seed, 1), n_paths, min(n_members, n_paths))
