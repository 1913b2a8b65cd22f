"""Gradient boosting of the parameters of a distribution."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from surefoot._fitted_state import reads_one_fit
from surefoot._parameters import check_boolean
from surefoot.uncertainty.base import GradientBooster, SingleBooster
from surefoot.uncertainty.distribution import Distribution
from surefoot.uncertainty.fit_options import GivenOptions
from surefoot.uncertainty.mixture import MixtureDistribution
from surefoot.uncertainty.offsets import GivenOffsets
from surefoot.uncertainty.training_rows import ValidationRows


class RegressionBooster(RegressorMixin, GradientBooster):
    """What single regressors and ensembles share: the family of distributions, and predictions of a number."""

    distribution: Any

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        offset: Any = None,
        exposure: Any = None,
        offset_val: Any = None,
        exposure_val: Any = None,
        eval_sets: Any = None,
        callbacks: Any = None,
        snapshot: Any = None,
    ) -> Self:
        """Fit on a table and its target.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns), path or StoredTable
            The training data. A Parquet or Arrow file, a folder of Parquet files or a data set of pyarrow may be larger
            than memory: its bins are written to a temporary folder, about one byte for each cell, and read from there.
            In the folder of a ``StoredTable`` that is kept, trees are recorded: after a stop, the same fit continues.
        y : array of shape (n_rows,), str or None
            The targets of the training rows; of a table in files, the name of their column; None for a ``StoredTable``.
        sample_weight : array of shape (n_rows,) or str, default=None
            A row of weight 2 counts as two rows; of a table in files, the name of a column.
        X_val : array, sparse matrix, pandas or polars frame of shape (n_val, n_columns), default=None
            Validation rows for early stopping, used instead of a part of the training rows.
        y_val : array of shape (n_val,), default=None
            The targets of the validation rows.
        sample_weight_val : array of shape (n_val,), default=None
            The weights of the validation rows.
        offset : array of shape (n_rows,), default=None
            A known part of the first output, which trees do not learn: of the location of the target (for
            ``"lognormal"``, of log y), or of the log of the mean. As ``init_score`` of LightGBM, for every row.
        exposure : array of shape (n_rows,), default=None
            For how much time (or over how many items) the target of each row is counted: means are multiplied by it.
            Above 0; for ``"poisson"``, ``"gamma"``, ``"lognormal"`` and other distributions with the log of a mean.
        offset_val : array of shape (n_val,), default=None
            The offsets of the validation rows; required if there are ``X_val`` and ``offset``.
        exposure_val : array of shape (n_val,), default=None
            The exposures of the validation rows; required if there are ``X_val`` and ``exposure``.
        eval_sets : dict, default=None
            Further sets of rows, ``{"name": (X, y)}`` or ``{"name": (X, y, sample_weight)}``, in memory. Their losses
            after each round are in ``validation_losses_``; they decide nothing.
        callbacks : callable or list of callables, default=None
            Called with a ``RoundReport`` after each round, of trial models too, in the thread that trains. The rounds
            of a member come in order; members may be trained side by side. If one returns True, the model (or the trial
            models) ends as if ``n_estimators`` were reached. Errors are raised by ``fit``.
        snapshot : path, default=None
            A folder where trees are recorded. If this ``fit`` is stopped, however it is stopped, the same ``fit`` with
            this folder continues, to the same bytes; other data or parameters are refused. After a fit it is removed.
            For tables in memory and a fixed ``random_state``.

        Returns
        -------
        self : object
            The fitted model.
        """
        validation = ValidationRows(X_val, y_val, sample_weight_val, GivenOffsets(offset_val, exposure_val))
        more = GivenOptions(eval_sets, callbacks, snapshot)
        return self._fit_rows(X, y, sample_weight, validation, GivenOffsets(offset, exposure), more)

    @reads_one_fit
    def predict_distribution(
        self, X: Any, *, exposure: Any = None, offset: Any = None
    ) -> Distribution | MixtureDistribution:
        """Predict the distribution of the target of every row.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.
        exposure : array of shape (n_rows,), default=None
            For how much time (or over how many items) the target is counted; None: 1, and means are rates.
        offset : array of shape (n_rows,), default=None
            Offsets as in ``fit``; None: 0.

        Returns
        -------
        Distribution
            With ``mean``, ``std``, ``var``, ``quantile(q)``, ``interval(level)``, ``pdf(y)``, ``logpdf(y)``, ``cdf(y)``
            and ``sample(n, random_state)``. An ensemble gives the mixture of its members' distributions.
        """
        distributions = [self.family_.distribution(raw) for raw in self._raw(X, GivenOffsets(offset, exposure))]
        return distributions[0] if len(distributions) == 1 else MixtureDistribution(distributions)

    @reads_one_fit
    def predict(
        self, X: Any, return_std: bool = False, *, exposure: Any = None, offset: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Predict the mean of the distribution of every row, and on request its standard deviation.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.
        return_std : bool, default=False
            Return the standard deviations too.
        exposure : array of shape (n_rows,), default=None
            For how much time (or over how many items) the target is counted; None: 1, and means are rates.
        offset : array of shape (n_rows,), default=None
            Offsets as in ``fit``; None: 0.

        Returns
        -------
        array of shape (n_rows,), or a tuple of two
            Means; with ``return_std``, means and standard deviations.
        """
        check_boolean("return_std", return_std)
        distribution = self.predict_distribution(X, exposure=exposure, offset=offset)
        point = self.family_.point(distribution)
        return (point, distribution.std) if return_std else point


