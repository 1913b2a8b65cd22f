"""Gradient boosting of a distribution's parameters, or of the classes' log-odds."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from surefoot.uncertainty.classification import ClassificationBooster
from surefoot.uncertainty.regression import RegressionBooster
from surefoot.uncertainty.single import SingleBooster


class GradientBoostingRegressor(SingleBooster, RegressionBooster):
    """Gradient boosting that predicts a distribution for every row, not just a number.

    Each tree has a vector in every leaf, one entry for each parameter of the distribution, and follows the natural
    gradient of its likelihood. The scale is fitted to residuals as they would be had the row been left out, so that the
    likelihood of new rows does not explode when training goes on.

    Takes missing values (each split learns where they go) and categorical columns as they are; sparse input is refused.
    There is no ``partial_fit``.

    Parameters
    ----------
    distribution : str or family, default="normal"
        ``"normal"``, ``"lognormal"``, ``"laplace"``, ``"student_t"`` (5 degrees of freedom; ``StudentT(df=...)`` of
        ``surefoot.uncertainty`` for others), ``"poisson"`` or ``"gamma"``. Held-out rows correct the shape of two of
        them: normal distributions become Student t distributions (with the predicted mean and standard deviation) if
        tails are heavier, Poisson distributions become negative binomial if counts vary more.
    n_estimators : int, default=3000
        Maximum number of trees; early stopping usually ends training sooner.
    learning_rate : float, default=0.1
        Fraction of each step that a round takes.
    max_depth : int, default=6
        Depth of the trees, from 1 to 10.
    grow_policy : {"symmetric", "depthwise"}, default="symmetric"
        One split for a whole level of the tree, or one for each node.
    min_samples_leaf : int, default=1
        A split that would leave fewer rows on a side is not made.
    l2_regularization : float, default=1.0
        Shrinks the leaves towards 0, as this many rows without a residual would.
    max_bins : int, default=255
        Maximum number of bins of a column.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of categorical dtype, always; further columns by position, name or a boolean for each.
    monotonic_cst : list or dict, default=None
        For each column (or by name) 1, -1 or 0: the first parameter of the distribution never falls, never rises,
        or is free along it.
    subsample : float, default=1.0
        Probability with which each row takes part in a tree.
    langevin : bool, default=False
        Add Langevin noise to the leaves and shrink the model a little every round (SGLB): the rounds then move around
        the optimum, and a virtual ensemble of them measures knowledge uncertainty.
    temperature : float, default=None
        Temperature of the Langevin noise. None: 1 / (number of rows), as in the paper and in CatBoost, narrower than a
        posterior. 1: the rounds converge to the posterior, at the price of a larger error of each model.
    early_stopping : "auto", "scale" or bool, default="auto"
        Trial models hold rows out and stop after ``n_iter_no_change`` rounds without a gain; the model is then
        trained on all rows for as many rounds. ``"scale"``: all rounds are run, and held-out rows only help to fit the
        scale. ``"auto"``: True, but ``"scale"`` with a ``temperature``, whose chain must run its length.
    validation_fraction : float, default=0.1
        Fraction of the rows that each trial model holds out, unless ``fit`` gets ``X_val, y_val``: then there are no
        trial models, and these rows decide when to stop.
    n_iter_no_change : int, default=50
        Rounds without a gain on held-out rows before training stops.
    warm_start : bool, default=False
        ``fit`` on the same rows with a larger ``n_estimators`` adds trees to those of the last fit. There are no trial
        models then: the model itself holds rows out to the end. Any other change is refused.
    random_state : int, RandomState or None, default=None
        Seed of everything random in training.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it, to the byte.
    verbose : int, default=0
        Above 0, progress is printed.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_columns,)
        Names of the columns, if X was a frame.
    family_ : family
        The distribution, fitted to the target's units.
    n_trees_ : int
        Number of trees kept.
    validation_nll_ : array of shape (n_rounds,)
        Mean negative log-likelihood of the held-out rows after each round; empty without early stopping.
    feature_importances_ : array of shape (n_columns,)
        Each column's fraction of the gains of all splits.

    See Also
    --------
    BoostingEnsembleRegressor : several such models; tells what more data could teach from what it could not.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> low, high = model.predict_distribution(X).interval(0.9)
    >>> bool((low < high).all())
    True
    """

    def __init__(
        self,
        *,
        distribution: Any = "normal",
        n_estimators: int = 3000,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        grow_policy: str = "symmetric",
        min_samples_leaf: int = 1,
        l2_regularization: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        subsample: float = 1.0,
        langevin: bool = False,
        temperature: float | None = None,
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
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
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.distribution = distribution
        self.langevin = langevin
        self.warm_start = warm_start

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict the mean of every row's distribution after one tree, after two, and so on.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.

        Yields
        ------
        array of shape (n_rows,)
            Predicted means.
        """
        for raw in self._stages(X):
            yield self.family_.distribution(raw).mean


class GradientBoostingClassifier(SingleBooster, ClassificationBooster):
    """Gradient boosting for two or several classes, by the logistic loss.

    One tree a round, with an entry for each class in its leaves (two classes: one entry, the log-odds of the second).
    Takes missing values and categorical columns as they are; sparse input is refused. There is no ``partial_fit``.

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
        A split that would leave fewer rows on a side is not made.
    l2_regularization : float, default=3.0
        Shrinks the leaves towards 0, as this many rows without a residual would.
    max_bins : int, default=255
        Maximum number of bins of a column.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of categorical dtype, always; further columns by position, name or a boolean for each.
    monotonic_cst : list or dict, default=None
        For each column (or by name) 1, -1 or 0: the probability of the second class never falls, never rises, or is
        free along it. For two classes only.
    subsample : float, default=1.0
        Probability with which each row takes part in a tree.
    langevin : bool, default=False
        Add Langevin noise to the leaves and shrink the model a little every round (SGLB): the rounds then move around
        the optimum, and a virtual ensemble of them measures knowledge uncertainty.
    temperature : float, default=None
        Temperature of the Langevin noise. None: 1 / (number of rows), as in the paper and in CatBoost, narrower than a
        posterior. 1: the rounds converge to the posterior, at the price of a larger error of each model.
    early_stopping : "auto", "scale" or bool, default="auto"
        Trial models hold rows out and stop after ``n_iter_no_change`` rounds without a gain; the model is then
        trained on all rows for as many rounds. ``"scale"``: all rounds are run, and held-out rows only help to fit the
        scale. ``"auto"``: True, but ``"scale"`` with a ``temperature``, whose chain must run its length.
    validation_fraction : float, default=0.1
        Fraction of the rows that each trial model holds out, unless ``fit`` gets ``X_val, y_val``: then there are no
        trial models, and these rows decide when to stop.
    n_iter_no_change : int, default=50
        Rounds without a gain on held-out rows before training stops.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows.
    warm_start : bool, default=False
        ``fit`` on the same rows with a larger ``n_estimators`` adds trees to those of the last fit. There are no trial
        models then: the model itself holds rows out to the end. Any other change is refused.
    random_state : int, RandomState or None, default=None
        Seed of everything random in training.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it, to the byte.
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
    n_trees_ : int
        Number of trees kept.
    validation_nll_ : array of shape (n_rounds,)
        Mean negative log-likelihood of the held-out rows after each round; empty without early stopping.
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
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.langevin = langevin
        self.class_weight = class_weight
        self.warm_start = warm_start

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
