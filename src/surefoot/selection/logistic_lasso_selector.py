"""A selector of the variables with a nonzero coefficient in a logistic regression with an L1 penalty."""

from dataclasses import dataclass, replace

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parameters import check_boolean, check_number, is_one_of
from surefoot.selection.logistic_bag import BagRows, measure_columns, scale_rows
from surefoot.selection.logistic_lasso import add_held_out, fit_bags
from surefoot.selection.selector import BagError, Selector
from surefoot.selection.table import CLASSES, ERROR, MissingValues, SelectionTable, filled_bags

CV, UNIVERSAL = "cv", "universal"
FOLDS, GRID = 5, np.logspace(-4, 4, 10)
TIE = 1e-9  # losses with a smaller relative difference are tied
STEPS, PATH_FITS = 10, 40  # Newton steps of a fit, and fits that cost as much as the choice of C
WORK_PER_CALL = 2e8  # multiplications that take well under 200 milliseconds
CELLS_PER_CALL = 4_000_000  # cells of the bags' scaled rows, which are in memory
MAX_NUMBER = 1e300


class LogisticLassoSelector(Selector):
    """Choose the variables that have a nonzero coefficient in a logistic regression with an L1 penalty.

    The coefficients minimise ``C * (sum of log-losses) + (sum of the coefficients' absolute values)``; intercepts are
    not penalised. This is scikit-learn's ``LogisticRegression`` with its L1 penalty and the solver "saga" (the solver
    "liblinear" penalises the intercept too). With two classes there is one coefficient for each column. With more there
    is one for each column and class (softmax), and a variable is chosen if any of its coefficients is nonzero. Every
    bag is solved until the optimality conditions hold, also if the classes are separable. If the solution is not
    unique (identical columns), one of the solutions is used. A column that is constant in a bag has no coefficient; a
    bag with rows of one class only is an error.

    Parameters
    ----------
    C : float > 0, "universal" or "cv", default=1.0
        The weight of the losses: a smaller value chooses fewer variables. "universal" is computed in each bag, and in
        ``select_once`` for all rows, as ``1 / sqrt(2 * log(2 * p * k) * n * v)``, where n is the number of rows, p the
        number of columns that vary in them, k the number of outputs (1 for two classes) and v the largest variance of
        the indicator of a class: noise rarely gets a coefficient. With "cv" each bag chooses its C from
        ``np.logspace(-4, 4, 10)``, by the log-loss of rows held out in five folds, and is then fitted as a whole. Its
        distinct rows are assigned to the folds in turn, class by class and in their order: copies of a row stay
        together. The only row of a class is never held out. If values are tied, the smallest is used.
    standardize : bool, default=True
        Whether columns are first scaled to unit variance, by each bag's own variances (with "cv", by those of the rows
        that are not held out). If not, a change of units changes the variables that are chosen.
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

    def __init__(self, C: float | str = 1.0, *, standardize: bool = True, missing: str = ERROR) -> None:
        self.C = C
        self.standardize = standardize
        self.missing = missing

    def prepare(self, table: SelectionTable) -> "PreparedLogisticLasso":
        """Check parameters and table.

        Parameters
        ----------
        table : SelectionTable
            The rows to select from.

        Returns
        -------
        PreparedLogisticLasso
            Chooses a model for each bag of rows.
        """
        self._check_parameters()
        if table.y is None or table.classes is None:
            raise DataError(
                "y must be labels of classes: LogisticLassoSelector chooses variables that predict the class."
            )
        if len(np.unique(table.y)) < 2:
            raise DataError("y has only one class: use rows of two or more classes.")
        if np.nanmax(np.abs(table.X), initial=0.0) > MAX_NUMBER:
            raise DataError(f"X has numbers beyond {MAX_NUMBER:g}: divide their columns by a constant.")
        return PreparedLogisticLasso(
            items=table.names,
            groups=table.groups,
            X=table.X,
            missing=MissingValues.find(table.X),
            codes=table.y,
            n_classes=len(table.classes),
            C=self.C,
            standardize=self.standardize,
        )

    def _check_parameters(self) -> None:
        check_boolean("standardize", self.standardize)
        if is_one_of(self.C, (UNIVERSAL,)) and not self.standardize:
            raise ParameterError("C='universal' is for columns on one scale: keep standardize=True, or give a number.")
        if not is_one_of(self.C, (CV, UNIVERSAL)):
            check_number("C", self.C, 0.0, np.inf, include_boundaries="neither")


@dataclass(frozen=True)
class PreparedLogisticLasso:
    """A logistic regression with its table. Every bag starts from zero, so that it depends on its own rows only."""

    items: tuple[str, ...]
    groups: np.ndarray
    X: np.ndarray
    missing: MissingValues
    codes: np.ndarray
    n_classes: int
    C: float | str
    standardize: bool
    are_variables: bool = True

    @property
    def bags_per_call(self) -> int:
        n_rows, n_columns = self.X.shape
        n_outputs = self.n_classes if self.n_classes > 2 else 1
        n_nonzero = min(n_columns, n_rows) * n_outputs  # usually at most
        work = STEPS * (n_rows * (n_columns * n_outputs + n_nonzero**2 // 2) + 4 * n_nonzero**3)
        work *= PATH_FITS if self.C == CV else 1
        return int(min(max(min(WORK_PER_CALL / work, CELLS_PER_CALL / (n_rows * n_columns)), 1), 1024))

    def select(self, bags: np.ndarray) -> np.ndarray:
        """Choose the variables that have a coefficient on each bag."""
        nonzero = (self.fit(bags)[:, :, :-1] != 0.0).any(axis=1)
        models = np.zeros((len(bags), len(self.items)), dtype=np.bool_)
        for column, variable in enumerate(self.groups):
            models[:, variable] |= nonzero[:, column]
        return models

    def fit(self, bags: np.ndarray) -> np.ndarray:
        """Fit the coefficients of the scaled columns, and last the intercept, for each bag and output."""
        parts = BagRows.from_bags(self.codes, bags)
        if (parts.n_classes < 2).any():
            raise BagError(int(np.argmax(parts.n_classes < 2)), "it has rows of one class only")
        if self.missing:  # a table of the bags' rows, one bag below the other
            first = np.arange(len(bags))[:, np.newaxis] * bags.shape[1] + np.cumsum(parts.counts, axis=1) - parts.counts
            filled = replace(self, X=filled_bags(self.X, self.missing, bags))
            return filled.fit_parts(parts._replace(rows=first.astype(np.int64)))
        return self.fit_parts(parts)

    def fit_parts(self, parts: BagRows) -> np.ndarray:
        """The same, for bags without missing values."""
        n_bags = len(parts.sizes)
        values, penalties, _, scales = self.scale(parts)
        if self.C == CV:
            Cs = self.choose_weights(parts)
        else:
            Cs = universal_weights(parts, scales) if self.C == UNIVERSAL else np.full(n_bags, float(self.C))
        coefs = np.zeros((n_bags, self.n_classes if self.n_classes > 2 else 1, self.X.shape[1] + 1))
        solved = np.empty(n_bags, dtype=np.bool_)
        fit_bags(values, parts, penalties, Cs, coefs, solved)
        _check_solved(solved)
        return coefs

    def choose_weights(self, parts: BagRows) -> np.ndarray:
        """Choose the C with the smallest log-loss of held-out rows for each bag; the smallest one of ties."""
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
        """Scale the rows of each bag; return them, the penalties on that scale (intercept: 0), means and scales."""
        n_bags, n_columns = len(parts.sizes), self.X.shape[1]
        means, scales = np.empty((n_bags, n_columns)), np.empty((n_bags, n_columns))
        measure_columns(self.X, parts, means, scales)
        values, penalties = np.empty((*parts.rows.shape, n_columns)), np.zeros((n_bags, n_columns + 1))
        scale_rows(self.X, parts, means, scales, values)
        with np.errstate(over="ignore"):  # a column of tiny numbers has an infinite penalty
            penalties[:, :-1] = 1.0 if self.standardize else 1.0 / np.where(scales > 0.0, scales, 1.0)
        return values, penalties, means, scales


def universal_weights(parts: BagRows, scales: np.ndarray) -> np.ndarray:
    """The C of each bag with which noise columns rarely get a coefficient; it depends on the bag's rows only."""
    n_rows, n_classes = parts.counts.sum(axis=1), parts.n_classes
    variances = np.zeros(len(n_rows))
    for label in range(n_classes.max()):
        fractions = np.where(parts.labels == label, parts.counts, 0.0).sum(axis=1) / n_rows
        variances = np.maximum(variances, fractions * (1.0 - fractions))
    n_coefficients = np.maximum((scales > 0.0).sum(axis=1), 1) * np.where(n_classes > 2, n_classes, 1)
    return 1.0 / np.sqrt(2.0 * np.log(2.0 * n_coefficients) * n_rows * variances)


def _check_solved(solved: np.ndarray) -> None:
    if not solved.all():
        raise BagError(int(np.argmin(solved)), "its logistic regression did not converge")
