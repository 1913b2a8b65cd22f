"""Progress of an audit, and the time that is left."""

import time
from collections.abc import Callable
from math import inf
from typing import TypeVar

from surefoot._deadline import Deadline, DeadlinePassedError
from surefoot._parameters import check_number

MIN_SECONDS = 5.0  # whatever the limit, for steps that most tables need, and that usually end at once
COMPARISON = "comparison with "  # followed by the name of a candidate model
Result = TypeVar("Result")
ProgressCallback = Callable[[float, str], None]  # fraction of the work that is done, and the name of the next step


class TimeBudget:
    """Reports progress to ``callback``, and decides for which steps there is enough time.

    Parameters
    ----------
    time_limit : float or None
        Seconds that the whole audit may take. When time is short, optional steps are left out.
    callback : callable or None
        Called with the fraction of the work that is done and with the name of the next step.
    """

    def __init__(self, time_limit: float | None = None, callback: ProgressCallback | None = None) -> None:
        if time_limit is not None:
            check_number("time_limit", time_limit, 0, inf, include_boundaries="neither")
        self.time_limit, self.callback = time_limit, callback
        self.started = time.perf_counter()
        self._done = 0.0
        self.left_out: list[str] = []

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def step(self, done: float, name: str) -> None:
        """Report the next step; the fraction that is done never falls, even where steps are repeated."""
        self._done = max(self._done, done)
        if self.callback is not None:
            self.callback(self._done, name)

    def has_time_for(self, name: str, fraction: float = 1.0, expected: float = 0.0) -> bool:
        """Whether a step of ``expected`` seconds would end within this fraction of the time limit.

        If not, the step is noted as left out.
        """
        if self.time_limit is None or self.seconds + expected < fraction * self.time_limit:
            return True
        self.leave_out(name)
        return False

    def within(
        self, name: str, fraction: float, function: Callable[[], Result], at_least: float = 0.0
    ) -> Result | None:
        """What a function returns; None if this fraction of the time limit is over before it ends.

        Then the step is noted as left out. The function has ``at_least`` so many seconds.
        """
        if at_least <= 0 and not self.has_time_for(name, fraction):
            return None
        if self.time_limit is None:
            return function()
        try:
            end = max(self.started + fraction * self.time_limit, time.perf_counter() + at_least)
            return Deadline(end).run(function)
        except DeadlinePassedError:
            self.leave_out(name)
            return None

    def leave_out(self, name: str) -> None:
        """Note that a step was left out."""
        if name not in self.left_out:
            self.left_out.append(name)

    @property
    def left_out_candidates(self) -> list[str]:
        """Names of the models that were not compared."""
        return [name.removeprefix(COMPARISON) for name in self.left_out if name.startswith(COMPARISON)]
