"""The link from votes to probabilities, and its fit by maximum likelihood."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

MAX_STEPS, MAX_HALVINGS, MAX_QUASI_STEPS = 100, 40, 1000
TOLERANCE = 1e-16  # reduction of the loss below which no further step is made
RIDGE = 1e-12  # without it, classes of almost no weight would make the matrix singular
MAX_NEWTON_CLASSES = 30  # Newton's method solves a system of classes x classes: with more, L-BFGS is cheaper
SLOPE_TOLERANCE = 1e-8  # of L-BFGS, where a step of 1 in any parameter changes the loss by about as much

Derivatives = Callable[..., tuple[float, np.ndarray, np.ndarray]]  # the loss, its gradient and its Hessian


@dataclass(frozen=True)
class VoteLink:
    """Probabilities are the softmax of ``scale`` times each class's fraction of the vote, plus the class's offset.

    For two classes this is Platt's logistic link of the vote; for several, temperature scaling with offsets.
    """

    scale: float
    offsets: np.ndarray  # (classes,), with sum 0

    def probabilities(self, tally: np.ndarray) -> np.ndarray:
        """Probabilities (rows, classes) of a tally (1 or classes, rows)."""
        return self.of_fractions(fractions_of(tally))

    def of_fractions(self, fractions: np.ndarray) -> np.ndarray:
        """Probabilities (rows, classes) of fractions of the vote (rows, classes)."""
        return softmax_of_rows(self.scale * fractions + self.offsets)


def softmax_of_rows(logits: np.ndarray) -> np.ndarray:
    """The softmax of each row (rows, classes).

    NumPy adds up the classes of a single row in another order than those of several: a single row is taken twice.
    """
    if len(logits) > 1:
        return np.asarray(softmax(logits, axis=1))
    return np.asarray(softmax(np.asfortranarray(np.repeat(logits, 2, axis=0)), axis=1))[:1]


def fractions_of(tally: np.ndarray) -> np.ndarray:
    """A tally as each class's fraction of the vote: (rows, classes)."""
    if len(tally) > 1:
        return tally.T
    return np.stack([(1 - tally[0]) / 2, (1 + tally[0]) / 2], axis=1)


def fit_link(
    fractions: np.ndarray, codes: np.ndarray, weights: np.ndarray, class_totals: np.ndarray | None = None
) -> VoteLink:
    """The link of largest likelihood, given out-of-sample votes.

    The scale is not below 0: if votes rank new rows the wrong way round, they are not used, and the probabilities are
    the frequencies of the classes.

    With very many classes, some have none of these rows, and their offsets cannot be estimated. ``class_totals``, the
    rows of each class in the whole table, are then given: the offsets are a multiple of the logarithms of the
    frequencies.
    """
    n_classes = fractions.shape[1]
    weights = weights / weights.sum()
    targets = smooth_targets(codes, weights * len(codes), n_classes)
    frequencies = weights @ targets if class_totals is None else smooth_frequencies(class_totals)
    constant = np.log(frequencies / frequencies[0])
    spread = float(fractions.std()) or 1.0
    votes = fractions / spread  # votes and offsets are now of the same order of magnitude
    if class_totals is not None:
        scale, multiple = _newton(partial(_two_derivatives, constant), np.array([0.0, 1.0]), votes, targets, weights)
        parameters = np.append(scale, multiple * constant[1:])
    elif n_classes <= MAX_NEWTON_CLASSES:
        parameters = _newton(_derivatives, np.append(0.0, constant[1:]), votes, targets, weights)
    else:
        parameters = _quasi_newton(votes, targets, weights, frequencies)
    offsets = np.append(0.0, parameters[1:]) if parameters[0] > 0 else constant
    return VoteLink(max(float(parameters[0]), 0.0) / spread, offsets - offsets.mean())


