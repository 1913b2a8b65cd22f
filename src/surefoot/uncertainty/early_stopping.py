"""Early stopping on held-out rows.

Either one model holds rows out, or several trial models each hold out other rows. The decisions are made in the same
way, and many held-out rows decide better than a few. The scale stops learning first; the mean stops when its own loss
no longer falls.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log1p

import numpy as np

from surefoot._parallel import RowThreads
from surefoot.uncertainty.boosting_loop import BoostingLoop
from surefoot.uncertainty.families import RegressionFamily
from surefoot.uncertainty.fit_spec import InflationSchedule, TrainingConfig
from surefoot.uncertainty.member import BoostedTrees
from surefoot.uncertainty.recalibration import Recalibration, fit_recalibration, simulated_ensemble

SCALE_PATIENCE = 50  # rounds without a better held-out likelihood before the scale stops learning
MIN_GAIN = 1e-3  # of the loss of the mean, within the patience: a smaller gain is not worth the time
NEGLIGIBLE = 1e-2  # fraction of the first round's loss of classes: below it there is nothing left to learn
MIN_NLL_GAIN = 2e-4  # MIN_GAIN for classes and counts: their loss is mostly noise that no model can explain


@dataclass
class StoppingRule:
    """The held-out losses of every round, and when to freeze the scale and to stop.

    The likelihood decides how long the scale of a distribution is learned. The mean gains for longer: training goes on,
    with the scale frozen, while the loss of the mean falls (the deviance at one scale for all rows: for a normal
    distribution the squared error).

    Parameters
    ----------
    patience : int or None
        Rounds without a gain before training ends; None: it never ends.
    has_scale : bool
        Whether the family of distributions has a scale.
    freezes_scale : bool
        Whether the scale is frozen before training ends.
    """

    patience: int | None
    has_scale: bool
    freezes_scale: bool
    nll: list[float] = field(default_factory=list)
    mean_loss: list[float] = field(default_factory=list)
    best_nll: int = 0  # the round with the best likelihood while the scale was learned
    best_mean: int = 0
    last_gain: int = 0  # the last round with a large enough gain of the mean (without a scale: of the likelihood)
    frozen_in: int | None = None  # the round after which the scale was frozen

    def record(self, nll: float, mean_loss: float) -> bool:
        """Record the losses after one more round; return whether one of them is the lowest so far."""
        better_mean = self.best_mean == 0 or mean_loss < self.mean_loss[self.best_mean - 1]
        better_nll = self.frozen_in is None and (self.best_nll == 0 or nll < self.nll[self.best_nll - 1])
        self.nll.append(nll)
        self.mean_loss.append(mean_loss)
        self.best_nll = len(self.nll) if better_nll else self.best_nll
        self.best_mean = len(self.nll) if better_mean else self.best_mean
        min_gain = MIN_GAIN if self.has_scale else MIN_NLL_GAIN
        if self.last_gain == 0 or mean_loss < less(self.mean_loss[self.last_gain - 1], min_gain):
            self.last_gain = len(self.nll)
        return better_nll or (better_mean and self.freezes_scale)

    @property
    def n_rounds(self) -> int:
        return len(self.nll)

    @property
    def is_time_to_freeze(self) -> bool:
        waited = self.n_rounds - self.best_nll
        return self.freezes_scale and self.frozen_in is None and waited >= (self.patience or SCALE_PATIENCE)

    @property
    def n_trees(self) -> int:
        """The number of trees to keep."""
        return max(self.best_nll, self.best_mean) if self.freezes_scale else self.best_nll

    @property
    def is_at_end(self) -> bool:
        if self.patience is None or (self.freezes_scale and self.frozen_in is None):
            return False
        if not self.has_scale and self.mean_loss and 0 <= self.mean_loss[-1] < NEGLIGIBLE * self.mean_loss[0]:
            return True  # classes that the columns separate: the loss would fall forever
        last = self.last_gain if not self.has_scale else self.best_nll
        if self.freezes_scale:
            last = max(self.best_nll, self.last_gain)
        return self.n_rounds - last >= self.patience


def less(loss: float, gain: float) -> float:
    """A loss that is lower by this fraction of its size; the log of a density may be above 0, and the loss below."""
    return (1.0 - gain) * loss if loss >= 0 else (1.0 + gain) * loss


INFLATION_RATE = 0.05
MAX_INFLATION = 4.0


class MonitoredTraining:
    """Runs rounds of all models at once, freezes their scales, and stops when held-out losses no longer fall."""

    def __init__(
        self,
        models: Sequence[BoostingLoop],
        config: TrainingConfig,
        n_twins: int = 0,
        threads: RowThreads | None = None,
    ) -> None:
        """The last ``n_twins`` models differ from the first ones only by their seed, as members of an ensemble do.

        With ``threads``, the models run their rounds side by side.
        """
        self.models, self.family, self.n_twins = list(models), models[0].family, n_twins
        self.is_monitored = len(models[0].rows.held_out) > 0 and (config.patience is not None or self.family.has_scale)
        freezes = self.family.has_scale and config.temperature is None
        self.stopping = StoppingRule(config.patience, self.family.has_scale, freezes)
        self.residual_inflations, self.levels = [1.0], list[float]()
        self.runs_its_length = config.runs_its_length
        self.threads = threads or RowThreads(1)
        self._monitored = np.empty((len(self.models), 3))  # for each model two held-out losses and a step of the scale

    @property
    def n_done(self) -> int:
        return self.models[0].n_done

    @property
    def last_loss(self) -> float:
        return self.stopping.nll[-1] if self.stopping.nll else float("nan")

    @property
    def _stops(self) -> bool:
        return self.is_monitored and self.stopping.patience is not None

    @property
    def n_trees(self) -> int:
        """The number of trees to keep: up to the best round with early stopping, otherwise all."""
        return self.stopping.n_trees if self._stops else self.n_done

    @property
    def is_at_end(self) -> bool:
        return self.is_monitored and self.stopping.is_at_end

    def step(self) -> None:
        """One tree of every model."""
        self.threads.each(self._step_of, range(len(self.models)))
        if self.is_monitored:
            self._use_held_out()

    def _step_of(self, k: int) -> None:
        model = self.models[k]
        model.step()
        if self.is_monitored:
            self._monitored[k] = model.measure_held_out()

    def _use_held_out(self) -> None:
        """Record the held-out losses of a round and act on them."""
        stopping = self.stopping
        nll, mean_loss, scale_step = self._monitored.mean(axis=0).tolist()
        if self.family.has_scale:
            self._move_scale(scale_step)
        if stopping.record(nll, mean_loss) or not self._stops:
            for model in self.models:
                model.save(scale=stopping.best_nll == self.n_done)
        if stopping.is_time_to_freeze:
            stopping.frozen_in = self.n_done
            del self.residual_inflations[stopping.best_nll :]
            for model in self.models:
                model.freeze_scale(stopping.best_nll)

    def _move_scale(self, step: float) -> None:
        """Inflate residuals more if held-out rows require a larger scale; once it is frozen, move its level."""
        assert isinstance(self.family, RegressionFamily)
        frozen = self.stopping.frozen_in is not None
        residual_inflation = self.residual_inflations[-1] + INFLATION_RATE * log1p(
            max(2.0 * step * self.family.dispersion_sign, -0.95)
        )
        if frozen:
            self.levels.append(step)
        else:
            self.residual_inflations.append(min(max(residual_inflation, 0.0), MAX_INFLATION))
        for model in self.models:
            model.level_step, model.residual_inflation = step if frozen else 0.0, self.residual_inflations[-1]

    @property
    def _scale_until(self) -> int | None:
        """The round after which trees must leave the scale unchanged; None: there is no such round."""
        stopping = self.stopping
        return stopping.best_nll if self._stops and stopping.freezes_scale and stopping.frozen_in is None else None

    def recalibration(self) -> Recalibration:
        """The correction from the held-out rows of all models, after as many trees as are kept."""
        family = self.family
        if not (self.is_monitored and isinstance(family, RegressionFamily)):
            return Recalibration()
        return fit_recalibration(family, *self._held_out(), calibrates_intervals=not self.runs_its_length)

    def _held_out(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs (of an ensemble, if there are twins), targets and weights of the held-out rows of all models."""
        frozen_in, until, n_trees = self.stopping.frozen_in, self._scale_until, self.n_trees
        uses_saved_scale = until is not None or (frozen_in is not None and n_trees <= frozen_in)
        parts = [model.saved_held_out(until or n_trees, uses_saved_scale) for model in self.models]
        n_trials = len(parts) - self.n_twins
        raw, y, weights = (np.concatenate(part, axis=-1) for part in zip(*parts[:n_trials], strict=True))
        members = raw[np.newaxis]
        if self.n_twins:
            twins = np.concatenate([raw_of_twin for raw_of_twin, *_ in parts[n_trials:]], axis=-1)
            members = simulated_ensemble(raw, twins)
        return members, y, weights

    def inflation_schedule(self) -> InflationSchedule | None:
        """The schedule for models that are then trained on all rows; None for classification."""
        if not isinstance(self.family, RegressionFamily):
            return None
        if not self.family.has_scale:
            return InflationSchedule(np.ones(self.n_trees), recalibration=self.recalibration())
        stopping, n_trees = self.stopping, self.n_trees
        frozen = stopping.freezes_scale and (self._stops or stopping.frozen_in is not None)
        n_rounds = stopping.best_nll if frozen else n_trees
        n_still = (stopping.frozen_in or self.n_done) + 1 - n_rounds
        levels = np.concatenate([np.zeros(max(n_still, 0)), self.levels])
        return InflationSchedule(
            residual_inflations=np.array(self.residual_inflations[:n_rounds]),
            levels=levels[: n_trees - n_rounds],
            recalibration=self.recalibration(),
        )

    def result(self) -> BoostedTrees:
        """The first model, recalibrated."""
        history = self.stopping.nll if self.stopping.patience is not None else ()
        trees = self.models[0].result(self.n_trees, history, self._scale_until)
        return self.recalibration().applied_to(trees)

    def all_trees(self) -> BoostedTrees | None:
        """The first model with the trees after those that are kept; None if there are none."""
        if self.n_trees == self.n_done:
            return None
        return self.recalibration().applied_to(self.models[0].result(self.n_done, (), self._scale_until))
