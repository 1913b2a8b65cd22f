"""The results file: one line per finished unit, written at once, so that a stopped run goes on where it stopped."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from surefoot._exceptions import DataError, ParameterError
from surefoot.reproduce.whole_files import write_text


class Unit(NamedTuple):
    """What one line of the results is about."""

    dataset: str
    seed: int
    learner: str
    n_members: int


@dataclass(frozen=True)
class Result:
    """One line of the results; ``seconds`` is what this unit added to the run."""

    dataset: str
    seed: int
    learner: str
    n_members: int
    accuracy: float
    seconds: float
    rows: int
    note: str

    @property
    def unit(self) -> Unit:
        return Unit(self.dataset, self.seed, self.learner, self.n_members)


COLUMNS = tuple(field.name for field in fields(Result))
PARSERS: dict[str, Callable[[str], Any]] = {field.name: field.type for field in fields(Result)}  # type: ignore[misc]


class ResultsFile:
    """A CSV file that only grows; what it holds already is read when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: dict[Unit, Result] = {}
        if path.exists():
            _cut_torn_line(path)
            self.results = {result.unit: result for result in _read(path)}

    def append(self, results: Iterable[Result]) -> None:
        """Add the results that are not there yet, each as one whole line that is on its way to disk at once."""
        fresh = [result for result in results if result.unit not in self.results]
        with self.path.open("a", newline="", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(_line(COLUMNS))
            for result in fresh:
                file.write(_line(astuple(result)))
                file.flush()
                self.results[result.unit] = result


def check_settings(path: Path, settings: dict[str, Any], results_path: Path) -> dict[str, Any]:
    """The settings to write to ``path``; refuses if results made with others are there.

    Data files may be added to a run, never exchanged.
    """
    if not path.exists():
        if results_path.exists():
            raise ParameterError(f"{results_path} is there without {path.name}: choose another --out, or remove it.")
        return settings
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        sources = {**before["sources"], **settings["sources"]}
    except (ValueError, KeyError, TypeError) as error:
        raise ParameterError(f"{path} cannot be read: choose another --out, or remove that folder.") from error
    changed = [key for key in settings if key != "sources" and before.get(key) != settings[key]]
    differences = [f"{key} {before.get(key)!r} there, {settings[key]!r} now" for key in changed]
    differences += [
        f"{key} from {before['sources'][key]!r} there, {sources[key]!r} now"
        for key in before["sources"]
        if before["sources"][key] != sources[key]
    ]
    if differences:
        raise ParameterError(
            f"{path.parent} holds results of other settings ({'; '.join(differences)}): choose another --out."
        )
    return {**settings, "sources": sources}


def write_settings(path: Path, settings: dict[str, Any]) -> None:
    """Write the settings beside the results they belong to."""
    write_text(path, json.dumps(settings, indent=2) + "\n")


def _cut_torn_line(path: Path) -> None:
    """Remove a last line without an end: the machine stopped while it was written."""
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _read(path: Path) -> list[Result]:
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    if not lines:
        return []
    if tuple(lines[0]) != COLUMNS:
        raise DataError(f"{path}: the columns must be {', '.join(COLUMNS)}. Choose another --out.")
    try:
        return [_parse(line) for line in lines[1:]]
    except ValueError as error:
        raise DataError(
            f"{path}: a line cannot be read ({error}). Remove that line; its unit is then run again."
        ) from error


def _parse(line: list[str]) -> Result:
    if len(line) != len(COLUMNS):
        raise ValueError(f"{len(line)} fields instead of {len(COLUMNS)} in {','.join(line)!r}")
    return Result(**{name: PARSERS[name](text) for name, text in zip(COLUMNS, line, strict=True)})


def _line(values: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(
        f"{value:.3f}" if name == "seconds" and isinstance(value, float) else value
        for name, value in zip(COLUMNS, values, strict=True)
    )
    return text.getvalue()
