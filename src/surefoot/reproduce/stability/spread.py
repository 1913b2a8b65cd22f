"""A number that several draws gave, in words."""

from collections.abc import Callable, Sequence

import numpy as np


def spread(values: Sequence[float] | np.ndarray, words: Callable[[float], str]) -> str:
    """Mean, least and most; ``words`` writes each."""
    return f"{words(float(np.mean(values)))} ({words(min(values))} to {words(max(values))})"
