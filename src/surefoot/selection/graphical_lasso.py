"""The graphical lasso, solved until all edges are certain: Newton steps with exact inner solutions.

The precision matrix P minimises ``-log det P + trace(S P) + alpha * sum of |P[i, j]| off the diagonal``. With
``s[i]`` the standard deviations, ``Q[i, j] = P[i, j] s[i] s[j]`` solves the same problem for the correlations, with
the penalties ``alpha / (s[i] s[j])``. This problem, in units of correlation, does not depend on the units of the
columns: neither its conditioning nor the stopping rule of the solver does.
"""

from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._jit import inner_kernel, kernel
from surefoot._numbers import real_numbers
from surefoot._parameters import check_number

TOLERANCE = 1e-10  # allowed violation of the optimality conditions, in units of correlation
LAX_TOLERANCE = 1e-9  # the same if rounding prevents a better solution; with a larger one, edges would be uncertain
ROUNDING = 1e-15  # error of the inverse of a precision, for each unit of its largest entry
MAX_STEPS = 300
MAX_ROUNDS = 10  # of one step; if they are not enough, the next step continues
MAX_PENALTY = 2.0  # two correlations never differ by more: it keeps an entry at zero whatever the others are


def solve_graphical_lasso(covariance: Any, alpha: float) -> np.ndarray:
    """Compute the sparse precision matrix of a covariance matrix; entries without an edge are exactly zero.

    Parameters
    ----------
    covariance : array-like of shape (n_variables, n_variables)
        Symmetric, with positive variances. It may be singular, as with fewer rows than variables.
    alpha : float
        The penalty of the entries off the diagonal, in the units of the covariance. The diagonal has no penalty.

    Returns
    -------
    precision : array of shape (n_variables, n_variables)
        Zero for pairs without an edge.

    Examples
    --------
    >>> from surefoot.selection.graphical_lasso import solve_graphical_lasso
    >>> solve_graphical_lasso([[4.0, 1.0], [1.0, 1.0]], alpha=1.5)
    array([[0.25, 0.  ],
           [0.  , 1.  ]])
    """
    alpha = check_number("alpha", alpha, 0, np.inf, include_boundaries="neither")
    matrix = real_numbers("covariance", covariance)
    deviations = check_covariance(matrix)
    units = np.outer(deviations, deviations)
    precisions, solved = np.empty((1, *matrix.shape)), np.empty(1, np.bool_)
    roots = penalty_roots(alpha, deviations)
    solve_correlations((matrix / units)[np.newaxis], roots[np.newaxis], np.eye(len(matrix)), precisions, solved)
    if not solved[0]:
        raise DataError(
            f"covariance is not a covariance matrix, or too nearly singular for alpha={alpha:g}: increase alpha."
        )
    return precisions[0] / units


def check_covariance(matrix: np.ndarray) -> np.ndarray:
    """The standard deviations, if the matrix is square, symmetric and finite, with positive variances."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise DataError(f"covariance must be a square matrix, got an array of shape {matrix.shape}.")
    if not np.isfinite(matrix).all() or not (np.diag(matrix) > 0).all():
        raise DataError("covariance must be finite with positive variances: leave out constant variables.")
    deviations = np.sqrt(np.diag(matrix))
    if (np.abs(matrix - matrix.T) > 1e-10 * np.outer(deviations, deviations)).any():
        raise DataError("covariance must be symmetric: pass (covariance + covariance.T) / 2.")
    return deviations


def penalty_roots(alpha: float, deviations: np.ndarray) -> np.ndarray:
    """A number for each variable; the penalty of a pair, in units of correlation, is the product of its two numbers."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.clip(np.sqrt(alpha) / deviations, 1e-100, 1e100)  # products neither overflow nor vanish


