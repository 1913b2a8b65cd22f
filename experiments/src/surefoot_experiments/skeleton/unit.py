"""The units of a run: one CSV line for each finished unit, so that an interrupted run can continue."""

import csv
import io
from collections.abc import Hashable, Iterable
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from surefoot import DataError


class Line(Protocol):
    """A frozen dataclass of numbers and text; ``unit`` identifies it."""

    @property
    def unit(self) -> Hashable: ...


L = TypeVar("L", bound=Line)


class GrowingCsv(Generic[L]):
    """A CSV file that grows by lines of one ``kind``; existing lines are read when it is opened."""

    def __init__(self, path: Path, kind: type[L]) -> None:
        self.path, self.kind = path, kind
        self.columns: tuple[str, ...] = tuple(field.name for field in fields(kind))  # type: ignore[arg-type]
        self.lines: dict[Any, L] = {}
        if path.exists():
            _cut_torn_line(path)
            self.lines = {line.unit: line for line in self._read()}

    def append(self, lines: Iterable[L]) -> None:
        """Add the lines of units that are not in the file yet; each line is flushed at once."""
        new = [line for line in lines if line.unit not in self.lines]
        with self.path.open("a", newline="", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(_text(self.columns))
            for line in new:
                file.write(self._text(line))
                file.flush()
                self.lines[line.unit] = line

    def _text(self, line: L) -> str:
        values = zip(self.columns, astuple(line), strict=True)  # type: ignore[call-overload]
        return _text(f"{value:.3f}" if name == "seconds" else value for name, value in values)

    def _read(self) -> list[L]:
        with self.path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
        if not lines:
            return []
        if tuple(lines[0]) != self.columns:
            raise DataError(f"{self.path}: the columns must be {', '.join(self.columns)}. Choose another --out.")
        try:
            return [self._parse(line) for line in lines[1:]]
        except ValueError as error:
            raise DataError(
                f"{self.path}: a line cannot be read ({error}). Remove that line; its unit is then run again."
            ) from error

    def _parse(self, cells: list[str]) -> L:
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} fields instead of {len(self.columns)} in {','.join(cells)!r}")
        parsers: dict[str, Any] = {field.name: field.type for field in fields(self.kind)}  # type: ignore[arg-type]
        return self.kind(**{name: parsers[name](text) for name, text in zip(self.columns, cells, strict=True)})


def _cut_torn_line(path: Path) -> None:
    """Remove a last line without a line end: the machine stopped while it was written."""
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _text(cells: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
