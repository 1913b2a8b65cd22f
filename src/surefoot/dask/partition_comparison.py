"""Whether partitions are alike: whether labels and columns differ between them by more than chance.

The members of a vote must be trained on random parts of the rows. Partitions of a sorted table are no random parts, and
neither are files of one day, or one customer, each.
"""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from scipy.stats import f as f_distribution

from surefoot._exceptions import UnlikePartitionsWarning, warn_caller
from surefoot._formatting import one_line
from surefoot.dask.summaries import PartitionSummary

MAX_P_VALUE = 1e-4  # divided by the number of comparisons
MIN_FRACTION = (
    0.01  # of the variance that is between partitions: in large tables, smaller ones are not by chance either
)
MIN_EXPECTED = 20  # rows of a class that a random partition would have, and this one has none of
MAX_NAMED = 3


def warn_if_unlike(summaries: Sequence[PartitionSummary]) -> None:
    """Warn if the labels or columns of partitions differ by more than chance.

    Parameters
    ----------
    summaries : sequence of PartitionSummary
        One for each partition.
    """
    used = [summary for summary in summaries if summary.n_weighted > 0]
    different = unlike_columns(used) if len(used) > 1 else []
    if different:
        more = f" and {len(different) - MAX_NAMED} more" if len(different) > MAX_NAMED else ""
        warn_caller(
            f"The partitions of X are not alike: they differ by more than chance in {', '.join(different[:MAX_NAMED])}"
            f"{more}. But the members of a vote must be trained on random parts of the rows: use shuffle=True, which "
            "moves the rows between the workers once.",
            UnlikePartitionsWarning,
        )


def unlike_columns(used: Sequence[PartitionSummary]) -> list[str]:
    """What differs between partitions that have rows: "the labels", and names of columns."""
    comparisons = list(_comparisons(used))
    limit = MAX_P_VALUE / max(1, len(comparisons))
    different = [name for name, moments in comparisons if differs(moments, limit)]
    if _lacks_a_class(used):
        different.insert(0, "the labels")
    return list(dict.fromkeys(different))


def differs(moments: np.ndarray, max_p_value: float) -> bool:
    """Whether the means of groups differ by more than chance (one-way analysis of variance), and noticeably.

    ``moments`` (groups, 3) are the number of values, their mean, and their sum of squared deviations.
    """
    counts, means, squares = moments[moments[:, 0] > 0].T
    if len(counts) < 2 or not np.isfinite(moments).all():
        return False
    overall = np.average(means, weights=counts)
    between, within = float(counts @ (means - overall) ** 2), float(squares.sum())
    n_rows, n_groups = float(counts.sum()), len(counts)
    if n_rows <= n_groups or between <= MIN_FRACTION * (between + within):
        return False
    if within == 0:
        return True
    statistic = (between / (n_groups - 1)) / (within / (n_rows - n_groups))
    return bool(f_distribution.sf(statistic, n_groups - 1, n_rows - n_groups) < max_p_value)


def _comparisons(used: Sequence[PartitionSummary]) -> Iterator[tuple[str, np.ndarray]]:
    """The name of each thing that is compared, and its moments in every partition: (partitions, 3)."""
    n_rows = np.array([summary.n_weighted for summary in used], dtype=np.float64)
    if used[0].labels is not None:
        for counts in _counts_by_value([_label_counts(summary) for summary in used]):
            yield "the labels", indicator_moments(counts, n_rows)
    names = range(used[0].n_columns) if used[0].names is None else used[0].names
    for position, name in enumerate(names):
        title = f"column {one_line(repr(name))}"
        moments = np.stack([summary.moments[position] for summary in used if summary.moments is not None])
        yield title, indicator_moments(moments[:, 0], n_rows)  # whether values are missing
        if position not in used[0].categories:
            yield title, moments
            continue
        parts = [summary.categories[position] for summary in used]
        for counts in _counts_by_value([dict(zip(p.labels, p.counts.tolist(), strict=True)) for p in parts]):
            yield title, indicator_moments(counts, n_rows)


def indicator_moments(counts: np.ndarray, n_rows: np.ndarray) -> np.ndarray:
    """The moments of a column that is 1 in ``counts`` of the rows, and 0 in the others."""
    return np.stack([n_rows, counts / n_rows, counts * (1 - counts / n_rows)], axis=1)


def _label_counts(summary: PartitionSummary) -> dict[Hashable, int]:
    assert summary.labels is not None
    assert summary.label_counts is not None
    return dict(zip(summary.labels.tolist(), summary.label_counts.tolist(), strict=True))


def _counts_by_value(parts: Sequence[dict[Hashable, int]]) -> Iterator[np.ndarray]:
    """For each value, its number of rows in every partition."""
    for value in dict.fromkeys(value for part in parts for value in part):
        yield np.array([part.get(value, 0) for part in parts], dtype=np.float64)


def _lacks_a_class(used: Sequence[PartitionSummary]) -> bool:
    """Whether a partition has no row of a class of which a random one would have many."""
    if used[0].labels is None:
        return False
    n_rows = np.array([summary.n_weighted for summary in used], dtype=np.float64)
    return any(
        ((counts == 0) & (n_rows * counts.sum() / n_rows.sum() >= MIN_EXPECTED)).any()
        for counts in _counts_by_value([_label_counts(summary) for summary in used])
    )
