"""Where the bins of one numeric column begin and end."""

from dataclasses import dataclass

import numpy as np

ROUNDING = 1e-9  # values whose middle falls on the border of two bins go to the upper one, whatever the weights' unit


@dataclass(frozen=True)
class BinEdges:
    """The smallest and the largest value seen in each bin of one column, in increasing order.

    A value belongs to the first bin whose upper threshold is not below it; thresholds lie midway between the largest
    value of a bin and the smallest of the next. Columns without any value have no bins.
    """

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def from_values(cls, values: np.ndarray, max_bins: int | None, weights: np.ndarray | None = None) -> "BinEdges":
        """Edges that give every distinct value its own bin if ``max_bins`` allows, else bins of equal weight.

        A value heavier than a bin's fair share counts as one bin, so that the other values spread over the other bins.
        """
        distinct, mass = _distinct_values(values, weights)
        if max_bins is None or len(distinct) <= max_bins:
            return cls(distinct, distinct)
        share = _capped_mass(mass, max_bins)
        middle = np.cumsum(share) - share / 2
        place = middle * (max_bins / share.sum()) + ROUNDING
        bin_of_value = np.minimum(place.astype(np.int64), max_bins - 1)
        first = np.flatnonzero(np.diff(bin_of_value, prepend=-1))
        last = np.append(first[1:], len(distinct)) - 1
        return cls(distinct[first], distinct[last])

    @property
    def every_value_has_its_own(self) -> bool:
        """Whether no two of the values that the edges were made from share a bin."""
        return bool((self.low == self.high).all())

    @property
    def thresholds(self) -> np.ndarray:
        """Upper threshold of every bin but the last."""
        return midpoints(self.high[:-1], self.low[1:])

    def __len__(self) -> int:
        return len(self.low)


def midpoints(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Numbers t with ``below <= t < above``, midway where floating point allows."""
    middle = below / 2 + above / 2  # the sum of halves cannot overflow
    return np.where((middle >= above) | (middle < below), below, middle)


def _distinct_values(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct finite values in increasing order and the weight of each; weightless values are left out."""
    keep = ~np.isnan(values)
    if weights is not None:
        keep &= weights > 0
    values = values[keep] + 0.0  # -0.0 and 0.0 are one value
    if weights is None:
        values.sort()
    else:
        order = np.argsort(values, kind="stable")
        values = values[order]
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1])) if len(values) else np.empty(0, dtype=np.int64)
    if weights is None:
        mass = np.diff(first, append=len(values)).astype(np.float64)
    else:
        mass = np.add.reduceat(weights[keep][order], first) if len(values) else np.empty(0)
    return values[first], mass


def _capped_mass(mass: np.ndarray, max_bins: int) -> np.ndarray:
    """Mass with heavy values cut down to one bin's share, repeated until the share settles."""
    share = mass
    for _ in range(8):
        cap = share.sum() / max_bins
        capped = np.minimum(mass, cap)
        if np.array_equal(capped, share):
            break
        share = capped
    return share
