"""The bins of one numeric column: their smallest and largest values."""

from dataclasses import dataclass

import numpy as np

ROUNDING = 1e-9  # values with their middle on the border of two bins go to the upper one, for any scale of the weights


@dataclass(frozen=True)
class BinEdges:
    """The smallest and the largest training value in each bin of one column, in increasing order.

    A value belongs to the first bin with an upper threshold that is not below it; thresholds are midway between the
    largest value of a bin and the smallest of the next. Columns without any value have no bins.
    """

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def from_values(cls, values: np.ndarray, max_bins: int | None, weights: np.ndarray | None = None) -> "BinEdges":
        """One bin for every distinct value if there are at most ``max_bins``, else bins of equal weight.

        A value with more weight than a bin's equal part counts as one bin, so that the others fill the other bins.
        """
        distinct, mass = _distinct_values(values, weights)
        if max_bins is None or len(distinct) <= max_bins:
            return cls(distinct, distinct)
        if mass is None:
            first = _even_starts(len(distinct), max_bins)
            return cls(distinct[first], distinct[np.append(first[1:], len(distinct)) - 1])
        capped = _capped_mass(mass, max_bins)
        middle = np.cumsum(capped) - capped / 2
        place = middle * (max_bins / capped.sum()) + ROUNDING
        bin_of_value = np.minimum(place.astype(np.int64), max_bins - 1)
        first = np.flatnonzero(np.diff(bin_of_value, prepend=-1))
        last = np.append(first[1:], len(distinct)) - 1
        return cls(distinct[first], distinct[last])

    @property
    def has_one_value_per_bin(self) -> bool:
        """Whether every bin was made from one distinct value."""
        return bool((self.low == self.high).all())

    @property
    def thresholds(self) -> np.ndarray:
        """Upper threshold of every bin but the last."""
        return midpoints(self.high[:-1], self.low[1:])

    def __len__(self) -> int:
        return len(self.low)


def midpoints(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Numbers t with ``below <= t < above``, midway if floating point allows it."""
    middle = below / 2 + above / 2  # the sum of halves cannot overflow
    return np.where((middle >= above) | (middle < below), below, middle)


def _distinct_values(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Distinct values in increasing order, and the weight of each; values without weight are left out.

    If there are no weights and no value occurs twice, the weights are None. Long arrays cost more than sorting: their
    memory is new each time.
    """
    keep = ~np.isnan(values)
    if weights is not None:
        keep &= weights > 0
    values = (values if keep.all() else values[keep]) + 0.0  # -0.0 and 0.0 are one value
    if weights is None:
        values.sort()
    else:
        order = np.argsort(values, kind="stable")
        values = values[order]
    changes = values[1:] != values[:-1]
    if weights is None and changes.all():
        return values, None
    first = np.flatnonzero(np.append(True, changes)) if len(values) else np.empty(0, dtype=np.int64)
    if weights is None:
        mass = np.diff(first, append=len(values)).astype(np.float64)
    else:
        mass = np.add.reduceat(weights[keep][order], first) if len(values) else np.empty(0)
    return values[first], mass


def _even_starts(n: int, n_bins: int) -> np.ndarray:
    """The first value of each bin, of n values of the same weight: as for any weights, without an array of length n."""
    width = n_bins / float(n)
    wanted = np.arange(n_bins)[:, np.newaxis]
    places = np.ceil(wanted / width - 0.5) + np.arange(-2, 3)  # rounding may move a start by one place
    places = np.clip(places, 0, n - 1)
    reaches = ((places + 0.5) * width + ROUNDING).astype(np.int64) >= wanted
    return places[np.arange(n_bins), reaches.argmax(axis=1)].astype(np.int64)


def _capped_mass(mass: np.ndarray, max_bins: int) -> np.ndarray:
    """The mass of each value, at most that of one bin; repeated because the cap lowers the mass of a bin."""
    capped = mass
    for _ in range(8):
        before = capped
        capped = np.minimum(mass, before.sum() / max_bins)
        if np.array_equal(capped, before):
            break
    return capped
