"""The link from votes to probabilities, and how it is fitted."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

MAX_STEPS, MAX_HALVINGS, MAX_QUASI_STEPS = 100, 40, 1000
TOLERANCE = 1e-16  # of the loss that a step would still save
RIDGE = 1e-12  # keeps classes of next to no weight from making the matrix singular
MAX_NEWTON_CLASSES = 30  # Newton's method solves a system of classes x classes: with more, L-BFGS is cheaper
SLOPE_TOLERANCE = 1e-8  # of L-BFGS, where a step of 1 in any parameter changes the loss by about as much

Derivatives = Callable[..., tuple[float, np.ndarray, np.ndarray]]  # the loss, its gradient, its second derivatives


@dataclass(frozen=True)
class VoteLink:
    """Probabilities are the softmax of ``scale`` times each class's fraction of the vote, plus its offset.

    For two classes this is Platt's logistic link of the vote; for several, temperature scaling with offsets.
    """

    scale: float
    offsets: np.ndarray  # (classes,), adding up to zero

    def probabilities(self, tally: np.ndarray) -> np.ndarray:
        """Probabilities (rows, classes) of a tally (1 or classes, rows)."""
        return self.of_fractions(fractions_of(tally))

    def of_fractions(self, fractions: np.ndarray) -> np.ndarray:
        """Probabilities (rows, classes) of fractions of the vote (rows, classes)."""
        return softmax(self.scale * fractions + self.offsets, axis=1)


def fractions_of(tally: np.ndarray) -> np.ndarray:
    """A tally as each class's fraction of the vote: (rows, classes)."""
    if len(tally) > 1:
        return tally.T
    return np.stack([(1 - tally[0]) / 2, (1 + tally[0]) / 2], axis=1)


def fit_link(
    fractions: np.ndarray, codes: np.ndarray, weights: np.ndarray, class_totals: np.ndarray | None = None
) -> VoteLink:
    """The link of largest likelihood on rows whose votes come from members that have not seen them.

    The scale is not below 0: votes that rank new rows the wrong way round say nothing, and the probabilities are then
    the frequencies of the classes.

    With very many classes some have none of these rows, which say nothing of their offsets. ``class_totals``, the rows
    of each class in the whole table, are then given: offsets are a multiple of the logarithms of the frequencies.
    """
    n_classes = fractions.shape[1]
    weights = weights / weights.sum()
    targets = smooth_targets(codes, weights * len(codes), n_classes)
    frequencies = weights @ targets if class_totals is None else smooth_frequencies(class_totals)
    constant = np.log(frequencies / frequencies[0])
    spread = float(fractions.std()) or 1.0
    votes = fractions / spread  # now votes and offsets are of one size
    if class_totals is not None:
        found = _newton(partial(_two_derivatives, constant), np.array([0.0, 1.0]), votes, targets, weights)
        found = np.append(found[0], found[1] * constant[1:])
    elif n_classes <= MAX_NEWTON_CLASSES:
        found = _newton(_derivatives, np.append(0.0, constant[1:]), votes, targets, weights)
    else:
        found = _quasi_newton(votes, targets, weights, frequencies)
    offsets = np.append(0.0, found[1:]) if found[0] > 0 else constant
    return VoteLink(max(float(found[0]), 0.0) / spread, offsets - offsets.mean())


