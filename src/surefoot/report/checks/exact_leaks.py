"""Columns that determine the target exactly in some rows: by a level, a range, missing values, or an equation."""

from collections.abc import Iterator
from typing import Any

import numpy as np

MAX_ROWS = 20_000  # that are searched for exact leaks; a leak is then checked in all rows
MIN_ROWS = 10
MIN_OF_CLASS = 0.02  # fraction of a class that its exact leak must contain; more if there are many classes
MAX_FRACTION = 0.6  # a class with more rows than this is not a leak
MAX_CLASSES = 20
MAX_VALUES = 3  # most frequent values of a number, which are treated like classes
LEVEL, LEVEL_OF_RANGES = 1e-3, 1e-4  # significance over all places; for ranges, the rate next to them is an estimate
WINDOW = (20, 100)  # rows next to a range
MAX_LINE_ROWS = 4000
N_LINES = 400  # through two random rows each; a line with 10% of the rows is found with near certainty
MIN_LINE_FRACTION = 0.02
MIN_LINE_VALUES = 20
CELLS_AT_ONCE = 100_000  # lines times rows: more no longer fit in the cache
LINE_EXCESS = 10.0  # rows on the line, as a multiple of the rows that share a target by chance

Part = tuple[int, str, np.ndarray]  # class, values of the column, and which rows have them
ExactLeak = tuple[str, str, Any, int]  # column, its values, the target there (a class, or words), rows


def exact_leaks(frame: Any, y: np.ndarray, is_classes: bool, skip: set[str]) -> list[ExactLeak]:
    """Exact leaks, at most one of each column, those with the most rows first; columns of ``skip`` are left out."""
    rows = np.sort(np.random.default_rng(1).permutation(len(y))[:MAX_ROWS])
    labels, words = (y, None) if is_classes else _frequent_values(y)
    classes = _classes_and_sizes(labels[rows])
    n_tests = frame.shape[1] * max(len(classes), 1)
    leaks = []
    for name in frame.columns:
        if str(name) in skip:
            continue
        column, best = frame[name], None
        search = _search_number if column.dtype.kind == "f" else _search_category
        for k, where, inside in search(column, labels, rows, classes, n_tests):
            n_inside = int(inside.sum())
            if np.all(labels[inside] == k) and (best is None or n_inside > best[3]):
                best = (str(name), where, k if words is None else words[k], n_inside)
        if best is None and not is_classes and column.dtype.kind == "f":
            best = on_a_line(str(name), column.to_numpy(), y)
        if best is not None:
            leaks.append(best)
    return sorted(leaks, key=lambda each: -each[3])


def _frequent_values(y: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
    """The most frequent values of a number as classes 0, 1, ..., the others as -1; and words for each."""
    values, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MAX_VALUES]
    labels = np.full(len(y), -1)
    for k, position in enumerate(order):
        labels[y == values[position]] = k
    return labels, {k: f"the target is always {values[position]:g}" for k, position in enumerate(order)}


def _classes_and_sizes(labels: np.ndarray) -> list[tuple[int, int]]:
    """The classes that are examined, and the minimum number of rows of an exact leak of each."""
    counts = np.bincount(labels[labels >= 0])
    fraction = MIN_OF_CLASS if len(counts) <= MAX_VALUES else 10 * MIN_OF_CLASS
    frequent = np.argsort(-counts, kind="stable")[:MAX_CLASSES]
    return [
        (int(k), max(MIN_ROWS, int(np.ceil(fraction * counts[k]))))
        for k in frequent
        if MIN_ROWS <= counts[k] <= MAX_FRACTION * len(labels)
    ]


def _is_significant(n_rows: Any, fraction: float, n_tests: int, level: float = LEVEL) -> Any:
    """Whether so many rows of one class, which has this fraction of the rows, are far more than by chance."""
    return n_rows * np.log(fraction) + np.log(n_tests) < np.log(level)


def _search_category(
    column: Any, labels: np.ndarray, rows: np.ndarray, classes: list[tuple[int, int]], n_tests: int
) -> Iterator[Part]:
    """Levels, or missing values, with rows of one class only."""
    codes = column.cat.codes.to_numpy()
    drawn = codes[rows].astype(np.int64) + 1
    sizes = np.bincount(drawn)
    for k, min_rows in classes:
        positive = labels[rows] == k
        pure = np.bincount(drawn, weights=positive) == sizes
        pure &= (sizes >= min_rows) & _is_significant(sizes, positive.mean(), n_tests * len(sizes))
        for code in np.flatnonzero(pure) - 1:
            yield k, "missing" if code < 0 else str(column.cat.categories[code]), codes == code


