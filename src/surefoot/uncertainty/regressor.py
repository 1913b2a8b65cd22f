"""Gradient boosting of the parameters of a distribution."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from surefoot.uncertainty.base import GradientBooster, SingleBooster
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.mixture import MixtureDistribution


class RegressionBooster(RegressorMixin, GradientBooster):
    """What single regressors and ensembles share: the family of distributions, and predictions of a number."""

    distribution: Any

    def predict_distribution(self, X: Any) -> Distribution | MixtureDistribution:
        """Predict the distribution of the target of every row.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.

        Returns
        -------
        Distribution
            With ``mean``, ``std``, ``var``, ``quantile(q)``, ``interval(level)``, ``pdf(y)``, ``logpdf(y)``, ``cdf(y)``
            and ``sample(n, random_state)``. An ensemble gives the mixture of its members' distributions.
        """
        distributions = [self.family_.distribution(raw) for raw in self._raw(X)]
        return distributions[0] if len(distributions) == 1 else MixtureDistribution(distributions)

    def predict(self, X: Any, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict the mean of the distribution of every row, and on request its standard deviation.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.
        return_std : bool, default=False
            Return the standard deviations too.

        Returns
        -------
        array of shape (n_rows,), or a tuple of two
            Means; with ``return_std``, means and standard deviations.
        """
        distribution = self.predict_distribution(X)
        return (distribution.mean, distribution.std) if return_std else distribution.mean


class GradientBoostingRegressor(SingleBooster, RegressionBooster):
    """Gradient boosting that predicts a distribution for every row, not just a number.

    Each tree has a vector in every leaf, with one entry for each parameter of the distribution, and follows the natural
    gradient of its likelihood. The scale is fitted to residuals as they would be if the row had been left out, so that
    the likelihood of new rows does not become arbitrarily low when training goes on.

    Missing values (each split learns where they go) and categorical columns need no preprocessing; sparse input is
    refused. There is no ``partial_fit``.

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
        Minimum number of rows on each side of a split.
    l2_regularization : float, default=1.0
        Shrinks the leaves towards 0, as this many additional rows without a residual would.
    max_bins : int, default=255
        Maximum number of bins of a column.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of categorical dtype, always; further columns by position, name or a boolean for each.
    monotonic_cst : list or dict, default=None
        For each column (or by name) 1, -1 or 0: the first parameter of the distribution never falls, never rises,
        or is free along it.
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

    See Also
    --------
    BoostingEnsembleRegressor : several such models; separates what more data could teach from noise of the data.

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
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.distribution = distribution
        self.langevin = langevin

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict the mean of the distribution of every row after one tree, after two, and so on.

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
