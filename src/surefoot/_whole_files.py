"""Files that are there whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file beside ``path``, then put it in its place in one step."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part{path.suffix}")
    try:
        write(beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path``."""
    write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))
