"""What tests of the command line share."""

from collections.abc import Sequence
from pathlib import Path

from typer.testing import CliRunner

from surefoot.cli.app import app


def assert_refused(arguments: Sequence[str], message: str, folder: Path) -> None:
    """A mistake is told in one line, with its exit code, and nothing is written to the folder."""
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert list(folder.iterdir()) == []
