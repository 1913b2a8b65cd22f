"""What one model in training keeps for every row, and the passes of a round over these numbers.

Threads work on some blocks of rows each. Sums are added up block by block, so that a model does not depend on their
number.
"""

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.trees.gradient_grower import GrownGradientTree
from surefoot.trees.leaves import LeafSums, add_leaves, add_leverage, sum_leaves, weighted_sums
from surefoot.trees.row_blocks import BlockRows, even_ranges, rows_of_blocks
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_spec import TrainingRows


class RowState:
    """The outputs, gradients and leverages of all rows of a table, held-out rows included.

    Attributes
    ----------
    raw : array of shape (n_outputs, n_rows)
        The outputs of the trees so far.
    steps, scores : arrays of shape (n_outputs, n_rows)
        Gradients, and the scores that choose splits; for classification ``scores`` is the information of each row.
    leverage, stretch : arrays of shape (n_rows,)
        Minus the log of the fraction of its residual that a row has not lost because of itself; and the factor by which
        residuals are multiplied for that reason.
    train : BlockRows
        The rows that are trained on.
    """

    def __init__(
        self,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        start: np.ndarray,
        max_leverage: np.ndarray,
        n_leaves: int,
    ) -> None:
        n_rows, n_outputs = len(rows.y), family.n_outputs
        self.family, self.y, self.held_out, self.max_leverage = family, rows.y, rows.held_out, max_leverage
        self.weights = np.ones(n_rows) if rows.weights is None else rows.weights
        self.raw = np.repeat(start[:, np.newaxis], n_rows, axis=1)
        self.steps, self.scores = np.empty((n_outputs, n_rows)), np.empty((n_outputs, n_rows))
        self.leverage, self.stretch = np.zeros(n_rows), np.ones(n_rows)
        self.train = BlockRows.of(rows.train, n_rows)
        self._fractions = self.weights[rows.train] / self.weights[rows.train].sum()
        n_blocks = self.train.n_blocks
        self._scale_sums = np.zeros(n_blocks)
        self._leaf_sums = LeafSums(
            steps=np.empty((n_blocks, n_leaves, n_outputs)),
            information=np.empty((n_blocks, n_leaves, n_outputs)),
            counts=np.empty((n_blocks, n_leaves)),
        )
        self.use(RowThreads(1))

    def use(self, threads: RowThreads) -> None:
        """Run the next passes in these threads."""
        self.threads, self._block_ranges = threads, even_ranges(self.train.n_blocks, threads.n_threads)

    def fill_gradients(self, shrink: float = 1.0, inflation: float | None = None, frozen: bool = False) -> None:
        """Multiply the outputs by ``shrink``, and fill in the gradients of all rows.

        If there is an ``inflation``, the stretches are computed anew, with residuals inflated that much. ``frozen``
        says that the scale does not choose splits any more.
        """
        family, raw, steps, scores = self.family, self.raw, self.steps, self.scores

        def fill(blocks: tuple[int, int]) -> None:
            rows = rows_of_blocks(blocks, len(self.y))
            own = slice(*rows)
            if shrink < 1.0:
                raw[:, own] *= shrink
            if inflation is not None:
                stretch = self.stretch[own]
                np.exp(np.multiply(self.leverage[own], inflation, out=stretch), out=stretch)
            if isinstance(family, RegressionFamily):
                family.gradients(raw, self.y, self.stretch, rows, steps, scores)
            else:
                family.gradients(raw, self.y, rows, steps, scores)
            if frozen:
                scores[-1, own] = 0.0

        self.threads.run(fill, self._block_ranges)

    def draw(self, key: np.uint64, fraction: float) -> tuple[BlockRows, np.ndarray]:
        """Some of the training rows, each with the same probability, and the rows that need a leaf besides them."""
        if fraction == 1.0:
            return self.train, self.held_out
        return self.train.draw(key, fraction, len(self.y), self.threads)

    def assign_leaves(self, tree: GrownGradientTree, words: np.ndarray, rows: np.ndarray) -> None:
        """Find the leaves of rows that a tree was not grown on; ``words`` are the codes of all rows."""
        ranges = even_ranges(len(rows), self.threads.n_threads) if len(rows) else []
        self.threads.run(lambda own: tree.assign_leaves(words, rows[slice(*own)]), ranges)

    def sum_leaves(self, leaves: np.ndarray, drawn: BlockRows) -> LeafSums:
        """The sums of each leaf over the drawn rows."""
        information, sums = None if self.family.natural else self.scores, self._leaf_sums

        def add_up(blocks: tuple[int, int]) -> None:
            sum_leaves(self.steps, information, self.weights, drawn.rows, drawn.starts, blocks, leaves, sums)

        self.threads.run(add_up, drawn.block_ranges(self.threads.n_threads))
        return LeafSums(*(part[0] if drawn.n_blocks == 1 else part.sum(axis=0) for part in sums))

    def add(self, leaves: np.ndarray, values: np.ndarray, gains: np.ndarray, drawn: BlockRows) -> None:
        """Add the values of its leaf to the outputs of every row, and the gains to the leverage of drawn rows."""

        def add_blocks(blocks: tuple[int, int]) -> None:
            add_leaves(leaves, values, rows_of_blocks(blocks, len(self.y)), self.raw)
            if self.family.has_scale:
                add_leverage(drawn.rows[drawn.in_blocks(blocks)], leaves, gains, self.max_leverage, self.leverage)
                train = self.train.rows, self.train.starts
                weighted_sums(self.raw[-1], self._fractions, *train, blocks, self._scale_sums)

        self.threads.run(add_blocks, self._block_ranges)

    @property
    def typical_scale(self) -> float:
        """The mean of the last output over the training rows, after the last tree."""
        return float(self._scale_sums.sum())
