"""A selector of the variables with a nonzero coefficient in the LASSO."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_boolean, check_number, is_one_of
from surefoot.selection.lasso_path import (
    FullTable,
    make_buffers,
    make_path,
    make_penalty_buffers,
    select_bags,
    select_bags_by_folds,
)
from surefoot.selection.selector import Selector
from surefoot.selection.table import ERROR, NUMBERS, MissingValues, SelectionTable, filled_bags, known_medians

CV, UNIVERSAL = "cv", "universal"
FOLDS, PENALTIES = 5, 100
MAX_GRAM_COLUMNS = 1000  # for more columns, their products over all rows are not stored
MAX_NUMBER = 1e100  # products of four numbers must stay within float64
CALL_CELLS = 50_000_000  # products that take well under 200 milliseconds
FILLED_CELLS = 4_000_000  # cells of the bags' filled rows, which are in memory


class LassoSelector(Selector):
    """Choose the variables that have a nonzero coefficient in the LASSO (scikit-learn's ``Lasso``).

    Each bag is centred by its own means, and its columns are scaled by its own standard deviations: the units of the
    columns do not matter, and the model of a bag depends on the rows of the bag only. The path of solutions is followed
    exactly, so that no tolerance decides about a small coefficient. If the solution is not unique (identical columns),
    one of the solutions is used.

    Parameters
    ----------
    alpha : float > 0, "universal" or "cv", default="universal"
        The penalty, as in ``Lasso``: a number is in the units of y. "universal" is computed in each bag, and in
        ``select_once`` for all rows, as ``std(y) * sqrt(2 * log(2 * p) / n)``, where n is the number of rows and p the
        number of columns that vary in them: noise rarely gets a coefficient, and the units of y do not matter. With
        "cv" each bag chooses its penalty, by five consecutive folds of its rows and 100 penalties, as in ``LassoCV``.
    standardize : bool, default=True
        Whether columns are first scaled to unit variance, by each bag's own variances. If not, a change of units
        changes the variables that are chosen.
    missing : "error" or "bag_median", default="error"
        Whether missing values are an error, or are filled in each bag with the medians of its own rows. A column of 0
        and 1 that marks missing values then counts as part of the same variable; a missing category is a value of its
        own. Values filled with means or medians of all rows would void the guarantee.

    See Also
    --------
    surefoot.StableSelector : Runs a selector on many bags of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot import StableSelector
    >>> from surefoot.selection import LassoSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] + X[:, 3] + 0.1 * rng.normal(size=100)
    >>> StableSelector(LassoSelector(), random_state=0).fit(X, y).expression_
    'x1 and x3'
    """

    target = NUMBERS

    def __init__(self, alpha: float | str = UNIVERSAL, *, standardize: bool = True, missing: str = ERROR) -> None:
        self.alpha = alpha
        self.standardize = standardize
        self.missing = missing

    def prepare(self, table: SelectionTable) -> "PreparedLasso":
        """Subtract the medians of the columns, which are robust to outliers, and compute the sums that all bags share.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedLasso
            Chooses a model for each bag of rows.
        """
        self._check_parameters()
        if table.y is None:
            raise DataError("y is missing: LassoSelector chooses variables that predict y.")
        X, y = np.ascontiguousarray(table.X - known_medians(table.X)), table.y - np.median(table.y)
        _refuse_extremes(X, y)
        n_columns, missing = X.shape[1], MissingValues.find(X)
        stores_products = n_columns <= MAX_GRAM_COLUMNS and not missing
        both = np.column_stack([X, y])
        full = FullTable(
            X=X,
            y=y,
            sums=both.sum(axis=0),
            products=(both * y[:, np.newaxis]).sum(axis=0),
            gram=np.einsum("ij,ik->jk", X, X) if stores_products else np.empty((0, 0)),
            likely=np.empty(0, dtype=np.int64),
            place_of=np.full(n_columns, -1),
        )
        prepared = PreparedLasso(
            items=table.names,
            groups=table.groups,
            table=full,
            missing=missing,
            alpha=self.alpha,
            standardize=self.standardize,
        )
        return prepared if self.alpha == CV else prepared.with_likely_columns()

    def _check_parameters(self) -> None:
        check_boolean("standardize", self.standardize)
        if is_one_of(self.alpha, (UNIVERSAL,)) and not self.standardize:
            raise ParameterError(
                "alpha='universal' is for columns on one scale: keep standardize=True, or give a number."
            )
        if not is_one_of(self.alpha, (CV, UNIVERSAL)):
            check_number("alpha", self.alpha, 0.0, np.inf, include_boundaries="neither")


def _refuse_extremes(X: np.ndarray, y: np.ndarray) -> None:
    """Raise an error if products of numbers would overflow or underflow."""
    largest = np.nanmax(np.abs(np.column_stack([X, y])), axis=0, initial=0.0)
    if (largest > MAX_NUMBER).any() or ((largest > 0) & (largest < 1 / MAX_NUMBER)).any():
        raise DataError("X or y has columns of extremely large or small numbers: change their units.")


@dataclass(frozen=True)
class PreparedLasso:
    """A LASSO with its table."""

    items: tuple[str, ...]
    groups: np.ndarray
    table: FullTable
    missing: MissingValues
    alpha: Any
    standardize: bool
    are_variables: bool = True

    def with_likely_columns(self) -> "PreparedLasso":
        """The same, with the columns that have a coefficient on all rows as likely columns."""
        n_rows, n_columns = self.table.X.shape
        every, chosen = np.arange(n_rows, dtype=np.int32)[np.newaxis], np.empty((1, n_columns), dtype=np.bool_)
        self._choose(every, np.arange(n_columns, dtype=np.int32), chosen)
        likely, place_of = np.flatnonzero(chosen[0]), np.full(n_columns, -1)
        place_of[likely] = np.arange(len(likely))
        return replace(self, table=self.table._replace(likely=likely, place_of=place_of))

    @property
    def bags_per_call(self) -> int:
        n_rows, n_columns = self.table.X.shape
        work = n_rows * n_columns * 20 * (FOLDS * 5 if self.alpha == CV else 1)
        max_filled = FILLED_CELLS // (n_rows * n_columns) if self.missing else 1024
        return int(min(max(min(CALL_CELLS // work, max_filled), 1), 1024))

    def select(self, bags: np.ndarray) -> np.ndarray:
        """Choose the variables that have a coefficient on each bag."""
        out = np.empty((len(bags), len(self.items)), dtype=np.bool_)
        self._choose(bags, self.groups, out)
        return out

    def _choose(self, bags: np.ndarray, groups: np.ndarray, out: np.ndarray) -> None:
        table = self.table
        if self.missing:  # a table of the bags' rows, one bag below the other
            filled = filled_bags(table.X, self.missing, bags)
            table, bags = table._replace(X=filled, y=table.y[bags].ravel()), _row_numbers(bags)
        n_columns, size = table.X.shape[1], bags.shape[1]
        path, buffers = make_path(n_columns, min(n_columns, size)), make_buffers(table, size)
        compared = make_penalty_buffers(PENALTIES if self.alpha == CV else 1, n_columns, size)
        if self.alpha == CV:
            select_bags_by_folds(table, bags, FOLDS, self.standardize, groups, path, buffers, compared, out)
        else:
            penalty = 0.0 if self.alpha == UNIVERSAL else float(self.alpha)
            select_bags(table, bags, penalty, self.standardize, groups, path, buffers, compared, out)


def _row_numbers(bags: np.ndarray) -> np.ndarray:
    """The row numbers of bags that are stacked one below the other."""
    return np.arange(bags.size, dtype=np.int32).reshape(bags.shape)
