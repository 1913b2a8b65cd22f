"""Gradient boosting of the log-odds of classes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from surefoot.uncertainty.base import GradientBooster, SingleBooster


class ClassificationBooster(ClassifierMixin, GradientBooster):
    """What single classifiers and ensembles share: the logistic loss, and predictions of probabilities and labels."""

    class_weight: Any

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probabilities of the classes; those of an ensemble are the mean over its members.

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


class GradientBoostingClassifier(SingleBooster, ClassificationBooster):
    """Gradient boosting for two or several classes, by the logistic loss.

    Each round grows one tree, with an entry for each class in its leaves (two classes: one entry, the log-odds of the
    second). Missing values and categorical columns need no preprocessing; sparse input is refused. There is no
    ``partial_fit``.

    Parameters
    ----------
    n_estimators : int, default=3000
        Maximum number of trees; early stopping usually ends training sooner.
    learning_rate : float, default=0.07
        Fraction of each step that a round takes.
    max_depth : int, default=6
        Depth of the trees, from 1 to 10.
    grow_policy : {"symmetric", "depthwise"}, default="symmetric"
        One split for a whole level of the tree, or one for each node.
    min_samples_leaf : int, default=1
        Minimum number of rows on each side of a split.
    l2_regularization : float, default=3.0
        Shrinks the leaves towards 0, as this many additional rows without a residual would.
    max_bins : int, default=255
        Maximum number of bins of a column.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of categorical dtype, always; further columns by position, name or a boolean for each.
    monotonic_cst : list or dict, default=None
        For each column (or by name) 1, -1 or 0: the probability of the second class never falls, never rises, or is
        free along it. For two classes only.
    subsample : float, default=1.0
        Probability that a row is used for a tree.
    langevin : bool, default=False
        Add Langevin noise to the leaves and shrink the model a little every round (SGLB): the rounds then move around
        the optimum, and their virtual ensemble measures knowledge uncertainty.
    temperature : float, default=None
        Temperature of the Langevin noise. None: 1 / (number of rows), as in the paper and in CatBoost, narrower than a
        posterior. 1: the rounds converge to the posterior, but each model has a larger error.
    early_stopping : "auto", "scale" or bool, default="auto"
        Trial models hold rows out and stop after ``n_iter_no_change`` rounds without a gain; the model is then
        trained on all rows for as many rounds. ``"scale"``: all rounds are run, and held-out rows only help to fit the
        scale. ``"auto"``: True, or ``"scale"`` with a ``temperature``, because its chain must run its length.
    validation_fraction : float, default=0.1
        Fraction of the rows that each trial model holds out. If ``X_val, y_val`` are passed to ``fit``, there are no
        trial models, and these rows decide when to stop.
    n_iter_no_change : int, default=50
        Rounds without a gain on held-out rows before training stops.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows.
    warm_start : bool, default=False
        ``fit`` on the same rows with a larger ``n_estimators`` adds trees to those of the last fit. There are no trial
        models then: the model itself holds rows out to the end. Any other change is refused.
    random_state : int, RandomState or None, default=None
        Seed of all random numbers in training.
    n_jobs : int or None, default=None
        Number of threads; the model is the same for any number.
    verbose : int, default=0
        Above 0, progress is printed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_columns,)
        Names of the columns, if X was a frame.
    family_ : family
        The distribution, fitted to the target's units.
    n_iter_ : int
        Number of boosting rounds kept: one tree each.
    validation_loss_ : array of shape (n_rounds,)
        Loss of the held-out rows after each round, the mean negative log-likelihood; empty without early stopping.
    feature_importances_ : array of shape (n_columns,)
        Each column's fraction of the gains of all splits.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot import GradientBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape
    (569, 2)
    """

    def __init__(
        self,
        *,
        n_estimators: int = 3000,
        learning_rate: float = 0.07,
        max_depth: int = 6,
        grow_policy: str = "symmetric",
        min_samples_leaf: int = 1,
        l2_regularization: float = 3.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        subsample: float = 1.0,
        langevin: bool = False,
        temperature: float | None = None,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            grow_policy=grow_policy,
            min_samples_leaf=min_samples_leaf,
            l2_regularization=l2_regularization,
            max_bins=max_bins,
            categorical_features=categorical_features,
            monotonic_cst=monotonic_cst,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            subsample=subsample,
            temperature=temperature,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.langevin = langevin
        self.class_weight = class_weight

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict the most probable class of every row after one tree, after two, and so on.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.

        Yields
        ------
        array of shape (n_rows,)
            Predicted labels.
        """
        for raw in self._stages(X):
            yield self.classes_[self.family_.probabilities(raw).argmax(axis=1)]
