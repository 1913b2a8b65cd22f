"""One model in training: the state of each row, and one round of boosting.

A fitted row understates its own noise: its target has pulled the prediction towards itself. In a leaf of n rows, a
round takes away the fraction ``rate / (n + l2)`` of a row's residual because of that row itself. The loop keeps the
product of the fractions that remain for every row (its leverage, as minus the log), and fits the scale of the
distribution to residuals divided by that product: about what they would be if the row had been left out. Rows that are
identical in every column share one prediction, and the leverage of each is limited to its part of it. Splits are chosen
by looking at the targets too, which the product does not account for; held-out rows decide how much further residuals
are inflated (``residual_inflation``).
"""

from collections.abc import Sequence
from math import exp, inf, log, sqrt

import numpy as np

from surefoot._parallel import RowThreads
from surefoot._random import NormalRows, random_bits, stream_key
from surefoot.trees.grown_tree import GrownGradientTree
from surefoot.trees.leaves import bound_leaves, inherit_leaves
from surefoot.trees.vector_forest import ForestBuilder
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_spec import InflationSchedule, TrainingConfig
from surefoot.uncertainty.leaf_noise import LeafNoise
from surefoot.uncertainty.member import BoostedTrees
from surefoot.uncertainty.model_rows import ModelRows, Round
from surefoot.uncertainty.training_rows import TrainingRows

DITHER, DRAW, NOISE, EMPTY_LEAVES, DRAWN_COLUMNS = range(5)  # streams of random numbers: what they are for
MAX_STEP = 10.0  # of log-odds in a round, before the learning rate
SCALE_L2 = 3.0  # factor of l2 for the scale: it is learned from fewer numbers than a mean, and from larger groups
STRETCH_ROWS = 8192  # larger tables update the stretch of rows only every few rounds: leverage grows slowly there
STRETCH_EVERY = 8
SPLIT_NOISE, MIN_NOISE = 1.0, 1e-3  # in half standard errors, at first; the fraction that remains breaks ties
CLASS_NOISE, LONG_NOISE = 1.0, 3.0  # for classes; for counts, and for classifiers whose members never stop early


