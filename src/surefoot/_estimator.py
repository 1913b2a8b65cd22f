"""The base class of all estimators: tags, reading tables, fitted checks, prediction in blocks of rows."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import warn_caller
from surefoot._parallel import ROW_BLOCK, RowThreads, rows_in_memory, threads_for
from surefoot._parameters import check_choice
from surefoot.data import Columns, Schema
from surefoot.data.checked_table import check_table, is_probe
from surefoot.data.problem import NumberProblem, Problem


class TableEstimator(BaseEstimator):
    """Reads tables with numbers, categories and missing values, and predicts them in blocks of rows."""

    n_jobs: int | None
    n_features_in_: int
    feature_names_in_: np.ndarray
    _schema: Schema
    _bins_sparse: ClassVar[bool] = False

    @property
    def _takes_raw_columns(self) -> bool:
        """Whether missing values and categorical columns are accepted."""
        return True

    @property
    def _takes_sparse(self) -> bool:
        """Whether sparse matrices are accepted; an estimator of the user's gets the table as an array."""
        return self._bins_sparse and self._takes_raw_columns

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_raw_columns
        tags.input_tags.categorical = self._takes_raw_columns
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_schema")

    def _remember(self, problem: Problem | NumberProblem) -> None:
        """Store the columns of a checked problem."""
        self.n_features_in_ = problem.columns.n_columns
        if problem.feature_names is not None:
            self.feature_names_in_ = problem.feature_names
        self._schema = problem.columns.schema

    def _columns(self, X: Any) -> Columns:
        """Read the columns of a table to predict; raise an error if the model is not fitted."""
        check_is_fitted(self)
        if is_probe(X, self._schema):
            return Columns.of_probe(X, self._schema)
        return check_table(self, X, self._schema)

    def _predict_blocks(
        self,
        columns: Columns,
        n_outputs: int,
        predict: Callable[[int, int], np.ndarray],
        n_trees: int = 0,
        size: int = ROW_BLOCK,
    ) -> np.ndarray:
        """Outputs (n_outputs, rows) of ``predict(start, stop)``, block by block; large tables use several threads."""
        out = np.empty((n_outputs, columns.n_rows))

        def fill(block: tuple[int, int]) -> None:
            start, stop = block
            out[:, start:stop] = predict(start, stop)

        n_cells = columns.n_rows * (columns.n_columns + n_trees)
        with RowThreads(threads_for(self.n_jobs, n_cells)) as threads:
            threads.each(fill, columns.row_blocks(rows_in_memory(size, n_outputs)))
        return out


class RenamedAttributes:
    """Fitted attributes that have a new name: the earlier name gives the same value, with a warning."""

    _renamed_attributes: ClassVar[dict[str, str]]

    def _renamed(self, name: str) -> Any:
        new_name = self._renamed_attributes[name]
        value = getattr(self, new_name)  # first, so that a model that is not fitted gives no warning
        warn_caller(f"{name} is now {new_name}: use that name.", FutureWarning)
        return value

    def __dir__(self) -> list[str]:
        """All names but the earlier ones, so that code that reads every attribute gives no warning."""
        return [name for name in super().__dir__() if name not in self._renamed_attributes]


class CategoricalParameter:
    """The parameter ``categorical_features``: ``"from_dtype"``, None, or a list of columns."""

    categorical_features: Any

    def _check_categorical_features(self) -> None:
        if isinstance(self.categorical_features, str):
            check_choice("categorical_features", self.categorical_features, ("from_dtype",))

    @property
    def _listed_categories(self) -> Any:
        return None if isinstance(self.categorical_features, str) else self.categorical_features