class GradientBoostingRegressor(SingleBooster, RegressionBooster):
    """Gradient boosting that predicts a distribution for every row, not just a number.

    Each tree has a vector in every leaf, with one entry for each parameter of the distribution, and follows the natural
    gradient of its likelihood. The scale is fitted to residuals as they would be if the row had been left out, so that
    the likelihood of new rows does not become arbitrarily low when training goes on.

    Missing values (each split learns where they go), categorical columns and sparse matrices need no preprocessing.
    There is no ``partial_fit``.

    Parameters
    ----------
    distribution : str or family, default="normal"
        ``"normal"``, ``"lognormal"``, ``"laplace"``, ``"student_t"`` (5 degrees of freedom; ``StudentT(df=...)`` of
        ``surefoot.uncertainty`` for others), ``"gamma"``, or for counts ``"poisson"``, ``"negative_binomial"`` or
        ``"zero_inflated_poisson"``. Held-out rows correct the shape of two of them: normal distributions become
        Student t distributions (with the predicted mean and standard deviation) if tails are heavier, Poisson
        distributions become negative binomial, with one dispersion for all rows, if counts vary more.
        ``"quantile"`` (the median; ``Quantile(levels)`` for others) predicts only quantiles. A family of your own is
        an object of a subclass of ``CustomFamily``.
    n_estimators : int, default=3000
        Maximum number of trees; early stopping usually ends training sooner.
    learning_rate : float, default=0.1
        Fraction of each step that a round takes.
    max_depth : int, default=6
        Depth of the trees, from 1 to 10.
    grow_policy : {"symmetric", "depthwise", "leafwise"}, default="symmetric"
        One split for a whole level, one for each node, or the best one first, up to ``max_leaf_nodes`` leaves.
    min_samples_leaf : int, default=1
        Minimum number of rows on each side of a split.
    l2_regularization : float, default=1.0
        Shrinks the leaves towards 0, as this many additional rows without a residual would.
    max_bins : int, default=255
        Maximum number of bins of a column.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Columns of categorical dtype, always; further columns by position, name or a boolean for each.
    monotonic_cst : list or dict, default=None
        For each column (or by name) 1, -1 or 0: the predicted mean never falls, never rises, or is free along it.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets or None, default=None
        Groups of columns, by position or name, that may interact in a tree; columns in no group are one more group.
    max_features : float, default=1.0
        Fraction of the columns that are drawn for each tree.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of a tree with ``grow_policy="leafwise"``, and for these only; None: 31.
    split_noise : "auto" or float, default="auto"
        Noise in the choice of splits, in standard errors; ``"auto"`` depends on the target and on other noise.
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
    validation_losses_ : dict
        For each name in ``eval_sets`` the loss of these rows after each round, as an array: their mean negative
        log-likelihood, as ``metrics.nll`` has it. Rounds that early stopping does not keep come last.
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
        interaction_cst: Any = None,
        max_features: float = 1.0,
        max_leaf_nodes: int | None = None,
        split_noise: Any = "auto",
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
            interaction_cst=interaction_cst,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            split_noise=split_noise,
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

    @reads_one_fit
    def staged_predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Iterator[np.ndarray]:
        """Predict the mean of the distribution of every row after one tree, after two, and so on.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, with the columns of the training data.
        exposure : array of shape (n_rows,), default=None
            For how much time (or over how many items) the target is counted; None: 1, and means are rates.
        offset : array of shape (n_rows,), default=None
            Offsets as in ``fit``; None: 0.

        Yields
        ------
        array of shape (n_rows,)
            Predicted means.
        """
        for raw in self._stages(X, GivenOffsets(offset, exposure)):
            yield self.family_.point(self.family_.distribution(raw))
