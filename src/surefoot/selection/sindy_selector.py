"""A selector of equations of motion by SINDy: sparse regression of derivatives on polynomials of the states."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_integer, check_number
from surefoot.selection.finite_differences import MIN_ROWS, check_times, differentiate
from surefoot.selection.polynomial_library import PolynomialLibrary
from surefoot.selection.selector import BagError, Selector
from surefoot.selection.table import NO_TARGET, SelectionTable
from surefoot.selection.thresholded_ridge import MAX_ROUNDS, make_buffers, threshold_bags

MAX_TERMS = 2_000
MAX_NUMBER = 1e150  # sums of squares of larger numbers exceed float64
STEPS_PER_CALL = 30_000_000  # multiplications that take a few dozen milliseconds
MAX_BAGS_PER_CALL = 256


@dataclass(frozen=True)
class PreparedSINDy:
    """The terms and derivatives of a table's rows; a bag is some of the rows.

    Parameters
    ----------
    items : tuple of (equation, term)
        The name of a state and the name of a possible term of its derivative.
    terms : array of shape (n_rows, n_terms)
        The values of the terms.
    derivatives : array of shape (n_rows, n_equations)
        The derivatives of the states with respect to time.
    threshold, alpha : float
        The parameters of the selector.
    """

    items: tuple[tuple[str, str], ...]
    terms: np.ndarray
    derivatives: np.ndarray
    threshold: float
    alpha: float
    are_variables: bool = False

    @property
    def bags_per_call(self) -> int:
        (n_rows, n_terms), n_equations = self.terms.shape, self.derivatives.shape[1]
        rounds = min(n_terms, MAX_ROUNDS) * n_equations
        steps = n_rows * n_terms * (n_terms / 2 + n_equations) + rounds * n_terms**3 / 6
        return int(min(max(STEPS_PER_CALL / steps, 1), MAX_BAGS_PER_CALL))

    def select(self, bags: np.ndarray) -> np.ndarray:
        """Choose the (equation, term) pairs of each bag's model: bool (bags, items)."""
        return (self._fit(bags, refit=False) != 0.0).reshape(len(bags), len(self.items))

    def coefficients(self, bags: np.ndarray) -> np.ndarray:
        """Fit each bag's coefficients (bags, terms, equations): least squares of the chosen terms, zero elsewhere.

        The ridge penalty is used only to choose the terms; their coefficients are then fitted without it.
        """
        return self._fit(bags, refit=True).swapaxes(1, 2)

    def _fit(self, bags: np.ndarray, *, refit: bool) -> np.ndarray:
        bags = np.require(bags, np.int32, ["C", "W"])  # other layouts and read-only arrays would be compiled again
        n_terms, n_equations = self.terms.shape[1], self.derivatives.shape[1]
        buffers, out = make_buffers(n_terms, n_equations), np.empty((len(bags), n_equations, n_terms))
        failed = threshold_bags(self.terms, self.derivatives, bags, self.threshold, self.alpha, refit, buffers, out)
        if failed >= 0:
            raise BagError(failed, "its coefficients are too large for float64; change the units of X or t")
        return out


class SINDySelector(Selector):
    """Choose the terms of a system's equations of motion, by sparse regression.

    The derivative of each state is regressed on polynomials of all states by sequentially thresholded ridge
    regression: fit, drop the terms with a coefficient below ``threshold``, fit the rest again, until none is dropped.
    Derivatives are finite differences over the whole table (second order, ends included), so the times are required:
    ``fit(X, t=times)``. A bag is some of the rows with their derivatives. A model is a set of (equation, term) pairs
    such as ``("hare", "hare lynx")``.

    If the terms are linearly dependent on a bag, least squares has no unique solution: ``alpha=0`` uses the one of
    smallest norm.

    Parameters
    ----------
    degree : int, default=2
        The maximum number of states that a term multiplies.
    threshold : float, default=0.1
        Terms with a smaller coefficient, in absolute value, are dropped. A suitable value depends on the units of X and
        t.
    alpha : float, default=0.05
        The ridge penalty: this times the sum of squared coefficients is added to the sum of squared errors.

    References
    ----------
    Brunton, Proctor and Kutz (2016), Discovering governing equations from data by sparse identification of nonlinear
    dynamical systems. Rudy, Brunton, Proctor and Kutz (2017), Data-driven discovery of partial differential equations.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.sindy_selector import SINDySelector
    >>> from surefoot.selection.table import SelectionTable
    >>> times = np.linspace(0, 2, 50)
    >>> X = np.exp(-times)[:, np.newaxis]
    >>> table = SelectionTable(X, ("mass",), np.zeros(1, dtype=np.int32), extras={"t": times})
    >>> prepared = SINDySelector(threshold=0.2, alpha=0.01).prepare(table)
    >>> all_rows = np.arange(50, dtype=np.int32)[np.newaxis]
    >>> [item for item, chosen in zip(prepared.items, prepared.select(all_rows)[0]) if chosen]
    [('mass', 'mass')]
    """

    pool_is_exact: ClassVar[bool] = False  # leaving out a row changes the derivatives of its neighbours
    target: ClassVar[str] = NO_TARGET
    fit_arguments: ClassVar[tuple[str, ...]] = ("t",)

    def __init__(self, *, degree: int = 2, threshold: float = 0.1, alpha: float = 0.05) -> None:
        self.degree = degree
        self.threshold = threshold
        self.alpha = alpha

    def prepare(self, table: SelectionTable) -> PreparedSINDy:
        """Compute terms and derivatives of all rows; ``table.extras["t"]`` has the times of the rows.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedSINDy
            Chooses a model for each bag of rows.
        """
        check_integer("degree", self.degree, 1)
        check_number("threshold", self.threshold, 0.0, MAX_NUMBER, include_boundaries="right")
        check_number("alpha", self.alpha, 0, MAX_NUMBER, include_boundaries="both")
        times = _times(table)
        library = _library(table, int(self.degree))
        terms, derivatives = library.values(table.X), differentiate(table.X, times)
        if not (np.abs(terms) <= MAX_NUMBER).all():
            raise DataError(f"X has values too large for terms of degree {self.degree}: choose larger units for X.")
        if not (np.abs(derivatives) <= MAX_NUMBER).all():
            raise DataError("X changes too fast to compute its derivatives: choose other units for X or t.")
        items = tuple((equation, term) for equation in table.names for term in library.names)
        return PreparedSINDy(
            items=items,
            terms=terms,
            derivatives=derivatives,
            threshold=float(self.threshold),
            alpha=float(self.alpha),
        )


