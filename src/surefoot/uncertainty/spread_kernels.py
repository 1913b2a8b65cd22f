"""The uncertainty of members that are one classifier with spread outputs, row by row, without keeping the members.

The entropy of a member is ``log(1 + rest) - sum p_k x_k``: ``x_k`` is the output of class k less that of another class,
and ``rest`` the sum of the exponentials of all ``x_k``. So the logs of all members are one log, of the product of their
``1 + rest``. And where all outputs have the same spread, a few exponentials are factors of those of all members.
"""

import math

import numpy as np

from surefoot._jit import inner_kernel, kernel

LARGE = 1e100  # a product of this size is made into a sum of logs
WIDE = 100.0  # the exponential of twice this number, times LARGE, is a float
SMALL = 0.05  # below it, six terms of a series are exact to nine digits
NEVER = 1e-290  # the inverse of a larger mean is a float
CLOSE = 1e-5  # a difference of this part of two numbers has lost a third of its digits


@kernel
def spread_two_classes(raw, spread, scores, data, knowledge):
    """Read log-odds and their standard deviations, one for each row; write data and knowledge uncertainty in nats.

    Member m has the log-odds ``raw + scores[m] * spread``. The scores are in order, and symmetric: each from the end is
    minus that from the start.
    """
    last, fraction = scores.shape[0] - 1, 1.0 / scores.shape[0]
    for i in range(raw.shape[0]):
        distance, wide = abs(raw[i]), spread[i] * scores[last] > WIDE
        odds = math.exp(-distance)  # of the less probable class
        product, entropies, mean = 0.0, 0.0, 0.0  # the product of all (1 + rest), less 1
        for m in range(last // 2 + 1):
            step = scores[last - m] * spread[i]
            factor = 1.0 if wide else math.exp(step)
            for side in range(1 if 2 * m == last else 2):
                x = step - distance if side == 0 else -step - distance
                rest = math.exp(min(x, WIDE)) if wide else (odds * factor if side == 0 else odds / factor)
                p = rest / (1.0 + rest)
                entropies -= p * min(x, WIDE)
                mean += p * fraction
                product += rest + product * rest
            if product > LARGE:
                entropies, product = entropies + math.log1p(product), 0.0
        data[i] = max((entropies + math.log1p(product)) * fraction, 0.0)
        total = -(1.0 - mean) * math.log1p(-mean) - (mean * math.log(mean) if mean > 0.0 else 0.0)
        knowledge[i] = max(total - data[i], 0.0)
        if knowledge[i] < CLOSE * total:
            knowledge[i] = divergence_of_two(distance, spread[i], scores, mean)


@kernel
def spread_uncertainty(raw, spread, scores, orders, data, knowledge):
    """Read raw outputs (classes, rows) and their standard deviations; write data and knowledge uncertainty in nats.

    Output k of member m is ``raw[k] + scores[orders[m, k]] * spread[k]``; or all outputs have the one ``spread[0]``.
    The scores are symmetric, as for two classes.
    """
    n_members, n_classes = orders.shape
    members, means = np.empty((n_members, n_classes)), np.empty(n_classes)
    outputs, odds, factors = np.empty(n_classes), np.empty(n_classes), np.empty(n_members)
    for i in range(raw.shape[1]):
        if spread.shape[0] == 1 and spread[0, i] * scores[n_members - 1] < WIDE:
            top = fill_odds(raw, i, outputs, odds)
            entropies = fill_together(outputs, odds, spread[0, i], scores, orders, factors, top, members)
        else:
            entropies = fill_apart(raw, spread, i, scores, orders, members)
        means[:] = 0.0
        for m in range(n_members):
            for k in range(n_classes):
                means[k] += members[m, k]
        means /= n_members
        data[i] = max(entropies / n_members, 0.0)
        total = entropy(means)
        knowledge[i] = max(total - data[i], 0.0)
        if knowledge[i] < CLOSE * total:
            knowledge[i] = mean_divergence(members, means)


@inner_kernel
def fill_odds(raw, i, outputs, odds):
    """Write the outputs of a row, less that of the most probable class, and their exponentials; return that class."""
    top = 0
    for k in range(outputs.shape[0]):
        top = k if raw[k, i] > raw[top, i] else top
    for k in range(outputs.shape[0]):
        outputs[k] = raw[k, i] - raw[top, i]
        odds[k] = math.exp(outputs[k])
    return top


@inner_kernel
def fill_together(outputs, odds, spread, scores, orders, factors, top, out):
    """Write the probabilities of all members, with one spread of all outputs; return the sum of their entropies."""
    product, entropies, last = 0.0, 0.0, factors.shape[0] - 1
    for m in range(last // 2 + 1):
        factors[last - m] = math.exp(scores[last - m] * spread)
        factors[m] = 1.0 / factors[last - m]
    for m in range(last + 1):
        of_top, rest = factors[last - orders[m, top]], 0.0  # the inverse of its factor
        for k in range(out.shape[1]):
            if k != top:
                out[m, k] = odds[k] * factors[orders[m, k]] * of_top
                rest += out[m, k]
        inverse = 1.0 / (1.0 + rest)
        out[m, top] = inverse
        for k in range(out.shape[1]):
            if k != top:
                out[m, k] *= inverse
                entropies -= out[m, k] * (outputs[k] + (scores[orders[m, k]] - scores[orders[m, top]]) * spread)
        product += rest + product * rest
        if product > LARGE:
            entropies, product = entropies + math.log1p(product), 0.0
    return entropies + math.log1p(product)


@inner_kernel
def fill_apart(raw, spread, i, scores, orders, out):
    """Write the probabilities of all members, each output with a spread of its own; return the sum of entropies."""
    entropies, n_classes, last = 0.0, out.shape[1], spread.shape[0] - 1
    for m in range(out.shape[0]):
        top, rest, mean = 0, 0.0, 0.0
        for k in range(n_classes):
            out[m, k] = raw[k, i] + scores[orders[m, k]] * spread[min(k, last), i]
            top = k if out[m, k] > out[m, top] else top
        largest = out[m, top]
        for k in range(n_classes):
            x = out[m, k] - largest
            out[m, k] = math.exp(x)
            if k != top:
                rest += out[m, k]
                mean += x * out[m, k]
        for k in range(n_classes):
            out[m, k] /= 1.0 + rest
        entropies += math.log1p(rest) - mean / (1.0 + rest)
    return entropies


@inner_kernel
def entropy(p):
    """Return the entropy of probabilities, also where one of them is close to 1."""
    top, rest, out = 0, 0.0, 0.0
    for k in range(1, p.shape[0]):
        top = k if p[k] > p[top] else top
    for k in range(p.shape[0]):
        if k != top and p[k] > 0.0:
            out -= p[k] * math.log(p[k])
            rest += p[k]
    return out - p[top] * math.log1p(-rest)


@inner_kernel
def mean_divergence(members, means):
    """Return the mean divergence of the members' probabilities from their ``means``, without subtracting entropies."""
    disagreement, fraction = 0.0, 1.0 / members.shape[0]
    for k in range(members.shape[1]):
        if means[k] > NEVER:
            part, inverse = 0.0, 1.0 / means[k]
            for m in range(members.shape[0]):
                part += divergence((members[m, k] - means[k]) * inverse)
            disagreement += means[k] * part * fraction
    return max(disagreement, 0.0)


@inner_kernel
def divergence_of_two(distance, spread, scores, mean):
    """Return the mean divergence of members with two classes; ``mean`` is that of the less probable class."""
    out = 0.0
    if mean > NEVER:
        for m in range(scores.shape[0]):
            p = 1.0 / (1.0 + math.exp(distance - scores[m] * spread))
            out += mean * divergence((p - mean) / mean) + (1.0 - mean) * divergence((mean - p) / (1.0 - mean))
    return max(out / scores.shape[0], 0.0)


@inner_kernel
def divergence(d):
    """Return ``(1 + d) log(1 + d) - d``, without subtracting close numbers."""
    if abs(d) > SMALL:
        return (1.0 + d) * math.log1p(d) - d if d > -1.0 else -d
    return d * d * (0.5 - d * (1 / 6 - d * (1 / 12 - d * (1 / 20 - d * (1 / 30 - d / 42)))))
