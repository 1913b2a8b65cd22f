"""The ``surefoot`` command: its sub-commands, and those of other distributions."""

from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

from surefoot import __version__
from surefoot.cli.audit import audit
from surefoot.cli.compare import compare
from surefoot.cli.console import fail
from surefoot.cli.doctor import doctor
from surefoot.cli.export import export
from surefoot.cli.fit import fit
from surefoot.cli.predict import predict
from surefoot.cli.select import select

EXTENSIONS = "surefoot.commands"  # the entry point group of sub-commands of other distributions
ANY_ARGUMENTS: dict[str, Any] = {"allow_extra_args": True, "ignore_unknown_options": True}


def add_extension(app: typer.Typer, name: str, help_text: str, *, distribution: str) -> None:
    """Add the command ``name`` of ``distribution``; if it cannot be loaded, a command that says what to do."""
    try:
        for entry_point in entry_points(group=EXTENSIONS, name=name):
            app.command(name)(entry_point.load())
            return
        reason = f"{name} is not part of this installation: pip install {distribution}"
    except Exception as error:  # the other commands do not need it
        reason = f"{name} cannot be loaded ({error}): pip install --upgrade {distribution}"
    command = _failing_command(reason)
    app.command(name, help=f"{help_text} Needs {distribution}.", context_settings=ANY_ARGUMENTS)(command)


def _failing_command(reason: str) -> Any:
    def command() -> None:
        fail(reason)

    return command


app = typer.Typer(
    name="surefoot",
    help="Boosting ensembles that know how far to trust themselves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (audit, compare, export, fit, predict, select):
    app.command()(command)
add_extension(app, "reproduce", "Reproduce an experiment of a paper.", distribution="surefoot-experiments")
app.command()(doctor)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Boosting ensembles that know how far to trust themselves."""
