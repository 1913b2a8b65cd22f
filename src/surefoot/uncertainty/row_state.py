"""What one model in training keeps for every row of a table, or of a shard of it, and the passes of a round over it.

Threads work on some blocks of rows each. Sums are returned block by block: whoever adds them up in the order of the
blocks gets the same number, however the rows are divided among threads, files or workers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

import numpy as np

from surefoot._parallel import RowThreads
from surefoot._random import skip_numbers
from surefoot.trees import row_blocks
from surefoot.trees.leaves import RowOutputs, RowsInBlocks, add_tree, weighted_sums
from surefoot.trees.level_kernels import LeafInputs, LeafSums, sum_leaves
from surefoot.trees.row_blocks import BlockRows, even_ranges, rows_of_blocks
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.training_rows import TrainingRows

NO_INFORMATION = np.empty((0, 0))  # that of each row is 1
MIN_TOTAL = 1e-300  # of weights: no division by 0 where there are no rows
MAX_LEVERAGE = log(10.0)  # a residual is stretched at most tenfold (at residual_inflation 1)


@dataclass(frozen=True)
class RowTotals:
    """What a shard must know of the other rows: the weight of all rows, and where its own rows start."""

    train_weight: float
    held_out_weight: float
    first_row: int = 0
    first_train: int = 0  # the number of training rows before the shard


class RowState:
    """The outputs, gradients and leverages of all rows, held-out rows included.

    Attributes
    ----------
    raw : array of shape (n_outputs, n_rows)
        The outputs of the trees so far.
    steps, scores : arrays of shape (n_outputs, n_rows)
        Gradients, and the scores that choose splits; for classification ``scores`` is the information of each row.
    leverage, stretch : arrays of shape (n_rows,)
        Minus the log of the fraction of its residual that a row has not lost because of itself; and the factor by which
        residuals are multiplied for that reason.
    train, drawn : BlockRows
        The rows that are trained on, and those that the present tree is grown on.
    leaf_sums : LeafSums
        For each block, the sums of each leaf over the drawn rows, once they are summed.
    """

    def __init__(
        self,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        totals: RowTotals,
        start: np.ndarray,
        max_leverage: np.ndarray,
        n_leaves: int,
    ) -> None:
        n_rows, n_outputs = len(rows.y), family.n_outputs
        self.family, self.y, self.totals, self.max_leverage = family, rows.y, totals, max_leverage
        self.weights = rows.all_weights
        self.raw = np.repeat(start[:, np.newaxis], n_rows, axis=1)
        self.offsets = rows.offsets
        if rows.offsets is not None:
            self.raw[: len(rows.offsets.raw)] += rows.offsets.raw
        self.steps, self.scores = np.empty((n_outputs, n_rows)), np.empty((n_outputs, n_rows))
        self.leverage, self.stretch = np.zeros(n_rows), np.ones(n_rows)
        self.train = self.drawn = BlockRows.of(rows.train, n_rows)
        self._fractions = self.weights[rows.train] / totals.train_weight
        self.held_out = HeldOutRows(family, rows, totals.held_out_weight, start)
        self.others = rows.held_out
        self._saved_scale = self.raw[-1].copy()
        n_blocks = self.train.n_blocks
        self._scale_sums = np.zeros(n_blocks)
        self.leaf_sums = LeafSums.empty(n_blocks, n_leaves, n_outputs)
        self.use(RowThreads(1))

    def move_arrays(self, move: Callable[[np.ndarray], np.ndarray]) -> None:
        """Replace every array with a number for each row by its copy elsewhere."""
        for name in ("y", "weights", "max_leverage", "raw", "steps", "scores", "leverage", "stretch"):
            setattr(self, name, move(getattr(self, name)))
        if self.offsets is not None:
            self.offsets = self.offsets.moved(move)
        self._fractions, self._saved_scale = move(self._fractions), move(self._saved_scale)
        self.train = self.drawn = BlockRows(move(self.train.rows), self.train.starts)

    @property
    def leaves(self) -> np.ndarray:
        """The leaf of every row in the last tree."""
        raise NotImplementedError

    @property
    def score_rows(self) -> np.ndarray:
        """What the next tree is grown on, (n_outputs, n_rows)."""
        return self.scores if self.family.natural else self.steps

    def use(self, threads: RowThreads) -> None:
        """Run the next passes in these threads."""
        self.threads, self._block_ranges = threads, even_ranges(self.train.n_blocks, threads.n_threads)

    def fill_gradients(
        self,
        shrink: float = 1.0,
        inflation: float | None = None,
        frozen: bool = False,
        then: Callable[[tuple[int, int]], None] | None = None,
    ) -> None:
        """Multiply the outputs by ``shrink``, and fill in the gradients of all rows.

        If there is an ``inflation``, the stretches are computed anew, with residuals inflated that much. ``frozen``
        says that the scale does not choose splits any more. ``then`` is called for each range of blocks that is done,
        in the thread that did it.
        """
        family, raw, steps, scores = self.family, self.raw, self.steps, self.scores

        def fill(blocks: tuple[int, int]) -> None:
            rows = rows_of_blocks(blocks, len(self.y))
            own = slice(*rows)
            if shrink < 1.0:
                self._shrink(own, shrink)
            if inflation is not None:
                stretch = self.stretch[own]
                np.exp(np.multiply(self.leverage[own], inflation, out=stretch), out=stretch)
            if isinstance(family, RegressionFamily):
                if self.offsets is None or self.offsets.exposures is None:
                    family.gradients(raw, self.y, self.stretch, rows, steps, scores)
                else:
                    family.exposed_gradients(raw, self.y, self.stretch, self.offsets.exposures, rows, steps, scores)
            else:
                family.gradients(raw, self.y, rows, steps, scores)
            if frozen:
                scores[-1, own] = 0.0
            if then is not None:
                then(blocks)

        self.threads.run(fill, self._block_ranges)

    def _shrink(self, own: slice, factor: float) -> None:
        """Multiply the outputs of the trees by a factor; offsets do not change."""
        self.raw[:, own] *= factor
        if self.offsets is not None:
            self.raw[: len(self.offsets.raw), own] += (1.0 - factor) * self.offsets.raw[:, own]

    def draw(self, key: np.uint64, fraction: float) -> int:
        """Draw the training rows of a tree, each with the same probability; return how many there are.

        ``others`` are the rows that need a leaf besides them.
        """
        if fraction < 1.0:
            own_key = skip_numbers(key, self.totals.first_train)
            self.drawn, self.others = self.train.draw(own_key, fraction, len(self.y), self.threads)
        return len(self.drawn)

    def draw_only(self, row: int) -> None:
        """Draw nothing but one row of the whole table, or nothing if it is not among these rows."""
        own = row - self.totals.first_row
        rows, n_rows = [own] if 0 <= own < len(self.y) else [], len(self.y)
        self.drawn = BlockRows.of(np.array(rows, dtype=np.uint32), n_rows)
        self.others = np.delete(np.arange(n_rows, dtype=np.uint32), rows)

    def sum_leaves(self) -> LeafSums:
        """For each block, the sums of each leaf over the drawn rows."""
        self._sum(self.leaf_inputs())
        return self.leaf_sums

    def leaf_inputs(self) -> LeafInputs:
        """What is summed over the drawn rows of each leaf."""
        return self._inputs_of(self.steps, NO_INFORMATION if self.family.natural else self.scores, self.leaf_sums)

    def _inputs_of(self, steps: np.ndarray, information: np.ndarray, sums: LeafSums) -> LeafInputs:
        return LeafInputs(
            steps=steps,
            information=information,
            weights=self.weights,
            rows=self.drawn.rows,
            starts=self.drawn.starts,
            sums=sums,
        )

    def _sum(self, inputs: LeafInputs) -> None:
        """Write the sums of each leaf, block by block."""
        leaves = self.leaves
        ranges = self.drawn.block_ranges(self.threads.n_threads)
        self.threads.run(lambda blocks: sum_leaves(inputs, blocks, leaves), ranges)

    def sum_inverse_information(self) -> tuple[np.ndarray, np.ndarray]:
        """For each block, the inverse Fisher information: its sum over each leaf, and its part of the weighted mean."""
        assert isinstance(self.family, RegressionFamily)
        metric = self.family.inverse_information(self.raw)
        if self.offsets is not None and self.offsets.exposures is not None:
            metric *= self.offsets.exposures  # that of a row of exposure 1: weights are multiplied by exposures
        sums = LeafSums(*map(np.empty_like, self.leaf_sums))
        self._sum(self._inputs_of(metric, NO_INFORMATION, sums))
        means = np.empty((self.train.n_blocks, len(metric)))
        for k in range(len(metric)):
            out = np.empty(self.train.n_blocks)
            weighted_sums(metric[k], self._fractions, self.train.rows, self.train.starts, out)
            means[:, k] = out
        return sums.steps, means

    def count_leaves(self) -> np.ndarray:
        """The number of training rows in each leaf, whether drawn for this tree or not."""
        return np.bincount(self.leaves[self.train.rows], minlength=self.leaf_sums.counts.shape[1])

    def add(self, values: np.ndarray, gains: np.ndarray | None) -> np.ndarray:
        """Add the values of its leaf to the outputs of every row, and the gains to the leverage of drawn rows.

        ``gains`` is None if the family has no scale. Returns, for each block, its part of the mean of the last output
        over the training rows.
        """
        outputs = RowOutputs(raw=self.raw, leverage=self.leverage, max_leverage=self.max_leverage)
        drawn = RowsInBlocks(rows=self.drawn.rows, starts=self.drawn.starts)
        train = RowsInBlocks(rows=self.train.rows, starts=self.train.starts)
        given = self.leaves, values, gains, drawn, train, self._fractions, row_blocks.BLOCK_ROWS
        self.threads.run(lambda blocks: add_tree(*given, blocks, outputs, self._scale_sums), self._block_ranges)
        return self._scale_sums

    def measure_held_out(self, scale_bounds: tuple[float, float]) -> np.ndarray:
        """For each block, its part of the mean held-out losses: see ``HeldOutRows``."""
        return self.held_out.measure(self.raw, self.steps, scale_bounds, self.threads)

    def save(self, scale: bool) -> None:
        """Keep the outputs of the held-out rows in this round and, with ``scale``, the scale of all rows."""
        if scale:
            np.copyto(self._saved_scale, self.raw[-1])
        self.held_out.save()

    def restore_scale(self, factor: float) -> None:
        """Replace the scale of all rows by ``factor`` times the one that was saved."""
        self.raw[-1] = self._saved_scale * factor

    def saved_held_out(self, uses_saved_scale: bool) -> np.ndarray:
        """Saved outputs of the held-out rows; with ``uses_saved_scale``, their scale is the one that was saved."""
        raw = self.held_out.saved.copy()
        if uses_saved_scale:
            raw[-1] = self._saved_scale[self.held_out.rows.rows]
        return raw

    def held_out_residuals(self, inflation: float | None) -> np.ndarray:
        """The remaining step of each output for the held-out rows, (outputs, rows)."""
        self.fill_gradients(1.0, inflation)
        return self.steps[:, self.held_out.rows.rows]


def max_leverage(n_identical: np.ndarray) -> np.ndarray:
    """The largest leverage of a row that is one of ``n_identical`` rows."""
    out = np.maximum(n_identical, 1.0)
    np.minimum(np.divide(1.0, out, out=out), 1.0 - exp(-MAX_LEVERAGE), out=out)
    return np.negative(np.log1p(np.negative(out, out=out), out=out), out=out)


class HeldOutRows:
    """Outputs and losses of the held-out rows after the last round that was measured.

    Attributes
    ----------
    rows : BlockRows
        Their places in the table, or in the shard.
    raw, saved : arrays of shape (n_outputs, n_held_out)
        Their outputs in the last round that was measured, and in the last one that was saved.
    """

    def __init__(
        self,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        total_weight: float,
        start: np.ndarray,
    ) -> None:
        self.family, self._scale = family, float(start[-1])
        self.rows = BlockRows.of(rows.held_out, len(rows.y))
        self.y = rows.y[rows.held_out]
        self.raw = np.repeat(start[:, np.newaxis], len(self.y), axis=1)
        self.saved = self.raw.copy()
        self._fractions = rows.held_out_weights / max(total_weight, MIN_TOTAL)
        self._sums = np.zeros((self.rows.n_blocks, 3))
        self._min_losses = np.empty(0)
        if isinstance(family, RegressionFamily) and family.has_scale and len(self.y):
            best = family.saturated_output(self.y)
            self._min_losses = self._at_one_scale(np.tile(best, (family.n_outputs - 1, 1)), self.y)

    def measure(
        self, raw: np.ndarray, steps: np.ndarray, scale_bounds: tuple[float, float], threads: RowThreads
    ) -> np.ndarray:
        """For each block, its part of the mean losses: of the distribution, and of the mean; and of the scale's step.

        The loss of the mean is its deviance, at one scale for all rows. Without a scale, it is the first loss, and the
        step is 0. ``raw`` and ``steps`` are those of all rows.
        """

        def measure_blocks(blocks: tuple[int, int]) -> None:
            own = self.rows.in_blocks(blocks)
            places, fractions = self.rows.rows[own], self._fractions[own]
            for k in range(self.family.n_outputs):
                self.raw[k, own] = raw[k, places]
            losses = self._losses(own, scale_bounds) * fractions
            kinds = [losses, losses, np.zeros(0)]
            if self.family.has_scale:
                above = self._at_one_scale(self.raw[:-1, own], self.y[own]) - self._min_losses[own]
                kinds[1:] = [above * fractions, steps[-1, places] * fractions]
            starts = self.rows.starts - own.start
            for block in range(*blocks):
                part = slice(starts[block], starts[block + 1])
                self._sums[block] = [kind[part].sum() for kind in kinds]

        if len(self.y):
            threads.run(measure_blocks, self.rows.block_ranges(threads.n_threads))
        return self._sums

    def _losses(self, own: slice, scale_bounds: tuple[float, float]) -> np.ndarray:
        raw = self.raw[:, own].copy()
        np.clip(raw[-1], *scale_bounds, out=raw[-1])
        return self.family.nll(raw, self.y[own])

    def _at_one_scale(self, others: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Losses with these outputs before the last one, which is the same for all rows."""
        return self.family.nll(np.concatenate([others, np.full((1, len(y)), self._scale)]), y)

    def save(self) -> None:
        """Keep the outputs of the last round that was measured."""
        np.copyto(self.saved, self.raw)
