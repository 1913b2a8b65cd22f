"""What every sub-command says in the same way: one line on failure, and how far it is."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from surefoot import SurefootError
from surefoot.cli import INTERRUPTED, USER_ERROR


def fail(message: str) -> NoReturn:
    """One line that says what to do, and the exit code for it."""
    typer.echo(f"surefoot: {message}", err=True)
    raise typer.Exit(USER_ERROR)


@contextmanager
def failures_in_one_line(called: Mapping[str, object] | None = None) -> Iterator[None]:
    """What a user can do something about is one line and an exit code; Ctrl-C is another. Nothing is half-written.

    ``called`` says what arguments of Python are called on the command line, such as X for the path of a table.
    """
    try:
        yield
    except SurefootError as error:
        fail(_in_its_words(str(error), called or {}))
    except BrokenPipeError:
        fail("an output is a pipe that was closed before all was written.")
    except OSError as error:
        fail(f"{error.filename or 'a file'}: {error.strerror or error}.")
    except KeyboardInterrupt:
        typer.echo("surefoot: stopped; nothing was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _in_its_words(message: str, called: Mapping[str, object]) -> str:
    """A message with files and options in place of Python's arguments; what stands in quotes is someone's data."""

    def name(found: re.Match[str]) -> str:
        return str(called.get(found[1], found[1]))

    message = re.sub(r"^(predictions|groups and time|groups|time|n_members)\b(?!=)", name, message)
    return re.sub(r"(?<![\w'\"./-])(X_new|y_new|X|y)(?![\w'\"/-])", name, message)


class Bar:
    """A bar on a terminal; where there is none to draw it on, a line for each step."""

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
        """So many pieces of work are done; ``label`` is the next."""
        self._move(done, total, f"{done}/{total}", label)

    def show_share(self, done: float, label: str) -> None:
        """Such a share of the work is done; ``label`` is what is being done."""
        self._move(done, 1.0, f"{done:.0%}", label)

    def _move(self, done: float, total: float, amount: str, label: str) -> None:
        self._progress.update(self._task, completed=done, total=total, description=label)
        if self._lines:
            typer.echo(f"[{amount}] {label}", err=True)
