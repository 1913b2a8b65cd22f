"""The report of a run: Markdown, figures that need no screen, and tables as CSV."""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

from surefoot_experiments.skeleton.judge import Finding

QUICK_MARK = "QUICK RUN, not the experiment"


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces ``path`` once it is complete; a stopped run leaves the previous file in place."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as stream:
            yield stream
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, completely or not at all."""
    with replace_file(path) as stream:
        stream.write(text.encode("utf-8"))


def bullets(lines: Iterable[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


DOTS_PER_INCH = 110


def new_figure(width: float, height: float) -> Any:
    """Create an empty figure, with its size in inches, that opens no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(path: Path, figure: Any) -> None:
    """Write the figure as PNG."""
    with replace_file(path) as stream:
        figure.canvas.print_png(stream)


def write_table(path: Path, rows: Sequence[Any]) -> None:
    """Write dataclasses of one kind as CSV, numbers to six digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(rows[0])])
    for row in rows:
        writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in astuple(row)])
    write_text(path, text.getvalue())


def image(name: str) -> str:
    """A picture in Markdown; its file is in the folder of the summary."""
    return f"![{name}]({name}.png)"


@dataclass(frozen=True)
class Section:
    """The section of one part: Markdown under a heading, findings, and remarks that limit them.

    ``seconds`` is the time on one thread, summed over the lines of the part's files.
    """

    title: str
    text: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    seconds: float
