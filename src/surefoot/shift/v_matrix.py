"""The V-matrix: which pairs of rows a target sample sees together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import naming, real_numbers
from surefoot._parameters import check_choice
from surefoot.data.checked_table import check_table
from surefoot.shift.builders import (
    KINDS,
    ORIENTATIONS,
    TableReader,
    column_values,
    distribution_gram,
    features_of,
    make_gram,
    read_tables,
)
from surefoot.shift.gram import MAX_DENSE_ROWS, DenseGram, Gram


class VMatrix:
    """The matrix of a quadratic loss on the training data, weighted by a target sample.

    ``V(i, j)`` is the fraction of the target that dominates both rows i and j, that is, reaches them in every feature:
    ``t >= max(x_i, x_j)``. The loss ``sum of l_i l_j V(i, j)`` of residuals ``l`` is then, up to a factor, the mean
    over the target of the squared sum of the residuals that each target point dominates. The matrix is never written
    out: products with it are linear in the number of rows (``product``: quadratic in time, not in memory).

    Categories have no order: a target dominates a row of the same category. Missing values are dominated by missing
    values. Nothing changes if a feature is replaced by an increasing function of it, in both tables.

    Make one with :meth:`from_target`, :meth:`from_distributions` or :meth:`from_dense`.

    Parameters
    ----------
    gram : object
        The factored matrix that these methods make; it is not meant to be passed by hand.

    Attributes
    ----------
    shape : tuple
        ``(n_rows, n_rows)``.
    coverage : float
        Fraction of rows that at least one target row dominates. The loss does not depend on the others.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot import VMatrix
    >>> v = VMatrix.from_target([[0.0], [1.0], [5.0]], [[0.5], [1.0], [2.0], [2.0]])
    >>> v.dense().tolist()
    [[1.0, 0.75, 0.0], [0.75, 0.75, 0.0], [0.0, 0.0, 0.0]]
    >>> (v @ np.array([1.0, 1.0, 1.0])).tolist(), round(v.coverage, 2)
    ([1.75, 1.5, 0.0], 0.67)
    """

    def __init__(self, gram: Gram) -> None:
        if not isinstance(gram, Gram):
            message = "VMatrix is made by VMatrix.from_target, from_distributions or, for an array, from_dense."
            raise DataError(message, argument="gram")
        self.gram = gram

    @classmethod
    def from_target(cls, X: Any, X_target: Any, *, kind: str = "mean", orientation: str = "lower") -> "VMatrix":
        """Estimate the matrix from the training data and a sample of the deployment data.

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            The training data.
        X_target : array, pandas or polars frame of shape (n_target, n_columns)
            Rows of the deployment data, with the same columns.
        kind : {"mean", "joint", "product"}, default="mean"
            ``joint``: the paper's estimator, the fraction of target rows that dominate both rows in all features at
            once. With many features few do: check ``coverage``. ``product``: the product over features of the
            fractions of the target's values that do. ``mean``: the mean over features of these fractions.
        orientation : {"lower", "upper", "both"}, default="lower"
            ``lower``: a target dominates a row that is at most as large; ``upper``: at least as large; ``both``: the
            mean of the two matrices.

        Returns
        -------
        VMatrix
            The matrix of the rows of X.
        """
        check_choice("kind", kind, KINDS)
        check_choice("orientation", orientation, ORIENTATIONS)
        return cls(make_gram(features_of(*read_tables(X, X_target)), kind, orientation))

    @classmethod
    def from_distributions(cls, X: Any, distributions: Sequence[Any], *, orientation: str = "lower") -> "VMatrix":
        """Compute the exact matrix for independent features with known distributions (Lemma 2.1).

        Parameters
        ----------
        X : array, pandas or polars frame of shape (n_rows, n_columns)
            The training data: numbers, none missing.
        distributions : list of frozen distributions of ``scipy.stats``
            The distribution of each column in the deployment data.
        orientation : {"lower", "upper", "both"}, default="lower"
            ``lower``: a target dominates a row that is at most as large; ``upper``: at least as large; ``both``: the
            mean of the two matrices.

        Returns
        -------
        VMatrix
            The matrix of the rows of X.
        """
        check_choice("orientation", orientation, ORIENTATIONS)
        columns = check_table(TableReader(), X)
        with naming("distributions"):
            distributions = [distributions] if hasattr(distributions, "cdf") else list(distributions)
        if len(distributions) != columns.n_columns:
            raise DataError(f"distributions has {len(distributions)} entries, but X has {columns.n_columns} columns.")
        if columns.schema.categories:
            raise DataError("X has categorical columns: distributions are of numbers. Use VMatrix.from_target.")
        values = [column_values(columns, position, np.arange(columns.n_rows)) for position in range(columns.n_columns)]
        if any(np.isnan(column).any() for column in values):
            raise DataError("X has missing values: fill them first, or use VMatrix.from_target.")
        for distribution in distributions:
            if not (hasattr(distribution, "sf") and hasattr(distribution, "cdf")):
                raise ParameterError(
                    f"distributions must be frozen distributions of scipy.stats, such as norm(0, 1); "
                    f"got {distribution!r}."
                )
        try:
            gram = distribution_gram(values, distributions, orientation)
        except TypeError as error:
            raise ParameterError(f"distributions must be frozen, with all their parameters: {error}.") from error
        if not np.isfinite(gram.diagonal()).all():
            raise ParameterError("distributions contains one without probabilities: check its parameters.")
        return cls(gram)

    @classmethod
    def from_dense(cls, V: Any) -> "VMatrix":
        """Wrap your own matrix.

        Parameters
        ----------
        V : array of shape (n_rows, n_rows)
            Finite numbers. If it is not symmetric, its symmetric part is kept: the loss depends on nothing else.

        Returns
        -------
        VMatrix
            The matrix.
        """
        matrix = np.array(real_numbers("V", V), order="C")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
            raise DataError(f"V must be a square matrix with a row for each row of X, got shape {matrix.shape}.")
        if not np.isfinite(matrix).all():
            raise DataError("V has entries that are not finite: every entry must be a number.")
        return cls(DenseGram(matrix))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns, both those of the training data."""
        return self.gram.n_rows, self.gram.n_rows

    @property
    def coverage(self) -> float:
        """Fraction of rows that at least one target row dominates; the loss does not depend on the others."""
        return float(np.mean(self.gram.diagonal() > 0))

    def __matmul__(self, values: Any) -> np.ndarray:
        return self.gram.times(self._check(values, "the right side of @"))

    def quadratic(self, losses: Any) -> float:
        """Compute ``sum over i, j of losses_i losses_j V(i, j)``.

        Parameters
        ----------
        losses : array of shape (n_rows,)
            Residuals of the training rows.

        Returns
        -------
        float
            The quadratic form; divided by ``n_rows ** 2`` it is the paper's ``rho ** 2``.
        """
        losses = self._check(losses, "losses")
        with np.errstate(over="ignore", invalid="ignore"):
            form = float((losses * self.gram.times(losses)).sum())
        if not np.isfinite(form):
            raise DataError("losses are too large to multiply: divide them by a larger unit.", argument="losses")
        return form

    def diagonal(self) -> np.ndarray:
        """Return ``V(i, i)`` of every row.

        Returns
        -------
        ndarray of shape (n_rows,)
            The fraction of the target that dominates each row.
        """
        return self.gram.diagonal()

    def dense(self) -> np.ndarray:
        """Write the matrix out; for small tables only.

        Returns
        -------
        ndarray of shape (n_rows, n_rows)
            All entries.
        """
        n_rows = self.gram.n_rows
        if n_rows > MAX_DENSE_ROWS:
            raise DataError(f"The matrix of {n_rows:,} rows has {n_rows**2:.1e} entries: use it by @ and quadratic().")
        return self.gram.submatrix(np.arange(n_rows))

    def __repr__(self) -> str:
        return f"VMatrix(n_rows={self.gram.n_rows}, coverage={self.coverage:.3f})"

    def _check(self, values: Any, name: str) -> np.ndarray:
        values = np.ascontiguousarray(real_numbers(name, values))
        if values.shape != (self.gram.n_rows,):
            raise DataError(f"{name} must have {self.gram.n_rows} numbers, one for each row; got shape {values.shape}.")
        if not np.isfinite(values).all():
            raise DataError(f"{name} must be finite numbers.")
        return values


def given_gram(V: Any, n_rows: int) -> Gram:
    """Return the matrix of a fit with ``V``, in the form that trees are grown on."""
    matrix = V if isinstance(V, VMatrix) else VMatrix.from_dense(V)
    if matrix.shape[0] != n_rows:
        raise DataError(f"V has {matrix.shape[0]} rows, but X has {n_rows}: it needs one for each of them.")
    return matrix.gram.for_boosting("V")
