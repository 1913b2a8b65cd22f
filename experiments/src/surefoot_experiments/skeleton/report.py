"""The report of a run: Markdown, figures without a screen, and tables as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from surefoot._atomic_io import whole_file, write_text
from surefoot_experiments.skeleton.judge import Finding


def bullets(lines: Iterable[str]) -> str:
    """One line per entry."""
    return "\n".join(f"- {line}" for line in lines)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column is aligned to the left."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


DOTS_PER_INCH = 110


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches, that no window will ever show."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(path: Path, figure: Any) -> None:
    """Write the figure as PNG."""
    with whole_file(path) as stream:
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
    """A picture in Markdown; the file lies beside the summary."""
    return f"![{name}]({name}.png)"


@dataclass(frozen=True)
class Section:
    """What a part has to say: Markdown under a heading, findings, and what a careful reader must know.

    ``seconds`` are those of one thread, summed over the lines of its files.
    """

    title: str
    text: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    seconds: float
