"""Variables that the LASSO gives a coefficient."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_boolean, check_number
from surefoot.selection.gaps import Gaps, filled_bags, known_medians
from surefoot.selection.lasso_path import FullTable, select_bags, select_bags_by_folds
from surefoot.selection.selector import ERROR, NUMBERS, Selector
from surefoot.selection.table import SelectionTable

CV, UNIVERSAL = "cv", "universal"
FOLDS, PENALTIES = 5, 100
MAX_GRAM_COLUMNS = 1000  # products of more columns than this are not kept for all rows
LARGEST = 1e100  # of a number; products of four must stay within float64
CALL_CELLS = 50_000_000  # products that take well under 200 milliseconds
FILLED_CELLS = 4_000_000  # of bags' rows without gaps, which are written down


class LassoSelector(Selector):
    """Choose the variables that have a nonzero coefficient in the LASSO (scikit-learn's ``Lasso``).

    Each bag is centred by its own means, and its columns are scaled by its own standard deviations: the units of the
    columns do not matter, and no row outside of a bag has a say in its model. The path of solutions is followed
    exactly, so that there is no tolerance which could decide about a small coefficient. Where the solution is not
    unique (identical columns), one of them.

    Parameters
    ----------
    alpha : float > 0, "universal" or "cv", default="universal"
        The penalty, as in ``Lasso``: a number is in the units of y. "universal" is computed in each bag, and in
        ``select_once`` for all rows, as ``std(y) * sqrt(2 * log(2 * p) / n)`` of the bag's n rows and the p columns
        that vary in them: noise alone rarely gets a coefficient, and the units of y do not matter. With "cv" each bag
        chooses its own, by five folds of its rows in their order and 100 penalties, as ``LassoCV`` does.
    standardize : bool, default=True
        Whether columns are scaled to unit variance first, by each bag's own variances. If not, a change of units
        changes the variables that are chosen.
    missing : "error" or "bag_median", default="error"
        Whether missing values are an error, or are filled in each bag with the medians of its own rows. A column of 0
        and 1 that says where values are missing then counts as part of the same variable; a missing category is a value
        of its own. Values that were filled by means or medians of all rows would void the guarantee.

    See Also
    --------
    surefoot.StableSelector : Bags of rows, and what they agree on.

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
        """Shift the table to its medians, which outliers cannot move, and sum up what all bags share.

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
            raise DataError("y is missing: LassoSelector chooses variables that tell y.")
        X, y = np.ascontiguousarray(table.X - known_medians(table.X)), table.y - np.median(table.y)
        _refuse_extremes(X, y)
        n_columns, gaps = X.shape[1], Gaps.find(X)
        keeps_products = n_columns <= MAX_GRAM_COLUMNS and not gaps
        gram = np.einsum("ij,ik->jk", X, X) if keeps_products else np.empty((0, 0))
        none = np.empty(0, dtype=np.int64), np.full(n_columns, -1)
        both = np.column_stack([X, y])
        whole = FullTable(X, y, both.sum(axis=0), (both * y[:, np.newaxis]).sum(axis=0), gram, *none)
        prepared = PreparedLasso(table.names, table.groups, whole, gaps, self.alpha, self.standardize)
        return prepared if self.alpha == CV else prepared.with_likely_columns()

    def _check_parameters(self) -> None:
        check_boolean("standardize", self.standardize)
        if self.alpha == UNIVERSAL and not self.standardize:
            raise ParameterError(
                "alpha='universal' is for columns on one scale: leave standardize=True, or give a number."
            )
        if self.alpha not in (CV, UNIVERSAL):
            check_number("alpha", self.alpha, 0.0, np.inf, most_included=False)


def _refuse_extremes(X: np.ndarray, y: np.ndarray) -> None:
    """An error where products of numbers would be beyond float64, or below it."""
    largest = np.nanmax(np.abs(np.column_stack([X, y])), axis=0, initial=0.0)
    if (largest > LARGEST).any() or ((largest > 0) & (largest < 1 / LARGEST)).any():
        raise DataError("X or y has columns of extremely large or small numbers: change their units.")


@dataclass(frozen=True)
class PreparedLasso:
    """A LASSO with its table."""

    items: tuple[str, ...]
    groups: np.ndarray
    table: FullTable
    gaps: Gaps
    alpha: Any
    standardize: bool
    are_variables: bool = True

    def with_likely_columns(self) -> "PreparedLasso":
        """The same, prepared for the columns that have a coefficient on all rows."""
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
        room = FILLED_CELLS // (n_rows * n_columns) if self.gaps else 1024
        return int(min(max(min(CALL_CELLS // work, room), 1), 1024))

    def select(self, bags: np.ndarray) -> np.ndarray:
        """Which variables have a coefficient on each bag."""
        out = np.empty((len(bags), len(self.items)), dtype=np.bool_)
        self._choose(bags, self.groups, out)
        return out

    def _choose(self, bags: np.ndarray, groups: np.ndarray, out: np.ndarray) -> None:
        table = self.table
        if self.gaps:  # a table of the bags' rows, one bag below the other
            filled = filled_bags(table.X, self.gaps, bags)
            table, bags = table._replace(X=filled, y=table.y[bags].ravel()), _row_numbers(bags)
        if self.alpha == CV:
            select_bags_by_folds(table, bags, FOLDS, PENALTIES, self.standardize, groups, out)
        else:
            penalty = 0.0 if self.alpha == UNIVERSAL else float(self.alpha)
            select_bags(table, bags, penalty, self.standardize, groups, out)


def _row_numbers(bags: np.ndarray) -> np.ndarray:
    """The rows of bags that lie one below the other."""
    return np.arange(bags.size, dtype=np.int32).reshape(bags.shape)
