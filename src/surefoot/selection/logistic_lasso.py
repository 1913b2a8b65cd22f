"""Logistic regression with an L1 penalty: it minimises C * (sum of log-losses) + sum of |coefficients|.

Newton's method on a working set of coefficients. Each step minimises the quadratic approximation of the losses plus the
penalties: along one coordinate after the other until the signs settle, then by solving for all that are not zero.

Two classes have one output, the log-odds of the second class; with more classes, each has one. ``coefs`` has a line for
each output: a coefficient for each column, and last the intercept, which is not penalised. Columns are centred and on
one scale, and the penalties match that scale.
"""

from typing import NamedTuple

import numpy as np

from surefoot._jit import inner_kernel, kernel

TOLERANCE = 1e-9  # allowed error of a slope, as a fraction of its penalty
NOISE = 1e-13  # rounding error of a sum, as a fraction of the sum of absolute values
MAX_HIDDEN = 1e4  # allowed error of a slope, in tolerances, if rounding hides any further gain
LIKELY = 0.95  # a zero coefficient joins the working set if its slope is this fraction of its penalty
MIN_JOINING = 50  # the number of coefficients that may join in a step, at least
FORCING = 0.1  # a step leaves at most this fraction of the violation, and less of it near the end
DAMPING = 1e-6  # fraction of a slope that is added to its curvature, to bound every step
RIDGE = 1e-11  # fraction of a coefficient's curvature that those before it must leave
SUFFICIENT = 1e-4  # fraction of the predicted gain that a step must achieve
STRIDE, MAX_DETOURS = 1000.0, 6  # factor between the values of C that lead to a large one, and their number
MAX_STEPS, MAX_STALLS, MAX_ROUNDS, MAX_SWEEPS, MAX_HALVINGS = 300, 3, 50, 20, 60


class NewtonMove(NamedTuple):
    """The coefficients of a working set, and how a full Newton step would change them."""

    x: np.ndarray
    move: np.ndarray
    slopes: np.ndarray
    penalties: np.ndarray


@kernel(allocates=True)
def fit_bags(values, parts, penalties, Cs, coefs, solved):
    """Read the scaled rows of bags; write the best coefficients of each bag, and whether they were found.

    If there are more coefficients than rows, a large C is reached through smaller ones: if it were used at once, many
    coefficients would join and leave again.
    """
    for b in range(values.shape[0]):
        n, n_classes = parts.sizes[b], parts.n_classes[b]
        lines = coefs[b, : n_classes if n_classes > 2 else 1]
        rows, labels, counts = values[b, :n], parts.labels[b, :n], parts.counts[b, :n]
        n_detours, lightest = 0, penalties[b, :-1].min()
        if lines.size > n:
            while n_detours < MAX_DETOURS and Cs[b] / STRIDE**n_detours * counts.sum() > STRIDE * lightest:
                n_detours += 1
        start_coefficients(labels, counts, lines)
        for detour in range(n_detours, -1, -1):
            solved[b] = improve(rows, labels, counts, penalties[b], Cs[b] / STRIDE**detour, lines)


@kernel(allocates=True)
def add_held_out(values, parts, penalties, Cs, held_values, held, losses, solved):
    """Read scaled rows of bags and their held-out rows; add the log-losses of these for each C, in ascending order.

    The solution for one C is the start for the next. ``solved`` becomes False for bags without a solution.
    """
    n_columns = values.shape[2]
    for b in range(values.shape[0]):
        n, n_held = parts.sizes[b], held.sizes[b]
        n_outputs = parts.n_classes[b] if parts.n_classes[b] > 2 else 1
        coefs = np.empty((n_outputs, n_columns + 1))
        rows, labels, counts = values[b, :n], parts.labels[b, :n], parts.counts[b, :n]
        held_labels, held_counts = held.labels[b, :n_held], held.counts[b, :n_held]
        buffers = np.empty((3, n_held, n_outputs))
        start_coefficients(labels, counts, coefs)
        for c in range(Cs.shape[0] if n_held > 0 else 0):
            solved[b] &= improve(rows, labels, counts, penalties[b], Cs[c], coefs)
            find_logits(held_values[b, :n_held], coefs, buffers[0])
            losses[b, c] += rate_classes(buffers[0], held_labels, held_counts, buffers[1], buffers[2])


