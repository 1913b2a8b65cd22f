"""The exact LASSO of a bag: its path is followed from the largest penalty down, one variable at a time.

Between two events (a variable joins or leaves) the coefficients are ``u - penalty * d`` and the correlations with the
residuals are ``p + penalty * q``, so the next event is at the largest penalty where one of them reaches its bound. A
solution with few variables takes few events. If rounding or ties have led to a wrong path, the optimality conditions do
not hold at its end, and coordinate descent finds the solution instead.
"""

from typing import Any, NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel

TIES = 1e-12  # events that differ by at most this fraction of the penalty are tied
MIN_INDEPENDENT = 1e-13  # fraction of a column's variance that the columns before it must leave
OPTIMAL, NEARLY_OPTIMAL = 1e-9, 1e-6  # fraction of the penalty by which a correlation may exceed it
MIN_PENALTY = 1e-3  # smallest penalty of the folds, as a fraction of the smallest one without variables
MIN_REST = 1e-3  # fraction of a column's square that must be left if a bag's sums are computed by subtraction
MAX_EVENTS = 8  # for each column and each place in the active set
MAX_SWEEPS = 100_000  # of coordinate descent
FULL_SWEEPS = 10  # one sweep in 10 is over all columns; the others are over columns with a coefficient


class FullTable(NamedTuple):
    """A table minus its medians, and sums over all rows: of columns, of ``y`` times columns, of columns times columns.

    Products with ``likely`` columns are computed for every bag in one pass; those with other columns when they join.
    """

    X: Any
    y: Any
    sums: Any  # last that of the target
    products: Any  # last the square of the target
    gram: Any  # empty if it is not stored: then every bag is summed up from its own rows
    likely: Any  # columns that have a coefficient on all rows
    place_of: Any  # the index of each column in ``likely``, or -1


class Bag(NamedTuple):
    """The input of a bag's path: the rows to add up (with a sign), and the moments of the columns."""

    rows: Any
    sign: float
    size: int
    factors: Any
    sums: Any  # of the columns times one, times the target, and times each likely column
    means: Any
    correlations: Any
    scales: Any
    residuals: Any  # for coordinate descent
    variances: Any


class BagBuffers(NamedTuple):
    """Arrays that are reused for one bag after the other."""

    factors: Any
    sums: Any
    moments: Any
    missing: Any  # rows that a bag lacks
    residuals: Any
    variances: Any


class Path(NamedTuple):
    """Arrays for a path: active variables, products of their columns with all columns, and the lines of a segment."""

    active: Any
    signs: Any
    gram: Any
    factor: Any
    u: Any
    d: Any
    p: Any
    q: Any
    state: Any


class PenaltyBuffers(NamedTuple):
    """Arrays for the penalties that are compared, and for the rows of the folds that are not left out."""

    penalties: Any
    coefficients: Any
    errors: Any
    rows: Any


def make_path(n_columns: int, max_active: int) -> Path:
    """Arrays for a path of at most ``max_active`` active variables."""
    return Path(
        active=np.empty(max_active, dtype=np.int64),
        signs=np.empty(max_active),
        gram=np.empty((max_active, n_columns)),
        factor=np.empty((max_active, max_active)),
        u=np.empty(max_active),
        d=np.empty(max_active),
        p=np.empty(n_columns),
        q=np.empty(n_columns),
        state=np.empty(n_columns, dtype=np.int64),
    )


def make_buffers(table: FullTable, size: int) -> BagBuffers:
    """Arrays for bags of ``size`` rows."""
    n_sums, (n_rows, n_columns) = 2 + len(table.likely), table.X.shape
    return BagBuffers(
        factors=np.empty((n_sums, size)),
        sums=np.empty((n_sums, n_columns)),
        moments=np.empty((3, n_columns)),
        missing=np.empty(n_rows, dtype=np.int32),
        residuals=np.empty(size),
        variances=np.empty(n_columns),
    )


def make_penalty_buffers(n_penalties: int, n_columns: int, size: int) -> PenaltyBuffers:
    """Arrays for this many penalties, and bags of ``size`` rows."""
    return PenaltyBuffers(
        penalties=np.empty(n_penalties),
        coefficients=np.zeros((n_penalties, n_columns)),
        errors=np.empty(n_penalties),
        rows=np.empty(size, dtype=np.int32),
    )


@inner_kernel
def copy_values(values, out):
    """Copy an array of one dimension: an assignment of slices takes a second to compile."""
    for i in range(np.uint64(values.shape[0])):
        out[i] = values[i]


