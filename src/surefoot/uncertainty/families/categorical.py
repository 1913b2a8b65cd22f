"""Several classes: one score for each class."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from surefoot._jit import inner_kernel, kernel
from surefoot._parameters import check_integer
from surefoot.uncertainty.families.base import rows_with_weight
from surefoot.uncertainty.families.classification import ClassificationFamily, class_fractions

MAX_ROUNDS, PRECISION = 500, 1e-10  # of the start of rows with offsets
BATCH = 256  # rows at a time, so that their largest scores and sums stay in the first-level cache


@dataclass(frozen=True)
class Categorical(ClassificationFamily):
    """Several classes, coded 0, 1, ... as int32; probabilities are the softmax of the outputs.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least 2.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import Categorical
    >>> family = Categorical(n_classes=3)
    >>> start = family.start(np.array([0, 1, 1, 2], dtype=np.int32), None)
    >>> family.probabilities(start[:, np.newaxis]).round(6)
    array([[0.25, 0.5 , 0.25]])
    """

    n_classes: int
    name: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        check_integer("n_classes", self.n_classes, min_value=2)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(f"score_{k}" for k in range(self.n_classes))

    @property
    def n_outputs(self) -> int:
        return self.n_classes

    def start(self, y: np.ndarray, weights: np.ndarray | None, n_classes: int | None = None) -> np.ndarray:
        log_fractions = np.log(class_fractions(y, weights, self.n_classes if n_classes is None else n_classes))
        return log_fractions - log_fractions.mean()

    def start_with_offset(self, y: np.ndarray, weights: np.ndarray | None, offset: np.ndarray) -> np.ndarray:
        """The scores with which the mean probability of each class is its fraction, by iterative scaling."""
        log_fractions = np.log(class_fractions(y, weights, self.n_classes))
        log_fractions -= np.log(np.exp(log_fractions).sum())
        rows = slice(None) if weights is None else weights > 0
        fractions = rows_with_weight(y, weights)[1]
        scores = log_fractions - log_fractions.mean()
        for _ in range(MAX_ROUNDS):
            probabilities = self.probabilities(np.ascontiguousarray((offset + scores[:, np.newaxis])[:, rows]))
            step = log_fractions - np.log((probabilities * fractions[:, np.newaxis]).sum(axis=0))
            scores = scores + step
            if np.abs(step).max() < PRECISION:
                break
        return scores - scores.mean()

    def gradients(
        self, raw: np.ndarray, y: np.ndarray, rows: tuple[int, int], steps: np.ndarray, information: np.ndarray
    ) -> None:
        categorical_steps(raw, y, rows, steps, information)

    def nll(self, raw: np.ndarray, y: np.ndarray) -> np.ndarray:
        out = np.empty(len(y))
        categorical_nll(raw, y, out)
        return out

    def probabilities(self, raw: np.ndarray) -> np.ndarray:
        out = np.empty_like(raw)
        categorical_probabilities(raw, out)
        return np.ascontiguousarray(out.T)


@kernel
def categorical_steps(raw, y, rows, steps, information):
    """Read scores and codes of some rows; write gradients and information."""
    top, total = np.empty(BATCH), np.empty(BATCH)
    for start in range(rows[0], rows[1], BATCH):
        stop = min(start + BATCH, rows[1])
        exponentiate(raw, start, stop, start, top, total, steps)
        for k in range(raw.shape[0]):
            gradients, informations = steps[k, start:stop], information[k, start:stop]
            for i in range(stop - start):
                probability = gradients[i] / total[i]
                gradients[i] = -probability
                informations[i] = probability * (1.0 - probability)
        for i in range(start, stop):
            steps[y[i], i] += 1.0


@kernel
def categorical_nll(raw, y, out):
    """Read scores and codes; write minus the log of the probability."""
    top, total, exponentials = np.empty(BATCH), np.empty(BATCH), np.empty((raw.shape[0], BATCH))
    for start in range(0, y.shape[0], BATCH):
        stop = min(start + BATCH, y.shape[0])
        exponentiate(raw, start, stop, 0, top, total, exponentials)
        for i in range(start, stop):
            out[i] = math.log(total[i - start]) + (top[i - start] - raw[y[i], i])


@kernel
def categorical_probabilities(raw, out):
    """Read scores; write probabilities, both (classes, rows)."""
    top, total = np.empty(BATCH), np.empty(BATCH)
    for start in range(0, raw.shape[1], BATCH):
        stop = min(start + BATCH, raw.shape[1])
        exponentiate(raw, start, stop, start, top, total, out)
        for k in range(raw.shape[0]):
            probabilities = out[k, start:stop]
            for i in range(stop - start):
                probabilities[i] /= total[i]


@inner_kernel
def exponentiate(raw, start, stop, column, top, total, out):
    """Write largest scores, exponentials of scores less the largest (from ``column`` on), and their sums."""
    n = stop - start
    for i in range(n):
        top[i] = raw[0, start + i]
    for k in range(1, raw.shape[0]):
        scores = raw[k, start:stop]
        for i in range(n):
            top[i] = max(top[i], scores[i])
    total[:n] = 0.0
    for k in range(raw.shape[0]):
        scores, exponentials = raw[k, start:stop], out[k, column : column + n]
        for i in range(n):
            exponentials[i] = math.exp(scores[i] - top[i])
            total[i] += exponentials[i]
