"""The ``surefoot`` command in the process of a test, which keeps its signals."""

import signal
import sys

import pytest

from surefoot import cli


def run_command(*arguments):
    """Run the command with these arguments, and return its exit code."""
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surefoot.cli.process.leave_at_once", lambda: None)  # the exit code is enough
        patch.setattr(sys, "argv", ["surefoot", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
    for number, handler in usual.items():
        signal.signal(number, handler)
    return stop.value.code
