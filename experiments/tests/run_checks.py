"""Helpers of the tests: interrupted runs, comparison of results, and refused commands."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from typer.testing import CliRunner

from surefoot.cli.app import app


def interrupting_callback(stop_before: int | None) -> Callable[[int, int, str], None]:
    """A callback that interrupts the run, like Ctrl-C, after ``stop_before`` calls; None: never."""
    calls = 0

    def callback(done: int, total: int, label: str) -> None:
        nonlocal calls
        if calls == stop_before:
            raise KeyboardInterrupt
        calls += 1

    return callback


def without_seconds(path: Path) -> pd.DataFrame:
    """A file of results without times."""
    return pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns="seconds", errors="ignore")


def heaviest(counts: Counter, k: int) -> set[Any]:
    """The k most frequent models, including ties with the last."""
    threshold = sorted(counts.values(), reverse=True)[:k][-1]
    return {model for model, count in counts.items() if count >= threshold}


def assert_refused(arguments: Sequence[str], message: str, folder: Path) -> None:
    """Check that a user error is one line on standard error with exit code 2, and that nothing is written."""
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert list(folder.iterdir()) == []
