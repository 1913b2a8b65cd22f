"""Sets of labels that contain the true one, with a guaranteed coverage."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.dummy import DummyClassifier

from surefoot._exceptions import ParameterError
from surefoot._fitted_state import reads_one_fit
from surefoot._parallel import Cancellation
from surefoot._parameters import check_choice
from surefoot.conformal.base import PREFIT, ConformalEstimator
from surefoot.conformal.label_scores import SCORES, label_scores, set_lists, sets_of
from surefoot.data.problem import check_labels
from surefoot.selection.stable_classifier import MemberPrediction
from surefoot.selection.table import encode_classes


class ConformalClassifier(ClassifierMixin, ConformalEstimator):
    """Sets of labels with a guaranteed coverage, from the predictions of any classifier.

    The probabilities of the true labels of rows that the model was not trained on decide which labels a set must
    contain. If these rows and the new ones are a random sample of the same population, the guarantee holds for any
    classifier, however wrong, and for any number of rows. It holds on average over rows, not for every class.

    Parameters
    ----------
    model : classifier
        Copies of it are fitted; with ``cv="prefit"``, the model itself is used as it is. Without ``predict_proba``, its
        predictions count as certain.
    confidence_level : float, default=0.9
        The fraction of the rows whose sets shall contain their label.
    cv : {"split", "prefit"} or int, default="split"
        "split": some of the rows are held out of training and calibrate; at least ``confidence_level`` is guaranteed.
        A number of folds, such as 5: every row calibrates, with a model of the other folds (CV+). Sets contain
        about ``confidence_level`` of the labels, but less than ``2 * confidence_level - 1`` is guaranteed.
        "prefit": the model is fitted, and all rows calibrate; it must not be trained on any of them.
    calibration_fraction : float, default=0.25
        The fraction of the rows that are held out with ``cv="split"``.
    conformity_score : {"lac", "aps"}, default="lac"
        "lac": labels whose probability is above a limit; these sets are the smallest. "aps": the most probable labels
        up to a total probability, the last one by chance; sets are larger, and hard rows and rare classes are missed
        less often.
    random_state : int, RandomState or None, default=None
        Decides which rows calibrate, and the random states of the models that are None.
    n_jobs : int, default=None
        Number of threads that fit models of folds; the result does not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    models_ : list of classifiers
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
        The level of the sets.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Sadinle, Lei and Wasserman, "Least ambiguous set-valued classifiers with bounded error levels", 2019. Romano, Sesia
    and Candes, "Classification with valid and adaptive coverage", 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.linear_model import LogisticRegression
    >>> from surefoot import ConformalClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ConformalClassifier(LogisticRegression(C=0.001, max_iter=5000), random_state=0).fit(X[::2], y[::2])
    >>> model.predict_set(X[[1, 101]])
    [(0,), (1, 2)]
    """

    classes_: np.ndarray

    def __init__(
        self,
        model: Any,
        *,
        confidence_level: float = 0.9,
        cv: Any = "split",
        calibration_fraction: float = 0.25,
        conformity_score: str = "lac",
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
        """Fit the model, and calibrate its sets.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            The training data; with ``cv="prefit"``, rows that the model was not trained on.
        y : array of shape (n_rows,)
            Labels of two or more classes.
        groups : array of shape (n_rows,), default=None
            The guarantee then holds within each group: sets of a group are calibrated on its own rows. Rows of a group
            that is unknown or too small have sets of all labels.
        X_target : array or frame with the columns of X, default=None
            Deployment data without targets. The calibration rows are weighted to look like it. Where the rows to
            predict are unlike all of them, sets contain all labels.

        Returns
        -------
        ConformalClassifier
            The fitted estimator itself.
        """
        return self._fit_all(X, y, groups, X_target)

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities with the model; with folds, the mean of their models.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        array of shape (n_rows, n_classes)
            The probabilities, with a column for each of ``classes_``. They are not calibrated.
        """
        return np.mean(self._probabilities(self._checked(X)), axis=0)

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable label; of equally probable ones, the first in ``classes_``.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        array of shape (n_rows,)
            The labels.
        """
        winners = self.predict_proba(X).argmax(axis=1)
        return self.classes_[winners]

    @reads_one_fit
    def predict_set(
        self, X: Any, groups: Any = None, *, confidence_level: float | None = None
    ) -> list[tuple[Any, ...]]:
        """Predict a set of labels for each row.

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
        list of tuples
            The labels of each row, one or more, most probable first.
        """
        members, probabilities = self._members(X, groups, confidence_level)
        return set_lists(members, probabilities, self.classes_)

    @reads_one_fit
    def set_sizes(self, X: Any, groups: Any = None, *, confidence_level: float | None = None) -> np.ndarray:
        """Count the labels of ``predict_set``.

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
        array of shape (n_rows,)
            The number of labels of each row.
        """
        return self._members(X, groups, confidence_level)[0].sum(axis=1)

    def _members(self, X: Any, groups: Any, confidence_level: float | None) -> tuple[np.ndarray, np.ndarray]:
        """Which labels are in the set of each row, and the mean probabilities."""
        X, level = self._checked(X), self._level(confidence_level)
        probabilities = self._probabilities(X)
        scores = [label_scores(each, self.conformity_score) for each in probabilities]
        n_rows = len(scores[0])
        weights = self._next_weights(X, n_rows)
        conforms = np.empty(scores[0].shape, dtype=np.bool_)
        for rows, calibration in self._parts(groups, n_rows):
            own = [each[rows] for each in scores]
            conforms[rows] = calibration.conforms(own, level, weights[rows])
        mean = np.mean(probabilities, axis=0)
        return sets_of(conforms, mean), mean

    def _probabilities(self, X: Any) -> list[np.ndarray]:
        predict, cancellation = MemberPrediction(X, self.classes_), Cancellation()
        return [predict(model, cancellation) for model in self.models_]

    def _check_parameters(self) -> float:
        level = super()._check_parameters()
        if not is_classifier(self.model):
            message = f"model must be a classifier, got {self.model!r}: for numbers, use ConformalRegressor."
            raise ParameterError(message, argument="model")
        check_choice("conformity_score", self.conformity_score, SCORES)
        return level

    def _read_target(self, y: Any) -> np.ndarray:
        labels = check_labels(y)
        known = labels
        if self.cv == PREFIT and hasattr(self.model, "classes_"):
            known = np.concatenate([labels, np.asarray(self.model.classes_)])
        self.classes_, _ = encode_classes(known, "a classifier")
        return labels

    def _scores(self, model: Any, X: Any, target: np.ndarray, level: float) -> np.ndarray:
        probabilities = MemberPrediction(X, self.classes_)(model, Cancellation())
        codes = np.searchsorted(self.classes_, target)
        return label_scores(probabilities, self.conformity_score)[np.arange(len(target)), codes]

    def _fit_one(self, model: Any, X: Any, target: np.ndarray) -> Any:
        if (target == target[0]).all():  # many classifiers reject a single class
            return DummyClassifier().fit(X, target)
        return model.fit(X, target)
