"""A selector of the edges of a graphical lasso: which variables of a table are connected."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from surefoot._exceptions import DataError
from surefoot._jit import inner_kernel, kernel
from surefoot._parameters import check_boolean, check_number
from surefoot.selection.graphical_lasso import penalty_roots, solve_correlations
from surefoot.selection.selector import BagError, Selector
from surefoot.selection.table import NO_TARGET, SelectionTable

MIN_REST = 1e-3  # fraction of a column's variance that must be left if a bag's sums are computed by subtraction
WORK_PER_CALL = 1e8  # multiplications that take well under 200 milliseconds
FACTORS_PER_BAG = 20  # Cholesky factors; most bags need fewer


@dataclass(frozen=True)
class PreparedGraphicalLasso:
    """A table of shifted and scaled columns, their sums, and the solution for all rows, at which bags start."""

    items: tuple[tuple[str, str], ...]  # the pairs of variables
    names: tuple[str, ...]
    values: np.ndarray  # (rows, variables)
    sums: np.ndarray  # (variables,)
    products: np.ndarray  # (variables, variables): sums of products, on and below the diagonal
    roots: np.ndarray  # of the penalties, if all deviations were 1
    standardize: bool
    start: np.ndarray  # (variables, variables): a precision in units of correlation
    bags_per_call: int
    are_variables: bool = False

    def select(self, bags: np.ndarray) -> np.ndarray:
        """Choose the pairs that each bag connects."""
        correlations, deviations = self.correlate(bags)
        wrong, columns = np.nonzero(deviations == 0.0)
        if len(wrong):
            raise BagError(int(wrong[0]), f"column {self.names[columns[0]]!r} is constant in it")
        precisions, solved = np.empty_like(correlations), np.empty(len(bags), np.bool_)
        solve_correlations(correlations, self.penalty_roots(deviations), self.start, precisions, solved)
        if not solved.all():
            raise BagError(int(np.argmin(solved)), "its columns are too nearly collinear for such a small alpha")
        first, second = np.triu_indices(len(self.names), 1)
        return precisions[:, first, second] != 0.0

    def penalty_roots(self, deviations: np.ndarray) -> np.ndarray:
        """The roots of the penalties, in units of correlation, for each bag and variable."""
        return np.broadcast_to(self.roots, deviations.shape).copy() if self.standardize else self.roots / deviations

    def correlate(self, bags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The correlations of each bag and its standard deviations, which are 0 for constant columns."""
        n_bags, n_variables = len(bags), len(self.names)
        correlations = np.empty((n_bags, n_variables, n_variables))
        deviations = np.empty((n_bags, n_variables))
        rows = np.ascontiguousarray(bags, dtype=np.int32)
        correlate_bags(self.values, self.sums, self.products, rows, correlations, deviations)
        return correlations, deviations


class GraphicalLassoSelector(Selector):
    """Choose a graph of the variables: the pairs with a nonzero entry in a sparse precision matrix.

    The matrix is the precision of the correlations of a bag's rows: the units of the columns do not matter, and the
    model of a bag depends on the rows of the bag only. Every bag is solved until all edges are certain, also if columns
    are strongly correlated or have very different scales.

    Parameters
    ----------
    alpha : float
        The penalty of the entries off the diagonal: a larger value chooses fewer edges. The diagonal has no penalty, as
        in scikit-learn.
    standardize : bool, default=True
        Whether columns are first scaled to unit variance, by each bag's own variances. If not, the matrix is the
        precision of the covariances (divided by the number of rows), ``alpha`` is in their units, and a change of units
        changes the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.graphical_lasso_selector import GraphicalLassoSelector
    >>> from surefoot.selection.table import SelectionTable
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X[:, 2] += X[:, 0]
    >>> table = SelectionTable(X, ("a", "b", "c"), np.arange(3, dtype=np.int32))
    >>> prepared = GraphicalLassoSelector(alpha=0.5).prepare(table)
    >>> prepared.items
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    >>> prepared.select(np.arange(100, dtype=np.int32)[np.newaxis])
    array([[False,  True, False]])
    """

    target: ClassVar[str] = NO_TARGET

    def __init__(self, alpha: float, *, standardize: bool = True) -> None:
        self.alpha = alpha
        self.standardize = standardize

    def prepare(self, table: SelectionTable) -> PreparedGraphicalLasso:
        """Check ``alpha`` and the table, and solve the problem of all rows.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedGraphicalLasso
            Chooses a model for each bag of rows.
        """
        alpha = check_number("alpha", self.alpha, 0, np.inf, include_boundaries="neither")
        standardize = check_boolean("standardize", self.standardize)
        _check_variables(table)
        values, units = _shifted_and_scaled(table)
        n_rows, n_variables = values.shape
        sums, products = np.zeros(n_variables), np.zeros((n_variables, n_variables))
        add_rows(values, np.arange(n_rows, dtype=np.int32), np.zeros(n_variables), sums, products)
        pairs = tuple(combinations(table.names, 2))
        roots = penalty_roots(alpha, np.ones(n_variables) if standardize else units)
        prepared = PreparedGraphicalLasso(
            items=pairs,
            names=table.names,
            values=values,
            sums=sums,
            products=products,
            roots=roots,
            standardize=standardize,
            start=np.eye(n_variables),
            bags_per_call=1,
        )
        return _with_start(prepared, alpha)