def _newton(
    derivatives: Derivatives, parameters: np.ndarray, votes: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Parameters of the least loss, by Newton's method with halved steps; the loss is convex."""
    loss, slope, curvature = derivatives(parameters, votes, targets, weights)
    for _ in range(MAX_STEPS):
        step = np.linalg.solve(curvature + RIDGE * np.eye(len(slope)), slope)
        if slope @ step < TOLERANCE:
            break
        for _ in range(MAX_HALVINGS):
            trial = derivatives(parameters - step, votes, targets, weights)
            if trial[0] <= loss:
                break
            step /= 2
        parameters = parameters - step
        loss, slope, curvature = trial
    return parameters


def _quasi_newton(votes: np.ndarray, targets: np.ndarray, weights: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Scale, and offsets of all classes but the first, by L-BFGS: without a matrix of classes x classes.

    Each offset is searched in units of ``1 / sqrt(frequency)``: then all directions are about equally steep.
    """
    units = np.append(1.0, 1 / np.sqrt(frequencies))
    agreement = float(weights @ (targets * votes).sum(axis=1))

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        scale, offsets = scaled[0], scaled[1:] * units[1:]
        found, log_sums = _softmax(scale * votes + offsets)
        found *= weights[:, np.newaxis]
        slope = np.append(np.vdot(found, votes) - agreement, found.sum(axis=0) - frequencies)
        return float(weights @ log_sums - scale * agreement - frequencies @ offsets), slope * units

    start = np.append(0.0, np.log(frequencies)) / units
    options = {"maxiter": MAX_QUASI_STEPS, "maxfun": 2 * MAX_QUASI_STEPS, "ftol": 0.0, "gtol": SLOPE_TOLERANCE}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x * units
    return np.append(found[0], found[2:] - found[1])


def _softmax(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, written over the logits, and each row's logarithm of the sum of exponentials."""
    most = logits.max(axis=1, keepdims=True)
    np.exp(np.subtract(logits, most, out=logits), out=logits)
    sums = logits.sum(axis=1, keepdims=True)
    logits /= sums
    return logits, (np.log(sums) + most)[:, 0]


def _two_derivatives(
    constant: np.ndarray, parameters: np.ndarray, votes: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """As ``_derivatives``, of the scale and of the multiple of ``constant`` that the offsets are."""
    scale, multiple = parameters
    found, log_sums = _softmax(scale * votes + multiple * constant)
    loss, slope, curvature = float(weights @ log_sums), np.empty(2), np.empty((2, 2))
    columns = (votes, constant)
    means = [(found * column).sum(axis=1) for column in columns]
    for j, column in enumerate(columns):
        wanted = float(weights @ (targets * column).sum(axis=1))
        loss -= parameters[j] * wanted
        slope[j] = weights @ means[j] - wanted
        for k in range(2):
            curvature[j, k] = weights @ ((found * column * columns[k]).sum(axis=1) - means[j] * means[k])
    return loss, slope, curvature


def _derivatives(
    parameters: np.ndarray, votes: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """The weighted mean of the log-loss, its gradient and its matrix of second derivatives."""
    logits = parameters[0] * votes + np.append(0.0, parameters[1:])
    logits -= logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    found = np.exp(logs)
    errors = weights[:, np.newaxis] * (found - targets)
    weighted = weights[:, np.newaxis] * found
    centred = votes - (found * votes).sum(axis=1, keepdims=True)
    mixed = (weighted * centred)[:, 1:].sum(axis=0)
    curvature = np.empty((len(parameters), len(parameters)))
    curvature[0, 0] = (weighted * centred * votes).sum()
    curvature[0, 1:] = curvature[1:, 0] = mixed
    products = np.einsum("ia,ib->ab", weighted[:, 1:], found[:, 1:])  # not matmul: its threads wait for busy cores
    curvature[1:, 1:] = np.diag(weighted[:, 1:].sum(axis=0)) - products
    loss = -float((weights[:, np.newaxis] * targets * logs).sum())
    return loss, np.append((errors * votes).sum(), errors[:, 1:].sum(axis=0)), curvature


def smooth_targets(codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Targets as if about half a row of each class were of another (Jeffreys' estimate of a frequency).

    Without them, votes that separate the classes would get a scale without bound. Platt moves a whole row of each
    class: where classes are nearly separated, probabilities are then too timid.
    """
    other = _other(np.bincount(codes, weights=weights, minlength=n_classes))[codes]
    targets = np.repeat(other[:, np.newaxis] / (n_classes - 1), n_classes, axis=1)
    targets[np.arange(len(codes)), codes] = 1 - other
    return targets


def smooth_frequencies(totals: np.ndarray) -> np.ndarray:
    """The means of the smoothed targets over rows of which each class has so many."""
    moved = totals * _other(totals)
    smooth = totals - moved + (moved.sum() - moved) / (len(totals) - 1)
    return smooth / totals.sum()


def _other(totals: np.ndarray) -> np.ndarray:
    """How likely a row of a class might have been of another, given how many rows the class has."""
    return 0.5 / (totals + 1)
