"""Whether something holds, judged over seeds, draws or splits: yes, no, or it cannot be told.

One value is an anecdote. A statement about a mean holds where the 95% interval of the mean, by Student's t over at
least five values, lies where the statement says; it does not hold where the interval lies elsewhere; otherwise, and
with fewer values, it cannot be told. That the values are not independent (splits of one table share rows) makes
intervals somewhat too narrow.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

MIN_VALUES = 5
LEVEL = 0.95
WORDS = {True: "holds", False: "does not hold", None: "cannot be told"}


def interval(mean: float, deviation: float, n_values: int) -> tuple[float, float] | None:
    """Of a mean; None where there are too few values."""
    from scipy.stats import t

    if n_values < MIN_VALUES:
        return None
    half = float(t.ppf(0.5 + LEVEL / 2, n_values - 1)) * deviation / sqrt(n_values)
    return mean - half, mean + half


def is_above(values: Sequence[float] | np.ndarray, bar: float = 0.0) -> bool | None:
    """Whether the mean is above a bar."""
    found = np.asarray(values, dtype=np.float64)
    if len(found) < MIN_VALUES:
        return None
    return opposite(is_at_least_by_summary(-float(found.mean()), float(found.std(ddof=1)), len(found), -bar))


def is_at_least_by_summary(mean: float, deviation: float, n_values: int, bar: float) -> bool | None:
    """Whether a mean is at or above a bar, by its standard deviation over so many values."""
    found = interval(mean, deviation, n_values)
    if found is None:
        return None
    low, high = found
    return True if low >= bar else (False if high < bar else None)


def is_at_least(values: Sequence[float] | np.ndarray, bar: float = 0.0) -> bool | None:
    """Whether the mean is at or above a bar."""
    return opposite(is_above(-np.asarray(values, dtype=np.float64), -bar))


def is_within(values: Sequence[float] | np.ndarray, centre: float, distance: float) -> bool | None:
    """Whether the mean is no further than a distance from a number."""
    offset = np.asarray(values, dtype=np.float64) - centre
    return all_of([is_at_least(offset, -distance), is_at_least(-offset, -distance)])


def is_most(count: int, total: int) -> bool | None:
    """Whether more than half of what ``count`` of ``total`` draws came from is so, by an exact binomial interval."""
    from scipy.stats import binomtest

    if total < MIN_VALUES:
        return None
    found = binomtest(count, total).proportion_ci(LEVEL)
    return True if found.low > 0.5 else (False if found.high <= 0.5 else None)


def is_always(results: Sequence[bool]) -> bool | None:
    """True where all of several seeds or parts say so, False where none does."""
    if len(results) < MIN_VALUES or (any(results) and not all(results)):
        return None
    return all(results)


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Of several statements together: fails with one, holds with all."""
    found = set(verdicts)
    if False in found:
        return False
    return True if found == {True} else None


def opposite(verdict: bool | None) -> bool | None:
    """Of the statement's negation."""
    return None if verdict is None else not verdict


def spread(values: Sequence[float] | np.ndarray, words: Callable[[float], str] = "{:.3f}".format) -> str:
    """Mean, least and largest; ``words`` writes each."""
    return f"{words(float(np.mean(values)))} ({words(float(np.min(values)))} to {words(float(np.max(values)))})"


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper, or a promise, and what was found; ``holds`` is None where that cannot be told."""

    text: str
    holds: bool | None
    detail: str

    @property
    def words(self) -> str:
        """One line of Markdown."""
        verdict = {True: "Holds", False: "Does not hold", None: "Cannot be told"}[self.holds]
        return f"**{self.text}** {verdict}: {self.detail}"
