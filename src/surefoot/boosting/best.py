"""Let held-out rows choose between boosters."""

from math import ceil
from typing import Any, Self

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot._parameters import check_number
from surefoot.boosting.adaboost import AdaBoostClassifier
from surefoot.boosting.bagged import BaggedBoostClassifier
from surefoot.boosting.base import BaseBooster
from surefoot.boosting.larsen_ritzert import LarsenRitzertClassifier
from surefoot.boosting.majority import MajorityBoostClassifier
from surefoot.boosting.members import SHARED
from surefoot.data.problem import Problem

BOOSTERS: dict[str, type[BaseBooster]] = {
    "adaboost": AdaBoostClassifier,
    "majority": MajorityBoostClassifier,
    "bagged": BaggedBoostClassifier,
    "larsen_ritzert": LarsenRitzertClassifier,
}


class BestBoostClassifier(BaseBooster):
    """Fit several boosters, let held-out rows choose, and fit the winner on all rows (advice of Høgsgaard et al. 2024).

    Parameters
    ----------
    candidates : sequence of str, default=("majority", "bagged")
        From ``"adaboost"``, ``"majority"``, ``"bagged"`` and ``"larsen_ritzert"``; of two that score the same, the
        first wins.
    validation_fraction : float, default=0.2
        Share of the rows held out to choose by accuracy (by weighted accuracy where rows have weights).

    The other parameters are those of :class:`AdaBoostClassifier`, and so are the kinds of input.

    Attributes
    ----------
    best_name_ : str
        The candidate that won.
    scores_ : dict
        Each candidate's accuracy on the held-out rows.
    best_estimator_ : booster
        The winner, fitted on all rows.
    estimators_ : list
        Those of the winner.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import BestBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BestBoostClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> sorted(model.scores_)
    ['bagged', 'majority']
    """

    def __init__(
        self,
        *,
        candidates: tuple[str, ...] = ("majority", "bagged"),
        validation_fraction: float = 0.2,
        estimator: Any = None,
        max_depth: int = 1,
        n_estimators: int = 300,
        learning_rate: float = 1.0,
        variant: str = "adaboost",
        margin_precision: float = 0.1,
        max_bins: int | None = 255,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator=estimator, max_depth=max_depth, n_estimators=n_estimators, learning_rate=learning_rate,
            variant=variant, margin_precision=margin_precision, max_bins=max_bins, class_weight=class_weight,
            random_state=random_state, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.candidates = candidates
        self.validation_fraction = validation_fraction

    def _fit_problem(self, problem: Problem, seed: int) -> Self:
        self._check_candidates()
        train, held_out = self._split(problem, seed)
        weights = None if problem.weights is None else problem.weights[held_out]
        columns, truth = problem.columns.take(held_out), problem.classes[problem.codes[held_out]]
        scores = {}
        for name in self.candidates:
            booster = self._fit_candidate(name, problem.only(train), seed)
            right = booster._labels(booster._decide(booster._tally(columns))) == truth
            scores[name] = float(np.average(right, weights=weights))
        best_name = max(scores, key=lambda name: scores[name])
        self.best_estimator_ = self._fit_candidate(best_name, problem, seed)
        self.best_name_, self.scores_ = best_name, scores
        self._remember(problem)
        return self

    def _check_candidates(self) -> None:
        check_number("validation_fraction", self.validation_fraction, 0, 1, most_included=False)
        names = self.candidates
        known = isinstance(names, list | tuple) and all(isinstance(name, str) and name in BOOSTERS for name in names)
        if not known or not names:
            raise ParameterError(f"candidates must be a tuple of names from {tuple(BOOSTERS)}, got {names!r}.")

    def _split(self, problem: Problem, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to train on and rows to choose by, classes in equal shares where each has two rows or more."""
        rows = problem.weighted_rows()
        codes = problem.codes[rows]
        counts = np.bincount(codes)
        n_held_out = ceil(self.validation_fraction * len(rows))
        if n_held_out >= len(rows):
            raise ParameterError(
                f"validation_fraction={self.validation_fraction} holds out all {len(rows)} rows with weight: lower it."
            )
        balanced = counts[counts > 0].min() >= 2 and min(n_held_out, len(rows) - n_held_out) >= np.count_nonzero(counts)
        train, held_out = train_test_split(
            rows, test_size=n_held_out, random_state=seed, stratify=codes if balanced else None
        )
        return train, held_out

    def _fit_candidate(self, name: str, problem: Problem, seed: int) -> BaseBooster:
        booster = BOOSTERS[name](**{shared: getattr(self, shared) for shared in SHARED})
        try:
            return booster._fit_problem(problem, seed)
        except ParameterError as error:
            n_rows = len(problem.weighted_rows())
            raise ParameterError(
                f"candidates: {name!r} needs more than the {n_rows} rows that it is given (others are held out): "
                "leave it out of candidates, or lower validation_fraction."
            ) from error

    @property
    def estimators_(self) -> list[Any]:
        check_is_fitted(self)
        return self.best_estimator_.estimators_

    @property
    def feature_importances_(self) -> np.ndarray:
        """Those of the winner."""
        check_is_fitted(self)
        return self.best_estimator_.feature_importances_

    def _tally_block(self, values: np.ndarray) -> np.ndarray:
        return self.best_estimator_._tally_block(values)

    def _decide(self, tally: np.ndarray) -> np.ndarray:
        return self.best_estimator_._decide(tally)

    def _probabilities(self, tally: np.ndarray) -> np.ndarray:
        return self.best_estimator_._probabilities(tally)
