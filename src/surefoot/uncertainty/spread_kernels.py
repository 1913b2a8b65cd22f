"""The uncertainty of members that are one classifier with spread scores, row by row, without keeping the members."""

import math

import numpy as np

from surefoot._jit import inner_kernel, kernel

SMALL = 0.05  # below it, six terms of a series are exact to nine digits
MAX_LOG_ODDS, NEVER = 700.0, 1e-290  # the exponential of the one, and the inverse of the other, are floats


@kernel
def spread_uncertainty(raw, spread, scores, data, knowledge):
    """Read raw outputs and their standard deviations (outputs, rows); write data and knowledge uncertainty in nats.

    Member m has the outputs ``raw + scores[m] * spread``, with ``scores`` of shape (members, outputs). One output is
    the log-odds of the second of two classes.
    """
    n_members, n_outputs = scores.shape
    n_classes = max(n_outputs, 2)
    members, means, fraction = np.empty((n_members, n_classes)), np.empty(n_classes), 1.0 / n_members
    for i in range(raw.shape[1]):
        means[:] = 0.0
        for m in range(n_members):
            if n_outputs == 1:
                log_odds = raw[0, i] + scores[m, 0] * spread[0, i]
                odds = math.exp(max(min(log_odds, MAX_LOG_ODDS), -MAX_LOG_ODDS))
                members[m, 0] = 1.0 / (1.0 + odds)
                members[m, 1] = odds * members[m, 0]
            else:
                fill_probabilities(raw[:, i], spread[:, i], scores[m], members[m])
            for k in range(n_classes):
                means[k] += members[m, k] * fraction
        disagreement, total = 0.0, 0.0
        for k in range(n_classes):
            if means[k] > NEVER:
                total -= means[k] * math.log(means[k])
                part, inverse = 0.0, 1.0 / means[k]
                for m in range(n_members):
                    part += divergence((members[m, k] - means[k]) * inverse)
                disagreement += means[k] * part * fraction
        knowledge[i] = max(disagreement, 0.0)
        data[i] = max(total - knowledge[i], 0.0)


@inner_kernel
def fill_probabilities(raw, spread, scores, out):
    """Write the probabilities of all classes."""
    top, total = -np.inf, 0.0
    for k in range(raw.shape[0]):
        out[k] = raw[k] + scores[k] * spread[k]
        top = max(top, out[k])
    for k in range(raw.shape[0]):
        out[k] = math.exp(out[k] - top)
        total += out[k]
    for k in range(raw.shape[0]):
        out[k] /= total


@inner_kernel
def divergence(d):
    """Return ``(1 + d) log(1 + d) - d``, without subtracting close numbers."""
    if abs(d) > SMALL:
        return (1.0 + d) * math.log1p(d) - d if d > -1.0 else -d
    return d * d * (0.5 - d * (1 / 6 - d * (1 / 12 - d * (1 / 20 - d * (1 / 30 - d / 42)))))
