"""Majority-of-X on a cluster: a vote of AdaBoosts on disjoint parts of the rows, each trained where its part is."""

from typing import Any

from surefoot._parameters import check_integer
from surefoot.boosting import majority as local
from surefoot.dask.member_training import MemberPlan
from surefoot.dask.voting_base import DaskMemberEnsemble


class MajorityBoostClassifier(DaskMemberEnsemble, local.MajorityBoostClassifier):
    """A majority vote of AdaBoosts on ``n_members`` disjoint parts of a Dask collection (Høgsgaard et al. 2024).

    A part is made of whole partitions, in random order; a partition is cut only if parts would otherwise be of unequal
    size. Each member is trained on the worker that has the rows of its part, and only models travel. If the collection
    is already on workers and a part has several partitions on different workers, these are brought together: pass a
    collection that is not persisted, then each partition is loaded where it is needed.

    The theorem is for random parts. A warning tells if the partitions are not alike (a sorted table, say);
    ``shuffle=True`` then makes random parts. The bins of numeric columns are those of each part, not of the whole
    table. The model depends on the partitions and on ``random_state``, and not on the workers.

    Missing values and categorical columns are supported; sparse input is refused; there is no ``partial_fit``.

    Parameters
    ----------
    client : distributed.Client or None, default=None
        The cluster to train on. None: the default client of the process.
    shuffle : bool, default=False
        Whether to distribute the rows of every partition over all parts at random; most rows are then moved once.
        Use it if the partitions are not alike.
    n_members : int, default=5
        Number of parts. An odd number cannot tie.
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
        Decides which partitions, or which rows, are in which part; and the seed of ``estimator``.
    n_jobs : int or None, default=None
        Number of threads of a member on its worker. The model does not depend on it.
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
    >>> from surefoot.dask import MajorityBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
    ...     model = MajorityBoostClassifier(client=client, shuffle=True, n_estimators=50, random_state=0).fit(X, y)
    >>> len(model.estimators_)
    5
    >>> model.predict(X)
    dask.array<concatenate, shape=(569,), dtype=int64, chunksize=(100,), chunktype=numpy.ndarray>
    """

    _local_class = local.MajorityBoostClassifier

    def __init__(
        self,
        *,
        client: Any = None,
        shuffle: bool = False,
        n_members: int = 5,
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

    def _count_parts(self, n_partitions: int, n_rows: int | None) -> int:
        return check_integer("n_members (parts of the rows that have weight)", self.n_members, 1, n_rows)

    def _plan(self, n_parts: int, n_rows: int, seed: int) -> MemberPlan:
        return MemberPlan(n_members=n_parts, n_parts=n_parts, settings=self._settings(n_parts, seed))
