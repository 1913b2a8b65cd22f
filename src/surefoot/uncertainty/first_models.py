"""Combinations of categorical columns, found by what short first models leave of the target.

Trees combine columns of few categories themselves, and pairs of columns with many have statistics. A column with many
and others with few (a place and a date, say) may tell together what neither tells.
"""

from dataclasses import dataclass, replace

import numpy as np

from surefoot._parallel import RowThreads, threads_for
from surefoot._random import random_permutation, stream_key
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.uncertainty.encoding import Encoding
from surefoot.uncertainty.guide import Guide
from surefoot.uncertainty.rounds import Rounds
from surefoot.uncertainty.shared_table import SharedTable, reading_of
from surefoot.uncertainty.task import Task
from surefoot.uncertainty.training_rows import TrainingRows

COMBINATIONS = 1_000_037  # label of a stream: the order of the rows
FIRST = -2  # in place of a member's number
FEWEST_ROWS = 2000  # in smaller tables no combination of categories could be told from chance
FIRST_PART, FIRST_TREES, FIRST_RATE = 8, 100, 0.1  # one in so many rows trains the first model


def with_combinations(task: Task, table: SharedTable, train: np.ndarray) -> SharedTable:
    """The table with statistics of pairs and combinations, where these tell enough, from the rows ``train``."""
    table = table.with_pairs(task, train)
    if table.categories is None or not table.encoding.few or len(train) < FEWEST_ROWS:
        return table
    order = train[random_permutation(stream_key(task.seed, COMBINATIONS), len(train))]
    first = FirstModels.train(task, table, order)
    pairs = table.encoding.pairs(first.importances)
    encoding, more = table.encoding.with_combinations(
        table.categories, pairs, first.left, first.weights, order, reading_of(task).bins
    )
    return replace(table, encoding=encoding, codes=np.concatenate([table.codes, more]))


@dataclass(frozen=True)
class FirstModels:
    """What short models of ever more rows leave of the targets of rows that they have not seen.

    The first rows train a model for the next ones, both for as many more, and so on: what is left of a row depends on
    itself and on rows before it. Of the first rows nothing is known: they have no weight.
    """

    left: np.ndarray  # (targets, rows)
    weights: np.ndarray
    importances: np.ndarray  # of the table's columns, for the last model

    @classmethod
    def train(cls, task: Task, table: SharedTable, order: np.ndarray) -> "FirstModels":
        seen, importances = -(-len(order) // FIRST_PART), np.zeros(task.columns.n_columns)
        left = np.zeros((len(task.told), len(task.y)))
        weights = np.ones(len(task.y)) if task.weights is None else task.weights.copy()
        weights[order[:seen]] = 0.0
        while seen < len(order):
            later = order[seen : 2 * seen]
            rounds, encoding = _first_model(task, table, np.sort(order[:seen]), later)
            left[:, later] = rounds.residuals(later)[task.told]
            shares = rounds.result().forest.feature_importances(len(encoding.sources))
            importances = encoding.split_importances(shares, task.columns.n_columns)
            seen *= 2
        return cls(left, weights, importances)


def _first_model(task: Task, table: SharedTable, train: np.ndarray, later: np.ndarray) -> tuple[Rounds, Encoding]:
    """A few trees, the same whatever number and rate of trees the user wants."""
    recipe = replace(
        task.recipe, n_estimators=FIRST_TREES, learning_rate=FIRST_RATE, subsample=1.0, langevin=False,
        temperature=None, patience=None,
    )  # fmt: skip
    (words,), encoding = table.for_member(replace(task, recipe=recipe), FIRST, train)
    rules = replace(recipe.rules, constraints=encoding.constraints(recipe.rules.constraints))
    rows = TrainingRows(task.y, task.weights, train.astype(np.uint32), later.astype(np.uint32))
    untold = Guide(
        np.ones(FIRST_TREES)
    )  # later rows must not tell the scale: what is left of them would depend on them
    with RowThreads(threads_for(task.n_jobs, words.n_rows * words.n_columns)) as threads:
        grower = GradientTreeGrower(words, task.family.n_outputs, rules, task.weights, threads)
        rounds = Rounds(grower, task.family, rows, recipe, (task.seed, FIRST), task.start(train), untold)
        for _ in range(FIRST_TREES):
            rounds.step()
    return rounds, encoding
