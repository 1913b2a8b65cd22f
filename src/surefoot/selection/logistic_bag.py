"""Bags for logistic regression: their distinct rows, labels and folds, and their columns on the scale of each bag."""

from typing import Any, NamedTuple

import numpy as np

from surefoot._jit import kernel


class BagRows(NamedTuple):
    """The distinct rows of bags or of parts of bags, one line for each; only ``sizes`` entries of a line are used.

    Labels number the classes in a bag, in their order: a bag may lack some classes.
    """

    rows: Any
    counts: Any  # how often a row is in the bag
    labels: Any
    sizes: Any
    n_classes: Any

    @classmethod
    def empty(cls, n_bags: int, max_rows: int) -> "BagRows":
        """Arrays for ``n_bags`` bags of at most ``max_rows`` rows."""
        return cls(
            rows=np.zeros((n_bags, max_rows), np.int64),
            counts=np.zeros((n_bags, max_rows)),
            labels=np.zeros((n_bags, max_rows), np.int64),
            sizes=np.zeros(n_bags, np.int64),
            n_classes=np.zeros(n_bags, np.int64),
        )

    @classmethod
    def from_bags(cls, codes: np.ndarray, bags: np.ndarray) -> "BagRows":
        """The rows of bags, with the codes of their classes; row numbers must be in ascending order."""
        parts = cls.empty(*bags.shape)
        gather_bags(codes, bags, parts)
        return parts

    def split(self, n_folds: int, fold: int) -> tuple["BagRows", "BagRows"]:
        """The rows outside a fold, and the rows in it."""
        outside, inside = BagRows.empty(*self.rows.shape), BagRows.empty(*self.rows.shape)
        split_bags(self, n_folds, fold, outside, inside)
        return outside, inside


@kernel(allocates=True)
def gather_bags(codes, bags, parts):
    """Read codes of classes and bags (row numbers in ascending order); write the rows of each."""
    for b in range(bags.shape[0]):
        rows, counts, labels, n, highest = parts.rows[b], parts.counts[b], parts.labels[b], 0, 0
        for row in bags[b]:
            if n > 0 and rows[n - 1] == row:
                counts[n - 1] += 1.0
            else:
                rows[n], counts[n], labels[n] = row, 1.0, codes[row]
                highest = max(highest, codes[row])
                n += 1
        places = np.zeros(highest + 1, np.int64)
        for i in range(n):
            places[labels[i]] = 1
        n_classes = 0
        for code in range(highest + 1):
            n_classes += places[code]
            places[code] = n_classes - 1
        for i in range(n):
            labels[i] = places[labels[i]]
        parts.sizes[b], parts.n_classes[b] = n, n_classes


@kernel(allocates=True)
def split_bags(parts, n_folds, fold, outside, inside):
    """Read the rows of bags; write the rows outside a fold, and the rows in it.

    The distinct rows of a bag are assigned to the folds in turn, class by class. The only row of a class is in no fold:
    without it, the class would be unknown.
    """
    for b in range(parts.sizes.shape[0]):
        n, n_classes = parts.sizes[b], parts.n_classes[b]
        labels = parts.labels[b, :n]
        frequencies, turns = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
        for i in range(n):
            frequencies[labels[i]] += 1
        for k in range(1, n_classes):
            turns[k] = turns[k - 1] + (frequencies[k - 1] if frequencies[k - 1] > 1 else 0)
        n_outside, n_inside = 0, 0
        for i in range(n):
            k = labels[i]
            if frequencies[k] > 1 and turns[k] % n_folds == fold:
                place, n_inside = n_inside, n_inside + 1
                inside.rows[b, place], inside.counts[b, place] = parts.rows[b, i], parts.counts[b, i]
                inside.labels[b, place] = k
            else:
                place, n_outside = n_outside, n_outside + 1
                outside.rows[b, place], outside.counts[b, place] = parts.rows[b, i], parts.counts[b, i]
                outside.labels[b, place] = k
            turns[k] += 1
        outside.sizes[b], inside.sizes[b] = n_outside, n_inside
        outside.n_classes[b] = inside.n_classes[b] = n_classes


@kernel(allocates=True)
def measure_columns(X, parts, means, scales):
    """Read the rows of bags; write the mean and standard deviation (0 if it is constant) of each column in each bag."""
    n_columns = X.shape[1]
    for b in range(means.shape[0]):
        rows, counts, total = parts.rows[b], parts.counts[b], 0.0
        mean, scale = means[b], scales[b]
        low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        mean[:] = 0.0
        for i in range(parts.sizes[b]):
            row, count = X[rows[i]], counts[i]
            total += count
            for j in range(n_columns):
                mean[j] += count * row[j]
                low[j], high[j] = min(low[j], row[j]), max(high[j], row[j])
        for j in range(n_columns):
            mean[j] /= total
            high[j] = max(high[j] - mean[j], mean[j] - low[j]) if low[j] < high[j] else 0.0
        scale[:] = 0.0
        for i in range(parts.sizes[b]):
            row, count = X[rows[i]], counts[i]
            for j in range(n_columns):  # relative to the largest distance: squares neither overflow nor vanish
                relative = (row[j] - mean[j]) / high[j] if high[j] > 0.0 else 0.0
                scale[j] += count * relative * relative
        for j in range(n_columns):
            scale[j] = high[j] * np.sqrt(scale[j] / total)


@kernel
def scale_rows(X, parts, means, scales, values):
    """Read the rows of bags, and means and scales of the bags' columns; write the rows on that scale.

    A column without a scale, which is constant in the bag, becomes 0.
    """
    for b in range(means.shape[0]):
        for i in range(parts.sizes[b]):
            row, out = X[parts.rows[b, i]], values[b, i]
            for j in range(X.shape[1]):
                out[j] = (row[j] - means[b, j]) / scales[b, j] if scales[b, j] > 0.0 else 0.0
