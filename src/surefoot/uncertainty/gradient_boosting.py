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
        Most trees; early stopping usually ends sooner.
    learning_rate : float, default=0.1
    max_depth : int, default=6
        1 to 10.
    grow_policy : {"symmetric", "depthwise"}, default="symmetric"
        One split for a whole level of the tree, or one for each node.
    min_samples_leaf : int, default=1
        A split that would leave fewer rows on a side is not made.
    l2_regularization : float, default=1.0
        Draws the leaves towards 0 as so many rows without a residual would. With ``langevin``, a leaf that has less
        than one row, these included, counts as one.
    max_bins : int, default=255
        Most distinct groups of values of a column.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of categorical dtype, always; further columns by position, name or a boolean for each.
    monotonic_cst : list or dict, default=None
        For each column (or by name) 1, -1 or 0: the first parameter of the distribution never falls, never rises, or is
        free along it.
    subsample : float, default=1.0
        Probability with which each row takes part in a tree. Below 1, as with ``langevin``, leaves that no training row
        reaches say something random, so that models with other seeds disagree there (not with Gamma and Poisson).
    langevin : bool, default=False
        Add Langevin noise to the leaves and shrink the model a little every round (SGLB): then the rounds wander around
        the optimum, and a virtual ensemble of them tells what the model does not know.
    temperature : float, default=None
        Of the noise. None: 1 / (number of rows), as in the paper and in CatBoost, narrower than a posterior. 1: the
        posterior is the law that the rounds freeze_scale to, at the price of a larger error of a single model.
    early_stopping : "auto", "scale" or bool, default="auto"
        Models on trial hold rows out, and stop when these have not gained for ``n_iter_no_change`` rounds: the scale
        when their likelihood no longer improves, the mean when its own loss no longer falls. The model then learns from
        all rows for as many rounds. ``"scale"``: it runs all rounds, and held-out rows only help to fit the scale.
        ``"auto"``: True, but ``"scale"`` with a ``temperature``, whose chain must run its length.
    validation_fraction : float, default=0.1
        Fraction of the rows that each model on trial holds out, unless ``fit`` gets ``X_val, y_val``: then there are no
        trials, and the model stops by these rows.
    n_iter_no_change : int, default=50
    warm_start : bool, default=False
        Let ``fit`` on the same rows with a larger ``n_estimators`` go on from the trees there are. There are no trials
        then: the model itself holds rows out to the end.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads. The model does not depend on it, to the byte.
    verbose : int, default=0

    Attributes
    ----------
    n_trees_ : int
        Trees kept.
    family_ : family
        The distribution, fitted to the target's units. ``family_.dispersion`` of a normal one is 0, or one over the
        degrees of freedom of a Student t; it stays 0 without held-out rows, and where all rounds are run.
    validation_nll_ : array
        Mean negative log-likelihood of the held-out rows after each round (of the standardised target), before they
        correct the scale; empty without early stopping.
    feature_importances_ : array of shape (n_columns,)

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
            n_estimators=n_estimators, learning_rate=learning_rate, max_depth=max_depth, grow_policy=grow_policy,
            min_samples_leaf=min_samples_leaf, l2_regularization=l2_regularization, max_bins=max_bins,
            categorical_features=categorical_features, monotonic_cst=monotonic_cst, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, subsample=subsample,
            temperature=temperature, random_state=random_state, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.distribution = distribution
        self.langevin = langevin
        self.warm_start = warm_start

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The mean of every row's distribution after one tree, after two, and so on."""
        for raw in self._stages(X):
            yield self.family_.distribution(raw).mean


class GradientBoostingClassifier(SingleBooster, ClassificationBooster):
    """Gradient boosting for two or several classes, by the logistic loss.

    One tree a round, with an entry for each class in its leaves (two classes: one entry, the log-odds of the second).
    Takes missing values and categorical columns as they are; sparse input is refused. There is no ``partial_fit``.

    Parameters
    ----------
    learning_rate : float, default=0.07
        What a round takes of each step.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows.
    monotonic_cst : list or dict, default=None
        For two classes only.

    The other parameters are those of :class:`GradientBoostingRegressor`.

    Attributes
    ----------
    classes_ : array
    n_trees_, family_, validation_nll_, feature_importances_
        As of :class:`GradientBoostingRegressor`.

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
            n_estimators=n_estimators, learning_rate=learning_rate, max_depth=max_depth, grow_policy=grow_policy,
            min_samples_leaf=min_samples_leaf, l2_regularization=l2_regularization, max_bins=max_bins,
            categorical_features=categorical_features, monotonic_cst=monotonic_cst, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, subsample=subsample,
            temperature=temperature, random_state=random_state, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.langevin = langevin
        self.class_weight = class_weight
        self.warm_start = warm_start

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The most probable class of every row after one tree, after two, and so on."""
        for raw in self._stages(X):
            yield self.classes_[self.family_.probabilities(raw).argmax(axis=1)]
