"""Commands that other distributions bring along, by the entry point group ``surefoot.commands``."""

from importlib.metadata import entry_points
from typing import Any

import typer

from surefoot.cli.console import fail

GROUP = "surefoot.commands"


def add_extension(app: typer.Typer, name: str, help_text: str, *, distribution: str) -> None:
    """Add the command ``name`` of ``distribution``; where it cannot be loaded, a command that says what to do."""
    try:
        for entry_point in entry_points(group=GROUP, name=name):
            app.command(name)(entry_point.load())
            return
        reason = f"{name} is not part of this installation: pip install {distribution}"
    except Exception as error:  # the other commands do not need it
        reason = f"{name} cannot be loaded ({error}): pip install --upgrade {distribution}"
    app.command(name, help=f"{help_text} Needs {distribution}.", **_ACCEPT_ANYTHING)(_failing_command(reason))


_ACCEPT_ANYTHING: dict[str, Any] = {"context_settings": {"allow_extra_args": True, "ignore_unknown_options": True}}


def _failing_command(reason: str) -> Any:
    def command() -> None:
        fail(reason)

    return command
