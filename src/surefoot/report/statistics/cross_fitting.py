"""Intervals of losses from cross-fitting, where every row is held out once."""

from math import inf, sqrt

from surefoot.report.statistics.estimates import Estimate

OVERLAP_ROWS = 90.0  # by simulation (benchmarks/cross_fitting_coverage.py), five folds
REDRAWN = 0.9  # by seeds (benchmarks/audit_seeds.py --draws 1: the square of the column "doubling", times 1 + REDRAWN)


def cross_fitted(estimate: Estimate, n_rows: int, least: float = -inf, most: float = inf) -> Estimate:
    """The same, wider by what the overlap of training sets hides, and cut off at ``least`` and ``most``.

    Models of different folds share most of their training rows, so that their losses go up and down together, by more
    the fewer rows there are. No estimate of this variance from the same folds is unbiased (Bengio and Grandvalet
    2004): the factor is the root of 1 + 90 / rows, set by simulation. With it 90% or more of the intervals hold the
    error of the model of all rows, for every model and number of rows tried.
    """
    wider = _widened(estimate, sqrt(1 + OVERLAP_ROWS / n_rows))
    return Estimate(
        estimate.value,
        max(wider.low, least) if wider.low > -inf else wider.low,
        min(wider.high, most) if wider.high < inf else wider.high,
    )


def redrawn(estimate: Estimate) -> Estimate:
    """A difference between models of other rows, wider by what the draw of these rows adds.

    An interval of paired losses tells what other judged rows would change. With other halves of the rows to train on,
    the difference changes too. Over ten seeds its variance was 0.6 times the former on average of ten tables, and 1.0
    times on the five whose intervals were narrow enough to decide anything.
    """
    return _widened(estimate, sqrt(1 + REDRAWN))


def _widened(estimate: Estimate, factor: float) -> Estimate:
    low = estimate.value - factor * (estimate.value - estimate.low)
    return Estimate(estimate.value, low, estimate.value + factor * (estimate.high - estimate.value))
