"""What the gradient boosters on a Dask cluster share: ``fit`` on Dask collections, and lazy predictions."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError, ParameterError
from surefoot._fitted_state import reads_one_fit
from surefoot.dask.binned_rows import BinnedRows
from surefoot.dask.cluster import find_client, retry_if_a_worker_leaves
from surefoot.dask.collections import Blocks, is_collection, read_partitions
from surefoot.dask.lazy import lazy_array, lazy_uncertainty
from surefoot.dask.model import DaskModel
from surefoot.dask.worker_table import WorkerTable
from surefoot.data import Columns
from surefoot.data.problem import check_labels, encode_labels, require_target, with_class_weights
from surefoot.uncertainty.base import GradientBooster
from surefoot.uncertainty.decomposition import NATS, TARGET_SQUARED, Uncertainty
from surefoot.uncertainty.fit_options import GivenOptions
from surefoot.uncertainty.training_rows import ValidationRows


def refuse_offsets(exposure: Any, offset: Any, instead: str = "call this method of to_local()") -> None:
    """Raise an error if there is an exposure or an offset."""
    for name, value in (("exposure", exposure), ("offset", offset)):
        if value is not None:
            raise ParameterError(f"{name} is not for estimators on a Dask cluster: {instead}.", argument=name)


class DaskBooster(DaskModel, GradientBooster):
    """Training on the workers that hold the rows."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
        eval_sets: Any = None,
        callbacks: Any = None,
    ) -> Self:
        """Fit on a Dask table and its target.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array or list of delayed frames
            The training data.
        y : Dask Series, Dask Array or list of delayed arrays
            The targets of the rows, in the partitions of X.
        sample_weight : Dask Series, Dask Array or list of delayed arrays, default=None
            A row of weight 2 counts as two rows.
        offset : None
            Refused here: the local estimator takes it, for tables in memory and in files.
        exposure : None
            Refused here: the local estimator takes it, for tables in memory and in files.
        eval_sets : dict, default=None
            Further sets of rows, ``{"name": (X, y)}`` or ``{"name": (X, y, sample_weight)}``, in memory. Their losses
            after each round are in ``validation_losses_``; they decide nothing.
        callbacks : callable or list of callables, default=None
            Called with a ``RoundReport`` after each round, in this process. If one returns True, the model (or the
            trial models) ends as if ``n_estimators`` were reached. If a worker leaves, training starts again.

        Returns
        -------
        self : object
            The fitted model.
        """
        refuse_offsets(exposure, offset, "use the local estimator, which takes tables in memory and in files")
        self._check_parameters()
        require_target(self, y)
        client, partitions = find_client(self.client), read_partitions(X, y, sample_weight)
        options = GivenOptions(eval_sets, callbacks)
        return retry_if_a_worker_leaves(lambda: self._fit_on(client, partitions, options))

    def _fit_on(self, client: Any, partitions: Sequence[Blocks], options: GivenOptions) -> Self:
        n_workers = max(len(client.nthreads()), 1)
        groups = [k * n_workers // len(partitions) for k in range(len(partitions))]  # neighbours on one worker
        table = WorkerTable.load(
            client,
            partitions,
            groups,
            with_labels=is_classifier(self),
            categorical=self._listed_categories,
        )
        rows = BinnedRows(table, self.max_bins)
        target = rows.target()
        rows.bin_weights = self._bin_weights(target, rows.weights)
        prepared = rows.prepared()
        try:
            return self._fit_rows(prepared, target, rows.weights, ValidationRows(None, None, None), more=options)
        finally:
            prepared.columns.shards.close()

    def _bin_weights(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """The weights of the rows, times those of their classes."""
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        return with_class_weights(weights, class_weight, *encode_labels(check_labels(target), weights))

    def _columns(self, X: Any) -> Columns:
        if is_collection(X):
            message = (
                "This method is for rows in memory: compute some of them, or use X.map_partitions with to_local()."
            )
            raise DataError(message, argument="X")
        return super()._columns(X)

    @reads_one_fit
    def predict_distribution(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Any:
        """Predict the distribution of the target of every row.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            Rows to predict, in memory.
        exposure : None
            Refused here: the local estimator, from ``to_local()``, takes it.
        offset : None
            Refused here: the local estimator, from ``to_local()``, takes it.

        Returns
        -------
        Distribution
            As that of the local estimator.
        """
        if is_collection(X):
            message = "predict_distribution is for rows in memory: use predict, or X.map_partitions with to_local()."
            raise DataError(message, argument="X")
        refuse_offsets(exposure, offset)
        return super().predict_distribution(X)


class DaskRegressor(DaskModel):
    """Predictions of numbers."""

    @reads_one_fit
    def predict(self, X: Any, return_std: bool = False, *, exposure: Any = None, offset: Any = None) -> Any:
        """Predict the mean of the distribution of every row, and on request its standard deviation.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            Rows with the columns of the training data.
        return_std : bool, default=False
            Return the standard deviations too.
        exposure : None
            Refused here: the local estimator, from ``to_local()``, takes it.
        offset : None
            Refused here: the local estimator, from ``to_local()``, takes it.

        Returns
        -------
        array of shape (n_rows,), or a tuple of two
            Means; with ``return_std``, means and standard deviations. Dask Arrays, not yet computed, if X is a Dask
            collection.
        """
        check_is_fitted(self)
        refuse_offsets(exposure, offset)
        if not is_collection(X):
            return super().predict(X, return_std=return_std)
        model = self.to_local()
        means = lazy_array(model, "predict", X, np.float64)
        return (means, lazy_array(StandardDeviations(model), "predict", X, np.float64)) if return_std else means


class StandardDeviations:
    """Predicts the standard deviations of a model."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, X: Any) -> np.ndarray:
        """The standard deviation of every row."""
        return np.asarray(self.model.predict(X, return_std=True)[1])


class DaskEnsemble(DaskModel):
    """The uncertainty of an ensemble."""

    @reads_one_fit
    def predict_uncertainty(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Uncertainty:
        """Separate the uncertainty of every prediction into that of the data and the model's lack of knowledge.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            Rows with the columns of the training data.
        exposure : None
            Refused here: the local estimator, from ``to_local()``, takes it.
        offset : None
            Refused here: the local estimator, from ``to_local()``, takes it.

        Returns
        -------
        Uncertainty
            With ``total``, ``data`` and ``knowledge``, and their ``unit``. The numbers are Dask Arrays, not yet
            computed, if X is a Dask collection.
        """
        check_is_fitted(self)
        refuse_offsets(exposure, offset)
        if not is_collection(X):
            return super().predict_uncertainty(X)
        return lazy_uncertainty(self.to_local(), X, NATS if is_classifier(self) else TARGET_SQUARED)
