"""Combinations of categorical columns, found by what short first models leave of the target.

Trees combine columns of few categories themselves, and pairs of columns with many have statistics. A column with many
and others with few (a place and a date, say) may tell together what neither tells.
"""

from dataclasses import dataclass, replace

import numpy as np

from surefoot._parallel import RowThreads, threads_for
from surefoot._random import random_permutation, stream_key
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.uncertainty.boosting_loop import BoostingLoop
from surefoot.uncertainty.fit_spec import FitSpec, InflationSchedule, TrainingRows
from surefoot.uncertainty.training_table import Encoding, SharedTable, reading_of

COMBINATIONS = 1_000_037  # label of a stream: the order of the rows
FIRST = -2  # in place of a member's number
MIN_ROWS = 2000  # in smaller tables no combination of categories can be distinguished from chance
FIRST_PART, FIRST_TREES, FIRST_RATE = 8, 100, 0.1  # one in so many rows trains the first model


def with_combinations(spec: FitSpec, table: SharedTable, train: np.ndarray) -> SharedTable:
    """The table with statistics of pairs and combinations, where these tell enough, from the rows ``train``."""
    table = table.with_pairs(spec, train)
    if table.categories is None or not table.encoding.few or len(train) < MIN_ROWS:
        return table
    order = train[random_permutation(stream_key(spec.seed, COMBINATIONS), len(train))]
    first = CombinationSearch.train(spec, table, order)
    pairs = table.encoding.pairs(first.importances)
    encoding, more = table.encoding.with_combinations(
        table.categories, pairs, first.left, first.weights, order, reading_of(spec).bins
    )
    return replace(table, encoding=encoding, codes=np.concatenate([table.codes, more]))


@dataclass(frozen=True)
class CombinationSearch:
    """What short models of ever more rows leave of the targets of rows that they have not seen.

    The first rows train a model for the next ones, both for as many more, and so on: what is left of a row depends on
    itself and on rows before it. Of the first rows nothing is known: they have no weight.
    """

    left: np.ndarray  # (targets, rows)
    weights: np.ndarray
    importances: np.ndarray  # of the table's columns, for the last model

    @classmethod
    def train(cls, spec: FitSpec, table: SharedTable, order: np.ndarray) -> "CombinationSearch":
        seen, importances = -(-len(order) // FIRST_PART), np.zeros(spec.columns.n_columns)
        left = np.zeros((len(spec.informative_outputs), len(spec.y)))
        weights = np.ones(len(spec.y)) if spec.weights is None else spec.weights.copy()
        weights[order[:seen]] = 0.0
        while seen < len(order):
            later = order[seen : 2 * seen]
            loop, encoding = _first_model(spec, table, np.sort(order[:seen]), later)
            left[:, later] = loop.residuals(later)[spec.informative_outputs]
            shares = loop.result().forest.feature_importances(len(encoding.sources))
            importances = encoding.split_importances(shares, spec.columns.n_columns)
            seen *= 2
        return cls(left, weights, importances)


def _first_model(
    spec: FitSpec, table: SharedTable, train: np.ndarray, later: np.ndarray
) -> tuple[BoostingLoop, Encoding]:
    """A few trees, the same whatever number and rate of trees the user wants."""
    config = replace(
        spec.config,
        n_estimators=FIRST_TREES,
        learning_rate=FIRST_RATE,
        subsample=1.0,
        langevin=False,
        temperature=None,
        patience=None,
    )
    (words,), encoding = table.for_member(replace(spec, config=config), FIRST, train)
    rules = replace(config.rules, constraints=encoding.constraints(config.rules.constraints))
    rows = TrainingRows(spec.y, spec.weights, train.astype(np.uint32), later.astype(np.uint32))
    constant_schedule = InflationSchedule(
        np.ones(FIRST_TREES)
    )  # later rows must not tell the scale: what is left of them would depend on them
    with RowThreads(threads_for(spec.n_jobs, words.n_rows * words.n_columns)) as threads:
        grower = GradientTreeGrower(words, spec.family.n_outputs, rules, spec.weights, threads)
        loop = BoostingLoop(grower, spec.family, rows, config, (spec.seed, FIRST), spec.start(train), constant_schedule)
        for _ in range(FIRST_TREES):
            loop.step()
    return loop, encoding
