"""SHAP values of some rows, with what they explain."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from surefoot._extras import needs
from surefoot.data.columns import is_frame
from surefoot.uncertainty.decomposition import row_index

if TYPE_CHECKING:
    import pandas as pd

EXPLAIN = "explain"  # the extra with shap


@dataclass(frozen=True, eq=False, repr=False)
class ShapValues:
    """How much each column adds to what a model says about each row.

    The values of a row and ``base_value`` add up to what is explained.

    Parameters
    ----------
    values : array of shape (n_rows, n_columns)
        What each column adds.
    base_value : float
        The value without any column: the same for all rows.
    output : str or label
        What is explained: a parameter of the distribution, a class, or ``"knowledge"``.
    feature_names : tuple of str
        Names of the columns.
    data : table
        The rows, as they were passed.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefoot import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> model.shap_values(X, "log_sigma")
    <ShapValues of 'log_sigma': 442 rows, 10 columns; largest on average: bmi, s5, bp>
    """

    values: np.ndarray
    base_value: float
    output: Hashable
    feature_names: tuple[str, ...]
    data: Any

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        order = np.argsort(-self.importances, kind="stable")[:3]
        largest = ", ".join(self.feature_names[j] for j in order)
        n_rows, n_columns = self.values.shape
        return f"<ShapValues of {self.output!r}: {n_rows} rows, {n_columns} columns; largest on average: {largest}>"

    @property
    def importances(self) -> np.ndarray:
        """The mean absolute value of each column."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    @needs("pandas")
    def to_frame(self) -> "pd.DataFrame":
        """Return the values as a frame.

        Returns
        -------
        pandas.DataFrame
            Rows are labelled as in the table that is explained, columns by their names.
        """
        import pandas as pd

        return pd.DataFrame(self.values, index=row_index(self.data), columns=list(self.feature_names))

    @needs("shap", extra=EXPLAIN)
    def to_explanation(self) -> Any:
        """Return the values as shap's plots take them.

        Returns
        -------
        shap.Explanation
            For example for ``shap.plots.beeswarm`` or, one row of it, for ``shap.plots.waterfall``.
        """
        import shap

        rows = nw.from_native(self.data, eager_only=True).to_numpy() if is_frame(self.data) else np.asarray(self.data)
        return shap.Explanation(
            values=self.values,
            base_values=np.full(len(self), self.base_value),
            data=rows,
            feature_names=list(self.feature_names),
            output_names=str(self.output),
        )
