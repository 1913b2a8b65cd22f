"""The ``surefoot`` command."""

from typing import Annotated

import typer

from surefoot import __version__
from surefoot.cli.audit import audit
from surefoot.cli.doctor import doctor
from surefoot.cli.extensions import add_extension
from surefoot.cli.fit import fit
from surefoot.cli.predict import predict
from surefoot.cli.select import select

app = typer.Typer(
    name="surefoot",
    help="Boosting ensembles that know how far to trust themselves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (audit, fit, predict, select):
    app.command()(command)
add_extension(app, "reproduce", "Run an experiment of a paper again.", distribution="surefoot-experiments")
app.command()(doctor)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Boosting ensembles that know how far to trust themselves."""
