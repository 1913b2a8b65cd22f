"""A stable classifier on a cluster: its estimators are fitted on bags of rows that are spread over the workers."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError
from surefoot._fitted_state import reads_one_fit
from surefoot._parallel import TaskRunner
from surefoot.dask.cluster import find_client
from surefoot.dask.cluster_tasks import ClusterTasks, bring_together
from surefoot.dask.collections import is_collection
from surefoot.dask.model import DaskClassifier
from surefoot.selection import stable_classifier as local


class StableClassifier(DaskClassifier, local.StableClassifier):
    """Bag a classifier on the workers of a cluster, and predict all labels between which the rows cannot decide.

    The fitted estimators equal those of the local class for the same ``random_state``. A bag needs rows from the whole
    table: a Dask collection is brought together in this process, and the table is then sent to each worker once. It
    must fit in the memory of each of them. The estimator is any scikit-learn classifier.

    Parameters
    ----------
    estimator : classifier
        A copy is fitted on each bag. Without ``predict_proba``, its predictions count as certain. Random states that
        are None are set to a different number for each bag.
    client : distributed.Client or None, default=None
        The cluster. None: the default client of the process.
    n_bags : int, default=100
        The number of bags. The guarantee holds for very many bags; ``delta_monte_carlo_`` holds for this number.
    bag_size : int or float, default=0.5
        The number of rows in a bag, or their fraction of all rows; they are drawn without replacement.
    delta, epsilon : float, default=None
        The fraction of training rows that may overturn a prediction, or the inflation itself. Give at most one; the
        default is ``delta=0.05``. With few rows not every delta is possible; the error names the smallest one that is.
    random_state : int, RandomState or None, default=None
        Decides which rows are in each bag. None: other bags in each fit.
    n_jobs : int, default=None
        Number of threads for what is computed in this process; the bags are spread over all workers.
    verbose : int, default=0
        With 1, progress is written to the logs of the workers.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    estimators_ : list of classifiers
        One for each bag. A bag with rows of one class only has a ``DummyClassifier``, which predicts that class.
    epsilon_, delta_, delta_monte_carlo_ : float
        ``delta_`` is at most 1, which is no guarantee. The last one also covers the randomness of drawing the bags;
        its bound is very loose.
    guarantee_ : str
        The guarantee in words.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefoot.dask import StableClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
    ...     model = StableClassifier(DecisionTreeClassifier(), client=client, random_state=0).fit(X, y)
    >>> model.predict_set(X[[0, 77, 100]])
    [(0,), (2, 1), (2,)]
    """

    _local_class = local.StableClassifier

    def __init__(
        self,
        estimator: Any,
        *,
        client: Any = None,
        n_bags: int = 100,
        bag_size: int | float = 0.5,
        delta: float | None = None,
        epsilon: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_bags=n_bags,
            bag_size=bag_size,
            delta=delta,
            epsilon=epsilon,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.client = client

    def _task_runner(self) -> TaskRunner:
        return ClusterTasks(self.client)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator on every bag.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            The training data. The estimator gets a frame as a frame.
        y : array or Dask collection of shape (n_rows,)
            Labels of two or more classes.

        Returns
        -------
        StableClassifier
            The fitted classifier itself.
        """
        client = find_client(self.client)
        return super().fit(bring_together(client, X, "X"), bring_together(client, y, "y"))

    @reads_one_fit
    def predict_set(self, X: Any) -> list[tuple[Any, ...]]:
        """Predict the labels that could be the clear winner if the probabilities were slightly different.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            Rows to predict, in memory: a Dask Array cannot hold tuples.

        Returns
        -------
        list of tuples
            The labels of each row, one or more, most probable first.
        """
        if is_collection(X):
            raise DataError(
                "predict_set is for tables in memory, because a Dask Array cannot hold tuples: pass X.compute(), or "
                "use predict_proba or set_sizes.",
                argument="X",
            )
        return super().predict_set(X)

    @reads_one_fit
    def set_sizes(self, X: Any) -> Any:
        """Count the labels of ``predict_set``.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        array of shape (n_rows,)
            The number of labels of each row; a Dask Array, not yet computed, if X is a Dask collection.
        """
        check_is_fitted(self)
        return self._lazily("set_sizes", X, np.int64)
