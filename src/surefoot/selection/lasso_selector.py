"""Variables that the LASSO gives a coefficient."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parameters import check_boolean, check_number
from surefoot.selection.lasso_path import FullTable, select_bags, select_bags_by_folds
from surefoot.selection.selector import NUMBERS, Selector
from surefoot.selection.table import SelectionTable

CV = "cv"
FOLDS, PENALTIES = 5, 100
MOST_GRAM_COLUMNS = 1000  # products of more columns than this are not kept for all rows
LARGEST = 1e100  # of a number; products of four must stay within float64
CALL_CELLS = 50_000_000  # products that take well under 200 milliseconds


class LassoSelector(Selector):
    """Choose the variables that have a nonzero coefficient in the LASSO (scikit-learn's ``Lasso``).

    Each bag is centred by its own means. The path of solutions is followed exactly, so that there is no tolerance
    which could decide about a small coefficient. Where the solution is not unique (identical columns), one of them.

    Parameters
    ----------
    alpha : float > 0 or "cv", default=1.0
        The penalty, as in ``Lasso``. With "cv" each bag chooses its own, by five folds of its rows in their order and
        100 penalties, as ``LassoCV`` does.
    standardize : bool, default=False
        Whether columns are scaled to unit variance first, by each bag's own variances.

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
    >>> StableSelector(LassoSelector(alpha=0.3), random_state=0).fit(X, y).expression_
    'x1 x x3'
    """

    target = NUMBERS

    def __init__(self, alpha: float | str = 1.0, *, standardize: bool = False) -> None:
        self.alpha = alpha
        self.standardize = standardize

    def prepare(self, table: SelectionTable) -> "PreparedLasso":
        """Shift the table to its medians, which no row far out can move, and sum up what all bags share."""
        if self.alpha != CV:
            check_number("alpha", self.alpha, 0.0, np.inf, most_included=False)
        check_boolean("standardize", self.standardize)
        if table.y is None:
            raise DataError("y is missing: LassoSelector chooses variables that tell y.")
        X, y = np.ascontiguousarray(table.X - np.median(table.X, axis=0)), table.y - np.median(table.y)
        _refuse_extremes(X, y)
        n_columns = X.shape[1]
        gram = np.einsum("ij,ik->jk", X, X) if n_columns <= MOST_GRAM_COLUMNS else np.empty((0, 0))
        none = np.empty(0, dtype=np.int64), np.full(n_columns, -1)
        both = np.column_stack([X, y])
        whole = FullTable(X, y, both.sum(axis=0), (both * y[:, np.newaxis]).sum(axis=0), gram, *none)
        prepared = PreparedLasso(table.names, table.groups, whole, self.alpha, self.standardize)
        return prepared if self.alpha == CV else prepared.with_likely_columns()


def _refuse_extremes(X: np.ndarray, y: np.ndarray) -> None:
    """An error where products of numbers would be beyond float64, or below it."""
    largest = np.abs(np.column_stack([X, y])).max(axis=0)
    if (largest > LARGEST).any() or ((largest > 0) & (largest < 1 / LARGEST)).any():
        raise DataError("X or y has columns of extremely large or small numbers: change their units.")


@dataclass(frozen=True)
class PreparedLasso:
    """A LASSO with its table."""

    items: tuple[str, ...]
    groups: np.ndarray
    table: FullTable
    alpha: Any
    standardize: bool
    are_variables: bool = True

    def with_likely_columns(self) -> "PreparedLasso":
        """The same, prepared for the columns that have a coefficient on all rows."""
        n_rows, n_columns = self.table.X.shape
        every, chosen = np.arange(n_rows, dtype=np.int32)[np.newaxis], np.empty((1, n_columns), dtype=np.bool_)
        own = np.arange(n_columns, dtype=np.int32)
        select_bags(self.table, every, float(self.alpha), self.standardize, own, chosen)
        likely, place_of = np.flatnonzero(chosen[0]), np.full(n_columns, -1)
        place_of[likely] = np.arange(len(likely))
        table = self.table._replace(likely=likely, place_of=place_of)
        return PreparedLasso(self.items, self.groups, table, self.alpha, self.standardize)

    @property
    def bags_per_call(self) -> int:
        n_rows, n_columns = self.table.X.shape
        work = n_rows * n_columns * 20 * (FOLDS * 5 if self.alpha == CV else 1)
        return int(min(max(CALL_CELLS // work, 1), 1024))

    def select(self, bags: np.ndarray) -> np.ndarray:
        """Which variables have a coefficient on each bag."""
        out = np.empty((len(bags), len(self.items)), dtype=np.bool_)
        if self.alpha == CV:
            select_bags_by_folds(self.table, bags, FOLDS, PENALTIES, self.standardize, self.groups, out)
        else:
            select_bags(self.table, bags, float(self.alpha), self.standardize, self.groups, out)
        return out
