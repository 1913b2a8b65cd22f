"""Bagged AdaBoost: a vote of AdaBoosts on bootstrap samples of the rows."""

from math import ceil, log
from typing import Any

from surefoot._parameters import check_integer, check_number
from surefoot._random import bootstrap_counts, stream_key
from surefoot.boosting.members import MemberEnsemble
from surefoot.boosting.training import RowAssignment, assign_draws
from surefoot.data.problem import Problem


class BaggedBoostClassifier(MemberEnsemble):
    """A majority vote of AdaBoosts on bootstrap samples of the rows (Larsen 2023).

    With about ``log(n_rows / failure_probability)`` members its error is optimal, up to a constant, with probability
    ``1 - failure_probability``. Best on small tables.

    Missing values, categorical columns and sparse matrices are supported; there is no ``partial_fit``.

    Parameters
    ----------
    n_members : int or None, default=None
        Number of bootstrap samples. None: ``ceil(log(n_rows / failure_probability))``, plus 1 if that is even, so that
        members cannot tie.
    failure_probability : float, default=0.05
        The delta of the guarantee; used if ``n_members`` is None.
    max_samples : float, default=1.0
        Number of rows drawn (with replacement) for each member, as a fraction of the rows.
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
        Seed of the bootstrap samples and of ``estimator``.
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
        self.failure_probability = failure_probability
        self.max_samples = max_samples
        self.voting = voting

    def _assign_rows(self, problem: Problem, seed: int) -> RowAssignment:
        self._check_bags()
        rows = problem.weighted_rows()
        n_members = self._count_members(len(rows))
        draws = max(1, round(self.max_samples * len(rows)))
        return assign_draws(
            problem.codes, rows, n_members, lambda k: bootstrap_counts(stream_key(seed, k), len(rows), draws)
        )

    def _check_bags(self) -> None:
        check_number("failure_probability", self.failure_probability, 0, 1, include_boundaries="neither")
        check_number("max_samples", self.max_samples, 0, 1, include_boundaries="right")

    def _count_members(self, n_rows: int) -> int:
        if self.n_members is not None:
            return check_integer("n_members", self.n_members, 1)
        return ceil(log(n_rows / self.failure_probability)) | 1