class BoostingLoop:
    """Trains one model, round by round."""

    def __init__(
        self,
        model_rows: ModelRows,
        family: RegressionFamily | ClassificationFamily,
        rows: TrainingRows,
        config: TrainingConfig,
        seed: tuple[int, int],
        start: np.ndarray,
        inflation_schedule: InflationSchedule | None = None,
    ) -> None:
        """``inflation_schedule`` is from trial models, if there were any."""
        self.model_rows, self.family, self.rows, self.config, self.seed = model_rows, family, rows, config, seed
        self.n_train = max(rows.train_weight, 1.0)
        self.shrink = 1.0 - config.learning_rate / (2.0 * self.n_train) if config.langevin else 1.0
        self.start = start
        self.residual_inflation = 1.0
        self.inflation_schedule, self.scale_is_frozen, self.level_step = inflation_schedule, False, 0.0
        self._bounds: list[tuple[float, float]] = []
        self._typical_scale = float(start[-1])
        table = model_rows.tables[0]
        self.builder = ForestBuilder(table.n_codes, table.is_categorical)
        self.resume(config, model_rows.threads)

    def resume(self, config: TrainingConfig, threads: RowThreads) -> None:
        """Prepare for the rounds of a configuration that may differ from the last only in the number of trees."""
        self.config = config
        self.noise = LeafNoise(config=config, family=self.family, n_train=self.n_train)
        self.use(threads)
        seed = self.seed if config.differs_by_seed else (0, 0)
        streams = range(DRAWN_COLUMNS + 1)
        self._keys = np.stack([random_bits(stream_key(*seed, use), config.n_estimators) for use in streams])
        n_leaves = 1 << config.rules.depth
        self._noise_normals = NormalRows(self._keys[NOISE], n_leaves * self.family.n_outputs)
        self._empty_leaf_normals = NormalRows(self._keys[EMPTY_LEAVES], n_leaves)

    def use(self, threads: RowThreads) -> None:
        """Run the next rounds in these threads."""
        self.model_rows.use(threads)

    @property
    def n_done(self) -> int:
        return len(self.builder)

    def step(self) -> None:
        """One round: one tree."""
        if self.inflation_schedule is not None:
            self._follow(self.inflation_schedule)
        keys = self._keys[:, self.n_done]
        start = Round(
            shrink=self.shrink if self.n_done else 1.0,
            inflation=self._inflation(),
            is_scale_frozen=self.scale_is_frozen,
            table=self.n_done % len(self.model_rows.tables),
            subsample=self.config.subsample,
            draw_key=keys[DRAW],
            dither_key=keys[DITHER],
            split_noise=self._split_noise(),
            column_key=keys[DRAWN_COLUMNS],
        )
        tree = self.model_rows.grow(start)
        values = self._leaf_values(tree)
        self._add_to_rows(values)
        self.builder.add(tree, values, self._leaf_sums.counts)

    def _follow(self, inflation_schedule: InflationSchedule) -> None:
        frozen_for = self.n_done - len(inflation_schedule.residual_inflations)
        self.scale_is_frozen = frozen_for >= 0
        if not self.scale_is_frozen:
            self.residual_inflation = float(inflation_schedule.residual_inflations[self.n_done])
        elif frozen_for < len(inflation_schedule.levels):
            self.level_step = float(inflation_schedule.levels[frozen_for])

    def _inflation(self) -> float | None:
        """The inflation of residuals if their stretches are to be computed anew in this round."""
        is_time = len(self.rows.y) <= STRETCH_ROWS or self.n_done % STRETCH_EVERY == 0
        return self.residual_inflation if self.family.has_scale and is_time else None

    def _split_noise(self) -> float:
        """Noise in the choice of splits, so that models with different seeds do not all choose the first of equal ones.

        It fades once the rounds could have fitted every row, at ``rate * rounds = log(rows)``. Classes and counts have
        noise of a known size, which no number of rounds can fit: for them it does not fade. A single classifier has
        some noise too. Without it, columns with many places to split at would win by chance, and other columns with the
        same information would never be used.
        """
        if self.config.split_noise is not None:
            return 2.0 * self.config.split_noise
        if not self.config.differs_by_seed:
            return CLASS_NOISE if isinstance(self.family, ClassificationFamily) else 0.0
        if not self.family.has_scale:
            may_stop = isinstance(self.family, ClassificationFamily) and not self.config.runs_its_length
            return CLASS_NOISE if may_stop else LONG_NOISE
        left = self.n_train * exp(-self.config.learning_rate * self.n_done)
        return SPLIT_NOISE * max(left / (1.0 + left), MIN_NOISE)

    def _leaf_values(self, tree: GrownGradientTree) -> np.ndarray:
        """Learning rate times mean step of each leaf, shrunk by l2; with Langevin noise if the configuration has it.

        For classification, a leaf without rows predicts what its parent predicts, which is the value of its sibling.
        With a value of 0, members would agree best on rows that are unlike all training rows, which end up in such
        leaves. If the parent has no rows either, the value is 0: with the value of a higher node, such rows would be
        predicted with so much certainty that disagreement no longer shows.
        """
        config = self.config
        self._leaf_sums = self.model_rows.sum_leaves()
        without_noise, totals = self._leaf_sums.steps, self._leaf_sums.information
        l2, sums = self.noise.l2(totals), without_noise
        weights = np.maximum(totals + l2, np.finfo(float).tiny)
        if self.family.has_scale and not config.runs_its_length:
            weights[:, -1] += (SCALE_L2 - 1.0) * config.rules.l2
        if config.langevin:
            normals = self._noise_normals[self.n_done].reshape(sums.shape)
            sums = sums + self.noise.of_sums(totals, l2, normals, self._typical_scale, self.model_rows)
        values = sums / weights
        if not self.family.natural:
            inherit_leaves(without_noise / weights, self._leaf_sums.counts, values)
            np.clip(values, -MAX_STEP, MAX_STEP, out=values)
        if self.noise.perturbs_empty_leaves:
            self._perturb_empty_leaves(values)
        values *= config.learning_rate
        if self.scale_is_frozen:
            values[:, -1] = config.learning_rate * self.level_step
        if config.rules.constraints is not None:
            features, constraints = tree.node_features(), self.model_rows.constraints
            for k in self.family.constrained_outputs[: 1 if self.scale_is_frozen else None]:
                steps = config.learning_rate * sums[:, k]
                bound_leaves(features, constraints, steps, totals[:, k], config.rules.l2, values[:, k])
        tree.repeat_kept(values)
        return values

    def _perturb_empty_leaves(self, values: np.ndarray) -> None:
        """Add noise to the values of leaves without training rows, whether drawn for this tree or not."""
        counts, total = self._leaf_sums.counts, float(self._leaf_sums.counts.sum())
        if counts.all():
            return
        if self.config.subsample < 1.0:
            counts = self.model_rows.count_leaves()
        empty = np.flatnonzero(counts == 0)
        if len(empty):
            mean_square = float(self._leaf_sums.squares) / total if total > 0.0 else 0.0
            size = self.noise.size_in_empty_leaves * sqrt(mean_square)
            values[empty, 0] += size * self._empty_leaf_normals[self.n_done][: len(empty)]

    def _add_to_rows(self, values: np.ndarray) -> None:
        gains = None
        if self.family.has_scale:
            taken = self.config.learning_rate / np.maximum(self._leaf_sums.counts + self.config.rules.l2, 1e-300)
            gains = -np.log1p(-np.minimum(taken, 0.99))
        self._typical_scale = self.model_rows.add(values, gains)
        self._append_bounds()

    def _append_bounds(self) -> None:
        if self.family.has_scale and isinstance(self.family, RegressionFamily):
            self._bounds.append(scale_bounds(self._typical_scale, self.n_train, self.family.dispersion_sign))
        else:
            self._bounds.append((-inf, inf))

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the last output after the last round."""
        return self._bounds[-1]

    def measure_held_out(self) -> tuple[float, float, float]:
        """Mean held-out losses, of the whole distribution and of the mean, and the mean step of the scale."""
        return self.model_rows.measure_held_out(self._bounds[-1])

    def save(self, scale: bool) -> None:
        """Keep the outputs of the held-out rows in this round and, with ``scale``, the scale of all rows."""
        self.model_rows.save(scale)

    def freeze_scale(self, n_rounds: int) -> None:
        """Restore the scale that was saved after ``n_rounds``, and stop learning it.

        Later rounds improve the mean. By then, the residuals of the training rows show how closely the trees fit these
        rows, and no longer how much noise there is.
        """
        self.scale_is_frozen, self.level_step = True, 0.0
        self.model_rows.restore_scale(self.shrink ** (self.n_done - n_rounds))
        self.builder.zero_last_output(n_rounds)
        self._bounds[n_rounds:] = [self._bounds[n_rounds - 1]] * (self.n_done - n_rounds)

    def saved_held_out(self, n_trees: int, uses_saved_scale: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Saved outputs, targets and weights of the held-out rows, with the bounds of the scale after ``n_trees``.

        With ``uses_saved_scale``, the scale is that of the round in which the scale was saved.
        """
        raw, rows = self.model_rows.saved_held_out(uses_saved_scale), self.rows
        np.clip(raw[-1], *self._bounds[n_trees - 1], out=raw[-1])
        return raw, rows.y[rows.held_out], rows.held_out_weights

    def held_out_residuals(self) -> np.ndarray:
        """The remaining step of each output for the held-out rows, (outputs, rows)."""
        return self.model_rows.held_out_residuals(self._inflation())

    def result(
        self, n_trees: int | None = None, history: Sequence[float] = (), scale_until: int | None = None
    ) -> BoostedTrees:
        """The model of the first ``n_trees`` (None: all); trees after ``scale_until`` leave the scale unchanged."""
        n_trees = self.n_done if n_trees is None else n_trees
        forest, bounds = self.builder.forest(n_trees), np.array(self._bounds[:n_trees])
        if scale_until is not None:
            forest.leaves[scale_until:, :, -1] = 0.0
            bounds[scale_until:] = bounds[scale_until - 1]
        ages = np.arange(n_trees - 1, -1, -1)
        forest.leaves[:] *= (self.shrink**ages)[:, np.newaxis, np.newaxis]
        trees = BoostedTrees(
            start=self.start * exp((n_trees - 1) * log(self.shrink)) if self.shrink < 1.0 else self.start,
            forest=forest,
            shrink=self.shrink,
            held_out_nll=np.array(history),
            bounds=bounds,
        )
        schedule = self.inflation_schedule
        return trees if schedule is None else schedule.recalibration.applied_to(trees)


MIN_ROOM = 1.3  # a scale may be below the typical one by this factor, even with very few rows
ROOM, ROOM_ROWS = 1.5, 1000.0  # with ROOM_ROWS rows by the factor ROOM, which grows with the root of their number


def scale_bounds(typical: float, n_train: float, dispersion_sign: float) -> tuple[float, float]:
    """Bounds of the last output: no row is much more precise than the typical one, unless there are many rows.

    A small scale is learned from few similar rows, and the next similar row may be the first outlier. Where the
    ``dispersion_sign`` of the family is -1, the output is the log of a shape, which counts twice.
    """
    step = log(max(MIN_ROOM, ROOM * sqrt(n_train / ROOM_ROWS)))
    return (typical - step, inf) if dispersion_sign > 0 else (-inf, typical + 2.0 * step)