@inner_kernel
def add_products(X, rows, factors, out):
    """Read rows of a table and their factors (sums, rows); add the rows times their factors to each sum.

    Four rows at a time: the table is read once, and the sums are written a quarter as often.
    """
    n_columns, last = X.shape[1], rows.shape[0] - rows.shape[0] % 4
    for i in range(0, last, 4):
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for f in range(factors.shape[0]):
            of_a, of_b, of_c, of_d = factors[f, i], factors[f, i + 1], factors[f, i + 2], factors[f, i + 3]
            for k in range(n_columns):
                out[f, k] += (of_a * X[a, k] + of_b * X[b, k]) + (of_c * X[c, k] + of_d * X[d, k])
    for i in range(last, rows.shape[0]):
        for f in range(factors.shape[0]):
            for k in range(n_columns):
                out[f, k] += factors[f, i] * X[rows[i], k]


@inner_kernel
def rows_between(bag, n_rows, out):
    """Read the rows of a bag in ascending order; write the rows that it lacks, and return their number."""
    place, missing = 0, 0
    for row in range(n_rows):
        if place < bag.shape[0] and bag[place] == row:
            place += 1
        else:
            out[missing] = row
            missing += 1
    return missing


@inner_kernel
def extend_factor(gram, active, n_active, factor):
    """Read products of the active columns; write the last row of their Cholesky factor; return its relative pivot."""
    last = n_active - 1
    for r in range(last):
        value = gram[last, active[r]]
        for s in range(r):
            value -= factor[last, s] * factor[r, s]
        factor[last, r] = value / factor[r, r]
    whole = gram[last, active[last]]
    pivot = whole
    for s in range(last):
        pivot -= factor[last, s] * factor[last, s]
    factor[last, last] = np.sqrt(max(pivot, 0.0))
    return pivot / whole


@inner_kernel
def solve_factor(factor, n_active, x):
    """Read a Cholesky factor; write the solution over the right-hand side."""
    for r in range(n_active):
        value = x[r]
        for s in range(r):
            value -= factor[r, s] * x[s]
        x[r] = value / factor[r, r]
    for r in range(n_active - 1, -1, -1):
        value = x[r]
        for s in range(r + 1, n_active):
            value -= factor[s, r] * x[s]
        x[r] = value / factor[r, r]


@inner_kernel
def solve_segment(correlations, gram, active, signs, n_active, factor, u, d, p, q):
    """Read the active variables; write coefficients ``u - penalty * d`` and correlations ``p + penalty * q``."""
    for r in range(n_active):
        u[r], d[r] = correlations[active[r]], signs[r]
    solve_factor(factor, n_active, u)
    solve_factor(factor, n_active, d)
    copy_values(correlations, p)
    q[:] = 0.0
    for r in range(n_active):
        for k in range(p.shape[0]):
            p[k] -= gram[r, k] * u[r]
            q[k] += gram[r, k] * d[r]


@inner_kernel
def next_joining(p, q, penalty, state, left, left_sign):
    """Read correlations and states (not 0: cannot join); return the next variable to join, its penalty and its sign.

    A variable that has just left is exactly where it would join again with the same sign: this is not an event.
    """
    best, joining, sign = 0.0, -1, 1.0
    limit = penalty * (1.0 + TIES)
    for j in range(p.shape[0]):
        if state[j] == 0:
            for side in (1.0, -1.0):
                slope = 1.0 - side * q[j]
                if slope > TIES and not (j == left and side == left_sign):
                    at = side * p[j] / slope
                    if at <= limit and at > best:
                        best, joining, sign = at, j, side
    return joining, min(best, penalty), sign


@inner_kernel
def next_leaving(u, d, n_active, penalty, joined):
    """Read coefficients; return the place of the next one to become zero, and the penalty at which it does."""
    best, leaving = 0.0, -1
    for r in range(n_active):
        if r != joined and d[r] != 0.0:
            at = u[r] / d[r]
            if at < penalty * (1.0 - TIES) and at > best:
                best, leaving = at, r
    return leaving, best


