"""A classifier two-sample test: can a classifier tell the rows of two tables apart?"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import mannwhitneyu, norm, rankdata, t
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from surefoot._blas import limited_blas
from surefoot._parallel import threads_for
from surefoot.metrics.auc import auc_of_ranks
from surefoot.shift.group_permutations import GroupPermutations
from surefoot.shift.shift_report_tables import ColumnPair, ComparedTables

MIN_ROWS = 20  # of each table: half of them are held out
MIN_GROUPS = 4  # of each table: half of them are held out
MAX_CATEGORIES, ROWS_PER_CATEGORY = 255, 40  # more or rarer categories become numbers, in the order of labels
MAX_SHUFFLED = 2000  # held-out rows of each table on which columns are shuffled
CONFIDENCE = 0.95
MARGIN = 1e-12  # distance from an AUC of 0 or 1


@dataclass(frozen=True)
class TwoSampleTest:
    """How well the classifier tells held-out rows apart: AUC, p-value, interval of the AUC, importances of columns.

    If no classifier was trained, ``note`` has the reason.
    """

    auc: float
    p_value: float
    interval: tuple[float, float]
    importances: np.ndarray
    note: str | None = None


def two_sample_test(
    tables: ComparedTables,
    *,
    max_rows: int | None,
    seed: int,
    n_jobs: int | None,
    groups: GroupPermutations | None = None,
) -> TwoSampleTest:
    """Train a classifier on half of the rows of both tables, and test it on the other half.

    Without shift, the labels of held-out rows are exchangeable, whatever the classifier has learned. With groups, whole
    groups are held out and permuted.
    """
    if note := _reason_against(tables, groups):
        unknown = np.full(len(tables), np.nan)
        return TwoSampleTest(float("nan"), float("nan"), (float("nan"), float("nan")), unknown, note)
    generator = np.random.default_rng(seed)
    rows = [generator.permutation(size)[:max_rows] for size in (tables.n_rows, tables.n_target)]
    positions, features, is_category = classifier_features(tables, rows)
    held_out, is_target = _halves(*map(len, rows))
    if groups is not None:
        places = np.concatenate([rows[0], tables.n_rows + rows[1]])
        held_out = _half_of_the_groups(groups.codes[places], is_target, generator)
    if not positions:
        interval = auc_interval(0.5, *_sizes(is_target[held_out]))
        return TwoSampleTest(0.5, 1.0, interval, np.zeros(len(tables)), "all rows of both tables are the same")
    with limited_threads(features.size, n_jobs):
        model = new_classifier(is_category, (~held_out).sum(), seed)
        model.fit(features[~held_out], is_target[~held_out])
        features, is_target = features[held_out], is_target[held_out]
        scores = model.decision_function(features)
        importances = np.zeros(len(tables))
        importances[positions] = _importances(model, features, is_target, generator)
    auc = auc_of_ranks(rankdata(scores), is_target)
    if groups is not None:
        held = groups.of_rows(places[held_out], seed)
        return TwoSampleTest(auc, held.auc_p_value(scores), grouped_auc_interval(scores, is_target, held), importances)
    return TwoSampleTest(auc, _p_value(scores, is_target), auc_interval(auc, *_sizes(is_target)), importances)


def _reason_against(tables: ComparedTables, groups: GroupPermutations | None) -> str | None:
    """Return why there is no joint test; None if there is one."""
    if min(tables.n_rows, tables.n_target) < MIN_ROWS:
        return (
            f"the joint test needs at least {MIN_ROWS} rows of each table, and there are {tables.n_rows} of X and "
            f"{tables.n_target} of X_target"
        )
    if groups is not None and min(groups.n_own, groups.n_target) < MIN_GROUPS:
        return (
            f"the joint test needs at least {MIN_GROUPS} groups of each table, and there are {groups.n_own} of X and "
            f"{groups.n_target} of X_target"
        )
    return None


def _half_of_the_groups(codes: np.ndarray, is_target: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Mark the rows of every second group of each table, in a random order."""
    held_out = np.zeros(len(codes), dtype=np.bool_)
    for side in (False, True):
        names = generator.permutation(np.unique(codes[is_target == side]))
        held_out |= np.isin(codes, names[::2])
    return held_out


