"""Variables that a logistic regression with an absolute penalty gives a coefficient."""

from dataclasses import dataclass

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parameters import check_boolean, check_number
from surefoot.selection.logistic_bag import BagRows, measure_columns, scale_rows
from surefoot.selection.logistic_lasso import add_held_out, fit_bags
from surefoot.selection.selector import CLASSES, BagError, Selector
from surefoot.selection.table import SelectionTable

CV = "cv"
FOLDS, GRID = 5, np.logspace(-4, 4, 10)
TIE = 1e-9  # losses that differ by this share are the same
STEPS, PATH_FITS = 10, 40  # Newton steps that a fit takes, and fits that the choice of C is worth
WORK_PER_CALL = 2e8  # multiplications that take well under 200 milliseconds
CELLS_PER_CALL = 4_000_000  # of the bags' scaled rows, which are written down
LARGEST = 1e300


class LogisticLassoSelector(Selector):
    """Choose the variables that have a nonzero coefficient in a logistic regression with an absolute penalty.

    The least ``C * (sum of log-losses) + (sum of the coefficients' absolute values)``; intercepts are not penalised.
    That is scikit-learn's ``LogisticRegression`` with its L1 penalty and the solver "saga" (the solver "liblinear"
    penalises the intercept too). With two classes there is one coefficient for each column, with more there is one for
    each column and class (softmax), and a variable is chosen where any of them is nonzero. Every bag is solved until
    the conditions of the optimum hold, also where the classes are separable. Where the solution is not unique
    (identical columns), one of them. A column that is constant in a bag has no coefficient; a bag with rows of one
    class only is an error.

    Parameters
    ----------
    C : float > 0 or "cv", default=1.0
        The weight of the losses: the smaller, the fewer variables. With "cv" each bag chooses its own from
        ``np.logspace(-4, 4, 10)``, by the log-loss of rows held out in five folds, and is then fitted as a whole. Its
        distinct rows are dealt to the folds in turn, class by class and in their order: copies of a row stay together.
        The only row of a class is never held out. Of values that are equally good, the smallest is taken.
    standardize : bool, default=False
        Whether columns are scaled to unit variance first, by each bag's own variances (with "cv", by those of the rows
        that are not held out).

    See Also
    --------
    surefoot.StableSelector : Bags of rows, and what they agree on.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.selection.logistic_lasso_selector import LogisticLassoSelector
    >>> from surefoot.selection.table import SelectionTable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = (X[:, 1] + 0.5 * rng.normal(size=100) > 0).astype(np.int64)
    >>> table = SelectionTable(X, ("a", "b", "c"), np.arange(3, dtype=np.int32), y, np.array([0, 1]))
    >>> prepared = LogisticLassoSelector(C=0.1).prepare(table)
    >>> prepared.select(np.arange(100, dtype=np.int32)[np.newaxis])
    array([[False,  True, False]])
    """

    target = CLASSES

    def __init__(self, C: float | str = 1.0, *, standardize: bool = False) -> None:
        self.C = C
        self.standardize = standardize

    def prepare(self, table: SelectionTable) -> "PreparedLogisticLasso":
        """Check parameters and table."""
        if self.C != CV:
            check_number("C", self.C, 0.0, np.inf, most_included=False)
        check_boolean("standardize", self.standardize)
        if table.y is None or table.classes is None:
            raise DataError(
                "y must be labels of classes: LogisticLassoSelector chooses variables that tell them apart."
            )
        if len(np.unique(table.y)) < 2:
            raise DataError(
                "y has one class only, and there is nothing to tell apart: use rows of two classes or more."
            )
        if np.abs(table.X).max(initial=0.0) > LARGEST:
            raise DataError(f"X has numbers beyond {LARGEST:g}: divide their columns by a common unit first.")
        C = None if isinstance(self.C, str) else float(self.C)
        return PreparedLogisticLasso(
            table.names, table.groups, table.X, table.y, len(table.classes), C, self.standardize
        )


