"""Shared by the tests: interrupted runs, results to compare, counts by hand, refused commands."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from typer.testing import CliRunner

from surefoot.cli.app import app


def stopping_watch(stop_before: int | None) -> Callable[[int, int, str], None]:
    """A watcher like Ctrl-C: it stops the run at its call of that number, or never."""
    calls = 0

    def watch(done: int, total: int, label: str) -> None:
        nonlocal calls
        if calls == stop_before:
            raise KeyboardInterrupt
        calls += 1

    return watch


def without_seconds(path: Path) -> pd.DataFrame:
    """A file of results without what the clock said."""
    return pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns="seconds", errors="ignore")


def heaviest(counts: Counter, k: int) -> set[Any]:
    """The k most frequent, and those as frequent as the last of them."""
    bar = sorted(counts.values(), reverse=True)[:k][-1]
    return {model for model, count in counts.items() if count >= bar}


def assert_refused(arguments: Sequence[str], message: str, folder: Path) -> None:
    """A user error is one line on standard error with exit code 2, and nothing is written to the folder."""
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert list(folder.iterdir()) == []
