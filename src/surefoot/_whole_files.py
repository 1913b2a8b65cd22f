"""Files that are there whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to fill, beside ``path``; it takes that place in one step once it is filled and safe on the disk.

    If filling it fails or is stopped, what was at ``path`` stays, and nothing is left beside it.
    """
    target = os.path.realpath(path)  # a link stays one
    folder = os.path.dirname(target)
    beside = os.path.join(folder, f".surefoot-{secrets.token_hex(8)}.part")
    try:
        with open(beside, "x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if os.path.exists(target):
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    _sync_folder(folder)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``path``."""
    with whole_file(path) as stream:
        stream.write(text.encode("utf-8"))


def _sync_folder(folder: str) -> None:
    """Let the new name survive a power cut too, where the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