@inner_kernel
def read_bag(table, bag, standardize):
    """Read the rows of a bag, or the rows that it lacks (sign -1); write its moments; return the target's mean."""
    n_columns, likely = table.X.shape[1], table.likely
    total = table.sums[n_columns] if bag.sign < 0 else 0.0
    bag.sums[:] = 0.0
    for i in range(bag.rows.shape[0]):
        row = bag.rows[i]
        total += bag.sign * table.y[row]
        bag.factors[0, i] = bag.sign
        bag.factors[1, i] = bag.sign * table.y[row]
        for f in range(likely.shape[0]):
            bag.factors[2 + f, i] = bag.sign * table.X[row, likely[f]]
    if bag.sign < 0:
        copy_values(table.sums[:n_columns], bag.sums[0])
        copy_values(table.products[:n_columns], bag.sums[1])
        for f in range(likely.shape[0]):
            copy_values(table.gram[likely[f]], bag.sums[2 + f])
    add_products(table.X, bag.rows, bag.factors[:, : bag.rows.shape[0]], bag.sums)
    target_mean = total / bag.size
    for j in range(n_columns):
        bag.means[j] = bag.sums[0, j] / bag.size
        bag.correlations[j] = bag.sums[1, j] / bag.size - bag.means[j] * target_mean
        bag.scales[j] = 1.0
    if standardize:
        scale_columns(table, bag)
    return target_mean


@inner_kernel
def scale_columns(table, bag):
    """Read a bag; write one over each column's standard deviation (0 if it is constant), and scale the correlations."""
    bag.scales[:] = 0.0
    for i in bag.rows:
        for j in range(table.X.shape[1]):
            bag.scales[j] += bag.sign * table.X[i, j] ** 2
    for j in range(table.X.shape[1]):
        square = (bag.scales[j] + (table.gram[j, j] if bag.sign < 0 else 0.0)) / bag.size
        variance = square - bag.means[j] ** 2
        bag.scales[j] = 1.0 / np.sqrt(variance) if variance > MIN_INDEPENDENT * square else 0.0
        bag.correlations[j] *= bag.scales[j]


@inner_kernel
def read_column(table, bag, j, row):
    """Read a bag; write the covariances of column ``j`` with all columns to the only row of an array."""
    place, out = table.place_of[j], row[0]
    if place >= 0:
        copy_values(bag.sums[2 + place], out)
    else:
        out[:] = 0.0
        if bag.sign < 0:
            copy_values(table.gram[j], out)
        for i in range(bag.rows.shape[0]):
            bag.factors[0, i] = bag.sign * table.X[bag.rows[i], j]
        add_products(table.X, bag.rows, bag.factors[:1, : bag.rows.shape[0]], row)
    for k in range(out.shape[0]):
        out[k] = (out[k] / bag.size - bag.means[j] * bag.means[k]) * bag.scales[j] * bag.scales[k]


@inner_kernel
def join(table, bag, path, n_active, j, sign):
    """Add a variable to the end of the active set, if its column is independent; return the size of the set."""
    if n_active == path.active.shape[0]:
        path.state[j] = 2
        return n_active
    read_column(table, bag, j, path.gram[n_active : n_active + 1])
    path.active[n_active], path.signs[n_active] = j, sign
    if extend_factor(path.gram, path.active, n_active + 1, path.factor) < MIN_INDEPENDENT:
        path.state[j] = 2
        return n_active
    path.state[j] = 1
    return n_active + 1


@inner_kernel
def leave(path, n_active, place):
    """Remove a variable from the active set and factor the rest again; return the size of the set."""
    path.state[path.active[place]] = 0
    for j in range(path.state.shape[0]):
        if path.state[j] == 2:  # it may be independent of the remaining ones
            path.state[j] = 0
    for r in range(place, n_active - 1):
        path.active[r], path.signs[r] = path.active[r + 1], path.signs[r + 1]
        copy_values(path.gram[r + 1], path.gram[r])
    for r in range(place, n_active - 1):
        extend_factor(path.gram, path.active, r + 1, path.factor)
    return n_active - 1


@inner_kernel
def write_coefficients(bag, path, n_active, penalty, out):
    """Read a segment; write the coefficients at a penalty, and return whether they are optimal."""
    out[:] = 0.0
    optimal = True
    for r in range(n_active):
        value = path.u[r] - penalty * path.d[r]
        if abs(value) <= TIES * (abs(path.u[r]) + penalty * abs(path.d[r])):
            value = 0.0  # it joins exactly at this penalty
        optimal = optimal and value * path.signs[r] >= 0.0
        out[path.active[r]] = value * bag.scales[path.active[r]]
    for j in range(out.shape[0]):
        if path.state[j] != 1:  # state 2: nearly dependent on active columns, and no more precise than they are
            tolerance = NEARLY_OPTIMAL if path.state[j] == 2 else OPTIMAL
            optimal = optimal and abs(path.p[j] + penalty * path.q[j]) <= penalty * (1.0 + tolerance)
    return optimal