def _newton(
    derivatives: Derivatives, parameters: np.ndarray, votes: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Parameters of minimal loss, by Newton's method with step halving; the loss is convex."""
    loss, gradient, hessian = derivatives(parameters, votes, targets, weights)
    for _ in range(MAX_STEPS):
        step = np.linalg.solve(hessian + RIDGE * np.eye(len(gradient)), gradient)
        if gradient @ step < TOLERANCE:
            break
        for _ in range(MAX_HALVINGS):
            trial = derivatives(parameters - step, votes, targets, weights)
            if trial[0] <= loss:
                break
            step /= 2
        parameters = parameters - step
        loss, gradient, hessian = trial
    return parameters


def _quasi_newton(votes: np.ndarray, targets: np.ndarray, weights: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Scale, and offsets of all classes but the first, by L-BFGS, which needs no matrix of classes x classes.

    The unit of each offset is ``1 / sqrt(frequency)``: then the loss is about equally steep in all directions.
    """
    units = np.append(1.0, 1 / np.sqrt(frequencies))
    agreement = float(weights @ (targets * votes).sum(axis=1))

    def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        scale, offsets = scaled[0], scaled[1:] * units[1:]
        weighted, log_sums = _softmax(scale * votes + offsets)
        weighted *= weights[:, np.newaxis]
        gradient = np.append(np.vdot(weighted, votes) - agreement, weighted.sum(axis=0) - frequencies)
        return float(weights @ log_sums - scale * agreement - frequencies @ offsets), gradient * units

    start = np.append(0.0, np.log(frequencies)) / units
    options = {"maxiter": MAX_QUASI_STEPS, "maxfun": 2 * MAX_QUASI_STEPS, "ftol": 0.0, "gtol": SLOPE_TOLERANCE}
    parameters = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x * units
    return np.append(parameters[0], parameters[2:] - parameters[1])


def _softmax(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, written over the logits, and the logarithm of each row's sum of exponentials."""
    largest = logits.max(axis=1, keepdims=True)
    np.exp(np.subtract(logits, largest, out=logits), out=logits)
    sums = logits.sum(axis=1, keepdims=True)
    logits /= sums
    return logits, (np.log(sums) + largest)[:, 0]


def _two_derivatives(
    constant: np.ndarray, parameters: np.ndarray, votes: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """As ``_derivatives``, for two parameters: the scale, and the factor of ``constant`` in the offsets."""
    scale, multiple = parameters
    probabilities, log_sums = _softmax(scale * votes + multiple * constant)
    loss, gradient, hessian = float(weights @ log_sums), np.empty(2), np.empty((2, 2))
    columns = (votes, constant)
    means = [(probabilities * column).sum(axis=1) for column in columns]
    for j, column in enumerate(columns):
        target_mean = float(weights @ (targets * column).sum(axis=1))
        loss -= parameters[j] * target_mean
        gradient[j] = weights @ means[j] - target_mean
        for k in range(2):
            hessian[j, k] = weights @ ((probabilities * column * columns[k]).sum(axis=1) - means[j] * means[k])
    return loss, gradient, hessian


def _derivatives(
    parameters: np.ndarray, votes: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """The weighted mean of the log-loss, its gradient and its Hessian."""
    logits = parameters[0] * votes + np.append(0.0, parameters[1:])
    logits -= logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    probabilities = np.exp(logs)
    errors = weights[:, np.newaxis] * (probabilities - targets)
    weighted = weights[:, np.newaxis] * probabilities
    centred = votes - (probabilities * votes).sum(axis=1, keepdims=True)
    mixed = (weighted * centred)[:, 1:].sum(axis=0)
    hessian = np.empty((len(parameters), len(parameters)))
    hessian[0, 0] = (weighted * centred * votes).sum()
    hessian[0, 1:] = hessian[1:, 0] = mixed
    products = np.einsum("ia,ib->ab", weighted[:, 1:], probabilities[:, 1:])  # matmul's threads wait for busy cores
    hessian[1:, 1:] = np.diag(weighted[:, 1:].sum(axis=0)) - products
    loss = -float((weights[:, np.newaxis] * targets * logs).sum())
    return loss, np.append((errors * votes).sum(), errors[:, 1:].sum(axis=0)), hessian


def smooth_targets(codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Targets as if about half a row of each class belonged to the other classes (Jeffreys' estimate of a frequency).

    Without this, votes that separate the classes would have an unbounded scale. Platt moves a whole row of each class,
    which makes probabilities underconfident if the classes are nearly separated.
    """
    other = _other_probability(np.bincount(codes, weights=weights, minlength=n_classes))[codes]
    targets = np.repeat(other[:, np.newaxis] / (n_classes - 1), n_classes, axis=1)
    targets[np.arange(len(codes)), codes] = 1 - other
    return targets


def smooth_frequencies(totals: np.ndarray) -> np.ndarray:
    """The means of the smoothed targets, from the number of rows of each class."""
    moved = totals * _other_probability(totals)
    smooth = totals - moved + (moved.sum() - moved) / (len(totals) - 1)
    return smooth / totals.sum()


def _other_probability(totals: np.ndarray) -> np.ndarray:
    """The probability that a row of a class belongs to another class, given the number of rows of the class."""
    return 0.5 / (totals + 1)
