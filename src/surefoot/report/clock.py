"""How far an audit is, and how much time it has left."""

import time
from collections.abc import Callable
from math import inf

from surefoot._parameters import check_number

COMPARISON = "comparison with "  # and the name of a candidate model
Watch = Callable[[float, str], None]  # share done, and what is being done


class Clock:
    """Tells ``watch`` what is going on, and says what there is still time for.

    Parameters
    ----------
    time_limit : float or None
        Seconds that the whole audit may take. Steps that can be left out are, when it gets short.
    watch : callable or None
        Called with the share of the work that is done and with the name of the next step.
    """

    def __init__(self, time_limit: float | None = None, watch: Watch | None = None) -> None:
        if time_limit is not None:
            check_number("time_limit", time_limit, 0, inf, most_included=False)
        self.time_limit, self.watch = time_limit, watch
        self.begun = time.perf_counter()
        self._done = 0.0
        self.left_out: list[str] = []

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

    def step(self, done: float, what: str) -> None:
        """The next step; the share that is done never falls, though steps may come again."""
        self._done = max(self._done, done)
        if self.watch is not None:
            self.watch(self._done, what)

    def has_time_for(self, what: str, share: float = 1.0, expected: float = 0.0) -> bool:
        """Whether a step of so many ``expected`` seconds would end within ``share`` of the time.

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
