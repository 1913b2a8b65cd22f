"""Categories as numbers: what the target was on average in the rows of the same category.

A training row must not see its own target, or trees would trust the statistic more than new rows deserve. So the
training rows are put in a random order, and each is described by the rows before it alone; new rows are described by
all of them. One order serves a whole model: with a second one, a row would show its target to rows which the first one
hides it from, and predictions that are carried from tree to tree would remember it.
"""

from dataclasses import dataclass

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._jit import kernel
from surefoot._random import random_permutation
from surefoot.data.category_groups import CategoryGroups

SMOOTHING = 5.0  # a category is drawn to the overall mean as if it had so many rows more of it
SLICE = 1 << 20  # rows per call of the kernel, so that Ctrl-C is heard
NO_PAIRS = np.empty((0, 2), dtype=np.int32)


@dataclass(frozen=True)
class TargetStatistics:
    """Means of the targets by category, and how often each category occurs, for columns and pairs of columns.

    The columns that come out are, group after group (see ``CategoryGroups``): ``(sum + smoothing * prior) / (weight +
    smoothing)`` for each target, then the weight of the category. Weights are counts of rows where none are given.
    A category that did not occur has the prior and no weight.

    Attributes
    ----------
    groups : CategoryGroups
    sums : array of shape (n_targets, n_keys)
        Weighted sums of the targets by category, the categories of all groups end to end.
    mass : array of shape (n_keys,)
        The weight of each category.
    prior : array of shape (n_targets,)
        Weighted mean of each target.
    smoothing : float

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot._random import stream_key
    >>> from surefoot.data.target_statistics import TargetStatistics
    >>> codes = np.array([[0, 0, 0, 1, 1, -1]], dtype=np.int32)
    >>> targets = np.array([[1.0, 1.0, 0.0, 0.0, 1.0, 0.0]])
    >>> statistics, ordered = TargetStatistics.fit(codes, targets, None, stream_key(0), smoothing=1.0)
    >>> ordered.shape  # the mean and the count, for the six training rows
    (2, 6)
    >>> statistics.transform(np.array([[0, 1, -1, 7]], dtype=np.int32))
    array([[0.625, 0.5  , 0.25 , 0.5  ],
           [3.   , 2.   , 1.   , 0.   ]])
    """

    groups: CategoryGroups
    sums: np.ndarray
    mass: np.ndarray
    prior: np.ndarray
    smoothing: float = SMOOTHING

    @classmethod
    def fit(
        cls,
        codes: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray | None,
        key: np.uint64,
        *,
        pairs: np.ndarray = NO_PAIRS,
        smoothing: float = SMOOTHING,
    ) -> "tuple[TargetStatistics, np.ndarray]":
        """The statistics, and the columns of the training rows (n_columns, n_rows), each row unseen by itself.

        Parameters
        ----------
        codes : integer array of shape (n_columns, n_rows)
            Categories from 0 on; -1 is a missing value, a category of its own.
        targets : array of shape (n_targets, n_rows)
        weights : array of shape (n_rows,) or None
            Rows without weight tell nothing to others; they are described as new rows are.
        key : stream key
            Names the order of the rows.
        pairs : integer array of shape (n_pairs, 2)
            Pairs of columns whose joint categories count too.
        smoothing : float, default=5.0

        Returns
        -------
        statistics : TargetStatistics
        ordered : array of shape (n_columns out, n_rows)
        """
        _check_rows(codes, targets, weights, smoothing)
        counted = np.arange(codes.shape[1]) if weights is None else np.flatnonzero(weights > 0)
        if len(counted) == 0:
            raise DataError("weights has no row above 0: give at least one row a weight.")
        order = counted[random_permutation(key, len(counted))]
        weights = np.ones(codes.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
        targets = np.ascontiguousarray(targets, dtype=np.float64)
        groups = CategoryGroups.fit(codes, pairs, None if len(counted) == codes.shape[1] else counted)
        priors = earlier_means(targets, weights, order)
        sums, mass = np.zeros((len(targets), len(groups.keys))), np.zeros(len(groups.keys))
        statistics = cls(groups, sums, mass, priors[:, -1].copy(), float(smoothing))
        ordered = np.empty((statistics.n_columns, codes.shape[1]))
        for group in range(len(groups)):
            statistics._fit_group(group, codes, targets, weights, order, priors, ordered)
        return statistics, ordered

    @property
    def n_columns(self) -> int:
        """How many columns come out."""
        return len(self.groups) * (len(self.prior) + 1)

    @property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """For each column that comes out, the columns of codes that it is made from."""
        return tuple(source for source in self.groups.sources for _ in range(len(self.prior) + 1))

    def transform(self, codes: np.ndarray) -> np.ndarray:
        """The columns (n_columns, n_rows) of new rows, described by all training rows."""
        self.groups.check(codes)
        out = np.empty((self.n_columns, codes.shape[1]))
        for group in range(len(self.groups)):
            self._describe(group, self.groups.places(codes, group), slice(None), out)
        return out

    def _block(self, group: int) -> tuple[slice, slice]:
        """Where a group's keys are, and which columns it fills."""
        width = len(self.prior) + 1
        starts = self.groups.starts
        return slice(int(starts[group]), int(starts[group + 1])), slice(group * width, (group + 1) * width)

    def _fit_group(
        self,
        group: int,
        codes: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        order: np.ndarray,
        priors: np.ndarray,
        ordered: np.ndarray,
    ) -> None:
        """Fill the group's sums and its columns of the training rows."""
        keys, columns = self._block(group)
        places = self.groups.places(codes, group)
        for first in range(0, len(order), SLICE):
            rows = order[first : first + SLICE]
            means, sums, mass = ordered[columns][:-1], self.sums[:, keys], self.mass[keys]
            describe_in_order(rows, first, places, targets, weights, priors, self.smoothing, sums, mass, means)
        ordered[columns][-1] = _weight_of(places, self.mass[keys])
        if len(order) < codes.shape[1]:
            unweighted = np.flatnonzero(weights <= 0)
            self._describe(group, places[unweighted], unweighted, ordered)

    def _describe(self, group: int, places: np.ndarray, rows: np.ndarray | slice, out: np.ndarray) -> None:
        """Write the full statistics of the categories ``places`` to the group's columns of ``rows``."""
        keys, columns = self._block(group)
        weight = _weight_of(places, self.mass[keys])
        for row, (sums, prior) in enumerate(zip(self.sums[:, keys], self.prior, strict=True)):
            out[columns][row, rows] = (_weight_of(places, sums) + self.smoothing * prior) / (weight + self.smoothing)
        out[columns][-1, rows] = weight


@kernel
def describe_in_order(rows, first, places, targets, weights, priors, smoothing, sums, mass, means):
    """Go through ``rows``; write each row's smoothed means of the targets in the rows of its category so far.

    ``sums`` and ``mass`` hold what went before and are carried on. Row number p of the whole order (the first of
    ``rows`` is number ``first``) is drawn to ``priors[:, b]``, b being the number of binary digits of p.
    """
    digits = 0
    while (first >> digits) > 0:
        digits += 1
    for p in range(rows.shape[0]):
        if ((first + p) >> digits) > 0:
            digits += 1
        i, c = rows[p], places[rows[p]]
        heaviness = mass[c] + smoothing
        for k in range(targets.shape[0]):
            means[k, i] = (sums[k, c] + smoothing * priors[k, digits]) / heaviness
            sums[k, c] += weights[i] * targets[k, i]
        mass[c] += weights[i]


def earlier_means(targets: np.ndarray, weights: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Weighted means (n_targets, n) of the first 0, 1, 2, 4, 8, ... rows of ``order``, and of all in the last column.

    A row is drawn to the mean of rows before it, like the sums of its category; a mean that moved with every row would
    give each row without company a value of its own, and trees would read the order of the rows from it.
    """
    n_steps = (len(order) - 1).bit_length() + 1
    counts = np.minimum(1 << np.arange(n_steps), len(order))
    running = np.cumsum(weights[order])[counts - 1]
    means = np.zeros((len(targets), n_steps + 1))
    for k, target in enumerate(targets):
        means[k, 1:] = np.cumsum(weights[order] * target[order])[counts - 1] / running
    return means


def _weight_of(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The value of each place; 0 for an unseen category."""
    return np.append(values, 0.0)[places]


def _check_rows(codes: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, smoothing: float) -> None:
    if targets.ndim != 2 or codes.ndim != 2 or targets.shape[1] != codes.shape[1]:
        raise DataError("targets must have the shape (n_targets, n_rows), with as many rows as codes.")
    if weights is not None and len(weights) != codes.shape[1]:
        raise DataError(f"weights has {len(weights)} rows, codes {codes.shape[1]}: give one weight for each row.")
    if not smoothing > 0:
        raise ParameterError(f"smoothing must be above 0, got {smoothing}.")