@inner_kernel
def walk_path(table, bag, path, penalties, coefficients):
    """Read a bag; write the coefficients at penalties in descending order; return how many of them are certain."""
    n_active, joined, left = np.int64(0), np.int64(-1), np.int64(-1)  # with literals, kernels would be compiled twice
    left_sign, done, penalty = 0.0, 0, np.inf
    path.state[:] = 0
    for _ in range(MAX_EVENTS * (path.state.shape[0] + path.active.shape[0])):
        solve_segment(
            bag.correlations, path.gram, path.active, path.signs, n_active, path.factor, path.u, path.d, path.p, path.q
        )
        j, joins_at, sign = next_joining(path.p, path.q, penalty, path.state, left, left_sign)
        place, leaves_at = next_leaving(path.u, path.d, n_active, penalty, joined)
        while penalties[done] >= max(joins_at, leaves_at):
            if not write_coefficients(bag, path, n_active, penalties[done], coefficients[done]):
                return done
            done += 1
            if done == penalties.shape[0]:
                return done
        penalty = max(joins_at, leaves_at)
        if leaves_at >= joins_at:
            left, left_sign, joined = path.active[place], path.signs[place], -1
            n_active = leave(path, n_active, place)
        else:
            before = n_active
            n_active = join(table, bag, path, n_active, j, sign)
            if n_active > before:
                joined, left = before, -1
    return done


@inner_kernel
def descend(table, rows, bag, target_mean, penalty, coefficients):
    """Read a bag and initial coefficients; write the result of coordinate descent."""
    n_columns, size = table.X.shape[1], rows.shape[0]
    residuals, variances = bag.residuals, bag.variances
    variances[:] = 0.0
    for i in range(size):
        residuals[i] = table.y[rows[i]] - target_mean
        for j in range(n_columns):
            value = table.X[rows[i], j] - bag.means[j]
            residuals[i] -= value * coefficients[j]
            variances[j] += value * value / size
    for sweep in range(MAX_SWEEPS):
        is_full = sweep % FULL_SWEEPS == 0
        change = 0.0
        for j in range(n_columns):
            old = coefficients[j]
            if bag.scales[j] == 0.0 or variances[j] <= 0.0 or (old == 0.0 and not is_full):
                continue
            product = old * variances[j]
            for i in range(size):
                product += residuals[i] * (table.X[rows[i], j] - bag.means[j]) / size
            bound = penalty / bag.scales[j]
            new = np.sign(product) * max(abs(product) - bound, 0.0) / variances[j]
            if new != old:
                coefficients[j] = new
                for i in range(size):
                    residuals[i] -= (new - old) * (table.X[rows[i], j] - bag.means[j])
                change = max(change, abs(new - old) * variances[j] / penalty * bag.scales[j])
        if change < OPTIMAL and is_full:
            return


@inner_kernel
def solve_bag(table, rows, bag, path, standardize, penalties, coefficients):
    """Read a bag and penalties in descending order; write the coefficients at each, and return the target's mean."""
    target_mean = read_bag(table, bag, standardize)
    for k in range(walk_path(table, bag, path, penalties, coefficients), penalties.shape[0]):
        coefficients[k] = 0.0
        if k:
            copy_values(coefficients[k - 1], coefficients[k])
        descend(table, rows, bag, target_mean, penalties[k], coefficients[k])
    return target_mean


@inner_kernel
def leaves_enough(table, missing, squares):
    """Read rows that a bag lacks; return whether subtraction leaves enough of every column's square."""
    n_columns, of_target = table.X.shape[1], 0.0
    squares[:] = 0.0
    for i in missing:
        of_target += table.y[i] ** 2
        for j in range(n_columns):
            squares[j] += table.X[i, j] ** 2
    enough = table.products[n_columns] - of_target >= MIN_REST * table.products[n_columns]
    for j in range(n_columns):
        enough = enough and table.gram[j, j] - squares[j] >= MIN_REST * table.gram[j, j]
    return enough


@inner_kernel
def open_bag(table, rows, buffers):
    """The bag of some rows; if it holds most rows, and none twice, it is read through the rows that it lacks."""
    n_rows, size = table.X.shape[0], rows.shape[0]
    read, sign, missing, moments = rows, 1.0, buffers.missing, buffers.moments
    if table.gram.shape[0] and 2 * size > n_rows:
        n_missing = rows_between(rows, n_rows, missing)
        if n_missing + size == n_rows and leaves_enough(table, missing[:n_missing], moments[0]):
            read, sign = missing[:n_missing], -1.0
    return Bag(
        rows=read,
        sign=sign,
        size=size,
        factors=buffers.factors,
        sums=buffers.sums,
        means=moments[0],
        correlations=moments[1],
        scales=moments[2],
        residuals=buffers.residuals,
        variances=buffers.variances,
    )