@inner_kernel(allocates=True)
def start_coefficients(labels, counts, coefs):
    """Read labels; write the best coefficients without columns: intercepts that predict the frequency of each class."""
    totals = np.zeros(max(coefs.shape[0], 2))
    for i in range(labels.shape[0]):
        totals[labels[i]] += counts[i]
    coefs[:] = 0.0
    for k in range(coefs.shape[0]):
        coefs[k, -1] = np.log(totals[k] / totals[-1]) if coefs.shape[0] > 1 else np.log(totals[1] / totals[0])


@inner_kernel(allocates=True)
def improve(values, labels, counts, penalties, C, coefs):
    """Read scaled rows; improve the coefficients in place until they are optimal; return whether they are."""
    n, n_outputs = values.shape[0], coefs.shape[0]
    logits, rates, rests = np.empty((n, n_outputs)), np.empty((n, n_outputs)), np.empty((n, n_outputs))
    slopes, urgency = np.empty(coefs.shape), np.empty(coefs.shape)
    columns, outputs = np.empty(coefs.size, np.int64), np.empty(coefs.size, np.int64)
    tolerances = TOLERANCE * penalties
    tolerances[-1] = tolerances[:-1].min()
    find_logits(values, coefs, logits)
    loss, n_stalls = rate_classes(logits, labels, counts, rates, rests), 0
    for _ in range(MAX_STEPS):
        noise = NOISE * find_slopes(values, labels, counts, rates, rests, C, slopes)
        worst = rank_coefficients(coefs, slopes, penalties, tolerances + noise, urgency)
        if worst <= 1.0 or n_stalls == MAX_STALLS:
            return worst <= MAX_HIDDEN
        size = choose_coefficients(urgency, columns, outputs)
        x, slope, penalty, slack = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
        chosen, curvature = np.ones((n + -n % 4, size)), np.empty((size, size))
        siblings = np.full((values.shape[1] if n_outputs > 1 else 0, n_outputs), -1)
        for u in range(size):
            j, k = columns[u], outputs[u]
            if j < siblings.shape[0]:
                siblings[j, k] = u
            x[u], slope[u], penalty[u], slack[u] = coefs[k, j], slopes[k, j], penalties[j], (tolerances[j] + noise) / 10
        for i in range(n):
            for u in range(size):
                if columns[u] < values.shape[1]:
                    chosen[i, u] = values[i, columns[u]]
        curve_losses(chosen, outputs[:size], counts, rates, rests, C, curvature)
        for u in range(size):
            curvature[u, u] += DAMPING * abs(slope[u])
        move = x.copy()
        minimise_quadratic(curvature, penalty, slack, siblings, move, slope.copy())
        move -= x
        direction = np.zeros((n, n_outputs))
        for i in range(n):
            for u in range(size):
                direction[i, outputs[u]] += chosen[i, u] * move[u]
        newton = NewtonMove(x=x, move=move, slopes=slope, penalties=penalty)
        step, loss, stalled = search_step(newton, direction, labels, counts, C, loss, logits, rates, rests)
        n_stalls += stalled
        for u in range(size):
            coefs[outputs[u], columns[u]] = x[u] + step * move[u]
    return False


@inner_kernel(allocates=True)
def find_logits(values, coefs, logits):
    """Read scaled rows and coefficients; write the log-odds of each row and output."""
    n_columns = values.shape[1]
    for k in range(coefs.shape[0]):
        logits[:, k] = coefs[k, n_columns]
        for j in range(n_columns):
            if coefs[k, j] != 0.0:
                for i in range(values.shape[0]):
                    logits[i, k] += coefs[k, j] * values[i, j]


