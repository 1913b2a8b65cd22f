"""Whether rows are enough to see the largest losses that a mean depends on, and what is not seen of them."""

MIN_ROWS = 300  # of errors of a kind that 2% of the rows have, 98% of samples of so many have at least two
MIN_PAIRED_ROWS = 20
MAX_DOMINANCE = 0.7  # part of the squared deviations in one row
WIDENING = 2.0


def is_dominated(dominance: float) -> bool:
    """Whether a single row accounts for so much of the spread that no interval can be trusted."""
    return dominance > MAX_DOMINANCE


def tail_factor(dominance: float) -> float:
    """How much wider an interval is for what the largest row says of those not drawn.

    With a finite variance the part of the squared deviations in one row falls to 0 as rows are added, and the factor to
    1; with an infinite one neither does. The power is by simulation (benchmarks/interval_coverage.py).
    """
    return (1 - dominance) ** -WIDENING
