"""Progress of a fit, told on standard error, and the place where Ctrl-C is noticed between rounds."""

import sys
import time
from collections.abc import Callable

from surefoot._parallel import Cancellation

SECONDS_BETWEEN_LINES = 2.0


class Progress:
    """Says how far the members are: ``verbose=1`` when each is done, ``verbose=2`` also every two seconds between."""

    def __init__(self, name: str, n_members: int, verbose: int) -> None:
        self.name, self.n_members, self.verbose = name, n_members, verbose

    def watch(self, member: int, n_rounds: int, cancellation: Cancellation) -> Callable[[int, float], None]:
        """A function to call with (rounds done, last error) between slices of one member's rounds."""
        started = last_line = time.monotonic()

        def between(done: int, error: float) -> None:
            nonlocal last_line
            cancellation.check()
            now = time.monotonic()
            finished = done >= n_rounds
            if self.verbose and (finished or (self.verbose > 1 and now - last_line > SECONDS_BETWEEN_LINES)):
                last_line = now
                print(
                    f"[{self.name}] member {member + 1}/{self.n_members}: round {done}/{n_rounds}, "
                    f"weighted error {error:.3f}, {now - started:.1f} s",
                    file=sys.stderr,
                )

        return between
