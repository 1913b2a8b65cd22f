"""Rows in which the target is exactly a line of a column, such as the column itself."""

import numpy as np

MAX_ROWS = 4000
N_LINES = 400  # drawn through two rows each; rows on one line are 10% or more with near certainty
MIN_ROWS = 10
MIN_FRACTION = 0.02
MIN_VALUES = 20
EXCESS = 10.0  # rows on the line, as a multiple of the rows that share a target by chance


def on_a_line(name: str, values: np.ndarray, y: np.ndarray) -> tuple[str, str, str, int] | None:
    """The line (not level) that holds the most rows, if these are too many for chance."""
    generator = np.random.default_rng(2)
    known = np.flatnonzero(np.isfinite(values))
    rows = generator.permutation(known)[:MAX_ROWS]
    x, t = values[rows], y[rows]
    if len(rows) < MIN_VALUES or min(len(np.unique(x)), len(np.unique(t))) < MIN_VALUES:
        return None
    first, second = generator.integers(0, len(rows), (2, N_LINES))
    use = (x[first] != x[second]) & (t[first] != t[second])
    first, second = first[use], second[use]
    if not len(first):
        return None
    slopes = (t[first] - t[second]) / (x[first] - x[second])
    starts = t[first] - slopes * x[first]
    near = 1e-6 * t.std()
    n_on = [(np.abs(slope * x + start - t) <= near).sum() for slope, start in zip(slopes, starts, strict=True)]
    best = int(np.argmax(n_on))
    repeated = np.unique(t, return_counts=True)[1] / len(t)
    chance = EXCESS * len(t) * float((repeated**2).sum())
    if n_on[best] < MIN_ROWS + max(MIN_FRACTION * len(rows), chance):
        return None
    on = np.abs(slopes[best] * values + starts[best] - y) <= near
    if len(np.unique(values[on])) < MIN_ROWS:
        return None
    equation = _equation(slopes[best], starts[best], float(t.std()))
    return name, "known", f"the target is exactly {equation} in {on.sum():,} of them", int(on.sum())


def _equation(slope: float, start: float, scale: float) -> str:
    """A line in words, a slope of 1 and a start of 0 left out."""
    word = "the column" if abs(slope - 1) < 1e-5 else f"{slope:.4g} times the column"
    if abs(start) < 1e-5 * scale:
        return word
    return f"{word} {'plus' if start > 0 else 'less'} {abs(start):.4g}"
