"""The process of a command: its streams and signals, and an exit code for whatever happens."""

import os
import signal
import sys
import traceback
import warnings
from threading import current_thread, main_thread
from typing import Any

import typer

from surefoot.cli import DONE, INTERNAL_ERROR, INTERRUPTED, USER_ERROR
from surefoot.cli.console import failures_in_one_line
from surefoot.cli.terminal import discard, echo_line, in_one_line

DEBUG = "SUREFOOT_DEBUG"  # an environment variable: show tracebacks


def run_command(app: Any) -> int:
    """Run the command that the arguments of the process name, and return its exit code."""
    _prepare_streams()
    _prepare_signals()
    with warnings.catch_warnings():
        warnings.showwarning = _WarningLines()
        code = _exit_code(app)
    code = code if _flush() else code or USER_ERROR
    if code == INTERRUPTED:
        leave_at_once()
    return code


def leave_at_once() -> None:
    """End the process without waiting for its threads: those of other libraries may work for seconds."""
    sys.stderr.flush()
    os._exit(INTERRUPTED)


def _exit_code(app: Any) -> int:
    try:
        with failures_in_one_line():
            arguments = sys.argv[1:] or ["--help"]
            return app(arguments, prog_name="surefoot", standalone_mode=False) or DONE
    except typer.Exit as stop:
        return stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit as stop:
        is_closed_pipe = isinstance(stop.__context__, BrokenPipeError)
        return DONE if is_closed_pipe or stop.code is None else int(stop.code)
    except ModuleNotFoundError as error:
        _show_traceback()
        echo_line(f'this command needs {error.name!r}: pip install "surefoot[cli]".')
        return USER_ERROR
    except Exception as error:
        if hasattr(error, "format_message"):  # a wrong option: the class differs between versions of typer
            return _wrong_usage(error)
        return _internal_error(error)


def _wrong_usage(error: Any) -> int:
    """One line for an unknown option, a missing argument and the like."""
    context = getattr(error, "ctx", None)
    name = "surefoot" if context is None else context.command_path
    echo_line(f"{error.format_message().rstrip('.')}. {name} --help lists what is possible.")
    return USER_ERROR


def _internal_error(error: Exception) -> int:
    """One line for an error that should not have happened."""
    _show_traceback()
    where = f" {DEBUG}=1 shows where." if not os.environ.get(DEBUG) else ""
    what = in_one_line(f"{type(error).__name__}: {error}")
    echo_line(
        f"internal error, which is a fault of surefoot: {what[:500]}. Please report this line and the output of "
        f"surefoot doctor --report.{where}"
    )
    return INTERNAL_ERROR


def _show_traceback() -> None:
    if os.environ.get(DEBUG):
        traceback.print_exc()


class _WarningLines:
    """Prints each warning once, in one line, without the place in the code of a library."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in self._printed:
            self._printed.add(str(message))
            echo_line(f"warning: {message}")


def _prepare_streams() -> None:
    """Characters that an encoding lacks are escaped; a closed stream swallows what is written to it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _prepare_signals() -> None:
    """A request to terminate is like Ctrl-C, so that no partial file is left."""
    if current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _flush() -> bool:
    """Pass on what was printed; False if that is not possible, but not if the reader has closed the pipe."""
    try:
        sys.stdout.flush()
    except OSError as error:
        discard(sys.stdout)
        return isinstance(error, BrokenPipeError)
    return True