@inner_kernel
def mark_variables(coefficients, groups, out):
    """Read coefficients; write which variables have a nonzero one."""
    out[:] = False
    for j in range(coefficients.shape[0]):
        if coefficients[j] != 0.0:
            out[groups[j]] = True


@inner_kernel
def universal_penalty(table, rows, bag, target_mean):
    """Read a bag with its moments; return the penalty that noise rarely exceeds (0: there is nothing to choose).

    It is the target's standard deviation times sqrt(2 log(2 p) / rows), with the p columns that vary in the bag.
    """
    n_varying, squares, varies = 0, 0.0, False
    for j in range(bag.scales.shape[0]):
        n_varying += 1 if bag.scales[j] > 0.0 else 0
    for i in rows:
        squares += (table.y[i] - target_mean) ** 2
        varies = varies or table.y[i] != table.y[rows[0]]
    if n_varying == 0 or not varies:
        return 0.0
    return np.sqrt(squares / rows.shape[0]) * np.sqrt(2.0 * np.log(2.0 * n_varying) / rows.shape[0])


@kernel
def select_bags(table, bags, penalty, standardize, groups, path, buffers, compared, out):
    """Read bags of rows; write which variables have a coefficient at a penalty (0: each bag's universal one)."""
    penalties, coefficients = compared.penalties, compared.coefficients
    penalties[0] = penalty
    for b in range(bags.shape[0]):
        bag = open_bag(table, bags[b], buffers)
        target_mean = read_bag(table, bag, standardize)
        if penalty == 0.0:
            penalties[0] = universal_penalty(table, bags[b], bag, target_mean)
        coefficients[0] = 0.0
        if penalties[0] > 0.0 and walk_path(table, bag, path, penalties, coefficients) == 0:
            coefficients[0] = 0.0
            descend(table, bags[b], bag, target_mean, penalties[0], coefficients[0])
        mark_variables(coefficients[0], groups, out[b])


@inner_kernel
def add_errors(table, rows, bag, target_mean, coefficients, errors):
    """Read rows and the coefficients at each penalty; add the mean squared error at each penalty."""
    for i in rows:
        for k in range(coefficients.shape[0]):
            error = target_mean - table.y[i]
            for j in range(coefficients.shape[1]):
                if coefficients[k, j] != 0.0:
                    error += (table.X[i, j] - bag.means[j]) * coefficients[k, j]
            errors[k] += error * error / rows.shape[0]


@inner_kernel
def choose_penalty(table, rows, n_folds, path, buffers, standardize, compared):
    """Read a bag, split into consecutive folds; write the penalties to compare; return the best of them (0: none)."""
    penalties, errors, others = compared.penalties, compared.errors, compared.rows
    size, n_penalties = rows.shape[0], penalties.shape[0]
    bag = open_bag(table, rows, buffers)
    read_bag(table, bag, standardize)
    largest, low, high = 0.0, table.y[rows[0]], table.y[rows[0]]
    for j in range(bag.correlations.shape[0]):
        largest = max(largest, abs(bag.correlations[j]))
    for i in rows:
        low, high = min(low, table.y[i]), max(high, table.y[i])
    if largest == 0.0 or low == high:
        return 0.0
    for k in range(n_penalties):
        penalties[k] = largest * MIN_PENALTY ** (k / (n_penalties - 1))
        errors[k] = 0.0
    start, best = 0, 0
    for fold in range(n_folds):
        stop = start + size // n_folds + (1 if fold < size % n_folds else 0)
        for i in range(start):
            others[i] = rows[i]
        for i in range(stop, size):
            others[i - stop + start] = rows[i]
        train = others[: size - stop + start]
        bag = open_bag(table, train, buffers)
        target_mean = solve_bag(table, train, bag, path, standardize, penalties, compared.coefficients)
        add_errors(table, rows[start:stop], bag, target_mean, compared.coefficients, errors)
        start = stop
    for k in range(n_penalties):
        if errors[k] < errors[best]:
            best = k
    return penalties[best]


@kernel
def select_bags_by_folds(table, bags, n_folds, standardize, groups, path, buffers, compared, out):
    """Read bags of rows; write which variables have a coefficient at the penalty chosen by the bag's own folds."""
    penalties, coefficients = compared.penalties, compared.coefficients
    for b in range(bags.shape[0]):
        best = choose_penalty(table, bags[b], n_folds, path, buffers, standardize, compared)
        coefficients[0] = 0.0
        if best > 0.0:
            penalties[0] = best
            bag = open_bag(table, bags[b], buffers)
            solve_bag(table, bags[b], bag, path, standardize, penalties[:1], coefficients[:1])
        mark_variables(coefficients[0], groups, out[b])
