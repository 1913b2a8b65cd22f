"""Larsen and Ritzert's booster: a vote of AdaBoosts on overlapping sub-samples of a recursive division."""

from typing import Any

import numpy as np

from surefoot._exceptions import ManyMembersWarning, warn_caller
from surefoot._parameters import check_integer
from surefoot._random import random_integers, random_permutation, stream_key
from surefoot.boosting.members import MemberEnsemble
from surefoot.boosting.training import RowAssignment, assign_draws
from surefoot.data.problem import Problem

BATCH = 64  # paths drawn at a time


class LarsenRitzertClassifier(MemberEnsemble):
    """A majority vote of AdaBoosts on the sub-samples of Hanneke's recursive division (Larsen & Ritzert 2022).

    It is the first booster with a proof that it needs no more rows than necessary. The division has about
    ``n_rows**0.79`` sub-samples, each of about two thirds of the rows. ``n_members`` of them are drawn; each is built
    from its path through the division, without the list of all.

    Missing values, categorical columns and sparse matrices are supported; there is no ``partial_fit``.

    Parameters
    ----------
    n_members : int or None, default=29
        Number of sub-samples, drawn without repeats (all, if there are fewer). None: all, as in the proof; a
        ``ManyMembersWarning`` reports their number before training starts.
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
        Seed of the division, of the drawn sub-samples and of ``estimator``.
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


def subsample_levels(n_rows: int) -> int:
    """Number of levels of the division of ``n_rows`` rows; there are ``3 ** levels`` sub-samples."""
    levels = 0
    while n_rows >= 4:
        n_rows //= 4
        levels += 1
    return levels


def subsample_positions(n_rows: int, path: int) -> np.ndarray:
    """Whether each of ``n_rows`` positions belongs to sub-sample number ``path``.

    Each level divides the remaining positions into S0, S1, S2 and S3: S0 is a quarter of them, rounded down, and the
    other three are of about equal size. The base-3 digits of the path, the highest first, determine which of S1, S2
    and S3 is left out; the next level divides S0.
    """
    inside = np.ones(n_rows, dtype=np.bool_)
    size = n_rows
    for level in reversed(range(subsample_levels(n_rows))):
        quarter = size // 4
        cuts = quarter + np.arange(4) * (size - quarter) // 3
        left_out = path // 3**level % 3
        inside[cuts[left_out] : cuts[left_out + 1]] = False
        size = quarter
    return inside


def choose_paths(key: np.uint64, n_paths: int, n_chosen: int) -> list[int]:
    """Draw ``n_chosen`` different numbers below ``n_paths``.

    Batches have a fixed size, so that a larger ``n_chosen`` adds paths and keeps the others.
    """
    chosen: dict[int, None] = {}
    batch = 0
    while len(chosen) < n_chosen:
        chosen.update(dict.fromkeys(random_integers(key + np.uint64(batch), BATCH, n_paths).tolist()))
        batch += 1
    return list(chosen)[:n_chosen]
