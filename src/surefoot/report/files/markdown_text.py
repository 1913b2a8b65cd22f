"""Text in Markdown that stays text: it cannot break a table, mention anybody, or become a link or HTML.

GitHub and GitLab look for mentions and references after they have removed backslashes, so a sign without a width, the
word joiner, is put behind the sign that begins one.
"""

import re
from collections.abc import Sequence

from surefoot._formatting import shortened
from surefoot.report.page.chart_svg import usable

JOINER = "\N{WORD JOINER}"
REFERENCE = re.compile(r'@|[#!%$&~](?=[\w"])|\bGH(?=-\d)|:(?=//)|\bwww(?=\.)|\b(?:mailto|xmpp)(?=:)', re.IGNORECASE)
SIGNS = re.compile(r"([\\`*_\[\]|~$#!])")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
MAX_NAME_LETTERS = 120


def text_of(text: str, max_letters: int) -> str:
    """Any text as Markdown that shows it, on one line."""
    line = shortened(" ".join(usable(text).split()), max_letters)
    return SIGNS.sub(r"\\\1", REFERENCE.sub(lambda match: match[0] + JOINER, line)).translate(ENTITIES)


def code_of(text: str) -> str:
    """A name or a rule as code, in which nothing is interpreted; also inside of a table."""
    line = shortened(" ".join(usable(text).split()), MAX_NAME_LETTERS)
    fence = _fence(line, 1)
    return f"{fence} {line} {fence}".replace("|", "\\|") if line else ""


def block_of(text: str, max_letters: int) -> str:
    """Lines of code, such as a command."""
    lines = shortened(usable(text), max_letters)
    fence = _fence(lines, 3)
    return f"{fence}\n{lines}\n{fence}"


def table_of(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def details_of(summary: str, content: str) -> str:
    """Content that is folded until it is opened."""
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>"


def _fence(text: str, min_length: int) -> str:
    """Backticks that do not occur in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(min_length, longest + 1)
