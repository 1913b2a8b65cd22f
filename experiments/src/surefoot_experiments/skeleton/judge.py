"""Whether a statement holds, judged over seeds, draws or splits: yes, no, or inconclusive.

A single value proves nothing. A statement about a mean holds if the 95% interval of the mean (Student's t, at least
five values) lies where the statement says, and does not hold if the interval lies elsewhere. Otherwise, and with fewer
values, the result is inconclusive. The values are not independent (splits of one table share rows), which makes the
intervals somewhat too narrow.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

MIN_VALUES = 5
LEVEL = 0.95
VERDICTS = {True: "holds", False: "does not hold", None: "inconclusive"}


def mean_interval(mean: float, deviation: float, n_values: int) -> tuple[float, float] | None:
    """The 95% interval of a mean; None if there are too few values."""
    from scipy.stats import t

    if n_values < MIN_VALUES:
        return None
    half = float(t.ppf(0.5 + LEVEL / 2, n_values - 1)) * deviation / sqrt(n_values)
    return mean - half, mean + half


def is_above(values: Sequence[float] | np.ndarray, threshold: float = 0.0) -> bool | None:
    """Whether the mean is above a threshold."""
    numbers = np.asarray(values, dtype=np.float64)
    if len(numbers) < MIN_VALUES:
        return None
    mean, deviation = float(numbers.mean()), float(numbers.std(ddof=1))
    return opposite(is_at_least_by_summary(-mean, deviation, len(numbers), -threshold))


def is_at_least_by_summary(mean: float, deviation: float, n_values: int, threshold: float) -> bool | None:
    """Whether a mean is at or above a threshold, from the standard deviation and the number of values."""
    interval = mean_interval(mean, deviation, n_values)
    if interval is None:
        return None
    low, high = interval
    return True if low >= threshold else (False if high < threshold else None)


def is_at_least(values: Sequence[float] | np.ndarray, threshold: float = 0.0) -> bool | None:
    """Whether the mean is at or above a threshold."""
    return opposite(is_above(-np.asarray(values, dtype=np.float64), -threshold))


def is_within(values: Sequence[float] | np.ndarray, centre: float, distance: float) -> bool | None:
    """Whether the mean differs from a number by at most a distance."""
    offset = np.asarray(values, dtype=np.float64) - centre
    return all_of([is_at_least(offset, -distance), is_at_least(-offset, -distance)])


def is_majority(count: int, total: int) -> bool | None:
    """Whether a statement that holds on ``count`` of ``total`` draws holds on more than half of all draws.

    By an exact binomial interval.
    """
    from scipy.stats import binomtest

    if total < MIN_VALUES:
        return None
    interval = binomtest(count, total).proportion_ci(LEVEL)
    return True if interval.low > 0.5 else (False if interval.high <= 0.5 else None)


def is_unanimous(results: Sequence[bool]) -> bool | None:
    """True if a statement holds with every seed or part, False if it holds with none."""
    if len(results) < MIN_VALUES or (any(results) and not all(results)):
        return None
    return all(results)


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """The verdict on several statements together: False if one is False, True if all are True."""
    different = set(verdicts)
    if False in different:
        return False
    return True if different == {True} else None


def opposite(verdict: bool | None) -> bool | None:
    """The verdict on the negation of a statement."""
    return None if verdict is None else not verdict


def spread(values: Sequence[float] | np.ndarray, to_text: Callable[[float], str] = "{:.3f}".format) -> str:
    """Mean, minimum and maximum as text; ``to_text`` formats each number."""
    return f"{to_text(float(np.mean(values)))} ({to_text(float(np.min(values)))} to {to_text(float(np.max(values)))})"


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, or a guarantee, and the evidence; ``holds`` is None if the result is inconclusive."""

    text: str
    holds: bool | None
    detail: str

    @property
    def markdown(self) -> str:
        """One line of Markdown."""
        return f"**{self.text}** {VERDICTS[self.holds].capitalize()}: {self.detail}"
