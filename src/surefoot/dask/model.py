"""What the estimators on Dask collections share: the client, the local model, and answers for collections."""

from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from surefoot._fitted_state import reads_one_fit
from surefoot.dask.collections import is_collection
from surefoot.dask.lazy import lazy_array


class DaskModel(BaseEstimator):
    """A local estimator with a parameter ``client``; the local class is the next base of a subclass.

    ``fit`` of a subclass sets the attributes of a fitted local estimator. So the methods of the local class answer for
    tables in memory, and `lazily` answers for Dask collections.
    """

    _bins_sparse: ClassVar[bool] = False
    client: Any
    _local_class: type[BaseEstimator]

    @reads_one_fit
    def to_local(self) -> Any:
        """Return the fitted model as a local estimator, which needs no cluster and which ``surefoot.save`` takes.

        Returns
        -------
        estimator
            The estimator of the same name in ``surefoot``, with the same parameters but for ``client`` and ``shuffle``.
        """
        check_is_fitted(self)
        names = signature(self._local_class).parameters
        local = self._local_class(**{name: getattr(self, name) for name in names})
        own = set(self.get_params(deep=False))
        local.__dict__.update({name: value for name, value in self.__dict__.items() if name not in own})
        return local

    def _lazily(self, method: str, X: Any, dtype: Any, n_columns: int | None = None) -> Any:
        """The answer of a method: that of the local class, or a Dask Array if X is a Dask collection."""
        if is_collection(X):
            return lazy_array(self.to_local(), method, X, dtype, n_columns)
        return getattr(super(), method)(X)

    def __sklearn_clone__(self) -> Self:
        """A copy that is not fitted, with the same client: a client cannot be copied."""
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        copies = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(client=self.client, **copies)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the client, which belongs to this process."""
        return {**super().__getstate__(), "client": None}


class DaskClassifier(DaskModel):
    """The answers of a classifier for Dask collections."""

    classes_: np.ndarray

    @reads_one_fit
    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        array of shape (n_rows,)
            Labels from ``classes_``; a Dask Array, not yet computed, if X is a Dask collection.
        """
        check_is_fitted(self)
        return self._lazily("predict", X, self.classes_.dtype)

    @reads_one_fit
    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array, frame or Dask collection of shape (n_rows, n_columns)
            Rows with the columns of the training data.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``; a Dask Array, not yet computed, if X is a Dask collection.
        """
        check_is_fitted(self)
        return self._lazily("predict_proba", X, np.float64, len(self.classes_))
