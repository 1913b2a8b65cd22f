"""The graphical lasso by plain loops: one column at a time, each a lasso solved by coordinate descent."""

import math


def covariance_of(values, rows):
    """Sums of products around the rows' own means, divided by their number; repeated rows count repeatedly."""
    table = [[float(value) for value in values[row]] for row in rows]
    means = [math.fsum(column) / len(table) for column in zip(*table, strict=True)]
    return [
        [math.fsum((row[i] - means[i]) * (row[j] - means[j]) for row in table) / len(table) for j in range(len(means))]
        for i in range(len(means))
    ]


def soft(value, threshold):
    return math.copysign(max(abs(value) - threshold, 0.0), value)


def lasso(quadratic, linear, penalties, tolerance=1e-15, max_sweeps=100_000):
    """The minimum of x'Qx/2 - linear'x + sum of penalties |x|, with exact zeros."""
    n = len(linear)
    x = [0.0] * n
    for _ in range(max_sweeps):
        moved = 0.0
        for k in range(n):
            rest = linear[k] - sum(quadratic[k][m] * x[m] for m in range(n) if m != k)
            new = soft(rest, penalties[k]) / quadratic[k][k]
            moved, x[k] = max(moved, abs(new - x[k])), new
        if moved <= tolerance * max([1.0, *map(abs, x)]):
            return x
    raise AssertionError("the reference does not converge")


def graphical_lasso(covariance, alpha, tolerance=1e-14, max_sweeps=10_000):
    """The precision matrix, by the algorithm of Friedman, Hastie and Tibshirani (2008), diagonal not penalised."""
    n = len(covariance)
    largest = max([alpha, *(abs(covariance[i][j]) for i in range(n) for j in range(i))])
    kept = 1 - alpha / largest  # positive definite and within alpha of the covariance: columns keep it so
    fitted = [[covariance[i][j] * (1 if i == j else kept) for j in range(n)] for i in range(n)]
    slopes = [None] * n
    for _ in range(max_sweeps):
        moved = 0.0
        for j in range(n):
            others = [k for k in range(n) if k != j]
            block = [[fitted[k][m] for m in others] for k in others]
            slopes[j] = lasso(block, [covariance[k][j] for k in others], [alpha] * (n - 1))
            for row, k in enumerate(others):
                new = sum(block[row][m] * slopes[j][m] for m in range(n - 1))
                scale = math.sqrt(covariance[k][k] * covariance[j][j])
                moved = max(moved, abs(new - fitted[k][j]) / scale)
                fitted[k][j] = fitted[j][k] = new
        if moved <= tolerance:
            break
    else:
        raise AssertionError("the reference does not converge")
    precision = [[0.0] * n for _ in range(n)]
    for j in range(n):
        others = [k for k in range(n) if k != j]
        explained = sum(fitted[k][j] * slopes[j][row] for row, k in enumerate(others))
        precision[j][j] = 1 / (fitted[j][j] - explained)
        for row, k in enumerate(others):
            precision[k][j] = -slopes[j][row] * precision[j][j]
    return precision
