"""95% intervals of fractions and means."""

from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

CONFIDENCE = 0.95
Z = float(ndtri((1 + CONFIDENCE) / 2))  # quantile of the standard normal distribution, for a two-sided interval


def wilson_interval(fraction: Any, counts: Any, quantile: float = Z) -> tuple[Any, Any]:
    """Ends of the interval of one or several fractions of ``counts`` rows (Wilson 1927); they are between 0 and 1."""
    z2 = quantile**2
    centre = (fraction + z2 / (2 * counts)) / (1 + z2 / counts)
    half = np.sqrt(z2 * (fraction * (1 - fraction) / counts + z2 / (4 * counts**2))) / (1 + z2 / counts)
    return np.clip(centre - half, 0, fraction), np.clip(centre + half, fraction, 1)


def student_interval(values: np.ndarray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Ends of Student's interval of the mean of some values; infinite for a single value."""
    n, mean = len(values), float(np.mean(values))
    reach = float(stdtrit(n - 1, (1 + confidence) / 2) * np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else np.inf
    return mean - reach, mean + reach
