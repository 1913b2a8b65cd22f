"""Sequentially thresholded ridge regression of bags: fit, drop the terms with small coefficients, fit the rest again.

A bag's sums of products are solved by Cholesky's method. If a pivot shows that the terms are (nearly) dependent on the
rows of the bag, the rows are brought to triangular form and their columns are rotated until they are orthogonal. This
gives the ridge solution from singular values; without a penalty it is the solution of smallest norm.
"""

from typing import Any, NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel

MAX_ROUNDS = 20
MIN_PIVOT = 1e-10  # fraction of a term's square that the terms before it must leave
ROUNDING = 2.0**-52
MAX_SWEEPS = 60


class RidgeBuffers(NamedTuple):
    """Arrays for the fit of a bag: its sums of products, the terms still chosen, a factor and a solution."""

    gram: Any  # lower triangle
    products: Any  # (equations, terms)
    chosen: Any
    factor: Any
    solution: Any


def make_buffers(n_terms: int, n_equations: int) -> RidgeBuffers:
    """Arrays for the fit of one bag at a time; each thread needs its own."""
    return RidgeBuffers(
        gram=np.empty((n_terms, n_terms)),
        products=np.empty((n_equations, n_terms)),
        chosen=np.empty(n_terms, dtype=np.int64),
        factor=np.empty((n_terms, n_terms)),
        solution=np.empty(n_terms),
    )


@inner_kernel(allocates=True)
def sum_products(library, targets, rows, gram, products):
    """Read rows of a library of terms and of targets; write the sums of products of terms, and with each target."""
    gram[:] = 0.0
    products[:] = 0.0
    n_terms, n_equations = library.shape[1], targets.shape[1]
    for i in rows:
        for j in range(n_terms):
            value = library[i, j]
            for k in range(j + 1):
                gram[j, k] += value * library[i, k]
            for equation in range(n_equations):
                products[equation, j] += value * targets[i, equation]


@inner_kernel(allocates=True)
def solve_factored(gram, products, alpha, chosen, n_chosen, factor, solution):
    """Read sums of products; write the ridge solution of the chosen terms, and return whether it is reliable."""
    for r in range(n_chosen):
        for s in range(r):
            value = gram[chosen[r], chosen[s]]
            for k in range(s):
                value -= factor[r, k] * factor[s, k]
            factor[r, s] = value / factor[s, s]
        whole = gram[chosen[r], chosen[r]] + alpha
        pivot = whole
        value = products[chosen[r]]
        for k in range(r):
            pivot -= factor[r, k] * factor[r, k]
            value -= factor[r, k] * solution[k]
        if not pivot > MIN_PIVOT * whole:
            return False
        factor[r, r] = np.sqrt(pivot)
        solution[r] = value / factor[r, r]
    for r in range(n_chosen - 1, -1, -1):
        value = solution[r]
        for k in range(r + 1, n_chosen):
            value -= factor[k, r] * solution[k]
        solution[r] = value / factor[r, r]
    return True


@inner_kernel(allocates=True)
def inner(first, second, start):
    """Read two vectors of equal length; return the sum of their products from index ``start`` on."""
    total = 0.0
    for i in range(start, first.shape[0]):
        total += first[i] * second[i]
    return total


@inner_kernel(allocates=True)
def reflect(columns, target):
    """Read columns and a target; write both after the reflections that make the columns triangular."""
    n_columns, size = columns.shape
    for k in range(min(n_columns, size)):
        mirror = columns[k]
        norm = np.sqrt(inner(mirror, mirror, k))
        if norm == 0.0:
            continue
        corner = -norm if mirror[k] >= 0.0 else norm
        mirror[k] -= corner
        scale = 2.0 / inner(mirror, mirror, k)
        for j in range(k + 1, n_columns + 1):
            column = columns[j] if j < n_columns else target
            step = scale * inner(mirror, column, k)
            for i in range(k, size):
                column[i] -= step * mirror[i]
        mirror[k] = corner
        mirror[k + 1 :] = 0.0


@inner_kernel(allocates=True)
def turn_pair(vectors, p, q, cosine, sine):
    """Read two vectors; write them rotated by an angle in the plane that they span."""
    for i in range(vectors.shape[1]):
        first, second = vectors[p, i], vectors[q, i]
        vectors[p, i] = cosine * first - sine * second
        vectors[q, i] = sine * first + cosine * second


