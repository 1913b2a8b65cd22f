"""Labels that are wrong at random: how many there are, and which, from probabilities of models that did not see them.

A row that is unlikely is not thereby wrong: calibrated models expect unlikely labels. Wrong labels show in another way.
Among right ones, contradictions become rare where the models are sure; wrong ones are as frequent there as anywhere.
So the probabilities are recalibrated (log-linear pool of the models) together with a matrix of label noise, by maximum
likelihood: a label is that of the recalibrated models, or another one with the noise rate of its class. Copas (1988)
has this model for one column and two classes. The noise rates are 0 if contradictions become as rare as the logistic
curve says; then nothing is wrong.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

MAX_RATE = 0.4  # of wrong labels of a class: with half of them wrong, classes could be exchanged
MIN_CLASS_ROWS = 100  # classes with fewer rows share one noise rate
FIRST_RATES = (0.02, 0.1)  # where the search begins
MAX_STEPS = 300  # of a fit
RIDGE, FLAT = 0.01, 0.001  # penalties of unequal weights and of shifted classes, so that separable classes have a fit


@dataclass(frozen=True)
class LabelNoise:
    """Fitted noise rates.

    Attributes
    ----------
    shifts : array of shape (n_classes,)
    weights : array of shape (n_models,)
        Recalibration: the log-probability of a class is its shift plus the weighted log-probabilities of the models.
    rates : array of shape (n_classes,)
        The fraction of each class whose label is another one.
    loss : float
        Minus the penalized log-likelihood.
    """

    shifts: np.ndarray
    weights: np.ndarray
    rates: np.ndarray
    loss: float

    def clean(self, logs: np.ndarray) -> np.ndarray:
        """Recalibrated probabilities of the right class: (n_rows, n_classes)."""
        scores = self.shifts + logs @ self.weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def given(self, clean: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Probabilities of the right class and the given label together: (n_rows, n_classes)."""
        rows, n_classes = np.arange(len(labels)), clean.shape[1]
        joint = clean * (self.rates / (n_classes - 1))
        joint[rows, labels] = clean[rows, labels] * (1 - self.rates[labels])
        return np.asarray(joint)

    def wrong(self, logs: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The probability that each label is wrong."""
        joint = self.given(self.clean(logs), labels)
        return np.asarray(1 - joint[np.arange(len(labels)), labels] / joint.sum(axis=1))

    def row_likelihoods(self, logs: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The log-likelihood of each label."""
        return np.asarray(np.log(self.given(self.clean(logs), labels).sum(axis=1)))


def log_probabilities(probabilities: list[np.ndarray]) -> np.ndarray:
    """Logs of the probabilities of several models: (n_rows, n_classes, n_models); none is below half a row."""
    n_rows = len(probabilities[0])
    return np.log(np.clip(np.stack(probabilities, axis=2), 0.5 / n_rows, 1.0))


def rate_groups(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Which noise rate each class has: its own if it has many rows, otherwise that of all small classes."""
    is_large = np.bincount(labels, minlength=n_classes) >= MIN_CLASS_ROWS
    groups = np.cumsum(is_large) - 1
    groups[~is_large] = is_large.sum()
    return np.asarray(np.unique(groups, return_inverse=True)[1])


def fit_noise(logs: np.ndarray, labels: np.ndarray, groups: np.ndarray, right: LabelNoise | None = None) -> LabelNoise:
    """Noise rates and recalibration of the largest likelihood; ``right`` is that without noise, if it is known."""
    right = right or fit_given_rates(logs, labels, np.zeros(len(groups)))
    fits = [right, *(_fit(logs, labels, groups, first, right) for first in FIRST_RATES)]
    return min(fits, key=lambda each: each.loss)


def fit_given_rates(
    logs: np.ndarray, labels: np.ndarray, rates: np.ndarray, begin: LabelNoise | None = None
) -> LabelNoise:
    """The recalibration of the largest likelihood for known noise rates; the search begins with that of ``begin``."""
    return _fit(logs, labels, None, rates, begin)


def _fit(
    logs: np.ndarray,
    labels: np.ndarray,
    groups: np.ndarray | None,
    first: float | np.ndarray,
    begin: LabelNoise | None = None,
) -> LabelNoise:
    """Maximum likelihood; ``groups`` None: the rates are ``first``, and stay so."""
    n_classes, n_models = logs.shape[1:]
    n_free = 0 if groups is None else int(groups.max()) + 1
    truth = np.eye(n_classes)[labels]

    def noise_of(values: np.ndarray, loss: float = 0.0) -> LabelNoise:
        shifts, weights = np.append(0.0, values[: n_classes - 1]), values[n_classes - 1 : n_classes - 1 + n_models]
        rates = np.broadcast_to(first, n_classes) if groups is None else values[n_classes - 1 + n_models :][groups]
        return LabelNoise(shifts=shifts, weights=weights, rates=rates, loss=loss)

    def loss_of(values: np.ndarray) -> tuple[float, np.ndarray]:
        noise = noise_of(values)
        clean = noise.clean(logs)
        joint = noise.given(clean, labels)
        likelihood = joint.sum(axis=1, keepdims=True)
        surplus = clean - joint / likelihood  # the gradient of minus the log-likelihood by the scores
        tilt, shifts = noise.weights - 1 / n_models, noise.shifts
        slopes = [surplus.sum(axis=0)[1:] + 2 * FLAT * shifts[1:]]
        slopes += [np.tensordot(surplus, logs, axes=2) + 2 * RIDGE * tilt]
        if groups is not None:
            by_rate = clean / likelihood * (truth * n_classes - 1) / (n_classes - 1)
            slopes += [np.bincount(groups, weights=by_rate.sum(axis=0), minlength=n_free)]
        penalty = RIDGE * float(tilt @ tilt) + FLAT * float(shifts @ shifts)
        return penalty - float(np.log(likelihood).sum()), np.concatenate(slopes)

    shifts = np.zeros(n_classes - 1) if begin is None else begin.shifts[1:]
    weights = np.full(n_models, 1 / n_models) if begin is None else begin.weights
    start = np.concatenate([shifts, weights, np.full(n_free, first if n_free else 0.0)])
    bounds = [(None, None)] * (n_classes - 1) + [(0, None)] * n_models + [(0, MAX_RATE)] * n_free
    found = minimize(loss_of, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MAX_STEPS})
    return noise_of(found.x, float(found.fun))