def _times(table: SelectionTable) -> np.ndarray:
    if table.n_rows < MIN_ROWS:
        raise DataError(f"X has {table.n_rows} row(s): derivatives need {MIN_ROWS} or more.")
    if table.extras.get("t") is None:
        raise DataError("SINDySelector needs the time of each row: give t, as in fit(X, t=times).")
    return check_times(table.extras["t"], table.n_rows)


def _library(table: SelectionTable, degree: int) -> PolynomialLibrary:
    if table.X.shape[1] != table.n_variables:
        raise DataError("X has categories, but SINDySelector takes numbers only: drop these columns.")
    library = PolynomialLibrary(table.names, degree)
    if library.n_terms > MAX_TERMS:
        raise ParameterError(
            f"degree={degree} makes {library.n_terms} terms of {table.n_variables} columns, more than {MAX_TERMS}: "
            "choose a lower degree, or drop columns."
        )
    name, count = Counter(library.names).most_common(1)[0]
    if count > 1:
        raise DataError(f"Two terms would both have the name {name!r}: rename columns of X.")
    return library


def ensemble_coefficients(prepared: PreparedSINDy, pool_bags: np.ndarray, tau: float) -> np.ndarray:
    """Coefficients of E-SINDy: averages over all bags, for terms that more than a fraction ``tau`` of the bags chose.

    The coefficient of a term is zero in bags that did not choose it.

    Parameters
    ----------
    prepared : PreparedSINDy
        A selector with its table.
    pool_bags : int32 array of shape (n_bags, size)
        Rows of each bag.
    tau : float
        A fraction of the bags, at least 0 and below 1.

    Returns
    -------
    coefficients : array of shape (n_terms, n_equations)
        The averages; zero for the other terms.

    References
    ----------
    Fasel, Kutz, Brunton and Brunton (2022), Ensemble-SINDy: robust sparse model discovery in the low-data, high-noise
    limit, with active learning and control.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.sindy_selector import SINDySelector, ensemble_coefficients
    >>> from surefoot.selection.table import SelectionTable
    >>> times = np.linspace(0, 2, 50)
    >>> X = np.exp(-times)[:, np.newaxis]
    >>> table = SelectionTable(X, ("mass",), np.zeros(1, dtype=np.int32), extras={"t": times})
    >>> prepared = SINDySelector(threshold=0.2, alpha=0.01).prepare(table)
    >>> bags = np.array([np.arange(0, 50, 2), np.arange(1, 50, 2)], dtype=np.int32)
    >>> ensemble_coefficients(prepared, bags, tau=0.5).round(2).ravel()
    array([ 0., -1.,  0.])
    """
    check_number("tau", tau, 0, 1.0, include_boundaries="left")
    if len(pool_bags) == 0:
        raise DataError("pool_bags has no bags: draw at least one.")
    sums = np.zeros((prepared.terms.shape[1], prepared.derivatives.shape[1]))
    counts = np.zeros(sums.shape, dtype=np.int64)
    for first in range(0, len(pool_bags), prepared.bags_per_call):
        try:
            fitted = prepared.coefficients(pool_bags[first : first + prepared.bags_per_call])
        except BagError as error:
            raise DataError(f"Bag {first + error.index} has no model: {error.reason}.") from None
        sums += fitted.sum(axis=0)
        counts += np.count_nonzero(fitted, axis=0)
    return np.where(counts > tau * len(pool_bags), sums / len(pool_bags), 0.0)
