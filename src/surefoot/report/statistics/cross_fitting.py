"""Intervals of losses from cross-fitting, where every row is held out once."""

from math import inf, sqrt

from surefoot.report.answers import Estimate

OVERLAP_ROWS = 90.0  # by simulation (benchmarks/cross_fitting_coverage.py), five folds


def cross_fitted(estimate: Estimate, n_rows: int, least: float = -inf, most: float = inf) -> Estimate:
    """The same, wider by what the overlap of training sets hides, and cut off at ``least`` and ``most``.

    Models of different folds share most of their training rows, so that their losses go up and down together, by more
    the fewer rows there are. No estimate of this variance from the same folds is unbiased (Bengio and Grandvalet
    2004): the factor is the root of 1 + 90 / rows, set by simulation. With it 90% or more of the intervals hold the
    error of the model of all rows, for every model and number of rows tried.
    """
    factor = sqrt(1 + OVERLAP_ROWS / n_rows)
    low = estimate.value - factor * (estimate.value - estimate.low)
    high = estimate.value + factor * (estimate.high - estimate.value)
    return Estimate(
        estimate.value,
        max(low, least) if low > -inf else low,
        min(high, most) if high < inf else high,
    )
