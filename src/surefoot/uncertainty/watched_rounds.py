"""Models in training, side by side, that stop by what their held-out rows say together.

One model that holds rows out, or several on trial that hold out others each: the decisions are the same, and so many
held-out rows decide better than a few.
"""

from collections.abc import Sequence
from math import log1p

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.uncertainty.boosted_trees import BoostedTrees
from surefoot.uncertainty.families import RegressionFamily
from surefoot.uncertainty.guide import Guide
from surefoot.uncertainty.recalibration import Recalibration, fit_recalibration, imagined_ensemble
from surefoot.uncertainty.recipe import Recipe
from surefoot.uncertainty.rounds import Rounds
from surefoot.uncertainty.stopping import Stopping

HONESTY_RATE = 0.05
MOST_HONESTY = 4.0


class WatchedRounds:
    """Takes rounds of all models, freezes their scales, and knows when to stop."""

    def __init__(
        self, models: Sequence[Rounds], recipe: Recipe, n_twins: int = 0, threads: RowThreads | None = None
    ) -> None:
        """The last ``n_twins`` models differ from the first ones by chance alone, as members of an ensemble will.

        With ``threads``, the models take their rounds side by side.
        """
        self.models, self.family, self.n_twins = list(models), models[0].family, n_twins
        self.is_watched = len(models[0].rows.held_out) > 0 and (recipe.patience is not None or self.family.has_scale)
        freezes = self.family.has_scale and recipe.temperature is None
        self.stopping = Stopping(recipe.patience, self.family.has_scale, freezes)
        self.honesties, self.levels = [1.0], list[float]()
        self.runs_its_length = recipe.runs_its_length
        self.threads = threads or RowThreads(1)
        self._seen = np.empty((len(self.models), 3))  # held-out losses of each model, and the step its scale wants

    @property
    def n_done(self) -> int:
        return self.models[0].n_done

    @property
    def last_loss(self) -> float:
        return self.stopping.nll[-1] if self.stopping.nll else float("nan")

    @property
    def _stops(self) -> bool:
        return self.is_watched and self.stopping.patience is not None

    @property
    def n_trees(self) -> int:
        """The number of trees to keep: up to the best round if it was looked for, else all."""
        return self.stopping.n_trees if self._stops else self.n_done

    @property
    def is_at_end(self) -> bool:
        return self.is_watched and self.stopping.is_at_end

    def step(self) -> None:
        """One tree of every model."""
        self.threads.each(self._step_of, range(len(self.models)))
        if self.is_watched:
            self._look_at_held_out()

    def _step_of(self, k: int) -> None:
        model = self.models[k]
        model.step()
        if self.is_watched:
            self._seen[k] = (*model.held_out_losses(), model.held_out_step() if self.family.has_scale else 0.0)

    def _look_at_held_out(self) -> None:
        stopping = self.stopping
        nll, mean_loss, scale_step = self._seen.mean(axis=0).tolist()
        if self.family.has_scale:
            self._move_scale(scale_step)
        if stopping.note(nll, mean_loss) or not self._stops:
            for model in self.models:
                model.remember(scale=stopping.best_nll == self.n_done)
        if stopping.is_time_to_freeze:
            stopping.frozen_in = self.n_done
            del self.honesties[stopping.best_nll :]
            for model in self.models:
                model.settle(stopping.best_nll)

    def _move_scale(self, step: float) -> None:
        """Stretch residuals further where held-out rows want a larger scale; once it is frozen, move its level."""
        assert isinstance(self.family, RegressionFamily)
        frozen = self.stopping.frozen_in is not None
        honesty = self.honesties[-1] + HONESTY_RATE * log1p(max(2.0 * step * self.family.dispersion_sign, -0.95))
        if frozen:
            self.levels.append(step)
        else:
            self.honesties.append(min(max(honesty, 0.0), MOST_HONESTY))
        for model in self.models:
            model.level_step, model.honesty = step if frozen else 0.0, self.honesties[-1]

    @property
    def _scale_until(self) -> int | None:
        """The round after which trees must say nothing more of the scale; None: they do not, or may."""
        stopping = self.stopping
        return stopping.best_nll if self._stops and stopping.freezes_scale and stopping.frozen_in is None else None

    def recalibration(self) -> Recalibration:
        """The correction of the scale that suits the held-out rows of all models, after as many trees as are kept."""
        family = self.family
        if not (self.is_watched and isinstance(family, RegressionFamily)):
            return Recalibration()
        return fit_recalibration(family, *self._held_out(), evens=not self.runs_its_length)

    def _held_out(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs (of an ensemble, if there are twins), targets and weights of the held-out rows of all models."""
        frozen_in, until, n_trees = self.stopping.frozen_in, self._scale_until, self.n_trees
        is_now = until is None and (frozen_in is None or n_trees > frozen_in)
        parts = [model.held_out_then(until or n_trees, is_now) for model in self.models]
        n_trials = len(parts) - self.n_twins
        raw, y, weights = (np.concatenate(part, axis=-1) for part in zip(*parts[:n_trials], strict=True))
        members = raw[np.newaxis]
        if self.n_twins:
            twins = np.concatenate([raw_of_twin for raw_of_twin, *_ in parts[n_trials:]], axis=-1)
            members = imagined_ensemble(raw, twins)
        return members, y, weights

    def guide(self) -> Guide | None:
        """What a model that learns from all rows should know."""
        if not isinstance(self.family, RegressionFamily):
            return None
        if not self.family.has_scale:
            return Guide(np.ones(self.n_trees), recalibration=self.recalibration())
        stopping, n_trees = self.stopping, self.n_trees
        frozen = stopping.freezes_scale and (self._stops or stopping.frozen_in is not None)
        n_rounds = stopping.best_nll if frozen else n_trees
        still = (stopping.frozen_in or self.n_done) + 1 - n_rounds
        levels = np.concatenate([np.zeros(max(still, 0)), self.levels])
        return Guide(np.array(self.honesties[:n_rounds]), levels[: n_trees - n_rounds], self.recalibration())

    def result(self) -> BoostedTrees:
        """The first model, as it is."""
        history = self.stopping.nll if self.stopping.patience is not None else ()
        trees = self.models[0].result(self.n_trees, history, self._scale_until)
        return trees.recalibrated(self.recalibration())
