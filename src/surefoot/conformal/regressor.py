"""Intervals around the numbers that a model predicts, with a guaranteed coverage."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, is_classifier

from surefoot._exceptions import ParameterError
from surefoot._fitted_state import reads_one_fit
from surefoot._parameters import check_choice
from surefoot.conformal.base import ConformalEstimator
from surefoot.conformal.row_scales import ABSOLUTE, NORMALIZED, QUANTILE, resolved_score, scales_of, takes_std
from surefoot.data.problem import check_numbers


class ConformalRegressor(RegressorMixin, ConformalEstimator):
    """Intervals with a guaranteed coverage, around the predictions of any model.

    The model's errors on rows that it was not trained on decide how wide the intervals must be. If these rows and the
    new ones are a random sample of the same population, the guarantee holds for any model, however wrong, and for any
    number of rows. It holds on average over rows, not for every kind of row.

    Parameters
    ----------
    model : regressor
        Any model of numbers. Copies of it are fitted; with ``cv="prefit"``, the model itself is used as it is.
    confidence_level : float, default=0.9
        The fraction of the targets that intervals shall contain.
    cv : {"split", "prefit"} or int, default="split"
        "split": some of the rows are held out of training and calibrate; at least ``confidence_level`` is guaranteed.
        A number of folds, such as 5: every row calibrates, with a model of the other folds (CV+). Intervals contain
        about ``confidence_level`` of the targets, but less than ``2 * confidence_level - 1`` is guaranteed.
        "prefit": the model is fitted, and all rows calibrate; it must not be trained on any of them.
    calibration_fraction : float, default=0.25
        The fraction of the rows that are held out with ``cv="split"``.
    conformity_score : {"auto", "absolute", "normalized", "quantile"}, default="auto"
        What the distance from the prediction is divided by. "absolute": by nothing, so intervals are equally wide.
        "normalized": by the model's standard deviation (``predict(X, return_std=True)``). "quantile": by the distance
        of the model's own quantiles from its median (``predict_distribution``), on each side. "auto": the last of these
        that the model has.
    random_state : int, RandomState or None, default=None
        Decides which rows calibrate, and the random states of the models that are None.
    n_jobs : int, default=None
        Number of threads that fit models of folds; the result does not depend on it.

    Attributes
    ----------
    models_ : list of regressors
        One for each fold; a single one with ``cv="split"`` and ``"prefit"``.
    guaranteed_coverage_ : float or None
        The guaranteed fraction; None if nothing is proved, with folds and ``X_target``.
    guarantee_ : str
        The guarantee in words, and what it assumes.
    n_calibration_ : int
        The number of rows that calibrate.
    effective_calibration_ : float
        With ``X_target``: the number of rows of equal weight that carry as much information as the weighted ones.
    confidence_level_ : float
        The level of the intervals.
    conformity_score_ : str
        The score that is used.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Vovk, Gammerman and Shafer, "Algorithmic learning in a random world", 2005. Tibshirani, Barber, Candes and Ramdas,
    "Conformal prediction under covariate shift", 2019. Barber, Candes, Ramdas and Tibshirani, "Predictive inference
    with the jackknife+", 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import ConformalRegressor, GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ConformalRegressor(GradientBoostingRegressor(n_estimators=50), random_state=0).fit(X[:350], y[:350])
    >>> low, high = model.predict_interval(X[350:])
    >>> bool(np.mean((low <= y[350:]) & (y[350:] <= high)) > 0.85)
    True
    """

    def __init__(
        self,
        model: Any,
        *,
        confidence_level: float = 0.9,
        cv: Any = "split",
        calibration_fraction: float = 0.25,
        conformity_score: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.confidence_level = confidence_level
        self.cv = cv
        self.calibration_fraction = calibration_fraction
        self.conformity_score = conformity_score
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, groups: Any = None, *, X_target: Any = None) -> Self:
        """Fit the model, and calibrate its intervals.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            The training data; with ``cv="prefit"``, rows that the model was not trained on.
        y : array of shape (n_rows,)
            The numbers to predict.
        groups : array of shape (n_rows,), default=None
            The guarantee then holds within each group: intervals of a group are calibrated on its own rows. Rows of
            a group that is unknown or too small have infinite intervals.
        X_target : array or frame with the columns of X, default=None
            Deployment data without targets. The calibration rows are weighted to look like it. Where the rows to
            predict are unlike all of them, intervals are infinite.

        Returns
        -------
        ConformalRegressor
            The fitted estimator itself.
        """
        return self._fit_all(X, y, groups, X_target)

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Predict numbers with the model; with folds, the mean of their models.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        array of shape (n_rows,)
            The predictions.
        """
        X = self._checked(X)
        return np.mean([np.asarray(model.predict(X), dtype=np.float64) for model in self.models_], axis=0)

    @reads_one_fit
    def predict_interval(
        self, X: Any, groups: Any = None, *, confidence_level: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict an interval for each row.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.
        groups : array of shape (n_rows,), default=None
            Their groups, if groups were passed to ``fit``.
        confidence_level : float, default=None
            Another level than that of the fit.

        Returns
        -------
        tuple of two arrays of shape (n_rows,)
            The lower ends and the upper ends. They are infinite where the calibration rows are too few.
        """
        X = self._checked(X)
        level = self._level(confidence_level)
        scales = [scales_of(each, X, self.conformity_score_, self.confidence_level_) for each in self.models_]
        n_rows = len(scales[0].centre)
        weights = self._next_weights(X, n_rows)
        low, high = np.empty(n_rows), np.empty(n_rows)
        for rows, calibration in self._parts(groups, n_rows):
            low[rows], high[rows] = calibration.intervals([each[rows] for each in scales], level, weights[rows])
        return low, high

    def _check_parameters(self) -> float:
        level = super()._check_parameters()
        if is_classifier(self.model):
            message = f"model must predict numbers, got {self.model!r}: for classes, use ConformalClassifier."
            raise ParameterError(message, argument="model")
        choices = ("auto", ABSOLUTE, NORMALIZED, QUANTILE)
        score = resolved_score(check_choice("conformity_score", self.conformity_score, choices), self.model)
        lacks = {NORMALIZED: not takes_std(self.model), QUANTILE: not hasattr(self.model, "predict_distribution")}
        if lacks.get(score):
            needed = "predict(X, return_std=True)" if score == NORMALIZED else "predict_distribution"
            message = f"conformity_score={score!r} needs {needed}, which {type(self.model).__name__} does not have."
            raise ParameterError(message, argument="conformity_score")
        self.conformity_score_ = score
        return level

    def _read_target(self, y: Any) -> np.ndarray:
        return check_numbers(y)

    def _scores(self, model: Any, X: Any, target: np.ndarray, level: float) -> np.ndarray:
        return scales_of(model, X, self.conformity_score_, level).scores(target)
