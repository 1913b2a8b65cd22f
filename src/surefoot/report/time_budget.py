"""How far an audit is, and how much time it has left."""

import time
from collections.abc import Callable
from math import inf

from surefoot._parameters import check_number

COMPARISON = "comparison with "  # and the name of a candidate model
ProgressCallback = Callable[[float, str], None]  # fraction of the work that is done, and the name of the next step


class TimeBudget:
    """Reports progress to ``callback``, and decides which steps there is still time for.

    Parameters
    ----------
    time_limit : float or None
        Seconds that the whole audit may take. When it gets short, steps that can be left out are left out.
    callback : callable or None
        Called with the fraction of the work that is done and with the name of the next step.
    """

    def __init__(self, time_limit: float | None = None, callback: ProgressCallback | None = None) -> None:
        if time_limit is not None:
            check_number("time_limit", time_limit, 0, inf, most_included=False)
        self.time_limit, self.callback = time_limit, callback
        self.started = time.perf_counter()
        self._done = 0.0
        self.left_out: list[str] = []

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def step(self, done: float, what: str) -> None:
        """Report the next step; the fraction that is done never falls, though steps may come again."""
        self._done = max(self._done, done)
        if self.callback is not None:
            self.callback(self._done, what)

    def has_time_for(self, what: str, share: float = 1.0, expected: float = 0.0) -> bool:
        """Whether a step of so many ``expected`` seconds would end within the fraction ``share`` of the time.

        If not, ``what`` is noted as left out.
        """
        if self.time_limit is None or self.seconds + expected < share * self.time_limit:
            return True
        self.leave_out(what)
        return False

    def leave_out(self, what: str) -> None:
        """Note that a step was left out."""
        if what not in self.left_out:
            self.left_out.append(what)

    @property
    def left_out_candidates(self) -> list[str]:
        """Names of the models that were not compared."""
        return [what.removeprefix(COMPARISON) for what in self.left_out if what.startswith(COMPARISON)]
