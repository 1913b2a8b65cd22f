"""The transformer that keeps the columns of selected models."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import DataError
from surefoot._fitted_state import reads_one_fit
from surefoot._numbers import naming
from surefoot.selection.table import check_columns, take_columns


class SelectedColumnsMixin(TransformerMixin, ABC):
    """Keeps the columns of ``get_support``; unlike scikit-learn's ``SelectorMixin``, it leaves a frame a frame."""

    n_features_in_: int

    @abstractmethod
    def get_support(self, indices: bool = False) -> np.ndarray:
        """Return which columns are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return positions instead of a mask.

        Returns
        -------
        array
            A mask of shape (n_columns,), or the positions of the columns.
        """

    def transform(self, X: Any) -> Any:
        """Keep the columns that any of the selected models has.

        Parameters
        ----------
        X : array or frame of shape (n_rows, n_columns)
            A table with the columns of the fit.

        Returns
        -------
        array or frame
            The same table with these columns only.
        """
        support = self.get_support(indices=True)
        return take_columns(check_columns(self, X, reset=False), support)

    @reads_one_fit
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that ``transform`` keeps.

        Parameters
        ----------
        input_features : sequence of str or None, default=None
            Names of all columns; must equal ``feature_names_in_``, if that exists. None: the names of the fit.

        Returns
        -------
        array of str
            The names.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(self.n_features_in_)] if known is None else known
        if input_features is not None:
            with naming("input_features"):
                given = list(input_features)
            if len(given) != len(names):
                raise DataError(f"input_features should have length equal to the number of columns, {len(names)}.")
            if known is not None and given != list(known):
                raise DataError("input_features is not equal to feature_names_in_: pass the names of the columns of X.")
            names = given
        return np.array(names, dtype=object)[self.get_support()]


# Outside of what scikit-learn has made of it, which names the columns of the result after the transformation.
SelectedColumnsMixin.transform = reads_one_fit(SelectedColumnsMixin.transform)  # type: ignore[method-assign]
