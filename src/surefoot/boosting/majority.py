"""Majority-of-X: a vote of AdaBoosts on disjoint parts of the rows."""

from typing import Any

from surefoot._parameters import check_integer
from surefoot._random import random_permutation, stream_key
from surefoot.boosting.members import MemberEnsemble
from surefoot.boosting.training import RowAssignment, assign_parts
from surefoot.data.problem import Problem


class MajorityBoostClassifier(MemberEnsemble):
    """A majority vote of AdaBoosts on ``n_members`` disjoint parts of the rows (Høgsgaard et al. 2024).

    With five parts, its expected error is optimal, up to a constant, among all ways to boost a weak learner; that of a
    single AdaBoost is not. The amount of work is the same. Best on large tables: on small ones, the parts are too
    small.

    Missing values, categorical columns and sparse matrices are supported; there is no ``partial_fit``.

    Parameters
    ----------
    n_members : int, default=5
        Number of parts; the rows are shuffled by ``random_state`` first. An odd number cannot tie.
    voting : {"hard", "soft"}, default="hard"
        ``"hard"`` counts the members' decisions, as in the paper; ``"soft"`` adds up their normalised votes.
    estimator : classifier, default=None
        The weak learner: any scikit-learn classifier with ``sample_weight`` in its ``fit``. It gets the table as an
        array of floats, with categories as codes. None: the native tree of depth ``max_depth``.
    max_depth : int, default=1
        Depth of the native tree, at most 12.
    n_estimators : int, default=300
        Maximum number of boosting rounds of each member. Fewer are used if a round is perfect or no better than chance.
    learning_rate : float, default=1.0
        Factor of every vote; above 0 and at most 2.
    variant : {"adaboost", "adaboost_star"}, default="adaboost"
        ``"adaboost_star"`` is AdaBoost*_v (Rätsch & Warmuth 2005, two classes only): its trees minimise the weighted
        error instead of the Gini impurity. With stumps, after about ``2 log(n_rows) / margin_precision**2`` rounds the
        smallest training margin is within ``margin_precision`` of the largest possible one for stumps on these bins.
    margin_precision : float, default=0.1
        The v of AdaBoost*_v.
    max_bins : int or None, default=255
        Maximum number of quantile bins of a numeric column. None: every distinct value is a threshold.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``.
    calibrate : bool, default=True
        Calibrate ``predict_proba`` on the votes of members that were not trained on the row, which needs no more fits.
        False: probabilities are each class's fraction of the members' votes, and are not calibrated. Votes and
        predictions do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the shuffle and of ``estimator``.
    n_jobs : int or None, default=None
        Number of members that are trained at the same time. The model does not depend on it.
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
        n_members = check_integer("n_members (parts of the rows that have weight)", self.n_members, 1, len(rows))
        return assign_parts(problem.codes, rows, n_members, random_permutation(stream_key(seed), len(rows)))