def _search_number(
    column: Any, labels: np.ndarray, rows: np.ndarray, classes: list[tuple[int, int]], n_tests: int
) -> Iterator[Part]:
    """Ranges, or missing values, with rows of one class only."""
    values = column.to_numpy()
    missing = np.isnan(values)
    gone = missing[rows]
    distinct, inverse = np.unique(values[rows][~gone], return_inverse=True)
    sizes = np.bincount(inverse)
    for k, min_rows in classes:
        positive = labels[rows] == k
        fraction = float(positive.mean())
        if positive[gone].sum() == gone.sum() >= min_rows and _is_significant(gone.sum(), fraction, n_tests):
            yield k, "missing", missing
        run = _longest_pure_run(sizes, np.bincount(inverse, weights=positive[~gone]))
        if run is None or run[2] < min_rows:
            continue
        low, high = float(distinct[run[0]]), float(distinct[run[1] - 1])
        level = LEVEL if low == high else LEVEL_OF_RANGES
        if _is_significant(run[2], max(fraction, run[3]), n_tests * len(distinct), level):
            yield k, f"{low:g}" if low == high else f"from {low:g} to {high:g}", (values >= low) & (values <= high)


def _longest_pure_run(sizes: np.ndarray, counts: np.ndarray) -> tuple[int, int, int, float] | None:
    """The longest run of values with positive rows only: begin, end, rows, and the fraction of positives next to it.

    If a column is related to the target smoothly, nearly all rows next to a pure range are positive too.
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
    """An upward-biased estimate of the fraction of positives among the next values; 0 if there are none."""
    if not len(sizes):
        return 0.0
    n_values = min(len(sizes), 1 + int(np.searchsorted(np.cumsum(sizes), window)))
    return float((counts[:n_values].sum() + 2) / (sizes[:n_values].sum() + 2))


def on_a_line(name: str, values: np.ndarray, y: np.ndarray) -> tuple[str, str, str, int] | None:
    """The line (with a slope) that contains the most rows, if there are more than by chance."""
    generator = np.random.default_rng(2)
    known = np.flatnonzero(np.isfinite(values))
    rows = generator.permutation(known)[:MAX_LINE_ROWS]
    x, t = values[rows], y[rows]
    if len(rows) < MIN_LINE_VALUES or min(len(np.unique(x)), len(np.unique(t))) < MIN_LINE_VALUES:
        return None
    first, second = generator.integers(0, len(rows), (2, N_LINES))
    use = (x[first] != x[second]) & (t[first] != t[second])
    first, second = first[use], second[use]
    if not len(first):
        return None
    near = 1e-6 * t.std()
    with np.errstate(over="ignore", invalid="ignore"):  # steep lines through values that hardly differ
        slopes = (t[first] - t[second]) / (x[first] - x[second])
        starts = t[first] - slopes * x[first]
        n_on = np.concatenate(
            [
                (np.abs(slopes[lines, np.newaxis] * x + starts[lines, np.newaxis] - t) <= near).sum(axis=1)
                for lines in np.array_split(np.arange(len(slopes)), -(-len(slopes) * len(x) // CELLS_AT_ONCE))
            ]
        )
    best = int(np.argmax(n_on))
    repeated = np.unique(t, return_counts=True)[1] / len(t)
    chance = LINE_EXCESS * len(t) * float((repeated**2).sum())
    if n_on[best] < MIN_ROWS + max(MIN_LINE_FRACTION * len(rows), chance):
        return None
    on = np.abs(slopes[best] * values + starts[best] - y) <= near
    if len(np.unique(values[on])) < MIN_ROWS:
        return None
    equation = _equation(slopes[best], starts[best], float(t.std()))
    return name, "known", f"the target is exactly {equation} in {on.sum():,} of them", int(on.sum())


def _equation(slope: float, start: float, scale: float) -> str:
    """A line in words, without a slope of 1 or an intercept of 0."""
    column = "the column" if abs(slope - 1) < 1e-5 else f"{slope:.4g} times the column"
    if abs(start) < 1e-5 * scale:
        return column
    return f"{column} {'plus' if start > 0 else 'minus'} {abs(start):.4g}"
