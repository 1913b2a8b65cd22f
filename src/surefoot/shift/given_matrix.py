"""A matrix of the user's own, made fit for boosting."""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot.shift.dense_gram import DenseGram
from surefoot.shift.gram import Gram
from surefoot.shift.product_gram import ProductGram
from surefoot.shift.v_matrix import VMatrix

MAX_PAIRED = 5_000  # rows of a matrix that has to be written out for boosting
NEGATIVE = -1e-8  # eigenvalues below it, relative to the largest entry, are not rounding


def given_gram(V: Any, n_rows: int) -> Gram:
    """The matrix of a fit that was given ``V``; one that boosting cannot use is refused."""
    given = V if isinstance(V, VMatrix) else VMatrix.from_dense(V)
    if given.shape[0] != n_rows:
        raise DataError(f"V has {given.shape[0]} rows, but X has {n_rows}: one row and column for each row of X.")
    gram = given.gram
    if isinstance(gram, ProductGram):
        if n_rows > MAX_PAIRED:
            raise DataError(
                f"V is an exact product over features of {n_rows:,} rows; boosting writes such a matrix out and "
                f"takes at most {MAX_PAIRED:,}: pass X_target with kind='product', which estimates it."
            )
        gram = DenseGram(gram.piece(np.arange(n_rows)))
    if isinstance(gram, DenseGram):
        exponent = np.frexp(np.abs(gram.matrix).max())[1]
        gram = DenseGram(np.ldexp(gram.matrix, -exponent))  # boosting scales it anyway; sums of large entries overflow
        try:
            np.linalg.cholesky(gram.matrix - NEGATIVE * n_rows * np.eye(n_rows))
        except np.linalg.LinAlgError as error:
            raise ParameterError(
                "V has negative eigenvalues, so its loss has no minimum: pass a positive semi-definite matrix, for "
                "example V plus a multiple of the identity."
            ) from error
    return gram
