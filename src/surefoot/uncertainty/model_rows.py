"""The rows of one model in training, as the boosting loop sees them: sums over all rows, wherever these are.

A ``ModelShard`` is where the rows are: their state, and the trees that are grown on them. Its rows are a whole table or
a shard of it, which starts with the first row of a block. What a method returns is block by block, or a sum of whole
numbers, so that the results of several shards can be put together.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.trees.gradient_grower import GradientTreeGrower
from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.growth_rules import GrowthRules
from surefoot.trees.level_kernels import LeafSums, TreeSplits
from surefoot.trees.packed_codes import PackedCodes, mixed_rows, weight_of_identical_rows
from surefoot.trees.row_blocks import even_ranges
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.row_state import RowState, RowTotals, max_leverage
from surefoot.uncertainty.training_log import ModelLog
from surefoot.uncertainty.training_rows import TrainingRows


class Round(NamedTuple):
    """What a round of boosting begins with."""

    shrink: float  # factor of the outputs so far
    inflation: float | None  # of residuals; None: their stretches stay as they are
    is_scale_frozen: bool
    table: int  # which of the tables is read
    subsample: float
    draw_key: np.uint64
    dither_key: np.uint64
    split_noise: float  # in half standard errors
    column_key: np.uint64


class ModelShard(RowState):
    """The state of some rows, and a grower for their tables: trees read the tables in turn."""

    def __init__(
        self,
        tables: Sequence[PackedCodes],
        grower: GradientTreeGrower,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        totals: RowTotals,
        start: np.ndarray,
        max_leverage: np.ndarray,
    ) -> None:
        super().__init__(family, rows, totals, start, max_leverage, 1 << grower.rules.depth)
        self.tables, self.grower = tuple(tables), grower
        self._absolute: np.ndarray | None = None  # the sums that decide the scales of the tree, if they are known

    def move_arrays(self, move: Callable[[np.ndarray], np.ndarray]) -> None:
        super().move_arrays(move)
        self.grower.move_arrays(move)

    @property
    def leaves(self) -> np.ndarray:
        return self.grower.tree.leaves

    def begin(self, start: Round) -> int:
        """Fill in the gradients and draw the rows of a tree; return how many are drawn."""
        table = self.tables[start.table]
        if table is not self.grower.table:
            self.grower.read(table)
        given = start.shrink, start.inflation, start.is_scale_frozen
        if start.subsample < 1.0:
            self.fill_gradients(*given)
            self._absolute = None
        else:
            self._absolute = self.grower.empty_sums(self.drawn)
            self.fill_gradients(*given, self.grower.adding_up(self.score_rows, self.drawn, self._absolute))
        return self.draw(start.draw_key, start.subsample)

    def grow(self, key: np.uint64, noise: float) -> GrownGradientTree:
        """A tree on the drawn rows, if these are all rows of the model, and the sums of its leaves."""
        self.grower.threads = self.threads
        if not len(self.drawn):
            self.draw_only(int(self.train.rows[0]))
        tree = self.grower.grow(self.score_rows, self.drawn, key, noise, self._absolute, self.leaf_inputs())
        self.assign_others(tree)
        return tree

    def use_tree(self, splits: TreeSplits) -> LeafSums:
        """As if a tree with these splits had been grown on the drawn rows: return the sums of its leaves."""
        tree, rows, words = self.grower.tree, self.drawn.rows, self.grower.table.words
        tree.copy_splits(splits)
        ranges = even_ranges(len(rows), self.threads.n_threads)
        self.threads.run(lambda own: tree.assign_own_leaves(words, rows[slice(*own)]), ranges)
        self.assign_others(tree)
        return self.sum_leaves()

    def assign_others(self, tree: GrownGradientTree) -> None:
        """Find the leaves of the rows that the tree was not grown on."""
        others, words = self.others, self.grower.table.words
        if len(others):
            ranges = even_ranges(len(others), self.threads.n_threads)
            self.threads.run(lambda own: tree.assign_leaves(words, others[slice(*own)]), ranges)


def add_blocks(parts: np.ndarray) -> np.ndarray:
    """The sum over blocks, one after the other."""
    return parts[0] if len(parts) == 1 else parts.sum(axis=0)


class ModelRows:
    """All rows of a model, in this process.

    With a ``log``, trees that it has from an earlier run are not grown again, and new ones are recorded in it.
    """

    log: ModelLog | None = None

    def __init__(self, shard: ModelShard) -> None:
        self._shard = shard

    @classmethod
    def of(
        cls,
        tables: Sequence[PackedCodes],
        rules: GrowthRules,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        start: np.ndarray,
        threads: RowThreads,
    ) -> "ModelRows":
        """The rows before the first tree; trees read the ``tables`` in turn."""
        identical = np.empty(0)
        if family.has_scale:
            identical = weight_of_identical_rows(mixed_rows(tables[0].words), rows.weights, rows.train, threads)
        totals = RowTotals(train_weight=rows.train_weight, held_out_weight=rows.held_out_weight)
        grower = GradientTreeGrower(tables[0], family.n_outputs, rules, rows.weights, threads)
        shard = ModelShard(tables, grower, family, rows, totals, start, max_leverage(identical))
        shard.use(threads)
        return cls(shard)

    @property
    def tables(self) -> tuple[PackedCodes, ...]:
        """The tables that trees read in turn."""
        return self._shard.tables

    @property
    def constraints(self) -> np.ndarray:
        """The monotone constraint of each column that trees read."""
        return self._shard.grower.constraints

    @property
    def threads(self) -> RowThreads:
        return self._shard.threads

    def use(self, threads: RowThreads) -> None:
        """Run the next rounds in these threads."""
        self._shard.use(threads)

    def _blocks(self, method: str, *args: Any) -> Any:
        """What a method of ``ModelShard`` or ``RowState`` returns, for all blocks of rows."""
        return getattr(self._shard, method)(*args)

    def grow(self, start: Round) -> GrownGradientTree:
        """Begin a round: a tree, without the values of its leaves."""
        if self.log is None:
            return self._grow(start)
        recorded = self.log.next_tree(self._tree.splits())
        if recorded is not None:
            return self._grow_again(start, recorded)
        tree = self._grow(start)
        self.log.add(tree.splits())
        return tree

    @property
    def _tree(self) -> GrownGradientTree:
        """The last tree, whose arrays are those of the next."""
        return self._shard.grower.tree

    def _grow_again(self, start: Round, splits: TreeSplits) -> GrownGradientTree:
        """A tree whose splits are known: only the leaves of the rows and their sums are computed."""
        if not self._shard.begin(start):
            self._shard.draw_only(int(self._shard.train.rows[0]))
        self._shard.use_tree(splits)
        return self._tree

    def _grow(self, start: Round) -> GrownGradientTree:
        self._shard.begin(start)
        self._shard.grower.begin_tree(start.column_key)
        return self._shard.grow(start.dither_key, start.split_noise)

    def sum_leaves(self) -> LeafSums:
        """The sums of each leaf of the last tree over the rows that it was grown on."""
        return LeafSums(*[add_blocks(part) for part in self._shard.leaf_sums])

    def sum_inverse_information(self) -> tuple[np.ndarray, np.ndarray]:
        """The inverse Fisher information: its sum over each leaf, and its weighted mean over the training rows."""
        sums, means = self._blocks("sum_inverse_information")
        return add_blocks(sums), add_blocks(means)

    def count_leaves(self) -> np.ndarray:
        """The number of training rows in each leaf, whether drawn for the last tree or not."""
        return self._shard.count_leaves()

    def add(self, values: np.ndarray, gains: np.ndarray | None) -> float:
        """Add the last tree to the outputs, and the gains of its leaves to the leverage of the rows it was grown on.

        Returns the mean of the last output over the training rows if this is a scale, otherwise 0.
        """
        return float(add_blocks(self._blocks("add", values, gains)))

    def measure_held_out(self, scale_bounds: tuple[float, float]) -> tuple[float, float, float]:
        """Mean held-out losses, of the whole distribution and of the mean, and the mean step of the scale."""
        loss, loss_of_mean, scale_step = add_blocks(self._shard.measure_held_out(scale_bounds)).tolist()
        return loss, loss_of_mean, scale_step

    def save(self, scale: bool) -> None:
        """Keep the outputs of the held-out rows in this round and, with ``scale``, the scale of all rows."""
        self._shard.save(scale)

    def restore_scale(self, factor: float) -> None:
        """Replace the scale of all rows by ``factor`` times the one that was saved."""
        self._shard.restore_scale(factor)

    def saved_held_out(self, uses_saved_scale: bool) -> np.ndarray:
        """Saved outputs of the held-out rows; with ``uses_saved_scale``, their scale is the one that was saved."""
        return self._shard.saved_held_out(uses_saved_scale)

    def held_out_residuals(self, inflation: float | None) -> np.ndarray:
        """The remaining step of each output for the held-out rows, (outputs, rows)."""
        return self._shard.held_out_residuals(inflation)

    def drop(self) -> None:
        """Forget the rows: no more rounds follow."""
        if self.log is not None:
            self.log.close()
