"""An ensemble of regressors that differ only by chance: their disagreement is knowledge uncertainty."""

from typing import Any

from surefoot._fitted_state import reads_one_fit
from surefoot.uncertainty.decomposition import Uncertainty
from surefoot.uncertainty.ensemble_base import EnsembleBooster
from surefoot.uncertainty.offsets import GivenOffsets
from surefoot.uncertainty.regressor import GradientBoostingRegressor, RegressionBooster


class BoostingEnsembleRegressor(EnsembleBooster, RegressionBooster):
    """An ensemble of probabilistic gradient boosters (Malinin, Prokhorenkova & Ustimenko 2021).

    The members are trained on the same rows and differ only by chance. Their disagreement is knowledge uncertainty,
    which more data could remove, unlike the noise of the data. Unless ``early_stopping`` is False or ``X_val, y_val``
    are passed, trial models choose the number of trees and the scale on held-out rows; the members are then trained on
    all rows for that number of rounds.

    Parameters
    ----------
    method : {"sglb", "sgb"}, default="sglb"
        Source of randomness: Langevin noise in the leaves, or other rows drawn for each tree.
    n_members : int, default=10
        Number of models to train.
    subsample : float, default=None
        Probability that a row is used for a tree; None: 0.5 for ``"sgb"``, 1 for ``"sglb"``.
    distribution : str or family, default="normal"
        ``"normal"``, ``"lognormal"``, ``"laplace"``, ``"student_t"`` (5 degrees of freedom; ``StudentT(df=...)`` of
        ``surefoot.uncertainty`` for others), ``"gamma"``, or for counts ``"poisson"``, ``"negative_binomial"`` or
        ``"zero_inflated_poisson"``. Held-out rows correct the shape of two of them: normal distributions become
        Student t distributions (with the predicted mean and standard deviation) if tails are heavier, Poisson
        distributions become negative binomial, with one dispersion for all rows, if counts vary more.
        A family of your own is an object of a subclass of ``CustomFamily``.
    n_estimators : int, default=3000
        Maximum number of trees; early stopping usually ends training sooner.
    learning_rate : float, default=0.15
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
    temperature : float, default=None
        Temperature of the Langevin noise. None: 1 / (number of rows), as in the paper and in CatBoost, narrower than a
        posterior. 1: the rounds converge to the posterior, but each model has a larger error.
    early_stopping : "auto", "scale" or bool, default="auto"
        Trial models hold rows out and stop after ``n_iter_no_change`` rounds without a gain; the members are then
        trained on all rows for as many rounds. ``"scale"``: all rounds are run, and held-out rows only help to fit the
        scale. ``"auto"``: True, or ``"scale"`` with a ``temperature``, because its chain must run its length.
    validation_fraction : float, default=0.1
        Fraction of the rows that each trial model holds out. If ``X_val, y_val`` are passed to ``fit``, there are no
        trial models, and these rows decide when to stop.
    n_iter_no_change : int, default=50
        Rounds without a gain on held-out rows before training stops.
    warm_start : bool, default=False
        ``fit`` on the same rows with a larger ``n_estimators`` adds trees to every member. There are no trial models
        then: the members hold out the same rows to the end. Any other change is refused.
    random_state : int, RandomState or None, default=None
        Seed of all random numbers in training.
    n_jobs : int or None, default=None
        Number of threads; the model is the same for any number.
    verbose : int, default=0
        Above 0, progress is printed.

    Attributes
    ----------
    estimators_ : list of GradientBoostingRegressor
        The members.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_columns,)
        Names of the columns, if X was a frame.
    family_ : family
        The distribution, fitted to the target's units.
    validation_losses_ : dict
        For each name in ``eval_sets`` the loss of these rows after each round: the mean over the members, as far as all
        were trained. Those of a member are in ``estimators_``.
    feature_importances_ : array of shape (n_columns,)
        Each column's fraction of the gains of all splits.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import BoostingEnsembleRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BoostingEnsembleRegressor(n_members=3, n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict_uncertainty(X).unit
    'target squared'
    """

    _member_class = GradientBoostingRegressor

    def __init__(
        self,
        *,
        method: str = "sglb",
        n_members: int = 10,
        subsample: float | None = None,
        distribution: Any = "normal",
        n_estimators: int = 3000,
        learning_rate: float = 0.15,
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
        self.method = method
        self.n_members = n_members
        self.distribution = distribution

    @reads_one_fit
    def predict_uncertainty(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Uncertainty:
        """Predict how uncertain every row is, and why.

        ``data`` is the noise of the target, which more training rows would not remove. ``knowledge`` is the
        disagreement of the members, which they would. ``total`` is the sum of both.

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
        Uncertainty
            In units of the target squared. ``total``: the variance of the members' mixture. ``data``: the mean of their
            variances. ``knowledge``: the variance of their means.
        """
        return self._uncertainty(X, GivenOffsets(offset, exposure))
