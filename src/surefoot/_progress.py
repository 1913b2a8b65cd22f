"""Progress of a fit, told on standard error, and the place where Ctrl-C is noticed between rounds."""

import sys
import time
from math import isnan

from surefoot._parallel import Cancellation

SECONDS_BETWEEN_LINES = 2.0


class Progress:
    """Says how far the members are: ``verbose=1`` when each is done, ``verbose=2`` also every two seconds between."""

    def __init__(self, name: str, n_members: int, verbose: int, measure: str = "weighted error") -> None:
        self.name, self.n_members, self.verbose, self.measure = name, n_members, verbose, measure

    def watch(self, member: int, n_rounds: int, cancellation: Cancellation) -> "Watch":
        """What one member (below 0: a model on trial) calls between slices of its rounds, and when it is done."""
        return Watch(self, member, n_rounds, cancellation)


class Watch:
    """Called with (rounds done, last error) between slices of one member's rounds."""

    def __init__(self, progress: Progress, member: int, n_rounds: int, cancellation: Cancellation) -> None:
        self.progress, self.member, self.n_rounds, self.cancellation = progress, member, n_rounds, cancellation
        self.started = self.last_line = time.monotonic()

    def __call__(self, done: int, error: float) -> None:
        self.cancellation.check()
        if self.progress.verbose > 1 and time.monotonic() - self.last_line > SECONDS_BETWEEN_LINES:
            self._say(f"round {done} of {self.n_rounds}", error)

    def finish(self, n_kept: int, error: float) -> None:
        """Say that the member is trained, and how many of its rounds it kept."""
        if self.progress.verbose > 0:
            self._say(f"done, {n_kept} of {self.n_rounds} rounds", error)

    def _say(self, what: str, error: float) -> None:
        self.last_line = time.monotonic()
        number = f"member {self.member + 1} of {self.progress.n_members}" if self.member >= 0 else "trial model"
        who = f"[{self.progress.name}] {number}"
        seconds = self.last_line - self.started
        measured = "" if isnan(error) else f", {self.progress.measure} {error:.3f}"
        print(f"{who}: {what}{measured}, {seconds:.1f} s", file=sys.stderr)


class BagWatch:
    """Called with the number of a bag now and then; with ``verbose=1`` it says every two seconds how far bags are."""

    def __init__(self, name: str, verbose: int, n_bags: int) -> None:
        self.name, self.verbose, self.n_bags = name, verbose, n_bags
        self.started = self.last_line = time.monotonic()

    def __call__(self, bag: int) -> None:
        if self.verbose > 0 and time.monotonic() - self.last_line > SECONDS_BETWEEN_LINES:
            self.last_line = time.monotonic()
            seconds = self.last_line - self.started
            print(f"[{self.name}] bag {bag:,} of {self.n_bags:,}, {seconds:.1f} s", file=sys.stderr)
