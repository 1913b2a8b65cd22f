"""One model in training: what is known of each row, and what a round does to it.

A row that has been fitted is a poor witness of its own noise: its target has pulled the prediction towards itself. A
round takes the share ``rate / (n + l2)`` of its residual away from a row in a leaf of n rows, by its own doing. The
product of what is left is kept for every row (its leverage, as minus the log), and the scale of the distribution is
fitted to residuals stretched back by it: about what they would be if the row had been left out. Rows that are alike in
every column share one prediction, of which each holds its part and no more. Splits are chosen by looking at the targets
too, which the product does not see; held-out rows tell how much more to stretch (``residual_inflation``).
"""

from collections.abc import Sequence
from math import exp, inf, log, sqrt

import numpy as np

from surefoot._parallel import RowThreads
from surefoot._random import NormalRows, random_bits, random_subset, stream_key
from surefoot.trees.gradient_grower import GradientTreeGrower, GrownGradientTree
from surefoot.trees.leaves import (
    add_leaves,
    add_leverage,
    bound_leaves,
    guess_leaves,
    inherit_leaves,
    sum_leaves,
)
from surefoot.trees.packed_codes import PackedCodes
from surefoot.trees.vector_forest import ForestBuilder
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.families.targets import weighted_sum
from surefoot.uncertainty.fit_spec import InflationSchedule, TrainingConfig, TrainingRows
from surefoot.uncertainty.leaf_noise import LeafNoise
from surefoot.uncertainty.member import BoostedTrees

DITHER, DRAW, NOISE, GUESS = range(4)  # what random numbers are for
MIN_TOTAL = 1e-300  # of weights: no rows at all are not divided by 0
MAX_STEP = 10.0  # of log-odds in a round, before the learning rate
SCALE_L2 = 3.0  # times l2: a scale is learned from fewer numbers than a mean, and from larger groups
STRETCH_ROWS = 8192  # tables above this size refresh their stretches every few rounds: leverage grows slowly there
STRETCH_EVERY = 8
SPLIT_NOISE, MIN_NOISE = 1.0, 1e-3  # half standard errors at first; the share that stays breaks ties
CLASS_NOISE, LONG_NOISE = 1.0, 3.0  # of classes; of counts, and of classifiers' members that no held-out rows stop


