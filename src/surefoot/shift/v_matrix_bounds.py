"""How well a target sample determines the loss on the target: theorems 3.2 and 3.3 of the V-matrix."""

from bisect import bisect_left
from math import log, sqrt
from typing import Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import array_of, real_numbers
from surefoot._parameters import check_boolean, check_integer, check_number

MIN_TARGET_ROWS = 2  # theorem 3.2 chooses sqrt(log M / M), which is 0 for a single row
MAX_TARGET_ROWS = 2**53  # a float does not count more rows one by one


def vmatrix_error(losses: Any, *, n_target: int, one_feature: bool = False, confidence: float = 0.95) -> float:
    """Bound the difference between ``rho^2`` by a sample of target rows and ``rho^2`` by their distribution.

    ``rho^2(V) = 1/N^2 sum_ij l_i l_j V_ij`` is the loss on the target, N the number of training rows and V either known
    or estimated from M rows of the target. With a probability of at least ``confidence`` over the draw of these rows,
    the two values differ by at most the bound, which falls with the square root of M::

        any number of features (theorem 3.3)   max|l_i l_j| sqrt(log(N (N + 1) / (1 - confidence)) / (2 M))
        one feature (theorem 3.2)              (mean|l|)^2 sqrt(log(2 / (1 - confidence)) / (2 M))

    Theorem 3.2 is printed with ``sqrt(log M / M)`` and the probability 1 - 2 / M^2, which is this formula at that
    confidence: both are Massart's inequality. Logarithms are natural.

    Parameters
    ----------
    losses : array of shape (n_rows,)
        The residuals ``y_pred - y`` of the N training rows.
    n_target : int
        The number M of target rows, 2 or more.
    one_feature : bool, default=False
        Whether the table has only one column, of numbers and without missing values; the bound is then smaller.
    confidence : float, default=0.95
        Between 0 and 1: the probability with which the bound holds.

    Returns
    -------
    float
        The bound, in the unit of the squared residuals.

    Notes
    -----
    Assumptions:

    - The M target rows are drawn independently from one distribution (i.i.d.), the one that the exact V belongs to.
    - Residuals do not depend on these rows. A model that was trained on them has adapted to them, and the bound does
      not apply: measure ``rho^2`` by target rows that were held out, and let M be their number.
    - V is estimated as the mean over target rows of ``1[t >= x_i] 1[t >= x_j]``: ``kind="joint"`` of `VMatrix`, and
      also ``kind="mean"`` if there are several features. The product of marginals is another estimator.

    The bound is a guarantee, not an estimate: measured differences are several times smaller if all residuals have one
    sign, and hundreds of times smaller if they are noise (``surefoot reproduce shift`` measures them).

    Examples
    --------
    >>> from surefoot.shift.v_matrix_bounds import vmatrix_error
    >>> residuals = [0.5, -0.2, 0.1, -0.4]
    >>> round(vmatrix_error(residuals, n_target=1000), 4)
    0.0137
    >>> round(vmatrix_error(residuals, n_target=1000, one_feature=True), 4)
    0.0039
    """
    check_integer("n_target", n_target, MIN_TARGET_ROWS)
    scale, width = _scale_and_width(losses, one_feature, confidence)
    return _bound(scale, width, n_target)


def vmatrix_target_size(error: float, losses: Any, *, one_feature: bool = False, confidence: float = 0.95) -> int:
    """Find the smallest number of target rows for which `vmatrix_error` is at most ``error``.

    Parameters
    ----------
    error : float
        Above 0, in the unit of the squared residuals.
    losses : array of shape (n_rows,)
        The residuals ``y_pred - y`` of the training rows; for planning, those of a first model.
    one_feature : bool, default=False
        Whether the table has only one column, of numbers and without missing values.
    confidence : float, default=0.95
        Between 0 and 1: the probability with which the bound holds.

    Returns
    -------
    int
        The number of target rows, 2 or more.

    See Also
    --------
    vmatrix_error : The bound, and its assumptions about rows and residuals.

    Examples
    --------
    >>> from surefoot.shift.v_matrix_bounds import vmatrix_error, vmatrix_target_size
    >>> residuals = [0.5, -0.2, 0.1, -0.4]
    >>> vmatrix_target_size(0.01, residuals)
    1873
    >>> vmatrix_error(residuals, n_target=1873) <= 0.01 < vmatrix_error(residuals, n_target=1872)
    True
    """
    error = check_number("error", error, 0, float("inf"), include_boundaries="neither")
    scale, width = _scale_and_width(losses, one_feature, confidence)
    root = scale / error * sqrt(width / 2)
    if root * root >= MAX_TARGET_ROWS / 2:
        raise ParameterError(
            f"error is too small, got {error!r}: {root * root:.1e} target rows would be needed. Allow a larger error, "
            f"or divide the losses by a larger unit: their squares reach {scale:.1e}."
        )
    sizes = range(MIN_TARGET_ROWS, int(2 * root * root) + MIN_TARGET_ROWS + 1)  # the last suffices despite rounding
    return sizes[bisect_left(sizes, True, key=lambda n_target: _bound(scale, width, n_target) <= error)]


def _bound(scale: float, width: float, n_target: int) -> float:
    return scale * sqrt(width / (2 * n_target))


def _scale_and_width(losses: Any, one_feature: bool, confidence: float) -> tuple[float, float]:
    """Return the factor before the root of the theorem, and the logarithm under the root."""
    check_boolean("one_feature", one_feature)
    alpha = 1 - check_number("confidence", confidence, 0, 1, include_boundaries="neither")
    sizes = np.abs(_check_losses(losses))
    n_rows, largest = len(sizes), float(sizes.max())
    size = largest * float(np.mean(sizes / largest)) if one_feature and largest > 0 else largest  # no overflow
    if not np.isfinite(size * size):
        raise DataError("losses are too large to multiply: divide them by a larger unit.")
    return size * size, log(2 / alpha) if one_feature else log(n_rows) + log(n_rows + 1) - log(alpha)


def _check_losses(losses: Any) -> np.ndarray:
    """Return one finite number per training row as float64."""
    array = array_of("losses", losses)
    if array.ndim != 1 or len(array) == 0:
        raise DataError(f"losses must be one residual per training row, one row or more; got shape {array.shape}.")
    if array.dtype.kind not in "biuf":
        raise DataError(f"losses must be numbers, got an array of dtype {array.dtype}.")
    numbers = real_numbers("losses", array)
    if not np.isfinite(numbers).all():
        raise DataError("losses contain NaN or infinity: leave out the rows without a residual.", argument="losses")
    return numbers
