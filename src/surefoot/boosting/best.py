"""Let held-out rows choose between boosters."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot._parameters import check_integer, check_number
from surefoot.boosting.adaboost import AdaBoostClassifier
from surefoot.boosting.bagged import BaggedBoostClassifier
from surefoot.boosting.base import DEPTH_WITH_ESTIMATOR, BaseBooster
from surefoot.boosting.larsen_ritzert import LarsenRitzertClassifier
from surefoot.boosting.majority import MajorityBoostClassifier
from surefoot.boosting.members import SHARED
from surefoot.boosting.trials import Rival, Trials, challenge, held_out_splits
from surefoot.data import Columns
from surefoot.data.problem import Problem

BOOSTERS: dict[str, type[BaseBooster]] = {
    "adaboost": AdaBoostClassifier,
    "majority": MajorityBoostClassifier,
    "bagged": BaggedBoostClassifier,
    "larsen_ritzert": LarsenRitzertClassifier,
}


DEPTHS = (1, 2, 3)


class BestBoostClassifier(BaseBooster):
    """Fit several boosters, let held-out rows choose, and fit the winner on all rows (advice of Høgsgaard et al. 2024).

    First the depth: the first candidate is tried with deeper and deeper trees while held-out rows gain from it. Then
    the candidates, at that depth; and if another wins, that one with deeper trees, because an ensemble of AdaBoosts can
    gain from trees that overfit a single one. One replaces those before it only if its log-loss on held-out rows is
    lower by more than two standard errors of the difference, so that chance does not choose: where the rows cannot
    tell, the first candidate with stumps stays.

    Missing values and categorical columns are taken as they are; sparse input is refused; there is no ``partial_fit``.

    Parameters
    ----------
    candidates : sequence of str, default=("adaboost", "bagged", "majority")
        From ``"adaboost"``, ``"majority"``, ``"bagged"`` and ``"larsen_ritzert"``, the preferred first.
    validation_fraction : float, default=0.2
        Fraction of the rows held out at a time: once on large tables, up to ten times on small ones, until 1,000 rows
        outside the largest class have been held out, or until further splits are unlikely to change a decision.
    estimator : classifier, default=None
        The weak learner. None: the native tree of depth ``max_depth``. Any scikit-learn classifier whose ``fit`` takes
        ``sample_weight`` can replace it; it gets the table as an array of floats, categories as codes.
    max_depth : int, sequence of int or None, default=None
        Depths of the native tree to try, each at most 12. None: 1, 2 and 3, or, with an ``estimator``, its own.
    n_estimators : int, default=300
        Maximum number of boosting rounds of each candidate and member. Fewer are used if a round is perfect or no
        better than chance.
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
        Calibrate ``predict_proba`` of the chosen booster on votes that have not seen the row.
        False: those that its class has without calibration, which are not calibrated. Votes and predictions do not
        depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the held-out splits and of the candidates.
    n_jobs : int or None, default=None
        Members that are trained at the same time, or threads for large tables. The model does not depend on it.
    verbose : int, default=0
        1 reports the end of the training, 2 also its progress.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    best_name_ : str
        The candidate with the best result.
    best_depth_ : int
        The depth of its trees (1 with an ``estimator``).
    best_estimator_ : classifier
        That candidate, fitted on all rows.
    scores_ : dict
        Accuracy of each candidate on the held-out rows, at the depth that was best for the first, that of the chosen
        one at its own depth; for weighted rows, weighted means. For a candidate that was tried on fewer splits than the
        first, it is that of the one it was compared with, plus the difference on the splits that both were tried on.
    log_losses_ : dict
        Log-loss of each candidate, computed like ``scores_``.
    depth_log_losses_ : dict
        Log-loss of the first candidate at each depth that was tried.
    estimators_ : list
        Those of ``best_estimator_``.
    feature_importances_ : array of shape (n_features,)
        Those of ``best_estimator_``.
    n_features_in_ : int
        Number of columns of the training table.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, where the training table has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import BestBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BestBoostClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> sorted(model.scores_)
    ['adaboost', 'bagged', 'majority']
    """

    def __init__(
        self,
        *,
        candidates: tuple[str, ...] = ("adaboost", "bagged", "majority"),
        validation_fraction: float = 0.2,
        estimator: Any = None,
        max_depth: int | tuple[int, ...] | None = None,
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
        self.max_depth = max_depth  # type: ignore[assignment]
        self.candidates = candidates
        self.validation_fraction = validation_fraction

    def _fit_problem(self, problem: Problem, seed: int) -> Self:
        self._check_candidates()
        splits = held_out_splits(problem, float(self.validation_fraction), seed)
        trials = Trials(problem, splits, lambda rival, rows: self._fit_rival(rival, problem.only(rows), seed, False))
        (first_depth, *depths), (first_name, *names) = self._depths(), self.candidates
        start = Rival(first_name, first_depth)
        deepest, by_depth = challenge(trials, start, [Rival(first_name, depth) for depth in depths], climb=True)
        best, by_name = challenge(trials, deepest, [Rival(name, deepest.depth) for name in names], climb=False)
        deeper = [Rival(best.name, depth) for depth in depths if depth > best.depth and best.name != first_name]
        best, by_climb = challenge(trials, best, deeper, climb=True)
        self.best_estimator_ = self._fit_rival(best, problem, seed, bool(self.calibrate))
        self.best_name_, self.best_depth_ = best
        results = trials.results(start, by_depth | by_name | by_climb)
        self.depth_log_losses_ = {rival.depth: results[rival].log_loss for rival in (start, *by_depth)}
        last = {rival.name: results[rival] for rival in (deepest, *by_name, best)}
        self.log_losses_ = {name: result.log_loss for name, result in last.items()}
        self.scores_ = {name: result.accuracy for name, result in last.items()}
        self._remember(problem)
        return self

    def _depths(self) -> list[int]:
        """The depths to try, in increasing order."""
        if self.max_depth is None:
            return list(DEPTHS) if self.estimator is None else [1]
        given = self.max_depth if isinstance(self.max_depth, list | tuple) else [self.max_depth]
        return sorted({check_integer("max_depth", depth, 1, 12) for depth in given})

    def _check_depth(self) -> None:
        depths = self._depths()
        if not depths:
            raise ParameterError("max_depth must be a depth, a tuple of depths or None, got an empty one.")
        if self.estimator is not None and depths != [1]:
            raise ParameterError(DEPTH_WITH_ESTIMATOR)

    def _check_candidates(self) -> None:
        check_number("validation_fraction", self.validation_fraction, 0, 1, most_included=False)
        names = self.candidates
        known = isinstance(names, list | tuple) and all(isinstance(name, str) and name in BOOSTERS for name in names)
        if not known or not names:
            raise ParameterError(f"candidates must be a tuple of names from {tuple(BOOSTERS)}, got {names!r}.")

    def _fit_rival(self, rival: Rival, problem: Problem, seed: int, calibrate: bool) -> BaseBooster:
        shared = {shared: getattr(self, shared) for shared in SHARED}
        booster = BOOSTERS[rival.name](**shared | {"max_depth": rival.depth, "calibrate": calibrate})
        try:
            return booster._fit_problem(problem, seed)
        except ParameterError as error:
            n_rows = len(problem.weighted_rows())
            raise ParameterError(
                f"candidates: {rival.name!r} needs more than the {n_rows} rows that it is given (others are held out): "
                "leave it out of candidates, or lower validation_fraction."
            ) from error

    @property
    def estimators_(self) -> list[Any]:
        """The estimators of the chosen booster.

        Returns
        -------
        list
            Its members, or its trees.
        """
        check_is_fitted(self)
        return self.best_estimator_.estimators_

    @property
    def feature_importances_(self) -> np.ndarray:
        """Feature importances of the chosen booster.

        Returns
        -------
        array of shape (n_features,)
            Importances of the columns.
        """
        check_is_fitted(self)
        return self.best_estimator_.feature_importances_

    def _tally_block(self, values: np.ndarray) -> np.ndarray:
        return self.best_estimator_._tally_block(values)

    def _decide(self, tally: np.ndarray) -> np.ndarray:
        return self.best_estimator_._decide(tally)

    def _probabilities(self, columns: Columns) -> np.ndarray:
        return self.best_estimator_._probabilities(columns)
