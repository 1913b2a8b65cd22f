"""How well single columns predict the target, on rows that were not used to fit."""

from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from surefoot.metrics.auc import auc_of_ranks, weighted_auc

MIN_AUC = 0.95
MIN_R2 = 0.9
MIN_CLASS_ROWS = 8
MAX_CLASSES = 20
MIN_BIN = 5  # rows of a bin of numbers, in the rows to fit
MAX_BINS = 100
LEVEL = 1e-3  # of a test, for all columns together


def single_leaks(frame: Any, y: np.ndarray, is_classes: bool) -> list[tuple[str, float, int | None]]:
    """Columns with an AUC of 0.95 or more (for the class in the third entry), or an R2 of 0.9 or more."""
    leaks: list[tuple[str, float, int | None]] = []
    classes = frequent_classes(y) if is_classes else []
    n_tests = frame.shape[1] * len(classes)
    for name in frame.columns:
        column = frame[name]
        if not is_classes:
            value = r2_of_column(column, y)
            if value >= MIN_R2:
                leaks.append((str(name), value, None))
            continue
        aucs = aucs_of_column(column, [y == k for k in classes])
        strong = [(auc, k) for auc, k in zip(aucs, classes, strict=True) if auc >= MIN_AUC]
        strong = [(auc, k) for auc, k in strong if auc_beyond_chance(auc, y == k, n_tests)]
        if strong:
            leaks.append((str(name), *max(strong)))
    return leaks


def frequent_classes(y: np.ndarray) -> list[int]:
    """Classes with enough rows; for two classes, the second."""
    counts = np.bincount(y)
    if len(counts) == 2:
        return [1] if counts.min() >= MIN_CLASS_ROWS else []
    order = np.argsort(-counts, kind="stable")[:MAX_CLASSES]
    return [int(k) for k in order if MIN_CLASS_ROWS <= counts[k] <= len(y) - MIN_CLASS_ROWS]


def auc_beyond_chance(auc: float, positive: np.ndarray, n_tests: int) -> bool:
    """Whether the rank test rejects that the scores are random, corrected for the number of tests."""
    n1 = float(positive.sum())
    n0 = len(positive) - n1
    z = (auc - 0.5) / np.sqrt((n0 + n1 + 1) / (12 * n0 * n1))
    return bool(norm.sf(z) * 2 * n_tests < LEVEL)


def aucs_of_column(column: Any, positives: list[np.ndarray]) -> list[float]:
    """AUC of each class, by the order of numbers or by the frequency of the class in the same bin of other rows."""
    bins, half = bins_of(column), _half(len(column))
    aucs = [_auc_of_bins(bins, half, positive) for positive in positives]
    if column.dtype.kind != "f":
        return aucs
    values = column.to_numpy()
    known = ~np.isnan(values)
    if known.mean() < 0.9:
        return aucs
    ranks = rankdata(np.where(known, values, np.median(values[known])))
    for k, positive in enumerate(positives):
        ordered = auc_of_ranks(ranks, positive)
        aucs[k] = max(aucs[k], ordered, 1 - ordered)
    return aucs


def _auc_of_bins(bins: np.ndarray, half: np.ndarray, positive: np.ndarray) -> float:
    """AUC of scores that are the class frequencies of the same bin in the other half of the rows."""
    n_bins = int(bins.max()) + 1
    cells = half * n_bins + bins
    sizes = np.bincount(cells, minlength=2 * n_bins).astype(float)
    counts = np.bincount(cells, weights=positive, minlength=2 * n_bins)
    other = np.r_[np.arange(n_bins, 2 * n_bins), np.arange(n_bins)]
    scores = (counts[other] + 0.5 * positive.mean()) / (sizes[other] + 0.5)
    if not 0 < counts.sum() < sizes.sum():
        return 0.5
    return weighted_auc(scores, scores, sizes - counts, counts)


def _half(n: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(n) % 2


def r2_of_column(column: Any, y: np.ndarray) -> float:
    """R2 of a linear fit, or of the means of bins in other rows."""
    rest = y - _out_of_sample_means(column, y)
    fitted = 1 - float((rest**2).mean() / y.var())
    if column.dtype.kind != "f":
        return fitted
    values = column.to_numpy()
    known = ~np.isnan(values)
    if known.mean() < 0.9 or np.ptp(values[known]) == 0 or known.sum() < 10:
        return fitted
    scale = np.abs(values[known]).max()
    return max(fitted, float(np.corrcoef(values[known] / scale, y[known])[0, 1]) ** 2)


def _out_of_sample_means(column: Any, y: np.ndarray) -> np.ndarray:
    """For each row, the mean of y in its bin over the other half of the rows (slightly shrunk)."""
    bins = bins_of(column)
    half = _half(len(y))
    means = np.empty(len(y))
    for side in (0, 1):
        fit, rest = half != side, half == side
        counts = np.bincount(bins[fit], minlength=bins.max() + 1)
        sums = np.bincount(bins[fit], weights=y[fit], minlength=bins.max() + 1)
        centre = y[fit].mean()
        means[rest] = ((sums + 0.5 * centre) / (counts + 0.5))[bins[rest]]
    return means


def bins_of(column: Any) -> np.ndarray:
    """Categories, or numbers in bins with equal numbers of rows; missing values are one bin."""
    if column.dtype.kind != "f":
        return np.asarray(column.cat.codes.to_numpy().astype(np.int64) + 1)
    values = column.to_numpy()
    known = ~np.isnan(values)
    n_bins = int(np.clip(known.sum() // (2 * MIN_BIN), 2, MAX_BINS))
    bins = np.zeros(len(values), dtype=np.int64)
    if known.any():
        edges = np.unique(np.quantile(values[known], np.linspace(0, 1, n_bins + 1)[1:-1]))
        bins[known] = 1 + np.searchsorted(edges, values[known], side="right")
    return bins