@dataclass(frozen=True)
class PreparedLogisticLasso:
    """A logistic regression with its table. Bags start from nothing, so that each depends on its own rows alone."""

    items: tuple[str, ...]
    groups: np.ndarray
    X: np.ndarray
    codes: np.ndarray
    n_classes: int
    C: float | None  # None: chosen in each bag
    standardize: bool
    are_variables: bool = True

    @property
    def bags_per_call(self) -> int:
        n_rows, n_columns = self.X.shape
        n_outputs = self.n_classes if self.n_classes > 2 else 1
        n_nonzero = min(n_columns, n_rows) * n_outputs  # at most, as a rule
        work = STEPS * (n_rows * (n_columns * n_outputs + n_nonzero**2 // 2) + 4 * n_nonzero**3)
        work *= PATH_FITS if self.C is None else 1
        return int(min(max(min(WORK_PER_CALL / work, CELLS_PER_CALL / (n_rows * n_columns)), 1), 1024))

    def select(self, bags: np.ndarray) -> np.ndarray:
        """Which variables have a coefficient on each bag."""
        nonzero = (self.fit(bags)[:, :, :-1] != 0.0).any(axis=1)
        models = np.zeros((len(bags), len(self.items)), dtype=np.bool_)
        for column, variable in enumerate(self.groups):
            models[:, variable] |= nonzero[:, column]
        return models

    def fit(self, bags: np.ndarray) -> np.ndarray:
        """Coefficients of the scaled columns, and last the intercept, of each bag and output."""
        parts = BagRows.from_bags(self.codes, bags)
        if (parts.n_classes < 2).any():
            raise BagError(int(np.argmax(parts.n_classes < 2)), "it has rows of one class only")
        Cs = self.choose_weights(parts) if self.C is None else np.full(len(bags), self.C)
        values, penalties, _, _ = self.scale(parts)
        coefs = np.zeros((len(bags), self.n_classes if self.n_classes > 2 else 1, self.X.shape[1] + 1))
        solved = np.empty(len(bags), dtype=np.bool_)
        fit_bags(values, parts, penalties, Cs, coefs, solved)
        _check_solved(solved)
        return coefs

    def choose_weights(self, parts: BagRows) -> np.ndarray:
        """The C of each bag with the least log-loss of rows held out; of equally good ones the smallest."""
        losses = np.zeros((len(parts.sizes), len(GRID)))
        solved = np.ones(len(losses), dtype=np.bool_)
        for fold in range(FOLDS):
            rest, held = parts.split(FOLDS, fold)
            values, penalties, means, scales = self.scale(rest)
            held_values = np.empty_like(values)
            scale_rows(self.X, held, means, scales, held_values)
            add_held_out(values, rest, penalties, GRID, held_values, held, losses, solved)
        _check_solved(solved)
        good = losses <= losses.min(axis=1, keepdims=True) * (1.0 + TIE)
        return GRID[good.argmax(axis=1)]

    def scale(self, parts: BagRows) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows on each bag's own scale, the penalties there (and none of the intercept), means and scales."""
        n_bags, n_columns = len(parts.sizes), self.X.shape[1]
        means, scales = np.empty((n_bags, n_columns)), np.empty((n_bags, n_columns))
        measure_columns(self.X, parts, means, scales)
        values, penalties = np.empty((*parts.rows.shape, n_columns)), np.zeros((n_bags, n_columns + 1))
        scale_rows(self.X, parts, means, scales, values)
        with np.errstate(over="ignore"):  # a column of the tiniest numbers has no chance, and an infinite penalty
            penalties[:, :-1] = 1.0 if self.standardize else 1.0 / np.where(scales > 0.0, scales, 1.0)
        return values, penalties, means, scales


def _check_solved(solved: np.ndarray) -> None:
    if not solved.all():
        raise BagError(int(np.argmin(solved)), "its logistic regression did not converge")