def _check_variables(table: SelectionTable) -> None:
    """Raise an error unless there are two or more variables, each a column of numbers that is not constant."""
    categories = np.flatnonzero(np.bincount(table.groups, minlength=table.n_variables) > 1)
    if len(categories):
        raise DataError(
            f"X: column {table.names[categories[0]]!r} is a category, but a graph needs numbers: leave it out."
        )
    if table.n_variables < 2:
        raise DataError("X has fewer than two columns, but a graph needs at least two.")
    constant = np.flatnonzero(table.X.min(axis=0) == table.X.max(axis=0))
    if len(constant):
        raise DataError(f"X: column {table.names[constant[0]]!r} is constant, so its variance is zero: leave it out.")


def _shifted_and_scaled(table: SelectionTable) -> tuple[np.ndarray, np.ndarray]:
    """Columns minus their medians, scaled to between -1 and 1, and the units that they were divided by.

    Halves do not overflow, and differences from the median keep their digits even if there are outliers.
    """
    values = table.X / 2
    values -= np.median(values, axis=0)
    spread = np.abs(values).max(axis=0)
    with np.errstate(over="ignore", under="ignore"):
        return values / spread, 2 * spread


def _with_start(prepared: PreparedGraphicalLasso, alpha: float) -> PreparedGraphicalLasso:
    """The same, with the solution for all rows as start, and a number of bags per call that suits its size."""
    n_rows, n_variables = prepared.values.shape
    correlations, deviations = prepared.correlate(np.arange(n_rows)[np.newaxis])
    start, solved = np.empty_like(correlations), np.empty(1, np.bool_)
    solve_correlations(correlations, prepared.penalty_roots(deviations), prepared.start, start, solved)
    if not solved[0]:
        raise DataError(
            f"X has columns that are too nearly collinear for alpha={alpha:g}: increase alpha, or leave some out."
        )
    n_free = np.count_nonzero(start[0]) // 2 + n_variables
    work = n_rows * n_variables**2 + FACTORS_PER_BAG * n_free**3 / 6
    return replace(prepared, start=start[0], bags_per_call=max(1, int(WORK_PER_CALL / work)))


@kernel(allocates=True)
def correlate_bags(values, sums, products, bags, correlations, deviations):
    """Read a table and the sums over all its rows; write each bag's correlations and standard deviations.

    For a bag of most rows, the rows that it leaves out are subtracted from the sums of all rows, if that is precise.
    """
    n_rows, n_variables = values.shape
    size = bags.shape[1]
    all_sums, all_products = sums / n_rows, products / n_rows
    bag_sums, bag_products = np.empty_like(sums), np.empty_like(products)
    rest, origin = np.empty(n_rows, np.int32), np.zeros(n_variables)
    for bag in range(bags.shape[0]):
        n_rest = find_rest(bags[bag], rest) if 2 * size > n_rows else n_rows
        precise = size + n_rest == n_rows  # if not, rows are repeated, or the bag is small
        if precise:
            bag_sums[:], bag_products[:] = 0.0, 0.0
            add_rows(values, rest[:n_rest], origin, bag_sums, bag_products)
            for i in range(n_variables):
                bag_sums[i] = (sums[i] - bag_sums[i]) / size
                for j in range(i + 1):
                    bag_products[i, j] = (products[i, j] - bag_products[i, j]) / size
                whole = all_products[i, i] - all_sums[i] ** 2
                precise &= bag_products[i, i] - bag_sums[i] ** 2 > MIN_REST * whole
        if not precise:
            add_bag(values, bags[bag], bag_sums, bag_products)
        for i in range(n_variables):
            deviations[bag, i] = np.sqrt(max(bag_products[i, i] - bag_sums[i] ** 2, 0.0))
            for j in range(i):
                scale = deviations[bag, i] * deviations[bag, j]
                covariance = bag_products[i, j] - bag_sums[i] * bag_sums[j]
                correlations[bag, i, j] = covariance / scale if scale > 0.0 else 0.0
                correlations[bag, j, i] = correlations[bag, i, j]
            correlations[bag, i, i] = 1.0


@inner_kernel(allocates=True)
def find_rest(rows, rest):
    """Read a bag's rows, in ascending order; write the rows that it leaves out and return their number.

    The search stops at a repeated row: all rows after it count as left out, which are then too many for the bag's size.
    """
    n_rest, place = 0, 0
    for row in range(rest.shape[0]):
        if place < rows.shape[0] and rows[place] == row:
            place += 1
        else:
            rest[n_rest] = row
            n_rest += 1
    return n_rest


@kernel(allocates=True)
def add_rows(values, rows, origin, sums, products):
    """Read some rows of a table relative to ``origin``; add them to the sums and the sums of products."""
    n_variables = values.shape[1]
    shifted = np.empty(n_variables)
    for k in range(rows.shape[0]):
        row = values[rows[k]]
        for i in range(n_variables):
            shifted[i] = row[i] - origin[i]
            sums[i] += shifted[i]
            for j in range(i + 1):
                products[i, j] += shifted[i] * shifted[j]


@inner_kernel(allocates=True)
def add_bag(values, rows, sums, products):
    """Read a bag's rows of a table; write means and means of products, around the bag's own mean.

    The mean of a constant column is its value to the last bit, so that its deviation is exactly 0.
    """
    size, n_variables = rows.shape[0], values.shape[1]
    mean = np.zeros(n_variables)
    for i in range(n_variables):
        first, constant = values[rows[0], i], True
        for k in range(size):
            value = values[rows[k], i]
            constant &= value == first
            mean[i] += value
        mean[i] = first if constant else mean[i] / size
    sums[:], products[:] = 0.0, 0.0
    add_rows(values, rows, mean, sums, products)
    sums /= size
    products /= size
