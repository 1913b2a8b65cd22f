"""Choose between boosters on held-out rows."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot._fitted_state import reads_one_fit
from surefoot._parameters import check_integer, check_number
from surefoot.boosting.adaboost import AdaBoostClassifier
from surefoot.boosting.bagged import BaggedBoostClassifier
from surefoot.boosting.base import DEPTH_WITH_ESTIMATOR, BaseBooster
from surefoot.boosting.larsen_ritzert import LarsenRitzertClassifier
from surefoot.boosting.majority import MajorityBoostClassifier
from surefoot.boosting.trials import Candidate, Trials, choose_best
from surefoot.data import Columns
from surefoot.data.held_out import random_splits
from surefoot.data.problem import Problem

BOOSTERS: dict[str, type[BaseBooster]] = {
    "adaboost": AdaBoostClassifier,
    "majority": MajorityBoostClassifier,
    "bagged": BaggedBoostClassifier,
    "larsen_ritzert": LarsenRitzertClassifier,
}
DEPTHS = (1, 2, 3)


class BestBoostClassifier(BaseBooster):
    """Choose a booster on held-out rows, and fit it on all rows (as Høgsgaard et al. 2024 advise).

    First, the depth is chosen: the first candidate is tried with deeper trees as long as its log-loss on held-out rows
    becomes lower. Then all candidates are compared at that depth. If another candidate wins, it is also tried with
    deeper trees, because an ensemble of AdaBoosts can benefit from trees that overfit a single AdaBoost. A candidate
    replaces the best one so far only if its log-loss is lower by more than two standard errors of the difference. If
    none does, the first candidate with stumps is kept.

    Missing values, categorical columns and sparse matrices are supported; there is no ``partial_fit``.

    Parameters
    ----------
    candidates : sequence of str, default=("adaboost", "bagged", "majority")
        Names from ``"adaboost"``, ``"majority"``, ``"bagged"`` and ``"larsen_ritzert"``, the preferred one first.
    validation_fraction : float, default=0.2
        Fraction of the rows that each split holds out. Large tables are split once, small ones up to ten times: until
        1,000 rows outside the largest class have been held out, or until further splits are unlikely to change a
        decision.
    estimator : classifier, default=None
        The weak learner: any scikit-learn classifier with ``sample_weight`` in its ``fit``. It gets the table as an
        array of floats, with categories as codes. None: the native tree of depth ``max_depth``.
    max_depth : int, sequence of int or None, default=None
        Depths of the native tree to try, each at most 12. None: 1, 2 and 3, or, with an ``estimator``, its own.
    n_estimators : int, default=300
        Maximum number of boosting rounds of each candidate and member. Fewer are used if a round is perfect or no
        better than chance.
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
        Calibrate ``predict_proba`` of the chosen booster on votes of models that were not trained on the row.
        False: probabilities are those of its class with ``calibrate=False``. Votes and predictions do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the held-out splits and of the candidates.
    n_jobs : int or None, default=None
        Number of members that are trained at the same time, or of threads for large tables. The model does not depend
        on it.
    verbose : int, default=0
        1 reports the end of the training, 2 also its progress.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    best_name_ : str
        Name of the chosen candidate.
    best_depth_ : int
        The depth of its trees (1 with an ``estimator``).
    best_estimator_ : classifier
        The chosen candidate, fitted on all rows.
    scores_ : dict
        Accuracy of each candidate on the held-out rows (a weighted mean for weighted rows). The depth is the one that
        was best for the first candidate; for the chosen candidate, its own. A candidate that was tried on fewer splits
        has the accuracy of the candidate that it was compared with, plus the difference on the splits of both.
    log_losses_ : dict
        Log-loss of each candidate, computed like ``scores_``.
    depth_log_losses_ : dict
        Log-loss of the first candidate at each depth that was tried.
    estimators_ : list
        The members or trees of ``best_estimator_``.
    feature_importances_ : array of shape (n_features,)
        Feature importances of ``best_estimator_``.
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
        splits = random_splits(problem.weighted_rows(), float(self.validation_fraction), seed, strata=problem.codes)

        def fit(candidate: Candidate, rows: np.ndarray) -> BaseBooster:
            return self._fit_candidate(candidate, problem.restrict(rows), seed, calibrate=False)

        best = self._choose(Trials(problem, splits, fit))
        self.best_estimator_ = self._fit_candidate(best, problem, seed, calibrate=bool(self.calibrate))
        self.best_name_, self.best_depth_ = best
        self._remember(problem)
        return self

    def _choose(self, trials: Trials) -> Candidate:
        """The best candidate; the results of the trials become attributes."""
        (first_depth, *depths), (first_name, *names) = self._depths(), self.candidates
        start = Candidate(first_name, first_depth)
        deeper = [Candidate(first_name, depth) for depth in depths]
        first, by_depth = choose_best(trials, start, deeper, stop_at_first_failure=True)
        others = [Candidate(name, first.depth) for name in names]
        best, by_name = choose_best(trials, first, others, stop_at_first_failure=False)
        deeper = [Candidate(best.name, depth) for depth in depths if depth > best.depth and best.name != first_name]
        best, deeper_best = choose_best(trials, best, deeper, stop_at_first_failure=True)
        results = trials.results(start, by_depth | by_name | deeper_best)
        self.depth_log_losses_ = {one.depth: results[one].log_loss for one in (start, *by_depth)}
        final = {one.name: results[one] for one in (first, *by_name, best)}
        self.log_losses_ = {name: result.log_loss for name, result in final.items()}
        self.scores_ = {name: result.accuracy for name, result in final.items()}
        return best

    def _depths(self) -> list[int]:
        """The depths to try, in increasing order."""
        if self.max_depth is None:
            return list(DEPTHS) if self.estimator is None else [1]
        depths = self.max_depth if isinstance(self.max_depth, list | tuple) else [self.max_depth]
        return sorted({check_integer("max_depth", depth, 1, 12) for depth in depths})

    @property
    def _reads_values(self) -> bool:
        return True  # of the rows that trials hold out

    def _check_depth(self) -> None:
        depths = self._depths()
        if not depths:
            raise ParameterError("max_depth must be a depth, a tuple of depths or None, got an empty one.")
        if self.estimator is not None and depths != [1]:
            raise ParameterError(DEPTH_WITH_ESTIMATOR)

    def _check_candidates(self) -> None:
        check_number("validation_fraction", self.validation_fraction, 0, 1, include_boundaries="neither")
        names = self.candidates
        known = isinstance(names, list | tuple) and all(isinstance(name, str) and name in BOOSTERS for name in names)
        if not known or not names:
            raise ParameterError(f"candidates must be a tuple of names from {tuple(BOOSTERS)}, got {names!r}.")

    def _fit_candidate(self, candidate: Candidate, problem: Problem, seed: int, calibrate: bool) -> BaseBooster:
        parameters = self._member_parameters() | {"max_depth": candidate.depth, "calibrate": calibrate}
        booster = BOOSTERS[candidate.name](**parameters)
        try:
            return booster._fit_problem(problem, seed)
        except ParameterError as error:
            n_rows = len(problem.weighted_rows())
            raise ParameterError(
                f"candidates: {candidate.name!r} needs more than its {n_rows} training rows (other rows are held out): "
                "leave it out of candidates, or lower validation_fraction."
            ) from error

    @property
    @reads_one_fit
    def estimators_(self) -> list[Any]:
        """The estimators of the chosen booster.

        Returns
        -------
        list
            The members, or the trees of a single AdaBoost.
        """
        check_is_fitted(self)
        return self.best_estimator_.estimators_

    @property
    @reads_one_fit
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
