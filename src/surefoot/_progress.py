"""Progress messages of long fits on standard error; between rounds, a fit also checks here for Ctrl-C."""

import sys
import time
from math import isnan
from typing import Any

import numpy as np

from surefoot._parallel import Cancellation
from surefoot._parameters import MAX_INTEGER, check_integer

SECONDS_BETWEEN_MESSAGES = 2.0


def check_verbose(verbose: Any) -> int:
    """``verbose`` as a whole number; True is 1."""
    is_truth = isinstance(verbose, bool | np.bool_)
    return int(verbose) if is_truth else check_integer("verbose", verbose, -MAX_INTEGER)


class Progress:
    """Progress of an ensemble: ``verbose=1`` reports each finished member, ``verbose=2`` also every two seconds."""

    def __init__(self, name: str, n_members: int, verbose: int, measure: str = "weighted error") -> None:
        self.name, self.n_members, self.verbose, self.measure = name, n_members, check_verbose(verbose), measure

    def of_member(self, member: int, n_rounds: int, cancellation: Cancellation) -> "MemberProgress":
        """Progress of one member; a number below 0 stands for a trial model."""
        return MemberProgress(self, member, n_rounds, cancellation)

    def note(self, message: str) -> None:
        """Report what is not about a single member."""
        if self.verbose > 0:
            print(f"[{self.name}] {message}", file=sys.stderr)


class MemberProgress:
    """A callback for one member: called with (rounds done, last error) between slices of its rounds."""

    def __init__(self, ensemble: Progress, member: int, n_rounds: int, cancellation: Cancellation) -> None:
        self.ensemble, self.member, self.n_rounds, self.cancellation = ensemble, member, n_rounds, cancellation
        self.start = self.last_message = time.monotonic()

    def __call__(self, done: int, error: float) -> None:
        self.cancellation.check()
        if self.ensemble.verbose > 1 and time.monotonic() - self.last_message > SECONDS_BETWEEN_MESSAGES:
            self._print(f"round {done} of {self.n_rounds}", error)

    def finish(self, n_kept: int, error: float) -> None:
        """Report that the member is trained, and how many of its rounds it kept."""
        if self.ensemble.verbose > 0:
            self._print(f"done, {n_kept} of {self.n_rounds} rounds", error)

    def _print(self, state: str, error: float) -> None:
        self.last_message = time.monotonic()
        member = f"member {self.member + 1} of {self.ensemble.n_members}" if self.member >= 0 else "trial model"
        measured = "" if isnan(error) else f", {self.ensemble.measure} {error:.3f}"
        seconds = self.last_message - self.start
        print(f"[{self.ensemble.name}] {member}: {state}{measured}, {seconds:.1f} s", file=sys.stderr)


class BagProgress:
    """A callback for bags: called with the number of a bag; ``verbose=1`` reports every two seconds."""

    def __init__(self, name: str, verbose: int, n_bags: int) -> None:
        self.name, self.verbose, self.n_bags = name, check_verbose(verbose), n_bags
        self.start = self.last_message = time.monotonic()

    def __call__(self, bag: int) -> None:
        if self.verbose > 0 and time.monotonic() - self.last_message > SECONDS_BETWEEN_MESSAGES:
            self.last_message = time.monotonic()
            seconds = self.last_message - self.start
            print(f"[{self.name}] bag {bag:,} of {self.n_bags:,}, {seconds:.1f} s", file=sys.stderr)
