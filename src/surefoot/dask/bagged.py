"""Bagged AdaBoost on a cluster: a vote of AdaBoosts on bootstrap samples, each drawn and trained where its rows are."""

from typing import Any

from surefoot._parameters import check_integer
from surefoot.boosting import bagged as local
from surefoot.dask.member_training import MemberPlan
from surefoot.dask.voting_base import DaskMemberEnsemble

MAX_PARTS = 10  # a bag is then drawn from a tenth of the rows, or more


class BaggedBoostClassifier(DaskMemberEnsemble, local.BaggedBoostClassifier):
    """A majority vote of AdaBoosts on bootstrap samples of a Dask collection (Larsen 2023).

    A bag is drawn where its rows are: the rows are divided into parts of whole partitions, as many as there are
    partitions but at most ten, and each member's bag is drawn with replacement from one of the parts, in turn. So the
    partitions determine how large bags are: with one partition, the model is that of the local class; with ten, a bag
    has a tenth of the rows. The theorem is for bags from all rows, of at least 2% of their number; bags from random
    parts of a large table are close to such bags, but no theorem is about them. A warning tells if the partitions are
    not alike; ``shuffle=True`` then makes random parts.

    The bins of numeric columns are those of each part. The model depends on the partitions and on ``random_state``, and
    not on the workers.

    Missing values and categorical columns are supported; sparse input is refused; there is no ``partial_fit``.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The cluster to train on. None: the default client of the process.
    shuffle : bool, default=False
        Whether to distribute the rows of every partition over all parts at random; most rows are then moved once.
        Use it if the partitions are not alike.
    n_members : int or None, default=None
        Number of bags. None: ``ceil(log(n_rows / failure_probability))``, plus 1 if that is even, so that members
        cannot tie.
    failure_probability : float, default=0.05
        The delta of the guarantee; used if ``n_members`` is None.
    max_samples : float, default=1.0
        Number of rows drawn (with replacement) for each member, as a fraction of the rows of its part.
    voting : {"hard", "soft"}, default="hard"
        ``"hard"`` counts the members' decisions, as in the paper; ``"soft"`` adds up their normalised votes.
    estimator : classifier, default=None
        The weak learner: any scikit-learn classifier with ``sample_weight`` in its ``fit``. It gets the table as an
        array of floats, with categories as codes. None: the native tree of depth ``max_depth``.
    max_depth : int, default=1
        Depth of the native tree, at most 12.
    n_estimators : int, default=300
        Maximum number of boosting rounds of each member. Fewer are used if a round is perfect or no better than chance.
    learning_rate : float, default=1.0
        Factor of every vote; above 0 and at most 2.
    variant : {"adaboost", "adaboost_star"}, default="adaboost"
        ``"adaboost_star"`` is AdaBoost*_v (Rätsch & Warmuth 2005, two classes only): its trees minimise the weighted
        error instead of the Gini impurity. With stumps, after about ``2 log(n_rows) / margin_precision**2`` rounds the
        smallest training margin is within ``margin_precision`` of the largest possible one for stumps on these bins.
    margin_precision : float, default=0.1
        The v of AdaBoost*_v.
    max_bins : int or None, default=255
        Maximum number of quantile bins of a numeric column. None: every distinct value is a threshold.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``.
    calibrate : bool, default=True
        Calibrate ``predict_proba`` on the votes of members that were not trained on the row, which needs no more fits.
        False: probabilities are each class's fraction of the members' votes, and are not calibrated. Votes and
        predictions do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the parts, of the bags and of ``estimator``.
    n_jobs : int or None, default=None
        Number of threads of the members on their worker. The model does not depend on it.
    verbose : int, default=0
        As for the local class; messages are in the logs of the workers.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    estimators_ : list of AdaBoostClassifier
        The members, fitted.
    feature_importances_ : array of shape (n_features,)
        Mean of the members' feature importances.
    n_features_in_ : int
        Number of columns of the training table.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns, where the training table has them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from surefoot.dask import BaggedBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
    ...     model = BaggedBoostClassifier(client=client, shuffle=True, n_estimators=50, random_state=0).fit(X, y)
    >>> len(model.estimators_)
    11
    >>> model.predict(X)
    dask.array<concatenate, shape=(569,), dtype=int64, chunksize=(100,), chunktype=numpy.ndarray>
    """

    _local_class = local.BaggedBoostClassifier

    def __init__(
        self,
        *,
        client: Any = None,
        shuffle: bool = False,
        n_members: int | None = None,
        failure_probability: float = 0.05,
        max_samples: float = 1.0,
        voting: str = "hard",
        estimator: Any = None,
        max_depth: int = 1,
        n_estimators: int = 300,
        learning_rate: float = 1.0,
        variant: str = "adaboost",
        margin_precision: float = 0.1,
        max_bins: int | None = 255,
        class_weight: Any = None,
        calibrate: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_members=n_members,
            failure_probability=failure_probability,
            max_samples=max_samples,
            voting=voting,
            estimator=estimator,
            max_depth=max_depth,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            variant=variant,
            margin_precision=margin_precision,
            max_bins=max_bins,
            class_weight=class_weight,
            calibrate=calibrate,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.client = client
        self.shuffle = shuffle

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_bags()
        if self.n_members is not None:
            check_integer("n_members", self.n_members, 1)

    def _count_parts(self, n_partitions: int, n_rows: int | None) -> int:
        n_members = MAX_PARTS if n_rows is None and self.n_members is None else self._count_members(n_rows or 1)
        return max(1, min(n_partitions, n_members, MAX_PARTS, n_partitions if n_rows is None else n_rows))

    def _plan(self, n_parts: int, n_rows: int, seed: int) -> MemberPlan:
        n_members = self._count_members(n_rows)
        settings = self._settings(n_members, seed)
        return MemberPlan(n_members=n_members, n_parts=n_parts, settings=settings, max_samples=self.max_samples)