@inner_kernel(allocates=True)
def rate_classes(logits, labels, counts, rates, rests):
    """Read log-odds; write the probability of each output's class and of all others; return the sum of log-losses.

    Both are written, because 1 minus a probability near 1 would lose digits.
    """
    n, n_outputs = logits.shape
    total = 0.0
    for i in range(n):
        row = logits[i]
        if n_outputs == 1:
            others = np.exp(-abs(row[0]))
            larger, smaller = 1.0 / (1.0 + others), others / (1.0 + others)
            rates[i, 0], rests[i, 0] = (larger, smaller) if row[0] >= 0.0 else (smaller, larger)
            total += counts[i] * (np.log1p(others) + (max(row[0], 0.0) - labels[i] * row[0]))
            continue
        top, others = row.argmax(), 0.0
        for k in range(n_outputs):
            rates[i, k] = np.exp(row[k] - row[top])
            others += rates[i, k] if k != top else 0.0
        for k in range(n_outputs):
            rates[i, k] /= 1.0 + others
            rests[i, k] = 1.0 - rates[i, k]
        rests[i, top] = others / (1.0 + others)
        total += counts[i] * (np.log1p(others) + (row[top] - row[labels[i]]))
    return total


@inner_kernel(allocates=True)
def find_slopes(values, labels, counts, rates, rests, C, slopes):
    """Read scaled rows and probabilities; write the derivative of C * (sum of log-losses) for each coefficient.

    Returns the sum of the absolute errors.
    """
    n_outputs, n_columns = rates.shape[1], values.shape[1]
    slopes[:] = 0.0
    total = 0.0
    for i in range(values.shape[0]):
        row = values[i]
        for k in range(n_outputs):
            is_true = labels[i] == (1 if n_outputs == 1 else k)
            error = C * counts[i] * (-rests[i, k] if is_true else rates[i, k])
            line = slopes[k]
            for j in range(n_columns):
                line[j] += error * row[j]
            line[n_columns] += error
            total += abs(error)
    return total


@inner_kernel(allocates=True)
def rank_coefficients(coefs, slopes, penalties, tolerances, urgency):
    """Read coefficients and slopes; write how urgent a change is: infinite if nonzero, 0 if it should remain zero.

    Returns the largest violation of the optimality conditions, in tolerances.
    """
    n_outputs, last = coefs.shape[0], coefs.shape[1] - 1
    worst = 0.0
    urgency[:] = 0.0
    for k in range(max(n_outputs - 1, 1)):  # one intercept is redundant if every class has an output
        urgency[k, last] = np.inf
        worst = max(worst, abs(slopes[k, last]) / tolerances[last])
    for k in range(n_outputs):
        for j in range(last):
            slope, penalty = slopes[k, j], penalties[j]
            if coefs[k, j] != 0.0:
                urgency[k, j] = np.inf
                off = abs(slope + (penalty if coefs[k, j] > 0.0 else -penalty))
            else:
                off = abs(slope) - penalty
                if abs(slope) > LIKELY * penalty:
                    urgency[k, j] = abs(slope) / penalty
            if off > 0.0:
                worst = max(worst, off / tolerances[j])
    return worst