class BoostingLoop:
    """Trains one model, round by round."""

    def __init__(
        self,
        grower: GradientTreeGrower,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        config: TrainingConfig,
        seed: tuple[int, int],
        start: np.ndarray,
        inflation_schedule: InflationSchedule | None = None,
        tables: Sequence[PackedCodes] = (),
    ) -> None:
        """``inflation_schedule`` is the schedule of the scale from trial models, if there were any.

        ``tables`` are read in turn, a tree each; if there are none, all trees read that of the grower.
        """
        self.grower, self.family, self.rows, self.config, self.seed = grower, family, rows, config, seed
        self.table = table = grower.table
        self.tables = tuple(tables) or (table,)
        n_rows, n_outputs = table.n_rows, family.n_outputs
        self.weights = np.ones(n_rows) if rows.weights is None else rows.weights
        self.n_train = max(float(self.weights[rows.train].sum()), 1.0)
        self.shrink = 1.0 - config.learning_rate / (2.0 * self.n_train) if config.langevin else 1.0
        self.start = start
        self.raw = np.repeat(start[:, np.newaxis], n_rows, axis=1)
        self.steps, self.scores = np.empty((n_outputs, n_rows)), np.empty((n_outputs, n_rows))
        self.leverage, self.stretch, self.residual_inflation = np.zeros(n_rows), np.ones(n_rows), 1.0
        self.inflation_schedule, self.scale_is_frozen, self.level_step = inflation_schedule, False, 0.0
        self._shares = self.weights[rows.train] / self.weights[rows.train].sum()
        held_out = self.weights[rows.held_out]
        self._held_out_y, self._held_out_shares = rows.y[rows.held_out], held_out / max(held_out.sum(), MIN_TOTAL)
        self._least_loss = self._loss_at_one_scale(self._held_out_y) if family.has_scale else 0.0
        alike = table.twins(self.weights, rows.train) if family.has_scale else np.empty(0)
        self._max_leverage = max_leverage(alike)
        self._bounds: list[tuple[float, float]] = []
        self._typical_scale = float(start[-1])
        self.builder = ForestBuilder(table.n_codes, table.is_categorical)
        self._scale_then = self.raw[-1].copy()
        self._held_out_then = self.raw[:, rows.held_out]
        n_leaves = 1 << config.rules.depth
        self._sums, self._totals = np.empty((n_leaves, n_outputs)), np.empty((n_leaves, n_outputs))
        self._counts = np.empty(n_leaves)
        self.resume(config, grower.threads)

    def resume(self, config: TrainingConfig, threads: RowThreads) -> None:
        """Make ready for the rounds of a config that differs from the last at most in the number of trees."""
        self.config = config
        self.noise = LeafNoise(config, self.family, self.rows, self.weights, self.n_train)
        self._guess_size = self.noise.guess_size if self.noise.guesses else 0.0
        self.grower.threads = threads
        seed = self.seed if config.differs_by_seed else (0, 0)
        self._keys = np.stack([random_bits(stream_key(*seed, use), config.n_estimators) for use in range(GUESS + 1)])
        self._noise_normals = NormalRows(self._keys[NOISE], self._sums.size)
        self._guess_normals = NormalRows(self._keys[GUESS], len(self._counts))

    @property
    def n_done(self) -> int:
        return len(self.builder)

    def step(self) -> None:
        """One tree."""
        self.table = self.tables[self.n_done % len(self.tables)]
        if self.table is not self.grower.table:
            self.grower.read(self.table)
        if self.n_done and self.shrink < 1.0:
            self.raw *= self.shrink
        if self.inflation_schedule is not None:
            self._follow(self.inflation_schedule)
        self._fill_gradients()
        if self.scale_is_frozen:
            self.scores[-1] = 0.0
        drawn = self._draw_rows()
        scores = self.scores if self.family.natural else self.steps
        tree = self.grower.grow(scores, drawn, self._keys[DITHER, self.n_done], self._split_noise())
        self._walk_others(tree, drawn)
        values = self._leaf_values(tree, drawn)
        self._add_to_rows(tree, values, drawn)
        self.builder.add(tree, values, self._counts)

    def _follow(self, inflation_schedule: InflationSchedule) -> None:
        frozen_for = self.n_done - len(inflation_schedule.residual_inflations)
        self.scale_is_frozen = frozen_for >= 0
        if not self.scale_is_frozen:
            self.residual_inflation = float(inflation_schedule.residual_inflations[self.n_done])
        elif frozen_for < len(inflation_schedule.levels):
            self.level_step = float(inflation_schedule.levels[frozen_for])

    def _split_noise(self) -> float:
        """Noise in the choice of splits: models that differ by chance shall not all choose the first of equals.

        It fades once the rounds could have fitted every row, at ``rate * rounds = log(rows)``. Classes and counts have
        noise of a known size, which no number of rounds fits away: there it stays. A single classifier has some too,
        lest it follow chance in the columns that have most of it to offer, and leave others that say the same unread.
        """
        if not self.config.differs_by_seed:
            return CLASS_NOISE if isinstance(self.family, ClassificationFamily) else 0.0
        if not self.family.has_scale:
            stops = isinstance(self.family, ClassificationFamily) and not self.config.runs_its_length
            return CLASS_NOISE if stops else LONG_NOISE
        left = self.n_train * exp(-self.config.learning_rate * self.n_done)
        return SPLIT_NOISE * max(left / (1.0 + left), MIN_NOISE)

    def _fill_gradients(self) -> None:
        if isinstance(self.family, RegressionFamily):
            if self.family.has_scale and (self.table.n_rows <= STRETCH_ROWS or self.n_done % STRETCH_EVERY == 0):
                np.exp(np.multiply(self.leverage, self.residual_inflation, out=self.stretch), out=self.stretch)
            self.family.gradients(self.raw, self.rows.y, self.stretch, self.steps, self.scores)
        else:
            self.family.gradients(self.raw, self.rows.y, self.steps, self.scores)

    def _draw_rows(self) -> np.ndarray:
        train = self.rows.train
        if self.config.subsample == 1.0:
            return train
        drawn = train[random_subset(self._keys[DRAW, self.n_done], len(train), self.config.subsample)]
        return drawn if len(drawn) else train[:1]

    def _walk_others(self, tree: GrownGradientTree, drawn: np.ndarray) -> None:
        """Find the leaves of rows that the tree was not grown on."""
        others = self.rows.held_out
        if len(drawn) < len(self.rows.train):
            left_out = np.ones(self.table.n_rows, dtype=np.bool_)
            left_out[drawn] = False
            others = np.flatnonzero(left_out).astype(np.uint32)
        if len(others):
            tree.walk(self.table.words, others)

    def _leaf_values(self, tree: GrownGradientTree, drawn: np.ndarray) -> np.ndarray:
        """Rate times mean step of each leaf, drawn to zero by l2; with Langevin noise if the config has it.

        Of classes, a leaf without rows says what the node above it, which is the other leaf below it, says. Were it to
        say nothing, members would agree best on rows that are like none of the training rows, which end up there. Where
        that node has no rows either it says nothing: were it to speak for nodes further up, such rows would look so
        certain that disagreement no longer shows.
        """
        config = self.config
        information = None if self.family.natural else self.scores
        sum_leaves(self.steps, information, self.weights, drawn, tree.leaves, self._sums, self._totals, self._counts)
        l2, sums = self.noise.l2(self._totals), self._sums
        weights = np.maximum(self._totals + l2, np.finfo(float).tiny)
        if self.family.has_scale and not config.runs_its_length:
            weights[:, -1] += (SCALE_L2 - 1.0) * config.rules.l2
        if config.langevin:
            normals = self._noise_normals[self.n_done].reshape(sums.shape)
            typical = self._typical_scale
            sums = sums + self.noise.of_sums(self._totals, l2, self.raw, tree.leaves, drawn, normals, typical)
        values = sums / weights
        if not self.family.natural:
            inherit_leaves(self._sums / weights, self._counts, values)
            np.clip(values, -MAX_STEP, MAX_STEP, out=values)
        if self._guess_size > 0.0:
            self._guess(tree, drawn, values)
        values *= config.learning_rate
        if self.scale_is_frozen:
            values[:, -1] = config.learning_rate * self.level_step
        if config.rules.constraints is not None:
            first = config.learning_rate * sums[:, 0]
            bound_leaves(
                tree.node_features(), self.grower.constraints, first, self._totals[:, 0], config.rules.l2, values[:, 0]
            )
        tree.repeat_kept(values)
        return values

    def _guess(self, tree: GrownGradientTree, drawn: np.ndarray, values: np.ndarray) -> None:
        """Add guesses to the values of leaves that no training row reaches, drawn or not."""
        reached, train = self._counts, self.rows.train
        if len(drawn) < len(train):
            reached = np.bincount(tree.leaves[train], minlength=len(reached)).astype(np.float64)
        normals = self._guess_normals[self.n_done]
        guess_leaves(self.steps[0], self.weights, drawn, reached, self._guess_size, normals, values)

    def _add_to_rows(self, tree: GrownGradientTree, values: np.ndarray, drawn: np.ndarray) -> None:
        add_leaves(tree.leaves, values, self.raw)
        if self.family.has_scale:
            taken = self.config.learning_rate / np.maximum(self._counts + self.config.rules.l2, 1e-300)
            gains = -np.log1p(-np.minimum(taken, 0.99))
            add_leverage(drawn, tree.leaves, gains, self._max_leverage, self.leverage)
        self._note_bounds()

    def _note_bounds(self) -> None:
        if not (self.family.has_scale and isinstance(self.family, RegressionFamily)):
            self._bounds.append((-inf, inf))
            return
        every = len(self._shares) == self.table.n_rows
        self._typical_scale = weighted_sum(self.raw[-1] if every else self.raw[-1][self.rows.train], self._shares)
        self._bounds.append(scale_bounds(self._typical_scale, self.n_train, self.family.dispersion_sign))

    def held_out_losses(self) -> tuple[float, float]:
        """Mean held-out loss: of the whole distribution, and of the mean (its deviance, at one scale for all rows)."""
        raw = self.raw[:, self.rows.held_out]
        np.clip(raw[-1], *self._bounds[-1], out=raw[-1])
        nll = weighted_sum(self.family.nll(raw, self._held_out_y), self._held_out_shares)
        return nll, self._loss_at_one_scale(raw[0]) - self._least_loss if self.family.has_scale else nll

    def _loss_at_one_scale(self, first: np.ndarray) -> float:
        """Mean held-out loss with these first outputs, which all families with a scale have in the target's units."""
        raw = np.stack([first, np.full(len(first), self.start[-1])])
        return weighted_sum(self.family.nll(raw, self._held_out_y), self._held_out_shares)

    def held_out_step(self) -> float:
        """How far held-out rows wanted the level of the scale to move in the last round."""
        return weighted_sum(self.steps[-1][self.rows.held_out], self._held_out_shares)

    def remember(self, scale: bool) -> None:
        """Keep what this round says of held-out rows, and with ``scale`` the scale of all rows."""
        if scale:
            self._scale_then = self.raw[-1].copy()
        self._held_out_then = self.raw[:, self.rows.held_out]

    def freeze_scale(self, n_rounds: int) -> None:
        """Take the scale back to what it was when it was last remembered, after ``n_rounds``, and let it be.

        Later rounds improve the mean. By then the residuals of the training rows tell what these rows have done to
        them, and no longer what noise there is.
        """
        self.scale_is_frozen, self.level_step = True, 0.0
        self.raw[-1] = self._scale_then * self.shrink ** (self.n_done - n_rounds)
        self.builder.silence_last_output(n_rounds)
        self._bounds[n_rounds:] = [self._bounds[n_rounds - 1]] * (self.n_done - n_rounds)

    def held_out_then(self, n_trees: int, scale_is_now: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs, targets and weights of the held-out rows as remembered, the scale bounded as after ``n_trees``.

        Unless ``scale_is_now``, the scale is that of the round in which it was remembered.
        """
        held_out = self.rows.held_out
        raw = np.ascontiguousarray(self._held_out_then)
        if not scale_is_now:
            raw[-1] = self._scale_then[held_out]
        np.clip(raw[-1], *self._bounds[n_trees - 1], out=raw[-1])
        return raw, self._held_out_y, self.weights[held_out]

    def residuals(self, rows: np.ndarray) -> np.ndarray:
        """The step that each output of some rows has still to go, (outputs, rows)."""
        self._fill_gradients()
        return self.steps[:, rows]

    def result(
        self, n_trees: int | None = None, history: Sequence[float] = (), scale_until: int | None = None
    ) -> BoostedTrees:
        """The model of the first ``n_trees`` (None: all); trees after ``scale_until`` say nothing of the scale."""
        n_trees = self.n_done if n_trees is None else n_trees
        forest, bounds = self.builder.forest(n_trees), np.array(self._bounds[:n_trees])
        if scale_until is not None:
            forest.leaves[scale_until:, :, -1] = 0.0
            bounds[scale_until:] = bounds[scale_until - 1]
        ages = np.arange(n_trees - 1, -1, -1)
        forest.leaves[:] *= (self.shrink**ages)[:, np.newaxis, np.newaxis]
        start = self.start * exp((n_trees - 1) * log(self.shrink)) if self.shrink < 1.0 else self.start
        trees = BoostedTrees(start, forest, self.shrink, np.array(history), bounds)
        return trees if self.inflation_schedule is None else trees.recalibrated(self.inflation_schedule.recalibration)


MAX_LEVERAGE = log(10.0)  # a residual is stretched at most tenfold (at residual_inflation 1)
MIN_ROOM = 1.3  # a scale may be below the typical one by this factor, however few the rows
ROOM, ROOM_ROWS = 1.5, 1000.0  # and among so many rows by this one: it grows with the root of their number


def scale_bounds(typical: float, n_train: float, dispersion_sign: float) -> tuple[float, float]:
    """Least and most of the last output: no row is much more precise than the typical one, unless rows are many.

    A small scale is learned from the few rows of its kind, and the next of that kind may be the first outlier.
    ``dispersion_sign`` is that of the family: where it is -1, the output is the log of a shape, which counts twice.
    """
    step = log(max(MIN_ROOM, ROOM * sqrt(n_train / ROOM_ROWS)))
    return (typical - step, inf) if dispersion_sign > 0 else (-inf, typical + 2.0 * step)


def max_leverage(twins: np.ndarray) -> np.ndarray:
    """Most leverage that a row can have which is one of so many alike."""
    alone = np.minimum(1.0 / np.maximum(twins, 1.0), 1.0 - exp(-MAX_LEVERAGE))
    return -np.log1p(-alone)
