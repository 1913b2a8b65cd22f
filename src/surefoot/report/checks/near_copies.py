"""Rows on different sides of a split that are nearly copies of one another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from surefoot.report.checks.copies import RowHashes, codes_of, pattern_ids

QUERIES = (200, 1000)  # rows that are checked: fewer in large tables
MAX_DISTANCES = 10_000_000
MAX_ROWS = 300_000  # that are searched for neighbours
MAX_COLUMNS = 60
K = 10  # a near copy is far closer than the tenth neighbour
CHANCE = 1e-3  # probability that a row that is not a copy is so close
CLOSE = 0.02  # maximum distance of a near copy, in standard deviations for each column
MIN_FRACTION = 0.1  # ordinary tables have up to 6%
CATEGORY_WIDTH = 4  # random numbers for each category, so that any two categories have about the same distance


@dataclass(frozen=True)
class NearCopies:
    """How many rows have a neighbour on another side of the split that is far closer than by chance."""

    n_checked: int
    n_near_copies: int
    fraction: float  # of the checked rows
    by_chance: float  # the same fraction after one half of the columns is shuffled against the other
    matters: bool
    sentence: str


def near_copies(frame: Any, sides: np.ndarray, seed: int = 0) -> NearCopies:
    """Count near copies; ``sides`` has the fold of each row (or 0 for training and 1 for test rows, -1 for neither)."""
    generator = np.random.default_rng(seed)
    rows = np.flatnonzero(np.asarray(sides) >= 0)
    if len(rows) > MAX_ROWS:
        rows = np.sort(generator.choice(rows, MAX_ROWS, replace=False))
    part, sides = frame.iloc[rows], np.asarray(sides)[rows]
    if len(rows) < 10 * K or len(np.unique(sides)) < 2:
        return NearCopies(0, 0, 0.0, 0.0, False, "There are too few rows to check for near copies.")
    points = _points(part, generator)
    patterns = pattern_ids(RowHashes([codes_of(part[name]) for name in part.columns]).total)
    queries = generator.permutation(len(rows))[: int(np.clip(MAX_DISTANCES / len(rows), *QUERIES))]
    is_near = _near(points, patterns, sides, queries)
    half = generator.permutation(len(points[0])) < len(points[0]) / 2
    shuffled = points.copy()
    shuffled[:, half] = points[generator.permutation(len(points))][:, half]
    by_chance = float(_near(shuffled, np.arange(len(rows)), sides, queries).mean())
    return _report(is_near, by_chance)


def _report(is_near: np.ndarray, by_chance: float) -> NearCopies:
    n, fraction = int(is_near.sum()), float(is_near.mean())
    matters = fraction >= MIN_FRACTION + 3 * by_chance
    sentence = f"{n:,} of {len(is_near):,} checked rows have a near copy on the other side of the split"
    if matters:
        sentence += (
            ": a row far closer than neighbours usually are. If they are not independent subjects, the measured errors "
            "are too small. Do they belong together? Then name the column that identifies them with --group (groups= "
            "in Python)."
        )
    else:
        sentence += ", which is no more than by chance." if n else "."
    return NearCopies(len(is_near), n, fraction, by_chance, matters, sentence)


def _near(points: np.ndarray, patterns: np.ndarray, sides: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Which queries have a neighbour on another side that is much nearer than the tenth; equal rows do not count.

    Around a row that is not a copy, the number of rows within a distance grows as a power of the distance. This power,
    the dimension, is estimated from the tenth and the thirtieth neighbour. It determines how rarely the nearest
    neighbour is much nearer than the tenth.
    """
    first = np.unique(patterns, return_index=True)[1]  # one of all rows that are equal
    k = min(3 * K, len(first) - 1)
    distances, positions = (
        NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(points[first]).kneighbors(points[queries])
    )
    neighbours = first[positions]
    is_other = patterns[neighbours] != patterns[queries][:, np.newaxis]
    crosses = is_other & (sides[neighbours] != sides[queries][:, np.newaxis])
    nearest = np.where(crosses, distances, np.inf).min(axis=1)
    ranked = np.sort(np.where(is_other, distances, np.inf), axis=1)
    tenth, last = ranked[:, K - 1], ranked[:, k - 1]
    usable = (last > tenth) & (tenth > 0)
    if not usable.any():
        return usable
    dimension = np.log(k / K) / np.log(np.median(last[usable] / tenth[usable]))
    limit = CLOSE * np.sqrt(points.shape[1])
    return np.asarray(usable & (nearest < limit) & (nearest < tenth * (CHANCE / K) ** (1 / max(dimension, 1.0))))


def _points(frame: Any, generator: np.random.Generator) -> np.ndarray:
    """Numbers in standard deviations with missing-value indicators, and categories as random points."""
    columns = list(frame.columns)
    if len(columns) > MAX_COLUMNS:
        columns = [columns[j] for j in np.sort(generator.choice(len(columns), MAX_COLUMNS, replace=False))]
    parts = []
    for name in columns:
        column = frame[name]
        if column.dtype.kind != "f":
            centres = generator.normal(size=(len(column.cat.categories) + 1, CATEGORY_WIDTH)) / np.sqrt(
                2 * CATEGORY_WIDTH
            )
            parts.append(centres[column.cat.codes.to_numpy() + 1])
            continue
        values = column.to_numpy()
        missing = np.isnan(values)
        if missing.all():
            continue
        values = np.where(missing, np.median(values[~missing]), values)
        low, high = np.quantile(values, [0.01, 0.99])
        if low < high:
            values = np.clip(values, low, high)  # a few huge values would make all others equal
        parts.append(((values - values.mean()) / (values.std() or 1.0))[:, np.newaxis])
        if missing.any():
            parts.append(missing[:, np.newaxis].astype(float))
    return np.hstack(parts).astype(np.float32)