@inner_kernel(allocates=True)
def rotate_columns(columns, turns):
    """Read columns; write them rotated until they are orthogonal, and the rotations; tiny columns are not rotated."""
    n_columns, size = columns.shape
    negligible = 0.0
    for p in range(n_columns):
        negligible += (ROUNDING * size) ** 2 * inner(columns[p], columns[p], 0)
    for _ in range(MAX_SWEEPS):
        is_settled = True
        for p in range(n_columns):
            for q in range(p + 1, n_columns):
                square_p, square_q = inner(columns[p], columns[p], 0), inner(columns[q], columns[q], 0)
                product = inner(columns[p], columns[q], 0)
                small = abs(product) <= ROUNDING * size * np.sqrt(square_p) * np.sqrt(square_q)
                if small or min(square_p, square_q) <= negligible:
                    continue
                is_settled = False
                ratio = (square_q - square_p) / (2.0 * product)
                tangent = np.copysign(1.0, ratio) / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))
                cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
                turn_pair(columns, p, q, cosine, cosine * tangent)
                turn_pair(turns, p, q, cosine, cosine * tangent)
        if is_settled:
            return


@inner_kernel(allocates=True)
def solve_dependent(library, targets, equation, rows, alpha, chosen, n_chosen, solution):
    """Read rows with possibly dependent terms; write the ridge solution, of smallest norm without a penalty."""
    size = rows.shape[0]
    columns, target, turns = np.empty((n_chosen, size)), np.empty(size), np.zeros((n_chosen, n_chosen))
    for i in range(size):
        target[i] = targets[rows[i], equation]
        for r in range(n_chosen):
            columns[r, i] = library[rows[i], chosen[r]]
    if size > n_chosen:
        reflect(columns, target)
        columns = columns[:, :n_chosen].copy()
    for r in range(n_chosen):
        turns[r, r] = 1.0
        solution[r] = 0.0
    rotate_columns(columns, turns)
    largest = 0.0
    for r in range(n_chosen):
        largest = max(largest, inner(columns[r], columns[r], 0))
    for r in range(n_chosen):
        square = inner(columns[r], columns[r], 0)
        if square > (ROUNDING * max(size, n_chosen)) ** 2 * largest:
            weight = inner(columns[r], target, 0) / (square + alpha)
            for k in range(n_chosen):
                solution[k] += weight * turns[r, k]


@inner_kernel(allocates=True)
def fit_chosen(library, targets, equation, rows, alpha, n_chosen, buffers):
    """Read a bag's rows and sums of products; write the ridge solution of the chosen terms."""
    products = buffers.products[equation]
    if not solve_factored(buffers.gram, products, alpha, buffers.chosen, n_chosen, buffers.factor, buffers.solution):
        solve_dependent(library, targets, equation, rows, alpha, buffers.chosen, n_chosen, buffers.solution)


@inner_kernel(allocates=True)
def threshold_equation(library, targets, equation, rows, threshold, alpha, refit, buffers, coefficients):
    """Read a bag; write an equation's coefficients, and return whether all numbers were finite.

    With ``refit``, the remaining terms are fitted once more, without a penalty and without dropping any.
    """
    n_chosen = library.shape[1]
    for j in range(n_chosen):
        buffers.chosen[j] = j
    refitting = False
    for turn in range(MAX_ROUNDS + 1):
        fit_chosen(library, targets, equation, rows, 0.0 if refitting else alpha, n_chosen, buffers)
        coefficients[:] = 0.0
        kept = 0
        for r in range(n_chosen):
            value = buffers.solution[r]
            if not np.isfinite(value):
                return False
            if refitting or abs(value) >= threshold:
                coefficients[buffers.chosen[r]] = value
                buffers.chosen[kept] = buffers.chosen[r]
                kept += 1
        settled = kept == n_chosen or turn == MAX_ROUNDS - 1
        if kept == 0 or refitting or (settled and not refit):
            break
        n_chosen, refitting = kept, settled
    return True


@kernel(allocates=True)
def threshold_bags(library, targets, bags, threshold, alpha, refit, buffers, coefficients):
    """Read bags of rows; write coefficients (bags, equations, terms), with ``refit`` by least squares.

    Returns the index of the first bag with coefficients that exceed float64, or -1.
    """
    for b in range(bags.shape[0]):
        rows = bags[b]
        sum_products(library, targets, rows, buffers.gram, buffers.products)
        for equation in range(targets.shape[1]):
            out = coefficients[b, equation]
            if not threshold_equation(library, targets, equation, rows, threshold, alpha, refit, buffers, out):
                return b
    return -1
