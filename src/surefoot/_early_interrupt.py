"""Ctrl-C while the ``surefoot`` command is being imported: exit code 130, and no traceback.

Imports take seconds, and nothing is written yet. The package imports this module first, because the command cannot do
anything before the package is imported.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import NoReturn

INTERRUPTED = 130


def _exit(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)


def begin() -> None:
    """From now on Ctrl-C ends the process at once, unless the process handles or ignores it in a way of its own."""
    if current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit)


def end() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt again."""
    if current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is _exit:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def ignore() -> None:
    """From now on Ctrl-C does nothing: the command is done, and Python ends."""
    if current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def exit_at_once() -> Iterator[None]:
    """Between `begin` and `end`."""
    begin()
    try:
        yield
    finally:
        end()


if sys.argv and Path(sys.argv[0]).stem == "surefoot":  # the command, and not a program that uses the package
    begin()
