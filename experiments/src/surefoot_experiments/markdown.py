"""The few shapes of Markdown that summaries are made of."""

from collections.abc import Iterable, Sequence


def bullets(lines: Iterable[str]) -> str:
    """One line per entry."""
    return "\n".join(f"- {line}" for line in lines)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column is aligned to the left."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
