"""How long the tests of docs/faults.md take: a moment in ``make test``, up to an hour in ``make faults``."""

import os
from typing import TypeVar

Size = TypeVar("Size")


def usual_or_long(usual: Size, long: Size) -> Size:
    """The first in ``make test``, the second in ``make faults``."""
    return long if os.environ.get("SUREFOOT_FAULTS") == "long" else usual