@inner_kernel(allocates=True)
def choose_coefficients(urgency, columns, outputs):
    """Read the urgencies; write columns and outputs of the coefficients that a step may change; return their number."""
    n_wanted, n_kept = 0, 0
    for need in urgency.flat:
        n_wanted += need > 0.0
        n_kept += need == np.inf
    limit, bar = n_kept + max(n_kept // 2, MIN_JOINING), 0.0
    if n_wanted > limit:
        bar = np.sort(urgency.ravel())[urgency.size - limit]
    n = 0
    for k in range(urgency.shape[0]):
        for j in range(urgency.shape[1]):
            if urgency[k, j] > 0.0 and urgency[k, j] >= bar:
                columns[n], outputs[n] = j, k
                n += 1
    return n


@inner_kernel(allocates=True)
def add_products(rows, lefts, rights, factors, out):
    """Read rows; add the sum of ``factors * left * right`` to ``out``, for pairs of columns from two ranges.

    If the ranges are the same, only for pairs with a right column that is not after the left one. Four rows are added
    at a time (their number must be a multiple of four), so that sums are written a quarter as often.
    """
    first, n_right = rights[0], rights[1] - rights[0]
    for i in range(0, rows.shape[0], 4):
        p, q, r, s = rows[i][first:], rows[i + 1][first:], rows[i + 2][first:], rows[i + 3][first:]
        for u in range(lefts[0], lefts[1]):
            a, b = factors[i] * rows[i, u], factors[i + 1] * rows[i + 1, u]
            c, d = factors[i + 2] * rows[i + 2, u], factors[i + 3] * rows[i + 3, u]
            line = out[u][first:]
            for v in range(min(u + 1 - first, n_right)):
                line[v] += (a * p[v] + b * q[v]) + (c * r[v] + d * s[v])


@inner_kernel(allocates=True)
def curve_losses(chosen, outputs, counts, rates, rests, C, curvature):
    """Read probabilities; write the second derivatives of C * (sum of log-losses) for pairs of chosen coefficients.

    ``chosen`` (rows, coefficients) has the values that the coefficients are multiplied with, padded to a multiple of
    four rows. Coefficients of one output are consecutive.
    """
    (n_filled, size), (n, n_outputs) = chosen.shape, rates.shape
    factors, weighted = np.zeros(n_filled), np.zeros(chosen.shape)
    for i in range(n if n_outputs > 1 else 0):
        for u in range(size):
            weighted[i, u] = chosen[i, u] * rates[i, outputs[u]]
    curvature[:] = 0.0
    stop = 0
    for k in range(n_outputs):
        first = stop
        while stop < size and outputs[stop] == k:
            stop += 1
        for i in range(n):
            factors[i] = C * counts[i] * rates[i, k] * rests[i, k]
        add_products(chosen, (first, stop), (first, stop), factors, curvature)
        for i in range(n):
            factors[i] = -C * counts[i]
        if first > 0:
            add_products(weighted, (first, stop), (0, first), factors, curvature)
    for u in range(size):
        for v in range(u):
            curvature[v, u] = curvature[u, v]


@inner_kernel(allocates=True)
def descend_coordinates(curvature, penalties, slack, x, slopes):
    """Move one coefficient after the other to its best value, in place; return whether any sign changed."""
    changed = False
    for u in range(x.shape[0]):
        bend = curvature[u, u]
        if bend <= 0.0 or (x[u] == 0.0 and abs(slopes[u]) <= penalties[u] + slack[u]):
            continue  # rounding must not change a coefficient that is correctly zero
        target = bend * x[u] - slopes[u]
        best = max(abs(target) - penalties[u], 0.0) / bend * (1.0 if target > 0.0 else -1.0)
        move = best - x[u]
        changed |= (best > 0.0) != (x[u] > 0.0) or (best < 0.0) != (x[u] < 0.0)
        x[u] = best
        line = curvature[u]
        for v in range(x.shape[0]):
            slopes[v] += move * line[v]
    return changed


@inner_kernel(allocates=True)
def solve_equations(matrix, n, x):
    """Read the upper half of a symmetric matrix, and overwrite it; write the solution over the right-hand side.

    A pivot that is lost in rounding is increased: this limits the solution in flat directions.
    """
    min_pivots = np.empty(n)
    for a in range(n):
        min_pivots[a] = RIDGE * matrix[a, a]
    for a in range(n):
        line = matrix[a]
        line[a] = max(line[a], min_pivots[a])
        for b in range(a + 1, n):
            ratio, other = line[b] / line[a], matrix[b]
            for c in range(b, n):
                other[c] -= ratio * line[c]
            x[b] -= ratio * x[a]
    for a in range(n - 1, -1, -1):
        for b in range(a + 1, n):
            x[a] -= matrix[a, b] * x[b]
        x[a] /= matrix[a, a]


@inner_kernel(allocates=True)
def solve_with_signs(curvature, penalties, x, slopes, places, matrix, move):
    """Move the nonzero coefficients towards the best values with the same signs, in place.

    The move ends where the first of them becomes zero; returns whether one does.
    """
    n = 0
    for u in range(x.shape[0]):
        if (x[u] != 0.0 or penalties[u] == 0.0) and curvature[u, u] > 0.0:
            places[n] = u
            n += 1
    for a in range(n):
        u = places[a]
        move[a] = -slopes[u] - (penalties[u] if x[u] > 0.0 else -penalties[u])
        for b in range(a, n):
            matrix[a, b] = curvature[u, places[b]]
    solve_equations(matrix, n, move)
    step, stopped = 1.0, -1
    for a in range(n):
        u = places[a]
        if penalties[u] > 0.0 and x[u] * (x[u] + step * move[a]) <= 0.0:
            step, stopped = -x[u] / move[a], u
    for a in range(n):
        u = places[a]
        best = x[u] + step * move[a] if u != stopped else 0.0
        change, line = best - x[u], curvature[u]
        x[u] = best
        for v in range(x.shape[0]):
            slopes[v] += change * line[v]
    return stopped >= 0


@inner_kernel(allocates=True)
def shift_to_median(curvature, siblings, x, slopes):
    """Shift all coefficients of a column by the same amount, in place, so that their median is zero.

    ``siblings`` has the places of a column's coefficients for each class, -1 if one is not in ``x``. The losses depend
    only on their differences, and no other shift has a smaller penalty; a step would have to find this out for one
    column after the other.
    """
    middle, other = siblings.shape[1] // 2, (siblings.shape[1] - 1) // 2
    for j in range(siblings.shape[0]):
        if siblings[j].min() < 0:
            continue
        ordered = np.sort(x[siblings[j]])
        shift = max(ordered[other], 0.0) + min(ordered[middle], 0.0)
        if shift != 0.0:
            for u in siblings[j]:
                x[u] -= shift
                for v in range(x.shape[0]):
                    slopes[v] -= shift * curvature[u, v]


@inner_kernel(allocates=True)
def violation(penalties, slack, x, slopes):
    """Read slopes; return the largest violation of the optimality conditions, in units of the slack."""
    worst = 0.0
    for u in range(x.shape[0]):
        if x[u] == 0.0:
            off = abs(slopes[u]) - penalties[u]
        else:
            off = abs(slopes[u] + (penalties[u] if x[u] > 0.0 else -penalties[u]))
        worst = max(worst, off / slack[u])
    return worst


@inner_kernel(allocates=True)
def minimise_quadratic(curvature, penalties, slack, siblings, x, slopes):
    """Move ``x`` towards the minimum of quadratic plus penalty, and update the ``slopes``, in place."""
    size = x.shape[0]
    places, matrix, move = np.empty(size, np.int64), np.empty((size, size)), np.empty(size)
    start = violation(penalties, slack, x, slopes)
    enough = max(min(FORCING, TOLERANCE * start) * start, 1.0)
    for _ in range(MAX_ROUNDS):
        for _ in range(MAX_SWEEPS):
            if not descend_coordinates(curvature, penalties, slack, x, slopes):
                break
        shift_to_median(curvature, siblings, x, slopes)
        if violation(penalties, slack, x, slopes) <= enough:
            return
        while solve_with_signs(curvature, penalties, x, slopes, places, matrix, move):
            continue


@inner_kernel(allocates=True)
def search_step(newton, direction, labels, counts, C, loss, logits, rates, rests):
    """Halve the step until it achieves enough of the predicted gain; move the log-odds and write the probabilities.

    Returns the step, the losses after it, and whether its gain is lost in rounding.
    """
    x, move, slopes, penalties = newton.x, newton.move, newton.slopes, newton.penalties
    before, predicted = C * loss, 0.0
    for u in range(x.shape[0]):
        before += penalties[u] * abs(x[u])
        predicted += slopes[u] * move[u] + penalties[u] * (abs(x[u] + move[u]) - abs(x[u]))
    stalled = predicted > -NOISE * before
    step, after, trial = 2.0, loss, np.empty(logits.shape)
    for _ in range(MAX_HALVINGS):
        step *= 0.5
        for i in range(logits.shape[0]):
            for k in range(logits.shape[1]):
                trial[i, k] = logits[i, k] + step * direction[i, k]
        after = rate_classes(trial, labels, counts, rates, rests)
        total = C * after
        for u in range(x.shape[0]):
            total += penalties[u] * abs(x[u] + step * move[u])
        if stalled or total <= before + SUFFICIENT * step * predicted:
            break
    for i in range(logits.shape[0]):
        for k in range(logits.shape[1]):
            logits[i, k] = trial[i, k]
    return step, after, stalled
