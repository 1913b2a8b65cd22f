"""The parts of every sub-command: errors in one line, and progress."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from surefoot import SurefootError
from surefoot.cli import FAILED, INTERRUPTED, USER_ERROR
from surefoot.cli.terminal import echo, echo_line, printable


def fail(message: str) -> NoReturn:
    """Print one line that says what to do, and exit with the code for wrong input."""
    echo_line(message)
    raise typer.Exit(USER_ERROR)


def exit_if_broken(results: Iterable[Any]) -> None:
    """Print the rules that are broken on one line, and exit with the code for a failed check."""
    broken = [result.reason for result in results if result.is_broken]
    if broken:
        echo_line(f"{'; '.join(broken)}.")
        raise typer.Exit(FAILED)


@contextmanager
def failures_in_one_line(
    options: Mapping[str, object] | None = None, what_is_left: Callable[[], str] = lambda: "nothing was written."
) -> Iterator[None]:
    """Turn errors that a user can correct, and Ctrl-C, into one line and an exit code. No partial file is left.

    ``options`` has the option or file of an argument of Python, by the name that the error has in ``argument``.
    ``what_is_left`` says what a stopped command leaves.
    """
    try:
        yield
    except SurefootError as error:
        option = (options or {}).get(getattr(error, "argument", None) or "")
        fail(str(error) if option is None else f"{option}: {error}")
    except BrokenPipeError:
        fail("an output is a pipe that was closed before everything was written.")
    except OSError as error:
        fail(f"{error.filename or 'a file'}: {error.strerror or error}.")
    except MemoryError:
        fail("there is not enough memory for this: use fewer rows or columns, or a machine with more memory.")
    except KeyboardInterrupt:
        echo_line(f"stopped; {what_is_left()}")
        raise typer.Exit(INTERRUPTED) from None


class Bar:
    """A progress bar on a terminal; elsewhere, a line for each step."""

    def __init__(self, *columns: ProgressColumn, quiet: bool = False) -> None:
        console = Console(stderr=True)
        self._lines = not console.is_terminal and not quiet
        shown = (TextColumn("{task.description}", markup=False), BarColumn(), *columns)
        self._progress = Progress(*shown, console=console, transient=True, disable=not console.is_terminal or quiet)
        self._task = self._progress.add_task("reading the data", total=None)

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def show(self, done: int, total: int, label: str) -> None:
        """Show that ``done`` of ``total`` pieces of work are done; ``label`` is the next one."""
        self._move(done, total, f"{done}/{total}", label)

    def show_fraction(self, done: float, label: str) -> None:
        """Show that a fraction of the work is done; ``label`` is the current step."""
        self._move(done, 1.0, f"{done:.0%}", label)

    def _move(self, done: float, total: float, amount: str, label: str) -> None:
        self._progress.update(self._task, completed=done, total=total, description=printable(label))
        if self._lines:
            echo(f"[{amount}] {label}", err=True)