@kernel
def solve_correlations(correlations, roots, start, precisions, solved):
    """Read the correlations and penalty roots of some problems and a first guess for all; write their precisions.

    ``start`` is positive definite and in units of correlation, like the precisions. Proximal Newton steps: -log det is
    self-concordant, so the length of a step follows from its decrement, without a line search, and every step descends.
    """
    n_variables = start.shape[0]
    penalties, covariance = np.empty_like(start), np.empty_like(start)
    pairs = np.empty((n_variables * (n_variables + 1) // 2, 2), np.int64)
    for problem in range(correlations.shape[0]):
        correlation, precision = correlations[problem], precisions[problem]
        for i in range(n_variables):
            for j in range(n_variables):
                penalties[i, j] = min(MAX_PENALTY, roots[problem, i] * roots[problem, j])
            penalties[i, i] = 0.0
        precision[:] = start
        solved[problem] = False
        for _ in range(MAX_STEPS):
            if not invert(precision, covariance):
                break
            n_free, worst = find_free_pairs(correlation, penalties, precision, covariance, pairs)
            solved[problem] = worst <= min(LAX_TOLERANCE, max(TOLERANCE, ROUNDING * np.max(precision)))
            if solved[problem]:
                break
            take_newton_step(correlation, penalties, covariance, pairs[:n_free], worst, precision)


@inner_kernel
def invert(matrix, inverse):
    """Read a symmetric matrix and write its inverse; return whether it is positive definite."""
    n = matrix.shape[0]
    inverse[:] = matrix
    for k in range(n):
        row = inverse[k]
        pivot = row[k]
        if not 0.0 < pivot < np.inf:
            return False
        row[k] = 1.0
        for j in range(n):
            row[j] /= pivot
        for i in range(n):
            if i != k:
                other, factor = inverse[i], inverse[i, k]
                other[k] = 0.0
                for j in range(n):
                    other[j] -= factor * row[j]
    return True


@inner_kernel
def slope_at(value, gradient, penalty):
    """The slope of a penalised function along one coordinate; at zero, what remains of it after the penalty."""
    if value > 0.0 or (value == 0.0 and gradient < -penalty):
        return gradient + penalty
    if value < 0.0 or gradient > penalty:
        return gradient - penalty
    return 0.0


@inner_kernel
def find_free_pairs(correlation, penalties, precision, covariance, pairs):
    """Read a precision and its inverse; write the pairs that a step may change; return their number and worst slope."""
    n_free, worst = 0, 0.0
    for i in range(correlation.shape[0]):
        for j in range(i + 1):
            slope = abs(slope_at(precision[i, j], correlation[i, j] - covariance[i, j], penalties[i, j]))
            worst = max(worst, slope)
            if precision[i, j] != 0.0 or slope > 0.0:
                pairs[n_free] = i, j
                n_free += 1
    return n_free, worst


@inner_kernel
def take_newton_step(correlation, penalties, covariance, pairs, worst, precision):
    """Read the inverse of the precision and the pairs that may change; move the precision by one step."""
    n = pairs.shape[0]
    hessian = np.empty((n, n))
    gradient, penalty, values = np.empty(n), np.empty(n), np.empty(n)
    for a in range(n):
        i, j = pairs[a]
        half = 0.5 if i == j else 1.0  # an entry off the diagonal represents two
        for b in range(a + 1):
            k, m = pairs[b]
            product = covariance[i, k] * covariance[j, m] + covariance[i, m] * covariance[j, k]
            hessian[a, b] = hessian[b, a] = half * (0.5 if k == m else 1.0) * product
        gradient[a] = half * (correlation[i, j] - covariance[i, j])
        penalty[a] = penalties[i, j]
        values[a] = precision[i, j]
    before, slopes = values.copy(), gradient.copy()
    # The quadratic model is solved only as precisely as it approximates the function: its error is of second order.
    minimise_model(hessian, penalty, max(0.1 * TOLERANCE, 0.1 * worst * min(1.0, worst)), values, gradient)
    curvature, descent = 0.0, 0.0
    for a in range(n):
        change = values[a] - before[a]
        curvature += 2 * change * (gradient[a] - slopes[a])
        descent -= 2 * (change * slopes[a] + penalty[a] * (abs(values[a]) - abs(before[a])))
    length = step_length(curvature, descent)
    for a in range(n):
        i, j = pairs[a]
        value = values[a] if length == 1.0 else before[a] + length * (values[a] - before[a])
        precision[i, j] = precision[j, i] = value


@inner_kernel
def step_length(curvature, descent):
    """The fraction of a step to take, from its curvature and the descent of the function's linear part and penalty."""
    decrement = np.sqrt(max(curvature, 0.0))
    if decrement < 1e-3:
        return 1.0
    # At a fraction t of the step, the function is at most -t * decrement - log(1 - t * decrement) above its tangent.
    if decrement < 1.0 and -decrement - np.log(1.0 - decrement) < 0.9 * descent:
        return 1.0
    return min(1.0, descent / (decrement * (decrement + descent)))


@inner_kernel
def minimise_model(hessian, penalty, tolerance, values, gradient):
    """Read a quadratic function and its gradient at ``values``; move both to the minimum of function plus penalties.

    Sweeps over the coordinates find the signs; a Cholesky factor of the coordinates with a sign finds the values.
    """
    n = values.shape[0]
    for _ in range(MAX_ROUNDS):
        for _ in range(1 + n // 8):  # these sweeps cost about as much as one factor
            if not sweep_coordinates(hessian, penalty, values, gradient):
                break
        worst = 0.0
        for a in range(n):
            worst = max(worst, abs(slope_at(values[a], gradient[a], penalty[a])))
        if worst <= tolerance:
            return
        step_among_signed(hessian, penalty, np.flatnonzero(values), values, gradient)


@inner_kernel
def sweep_coordinates(hessian, penalty, values, gradient):
    """Read the model; minimise along one coordinate after the other and return whether any sign changed."""
    n = values.shape[0]
    changed = False
    for a in range(n):
        old, curvature = values[a], hessian[a, a]
        best, threshold = old - gradient[a] / curvature, penalty[a] / curvature
        new = max(best - threshold, 0.0) + min(best + threshold, 0.0)  # at least one of the two is zero
        if new != old:
            changed |= (new > 0.0) != (old > 0.0) or (new < 0.0) != (old < 0.0)
            values[a] = new
            row = hessian[a]
            for b in range(n):
                gradient[b] += (new - old) * row[b]
    return changed


@inner_kernel
def step_among_signed(hessian, penalty, signed, values, gradient):
    """Read the model; move the coordinates with a sign towards zero slopes, past zero if that lowers the model."""
    n = signed.shape[0]
    step, slopes = np.empty(n), np.empty(n)
    for k in range(n):
        slopes[k] = slope_at(values[signed[k]], gradient[signed[k]], penalty[signed[k]])
        step[k] = -slopes[k]
    if not solve_among(hessian, signed, step):
        return
    length, stopped = best_length(penalty, signed, values, slopes, step)
    for k in range(n):
        a = signed[k]
        change = -values[a] if k == stopped else length * step[k]
        values[a] += change
        row = hessian[a]
        for b in range(gradient.shape[0]):
            gradient[b] += change * row[b]


@inner_kernel
def solve_among(hessian, signed, step):
    """Read some rows and columns of a matrix; replace the right side by the solution, or return False."""
    n = signed.shape[0]
    factor = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            factor[i, j] = hessian[signed[i], signed[j]]
    for k in range(n):
        row = factor[k]
        if not row[k] > 0.0:
            return False
        root = np.sqrt(row[k])
        for j in range(k, n):
            row[j] /= root
        step[k] /= root
        for i in range(k + 1, n):
            other, multiple = factor[i], row[i]
            step[i] -= multiple * step[k]
            for j in range(i, n):
                other[j] -= multiple * row[j]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            step[k] -= factor[k, j] * step[j]
        step[k] /= factor[k, k]
    return True


@inner_kernel
def best_length(penalty, signed, values, slopes, step):
    """The fraction of a step with the smallest model, and the coordinate (or -1) that reaches zero and stays there.

    Along the step, the model is a parabola with a kink where a coordinate passes zero: go from kink to kink.
    """
    slope, passes = 0.0, np.full(signed.shape[0], np.inf)
    for k in range(signed.shape[0]):
        value = values[signed[k]]
        slope += slopes[k] * step[k]
        if penalty[signed[k]] > 0.0 and (value > 0.0) != (value + step[k] > 0.0):
            passes[k] = -value / step[k]
    curvature = -slope  # as for any step to zero slopes
    if not 0.0 < curvature < np.inf:
        return 0.0, -1
    while True:
        first = np.argmin(passes)
        if passes[first] > -slope / curvature:
            return -slope / curvature, -1
        slope += 2 * penalty[signed[first]] * abs(step[first])
        if passes[first] >= -slope / curvature:
            return passes[first], first
        passes[first] = np.inf
