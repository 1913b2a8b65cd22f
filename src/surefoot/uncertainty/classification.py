"""What a single classifier and an ensemble of them share: the probabilities of the classes of every row."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from surefoot._exceptions import DataError, ParameterError
from surefoot.data import Columns
from surefoot.data.problem import check_labels, check_problem
from surefoot.uncertainty.base import GradientBooster
from surefoot.uncertainty.families import Bernoulli, Categorical

MAX_CLASSES = 500  # every bin of every column keeps a sum for each class


class ClassificationBooster(ClassifierMixin, GradientBooster):
    """Fits the logistic loss; predicts probabilities and labels."""

    class_weight: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, sample_weight_val: Any) -> Self:
        problem = check_problem(
            self, X, y, sample_weight, self.class_weight, categorical=self._listed_categories, relative_weights=False
        )
        if problem.n_classes > MAX_CLASSES:
            raise DataError(
                f"y has {problem.n_classes} classes; gradient boosting takes at most {MAX_CLASSES}: join rare ones, "
                "or predict a number with a regressor."
            )
        self.classes_ = problem.classes
        family = Bernoulli() if problem.n_classes == 2 else Categorical(n_classes=problem.n_classes)
        validation = None
        if y_val is not None:
            validation = (X_val, self._target(check_labels(y_val, "y_val"), "y_val"), sample_weight_val)
        target = self._target(problem.classes[problem.codes], "y")
        self._adopt(family, self._train(problem, target, family, problem.codes, validation))
        return self

    def _constraints(self, columns: Columns) -> tuple[int, ...] | None:
        signs = super()._constraints(columns)
        if signs is not None and len(self.classes_) > 2:
            raise ParameterError(f"monotonic_cst is for two classes, y has {len(self.classes_)}: leave it at None.")
        return signs

    def _target(self, labels: np.ndarray, name: str) -> np.ndarray:
        """Labels as codes, in the type that the family reads."""
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        unknown = self.classes_[codes] != labels
        if unknown.any():
            raise DataError(f"{name} has labels that y does not have: {np.unique(labels[unknown])[:5].tolist()}.")
        return codes.astype(np.float64 if len(self.classes_) == 2 else np.int32)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probabilities of the classes; those of an ensemble are the mean of its members'.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.

        Returns
        -------
        array of shape (n_rows, n_classes)
            One column per class, in the order of ``classes_``.
        """
        raw = self._raw(X)
        return sum(self.family_.probabilities(member) for member in raw) / len(raw)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class of every row.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.

        Returns
        -------
        array of shape (n_rows,)
            Labels.
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]
