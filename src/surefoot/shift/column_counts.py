"""How often values occur in two tables: cells of tests, and the population stability index."""

import numpy as np

from surefoot.data import BinEdges
from surefoot.shift.shift_report_tables import ColumnPair

N_BINS = 10  # of the stability index, and of the permutation test
MIN_EXPECTED = 5.0  # expected rows in a cell of the chi-square test, in the smaller table, without shift
HALF_A_ROW = 0.5  # added to every bin of the stability index, so that none is empty


def chi_square_cells(counts: np.ndarray) -> np.ndarray:
    """Pool rare categories of counts (2, categories), each with the next rare ones in the order of the labels.

    Both tables together decide which categories are rare: a rule that used one of them would find shift where there is
    none.
    """
    total = counts.sum(axis=0)
    expected = total * (counts.sum(axis=1).min() / counts.sum())
    cell = np.full(len(total), -1)
    frequent = np.flatnonzero(expected >= MIN_EXPECTED)
    cell[frequent] = np.arange(len(frequent))
    n_cells, held = len(frequent), 0.0
    for category in np.flatnonzero(expected < MIN_EXPECTED):
        cell[category] = n_cells
        held += expected[category]
        if held >= MIN_EXPECTED:
            n_cells, held = n_cells + 1, 0.0
    if held > 0 and n_cells > 0:  # a remainder too small for a cell joins the last pooled one, or the rarest category
        cell[cell == n_cells] = n_cells - 1 if n_cells > len(frequent) else np.argmin(total[frequent])
    return np.stack([np.bincount(cell, row, minlength=cell.max() + 1) for row in counts])


def few_cells(counts: np.ndarray) -> np.ndarray:
    """Pool counts (2, categories) of more than 10 categories, in the order of their labels, into about tenths.

    There are always two cells or more, even with few rows or with one category that nearly all rows have.
    """
    total = counts.sum(axis=0)
    if len(total) <= N_BINS:
        return counts
    middle = (np.cumsum(total) - total / 2) / total.sum()
    cell = np.unique((N_BINS * middle).astype(np.int64), return_inverse=True)[1]
    return np.stack([np.bincount(cell, row).astype(np.int64) for row in counts])


def stability_index(pair: ColumnPair) -> float:
    """Sum, over bins, the difference of the fractions of rows times the logarithm of their ratio."""
    missing = [np.isnan(pair.values), np.isnan(pair.target)]
    sides = [pair.values[~missing[0]], pair.target[~missing[1]]]
    counts = _counts_of_categories(*sides) if pair.is_category else _counts_of_numbers(*sides)
    counts = np.column_stack([counts, [flags.sum() for flags in missing]])
    counts = counts[:, counts.any(axis=0)] + HALF_A_ROW
    fractions = counts / counts.sum(axis=1, keepdims=True)
    return float(((fractions[1] - fractions[0]) * np.log(fractions[1] / fractions[0])).sum())


def _counts_of_numbers(values: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Count the rows of each table in bins that are equally full in the first: (2, bins)."""
    edges = BinEdges.from_values(values, N_BINS)
    thresholds = edges.thresholds
    if len(edges) == 1:  # a constant: below, equal, above
        thresholds = np.array([np.nextafter(edges.low[0], -np.inf), edges.high[0]])
    bins = [np.searchsorted(thresholds, side) for side in (values, target)]
    return np.stack([np.bincount(side, minlength=len(thresholds) + 1) for side in bins])


def _counts_of_categories(values: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Count the rows of each table in every category, or, with many categories, in the cells of the test."""
    counts = counts_of(values, target)
    cells = chi_square_cells(counts) if counts.shape[1] > N_BINS else counts
    return cells if cells.shape[1] > 1 else few_cells(counts)


def counts_of(values: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Count how often each distinct value occurs in each table: (2, values)."""
    distinct, places = np.unique(np.concatenate([values, target]), return_inverse=True)
    return np.stack([np.bincount(side, minlength=len(distinct)) for side in np.split(places, [len(values)])])
