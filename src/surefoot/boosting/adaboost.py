"""AdaBoost."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._fitted_state import reads_one_fit
from surefoot._parallel import ROW_BLOCK
from surefoot.boosting.base import BaseBooster, break_ties
from surefoot.boosting.calibration import cross_fitted_link
from surefoot.boosting.committee import Committee, TreeCommittee, to_tally
from surefoot.boosting.training import assign_all_rows, check_better_than_chance, prepare_training, train_members
from surefoot.boosting.vote_link import VoteLink
from surefoot.data.problem import Problem


class AdaBoostClassifier(BaseBooster):
    """AdaBoost with native trees on a binned table, or with any scikit-learn classifier.

    With stumps it finds the same splits and votes as scikit-learn's AdaBoostClassifier (on columns of at most 255
    distinct values, or with ``max_bins=None``), and is hundreds of times faster on large tables. Missing values,
    categorical columns and sparse matrices are supported; there is no ``partial_fit``.

    Parameters
    ----------
    estimator : classifier, default=None
        The weak learner: any scikit-learn classifier with ``sample_weight`` in its ``fit``. It gets the table as an
        array of floats, with categories as codes. None: the native tree of depth ``max_depth``.
    max_depth : int, default=1
        Depth of the native tree, at most 12.
    n_estimators : int, default=300
        Maximum number of boosting rounds. Fewer are used if a round is perfect or no better than chance.
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
        Calibrate ``predict_proba`` on the votes of AdaBoosts that were not trained on the row: ten more fits on small
        tables, one on large ones. False: probabilities are computed as in scikit-learn, and are not calibrated. Votes
        and predictions do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of ``estimator``. Native trees do not use it: they break ties by the order of the columns.
    n_jobs : int or None, default=None
        Threads for tables of more than a million cells. The model does not depend on it.
    verbose : int, default=0
        1 reports the end of the training, 2 also its progress.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    estimators_ : list
        The trees (``surefoot.trees.Tree``) or fitted classifiers, round by round.
    estimator_weights_ : array of shape (n_rounds,)
        The weight of each vote.
    estimator_errors_ : array of shape (n_rounds,)
        The weighted error of each tree or classifier on the training rows.
    feature_importances_ : array of shape (n_features,)
        Fraction of the trees' gains that comes from each column; trees are weighted by their votes.
    n_features_in_ : int
        Number of columns of the training table.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, where the training table has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=50).fit(X, y)
    >>> bool(model.score(X, y) > 0.97)
    True
    """

    def _fit_problem(self, problem: Problem, seed: int) -> Self:
        assignment = assign_all_rows(problem.codes, problem.weighted_rows())
        training = prepare_training(problem, assignment, self._settings(1, seed))
        committees = train_members(training, assignment.members)
        check_better_than_chance(committees, problem.n_classes)
        link = cross_fitted_link(problem, assignment, training) if self.calibrate else None
        return self._set_committee(committees[0], problem, link)

    def _set_committee(self, committee: Committee, problem: Problem, link: VoteLink | None) -> Self:
        """Set the attributes of a fitted model."""
        self._remember(problem)
        self._committee, self._link = committee, link
        return self

    @property
    @reads_one_fit
    def estimators_(self) -> list[Any]:
        """The trees or fitted classifiers, round by round.

        Returns
        -------
        list
            One ``surefoot.trees.Tree``, or one classifier, per round.
        """
        check_is_fitted(self)
        return self._committee.hypotheses()

    @property
    @reads_one_fit
    def estimator_weights_(self) -> np.ndarray:
        """The weight of each vote.

        Returns
        -------
        array of shape (n_rounds,)
            Weights, round by round.
        """
        check_is_fitted(self)
        return self._committee.vote_weights

    @property
    @reads_one_fit
    def estimator_errors_(self) -> np.ndarray:
        """The weighted error of each tree or classifier on the training rows.

        Returns
        -------
        array of shape (n_rounds,)
            Errors, round by round.
        """
        check_is_fitted(self)
        return self._committee.errors

    @property
    @reads_one_fit
    def feature_importances_(self) -> np.ndarray:
        """Fraction of the trees' gains that comes from each column; trees are weighted by their votes.

        Returns
        -------
        array of shape (n_features,)
            Importances; they sum to 1 unless all gains are 0.
        """
        check_is_fitted(self)
        weights = self._committee.vote_weights
        if isinstance(self._committee, TreeCommittee):
            return self._committee.forest.feature_importances(weights, self.n_features_in_)
        if not all(hasattr(estimator, "feature_importances_") for estimator in self._committee.estimators):
            raise AttributeError(f"{self.estimator!r} has no feature_importances_, so the booster has none either.")
        importances = [estimator.feature_importances_ for estimator in self._committee.estimators]
        return np.average(importances, axis=0, weights=weights)

    def _tally_block(self, values: np.ndarray) -> np.ndarray:
        return self._committee.tally(values)

    def _decide(self, tally: np.ndarray) -> np.ndarray:
        if len(tally) == 1:
            return break_ties(2 * tally[0])
        return (tally - (1 - tally) / (len(tally) - 1)).T

    @reads_one_fit
    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict after each round.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_features)
            The rows to classify.

        Yields
        ------
        array of shape (n_rows,)
            The class labels predicted by the rounds so far.
        """
        columns = self._columns(X)
        votes = np.zeros((columns.n_rows, len(self.classes_)))
        for t in range(len(self._committee)):
            for start, stop in columns.row_blocks(ROW_BLOCK):
                self._committee.add_round(t, columns.block(start, stop), votes[start:stop])
            yield self._labels(self._decide(to_tally(votes.T / votes.sum(axis=1))))
