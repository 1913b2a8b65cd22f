"""Columns that fix the target exactly in some of the rows: a level, a range, missing values, or an equation."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from surefoot.report.checks.exact_lines import on_a_line

MAX_ROWS = 20_000  # in which exact leaks are looked for; what is found is checked in all rows
MIN_ROWS = 10
MIN_OF_CLASS = 0.02  # fraction of a class that its exact leak has to hold; more if there are many classes
MAX_SHARE = 0.6  # a class with more rows than this is no news
MAX_CLASSES = 20
MAX_VALUES = 3  # most frequent values of a number that are looked at as if they were classes
LEVEL, LEVEL_OF_RANGES = 1e-3, 1e-4  # of chance, over all places: what lies next to a range is an estimate
WINDOW = (20, 100)  # rows next to a range

Part = tuple[int, str, np.ndarray]  # class, where, and which rows are there
Found = tuple[str, str, Any, int]  # column, where, what the target is there (a class, or words), rows


def exact_leaks(frame: Any, y: np.ndarray, is_classes: bool, skip: set[str]) -> list[Found]:
    """Exact leaks, at most one of each column, those with the most rows first; columns of ``skip`` are left out."""
    rows = np.sort(np.random.default_rng(1).permutation(len(y))[:MAX_ROWS])
    labels, words = (y, None) if is_classes else _frequent_values(y)
    judged = _judged(labels[rows])
    n_looks = frame.shape[1] * max(len(judged), 1)
    found = []
    for name in frame.columns:
        if str(name) in skip:
            continue
        column, best = frame[name], None
        look = _look_at_number if column.dtype.kind == "f" else _look_at_category
        for k, where, inside in look(column, labels, rows, judged, n_looks):
            n_inside = int(inside.sum())
            if np.all(labels[inside] == k) and (best is None or n_inside > best[3]):
                best = (str(name), where, k if words is None else words[k], n_inside)
        if best is None and not is_classes and column.dtype.kind == "f":
            best = on_a_line(str(name), column.to_numpy(), y)
        if best is not None:
            found.append(best)
    return sorted(found, key=lambda each: -each[3])


def _frequent_values(y: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
    """The most frequent values of a number as classes 0, 1, ..., the others as -1; and a sentence on each."""
    values, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MAX_VALUES]
    labels = np.full(len(y), -1)
    for k, place in enumerate(order):
        labels[y == values[place]] = k
    return labels, {k: f"the target is always {values[place]:g}" for k, place in enumerate(order)}


def _judged(labels: np.ndarray) -> list[tuple[int, int]]:
    """Classes that are looked for, and how many rows an exact leak of each must have."""
    counts = np.bincount(labels[labels >= 0])
    fraction = MIN_OF_CLASS if len(counts) <= MAX_VALUES else 10 * MIN_OF_CLASS
    frequent = np.argsort(-counts, kind="stable")[:MAX_CLASSES]
    return [
        (int(k), max(MIN_ROWS, int(np.ceil(fraction * counts[k]))))
        for k in frequent
        if MIN_ROWS <= counts[k] <= MAX_SHARE * len(labels)
    ]


def _is_certain(n_rows: Any, share: float, n_looks: int, level: float = LEVEL) -> Any:
    """Whether so many rows of one class are far more than chance would bring together."""
    return n_rows * np.log(share) + np.log(n_looks) < np.log(level)


def _look_at_category(
    column: Any, labels: np.ndarray, rows: np.ndarray, judged: list[tuple[int, int]], n_looks: int
) -> Iterator[Part]:
    """Levels, or missing values, in which every row is of one class."""
    codes = column.cat.codes.to_numpy()
    drawn = codes[rows].astype(np.int64) + 1
    sizes = np.bincount(drawn)
    for k, least in judged:
        positive = labels[rows] == k
        pure = np.bincount(drawn, weights=positive) == sizes
        pure &= (sizes >= least) & _is_certain(sizes, positive.mean(), n_looks * len(sizes))
        for code in np.flatnonzero(pure) - 1:
            yield k, "missing" if code < 0 else str(column.cat.categories[code]), codes == code


def _look_at_number(
    column: Any, labels: np.ndarray, rows: np.ndarray, judged: list[tuple[int, int]], n_looks: int
) -> Iterator[Part]:
    """Ranges, or missing values, in which every row is of one class."""
    values = column.to_numpy()
    missing = np.isnan(values)
    gone = missing[rows]
    different, inverse = np.unique(values[rows][~gone], return_inverse=True)
    sizes = np.bincount(inverse)
    for k, least in judged:
        positive = labels[rows] == k
        share = float(positive.mean())
        if positive[gone].sum() == gone.sum() >= least and _is_certain(gone.sum(), share, n_looks):
            yield k, "missing", missing
        run = _longest_pure_run(sizes, np.bincount(inverse, weights=positive[~gone]))
        if run is None or run[2] < least:
            continue
        low, high = float(different[run[0]]), float(different[run[1] - 1])
        level = LEVEL if low == high else LEVEL_OF_RANGES
        if _is_certain(run[2], max(share, run[3]), n_looks * len(different), level):
            yield k, f"{low:g}" if low == high else f"from {low:g} to {high:g}", (values >= low) & (values <= high)


def _longest_pure_run(sizes: np.ndarray, counts: np.ndarray) -> tuple[int, int, int, float] | None:
    """The longest run of values with positive rows only: begin, end, rows, and the fraction of positives next to it.

    Of a column that is related to the target smoothly, nearly all rows next to a pure range are positive as well.
    """
    edges = np.flatnonzero(np.diff(np.r_[0, (counts == sizes).astype(int), 0]))
    starts, ends = edges[::2], edges[1::2]  # of runs of pure values
    if not len(starts):
        return None
    before = np.r_[0, np.cumsum(sizes)]
    lengths = before[ends] - before[starts]
    longest = int(lengths.argmax())
    start, end, n_rows = int(starts[longest]), int(ends[longest]), int(lengths[longest])
    window = int(np.clip(n_rows / 4, *WINDOW))
    below = _rate_next_to(sizes[:start][::-1], counts[:start][::-1], window)
    above = _rate_next_to(sizes[end:], counts[end:], window)
    return start, end, n_rows, max(below, above)


def _rate_next_to(sizes: np.ndarray, counts: np.ndarray, window: int) -> float:
    """The fraction of positives, rather too large, among the values that come next; 0 if there are none."""
    if not len(sizes):
        return 0.0
    n_values = min(len(sizes), 1 + int(np.searchsorted(np.cumsum(sizes), window)))
    return float((counts[:n_values].sum() + 2) / (sizes[:n_values].sum() + 2))
