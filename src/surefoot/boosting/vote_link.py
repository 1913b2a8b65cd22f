"""The link from votes to probabilities, and how it is fitted."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

MAX_STEPS, MAX_HALVINGS = 100, 40
TOLERANCE = 1e-16  # of the loss that a step would still save
RIDGE = 1e-12  # keeps classes of next to no weight from making the matrix singular


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


def fit_link(fractions: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> VoteLink:
    """The link of largest likelihood on rows whose votes come from members that have not seen them.

    The scale is not below 0: votes that rank new rows the wrong way round say nothing, and the probabilities are then
    the frequencies of the classes.
    """
    n_classes = fractions.shape[1]
    weights = weights / weights.sum()
    targets = smooth_targets(codes, weights * len(codes), n_classes)
    frequencies = weights @ targets
    constant = np.append(0.0, np.log(frequencies[1:] / frequencies[0]))
    spread = float(fractions.std()) or 1.0
    found = _maximise(fractions / spread, targets, weights, constant)  # votes and offsets are of one size
    offsets = np.append(0.0, found[1:]) if found[0] > 0 else constant
    return VoteLink(max(float(found[0]), 0.0) / spread, offsets - offsets.mean())


def _maximise(votes: np.ndarray, targets: np.ndarray, weights: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Scale, and offsets of all classes but the first, by Newton's method with halved steps; the loss is convex."""
    parameters = np.append(0.0, constant[1:])
    loss, slope, curvature = _derivatives(parameters, votes, targets, weights)
    for _ in range(MAX_STEPS):
        step = np.linalg.solve(curvature + RIDGE * np.eye(len(slope)), slope)
        if slope @ step < TOLERANCE:
            break
        for _ in range(MAX_HALVINGS):
            trial = _derivatives(parameters - step, votes, targets, weights)
            if trial[0] <= loss:
                break
            step /= 2
        parameters = parameters - step
        loss, slope, curvature = trial
    return parameters


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
    """Platt's targets: of n rows of a class, one in n + 2 might have been of another.

    Without them, votes that separate the classes would get a scale without bound.
    """
    other = 1 / (np.bincount(codes, weights=weights, minlength=n_classes)[codes] + 2)
    targets = np.repeat(other[:, np.newaxis] / (n_classes - 1), n_classes, axis=1)
    targets[np.arange(len(codes)), codes] = 1 - other
    return targets
