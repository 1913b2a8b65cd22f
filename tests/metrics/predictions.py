"""Simple stand-ins for predicted distributions: the methods of ours, computed by scipy."""

import numpy as np


class Rows:
    """One scipy distribution per row, with the method names of our distributions."""

    def __init__(self, name, frozen, n_rows):
        self.name, self.frozen, self.n_rows = name, frozen, n_rows

    def __len__(self):
        return self.n_rows

    @property
    def is_discrete(self):
        return self.name == "poisson"

    def _per_row(self, values):
        return np.broadcast_to(values, self.n_rows)

    @property
    def mean(self):
        return self._per_row(self.frozen.mean())

    @property
    def std(self):
        return self._per_row(self.frozen.std())

    def quantile(self, q):
        return self._per_row(self.frozen.ppf(q))

    def interval(self, level):
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def logpdf(self, y):
        return (self.frozen.logpmf if self.is_discrete else self.frozen.logpdf)(y)

    def cdf(self, y):
        return self.frozen.cdf(y)


class Mixture:
    """An equal-weight mixture of several predictions."""

    name = "mixture"

    def __init__(self, *components):
        self.components = components

    def __len__(self):
        return len(self.components[0])

    @property
    def is_discrete(self):
        return self.components[0].is_discrete

    def cdf(self, y):
        return np.mean([component.cdf(y) for component in self.components], axis=0)

    def logpdf(self, y):
        return np.log(np.mean([np.exp(component.logpdf(y)) for component in self.components], axis=0))

    def quantile(self, q):
        ends = [component.quantile(q) for component in self.components]
        low, high = np.min(ends, axis=0) - 1.0, np.max(ends, axis=0)
        for _ in range(100):
            middle = (low + high) / 2
            below = self.cdf(middle) < q
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.round(high, 9) if self.is_discrete else high

    def interval(self, level):
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)
