"""Stable model selection on a cluster: the bags of rows are spread over the workers."""

from typing import Any

import dask.array as da
import dask.dataframe as dd
from dask.delayed import delayed

from surefoot._exceptions import DataError
from surefoot._fitted_state import reads_one_fit
from surefoot._parallel import TaskRunner
from surefoot.dask.cluster import find_client
from surefoot.dask.cluster_tasks import ClusterTasks, bring_together
from surefoot.dask.collections import is_collection
from surefoot.dask.model import DaskModel
from surefoot.selection import stable_selector as local
from surefoot.selection.rules import INFLATED_ARGMAX
from surefoot.selection.selector import Selector
from surefoot.selection.table import take_columns


class StableSelector(DaskModel, local.StableSelector):
    """Select all models between which the rows cannot decide, on bags that are spread over the workers of a cluster.

    The result equals that of the local class for the same ``random_state``. A bag needs rows from the whole table: a
    Dask collection is brought together in this process, and the table is then sent to each worker once. It must fit in
    the memory of each of them; for more rows than that, select on a sample. What is spread is the computation, which
    pays off if a selector needs more than a few milliseconds for a bag. ``leave_one_out`` uses the cluster too.

    Parameters
    ----------
    selector : Selector
        Chooses a model from some rows, such as `selection.LassoSelector`.
    client : distributed.Client or None, default=None
        The cluster. None: the default client of the process.
    rule : "inflated_argmax" or a rule, default="inflated_argmax"
        A rule is `selection.Argmax()`, `TopK(k)`, `InclusionProbability(tau)` or `InflatedArgmax(epsilon)`. Rules other
        than the inflated argmax carry no guarantee.
    delta, epsilon : float, default=None
        For the inflated argmax: the fraction of rows that may overturn the selection, or the inflation itself. Give at
        most one; the default is ``delta=0.05``.
    monte_carlo : bool, default=False
        Whether the guarantee also covers the randomness of drawing a finite number of bags. Its bound is very loose,
        and needs very many bags.
    n_bags : int, default=10_000
        The number of bags.
    bag_size : int or float, default=0.5
        The number of rows in a bag, or their fraction of all rows.
    replace : bool, default=False
        Whether bags are drawn with replacement.
    random_state : int, RandomState or None, default=None
        Decides which rows are in each bag. None: other bags in each fit.
    n_jobs : int, default=None
        Number of threads for what is computed in this process; the bags are spread over all workers.
    verbose : int, default=0
        With 1, progress is written to the logs of the workers.

    Attributes
    ----------
    weights_ : ModelWeights
        The models that bags chose and their weights, heaviest first. A model of variables is a tuple of their names.
    selected_ : tuple of models
        The selected models, heaviest first; if ``undecided_``, all models that bags chose.
    expression_ : str
        The selected models in a few words; sets of variables as a product of choices, if they are one.
    guarantee_ : str
        The guarantee in words.
    epsilon_, delta_, delta_monte_carlo_ : float
        Of the inflated argmax. ``delta_`` is at most 1, which is no guarantee; it is 1 for selectors with models that
        depend on rows outside their bag. The last one also covers the randomness of drawing the bags.
    undecided_ : bool
        Whether the inflation is so large that models which no bag chose would be selected as well.
    models_ : tuple of models, and bag_models_ : array of shape (n_bags,)
        All models that bags chose, and the index of each bag's model (the heaviest, if a selector weights several).
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from distributed import Client
    >>> from surefoot.dask import StableSelector
    >>> from surefoot.selection import LassoSelector
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(100, 5))
    >>> X[:, 4] = X[:, 3] + 0.02 * rng.normal(size=100)
    >>> y = X[:, 1] + X[:, 3] + 0.5 * rng.normal(size=100)
    >>> with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
    ...     stable = StableSelector(LassoSelector(alpha=0.3), client=client, random_state=0).fit(X, y)
    >>> stable.expression_
    'x1 and (x3 or x4)'
    """

    _local_class = local.StableSelector

    def __init__(
        self,
        selector: Selector,
        *,
        client: Any = None,
        rule: Any = INFLATED_ARGMAX,
        delta: float | None = None,
        epsilon: float | None = None,
        monte_carlo: bool = False,
        n_bags: int = 10_000,
        bag_size: int | float = 0.5,
        replace: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            selector,
            rule=rule,
            delta=delta,
            epsilon=epsilon,
            monte_carlo=monte_carlo,
            n_bags=n_bags,
            bag_size=bag_size,
            replace=replace,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.client = client

    def _task_runner(self) -> TaskRunner:
        return ClusterTasks(self.client)

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> "StableSelector":
        """Choose a model on every bag, and select models.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            The table. Columns of categorical dtype count as one variable each.
        y : array or Dask collection of shape (n_rows,), or None, default=None
            What the selector needs: numbers, classes, or nothing.
        **fit_params
            Further arguments of the selector, such as the times ``t`` of `selection.SINDySelector`.

        Returns
        -------
        StableSelector
            The fitted selector itself.
        """
        client = find_client(self.client)
        given = {name: bring_together(client, value, name) for name, value in fit_params.items()}
        super().fit(bring_together(client, X, "X"), bring_together(client, y, "y"), **given)
        return self

    def transform(self, X: Any) -> Any:
        """Keep the columns that any of the selected models has.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            A table with the columns of the fit.

        Returns
        -------
        array, frame or Dask collection
            The same table with these columns only; a collection is not computed.
        """
        if not is_collection(X):
            return super().transform(X)
        support = self.get_support(indices=True)
        if isinstance(X, dd.DataFrame):
            self._check_names(list(X.columns))
            return X[[X.columns[j] for j in support]]
        if isinstance(X, da.Array):
            self._check_names([None] * X.shape[1])
            return X[:, support]
        return [delayed(take_columns)(block, support) for block in X]

    def _check_names(self, names: list[Any]) -> None:
        known = getattr(self, "feature_names_in_", None)
        if len(names) != self.n_features_in_ or (known is not None and names[0] is not None and names != list(known)):
            raise DataError("X does not have the columns of the fit: pass the same columns, in the same order.")


# As that of the local class: outside of what scikit-learn has made of it.
StableSelector.transform = reads_one_fit(StableSelector.transform)  # type: ignore[method-assign]