def new_classifier(
    is_category: np.ndarray, n_rows: int, seed: int, balanced: bool = True
) -> HistGradientBoostingClassifier:
    """Make boosted trees that tell rows of two tables apart; if balanced, both tables have the same weight."""
    return HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.05,  # slow, with small trees: differences are usually small, and noise is soon learned
        max_leaf_nodes=8,
        min_samples_leaf=int(np.clip(n_rows // 20, 2, 20)),
        l2_regularization=1.0,
        early_stopping=False,  # it would hold out rows
        categorical_features=is_category,
        class_weight="balanced" if balanced else None,
        random_state=seed,
    )


def _halves(n_rows: int, n_target: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows are held out, and which belong to the target; the rows are already shuffled."""
    held_out = np.concatenate([np.arange(size) >= size // 2 for size in (n_rows, n_target)])
    return held_out, np.arange(n_rows + n_target) >= n_rows


def _sizes(is_target: np.ndarray) -> tuple[int, int]:
    return int((~is_target).sum()), int(is_target.sum())


def classifier_features(tables: ComparedTables, rows: list[np.ndarray]) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return positions of the columns that vary, their values as ranks over both tables, and which are categories.

    Trees depend only on the order of numbers, and ranks cannot overflow. If a column has many or rare categories, the
    classifier gets the order of their labels.
    """
    positions, parts, is_category = [], [], []
    for position, pair in enumerate(tables):
        ranks, n_distinct = _ranks(pair, rows)
        if n_distinct > 1 or (n_distinct == 1 and np.isnan(ranks).any()):
            positions.append(position)
            parts.append(ranks)
            max_categories = min(MAX_CATEGORIES, len(ranks) // ROWS_PER_CATEGORY)
            is_category.append(pair.is_category and n_distinct <= max_categories)
    return positions, np.stack(parts, axis=1) if parts else np.empty((0, 0)), np.array(is_category, dtype=np.bool_)


def _ranks(pair: ColumnPair, rows: list[np.ndarray]) -> tuple[np.ndarray, int]:
    values = np.concatenate([pair.values[rows[0]], pair.target[rows[1]]])
    known = ~np.isnan(values)
    distinct, places = np.unique(values[known], return_inverse=True)
    values[known] = places
    return values, len(distinct)


def _importances(
    model: HistGradientBoostingClassifier, features: np.ndarray, is_target: np.ndarray, generator: np.random.Generator
) -> list[float]:
    """Return the decrease of the AUC when each column is shuffled."""
    rows = np.concatenate([np.flatnonzero(is_target == side)[:MAX_SHUFFLED] for side in (False, True)])
    features, is_target = features[rows], is_target[rows]
    auc = auc_of_ranks(rankdata(model.decision_function(features)), is_target)
    drops = []
    for position in range(features.shape[1]):
        kept = features[:, position].copy()
        features[:, position] = generator.permutation(kept)
        drops.append(auc - auc_of_ranks(rankdata(model.decision_function(features)), is_target))
        features[:, position] = kept
    return drops


def _p_value(scores: np.ndarray, is_target: np.ndarray) -> float:
    """Return the p-value of the Mann-Whitney test that the target's scores are higher."""
    if scores.min() == scores.max():
        return 1.0
    result = mannwhitneyu(scores[is_target], scores[~is_target], alternative="greater", method="asymptotic")
    return float(result.pvalue)


def auc_interval(auc: float, n_rows: int, n_target: int) -> tuple[float, float]:
    """Return the 95% interval of an observed AUC: Newcombe's score interval (2006, method 5).

    Its variance is that of Hanley and McNeil at each candidate value, with the mean size for both tables, so that an
    AUC of 1 has an interval too.
    """
    bound = float(norm.ppf((1 + CONFIDENCE) / 2))

    def distance(value: float) -> float:
        return abs(auc - value) - bound * sqrt(_auc_variance(value, n_rows, n_target))

    inside = min(max(auc, MARGIN), 1 - MARGIN)  # at 0 and 1 the variance is 0, and the search would stop there
    low = float(brentq(distance, 0.0, inside)) if auc > 0 else 0.0
    high = float(brentq(distance, inside, 1.0)) if auc < 1 else 1.0
    return low, high


def grouped_auc_interval(scores: np.ndarray, is_target: np.ndarray, groups: GroupPermutations) -> tuple[float, float]:
    """Return the 95% interval if whole groups were sampled (Obuchowski 1997), on the scale of log-odds."""
    ranks, own_ranks = rankdata(scores), np.empty(len(scores))
    for side in (False, True):
        own_ranks[is_target == side] = rankdata(scores[is_target == side])
    n_rows, n_target = _sizes(is_target)
    placements = np.where(is_target, (ranks - own_ranks) / n_rows, 1 - (ranks - own_ranks) / n_target)
    auc, variance = float(placements[is_target].mean()), 0.0
    for side, n_groups, n in ((False, groups.n_own, n_rows), (True, groups.n_target, n_target)):
        codes = np.unique(groups.codes[is_target == side], return_inverse=True)[1]
        deviations = np.bincount(codes, weights=placements[is_target == side] - auc)
        variance += float((deviations**2).sum()) * n_groups / (n_groups - 1) / n**2
    margin = 0.5 / (groups.n_own * groups.n_target)
    inside = min(max(auc, margin), 1 - margin)
    reach = float(t.ppf((1 + CONFIDENCE) / 2, min(groups.n_own, groups.n_target) - 1)) * sqrt(variance)
    low, high = (float(expit(logit(inside) + side * reach / (inside * (1 - inside)))) for side in (-1, 1))
    return min(low, auc), max(high, auc)


def _auc_variance(auc: float, n_rows: int, n_target: int) -> float:
    others = (n_rows + n_target) / 2 - 1
    pairs = 1 + others * (1 - auc) / (2 - auc) + others * auc / (1 + auc)
    return auc * (1 - auc) * pairs / (n_rows * n_target)


@contextmanager
def limited_threads(n_cells: int, n_jobs: int | None) -> Iterator[None]:
    """Limit the threads of scikit-learn's compiled code to ``n_jobs``, and to one for a small table."""
    n_threads = threads_for(n_jobs, n_cells)
    with limited_blas(n_threads), threadpool_limits(n_threads, "openmp"):  # OpenMP has a number for each thread
        yield
