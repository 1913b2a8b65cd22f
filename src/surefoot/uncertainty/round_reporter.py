"""The reports of one model in training to the callbacks of ``fit``."""

import time
from collections.abc import Callable

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.uncertainty.early_stopping import MonitoredTraining
from surefoot.uncertainty.eval_sets import EvalSet
from surefoot.uncertainty.fit_options import RoundReport
from surefoot.uncertainty.fit_spec import FitSpec
from surefoot.uncertainty.recalibration import Recalibration
from surefoot.uncertainty.training_table import Encoding

Reporter = Callable[[MonitoredTraining], bool]  # returns whether training is to stop


class RoundReporter:
    """Calls all callbacks after a round of one model, or of all trial models; returns whether one of them stops it."""

    def __init__(self, spec: FitSpec, member: int, live: "list[LiveLosses]") -> None:
        """``member`` is below 0 for trial models; ``live`` has the losses of each named set."""
        self.callbacks, self.n_rounds, self.live = spec.options.callbacks, spec.config.n_estimators, live
        self.member = member if member >= 0 else None
        self.start = time.monotonic()

    def __call__(self, monitored: MonitoredTraining) -> bool:
        report = RoundReport(
            member=self.member,
            is_trial=self.member is None,
            round=monitored.n_done,
            n_rounds=self.n_rounds,
            losses={one.eval_set.name: one.measure() for one in self.live},
            validation_loss=monitored.last_loss if monitored.is_monitored else None,
            seconds=time.monotonic() - self.start,
        )
        answers = [_answer(callback(report)) for callback in self.callbacks]  # every callback sees every round
        return any(answers)


def round_reporter(
    spec: FitSpec, member: int, monitored: MonitoredTraining, encoding: Encoding | None
) -> Reporter | None:
    """What reports the rounds of a model; None without callbacks. ``encoding`` is None for trial models."""
    if not spec.options.callbacks:
        return None
    sets = spec.options.eval_sets if encoding is not None else ()
    return RoundReporter(spec, member, [LiveLosses(one, monitored, encoding) for one in sets if encoding])


def _answer(answer: object) -> bool:
    if answer is None or isinstance(answer, bool | np.bool_):
        return bool(answer)
    message = f"callbacks must return True to stop, or None or False to go on; one returned {answer!r}."
    raise ParameterError(message, argument="callbacks")


class LiveLosses:
    """The loss of one set under a model in training, round by round."""

    def __init__(self, eval_set: EvalSet, monitored: MonitoredTraining, encoding: Encoding) -> None:
        self.eval_set, self.loop, self.stopping = eval_set, monitored.models[0], monitored.stopping
        schedule = self.loop.inflation_schedule
        self.correction = Recalibration() if schedule is None else schedule.recalibration
        self.codes = encoding.codes(eval_set.columns, 0, eval_set.columns.n_rows)
        self._restart()

    def _restart(self) -> None:
        """Predict with the trees so far: those of an earlier call of ``fit``, or with a scale that is now frozen."""
        loop = self.loop
        self.raw = np.repeat(loop.start[:, np.newaxis], self.codes.shape[1], axis=1)
        self.n_added, self.frozen_in = loop.n_done, self.stopping.frozen_in
        if loop.n_done:
            trees = loop.result()
            self.raw[:] = trees.start[:, np.newaxis]
            trees.forest.add(self.codes, 0, loop.n_done, self.raw)

    def measure(self) -> float:
        """The loss after the last round."""
        loop = self.loop
        if self.frozen_in != self.stopping.frozen_in:
            self._restart()
        if self.n_added < loop.n_done:
            self.raw *= loop.shrink if self.n_added else 1.0
            loop.builder.last_tree().add(self.codes, 0, 1, self.raw)
            self.n_added += 1
        return self.eval_set.loss(*self.correction.predicted(loop.family, self.raw, loop.bounds))
