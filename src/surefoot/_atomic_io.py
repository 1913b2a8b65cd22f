"""Files that are there whole or not at all; devices and pipes are written to, and stay what they are."""

import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

MAX_LINKS = 40
STANDARD_OUTPUT = 1


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to fill, beside ``path``; it takes that place in one step once it is filled and safe on the disk.

    If filling it fails or is stopped, what was at ``path`` stays, and nothing is left beside it. A device, a named pipe
    or an open file such as /dev/stdout is never replaced: once the file is filled, its content is written there.
    """
    if is_written_in_place(path):
        with tempfile.TemporaryFile() as stream:
            yield stream
            stream.seek(0)
            with _open_in_place(path) as device:
                shutil.copyfileobj(stream, device)
        return
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


def is_written_in_place(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` is no plain file that can be replaced: a device, a pipe, or an open file of this process."""
    if open_descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def open_descriptor(path: str | os.PathLike[str]) -> int | None:
    """The number of this process's open file that ``path`` names, as /dev/stdout and /dev/fd/63 do; else None.

    Links are followed one by one: the last one leads from the open file to whatever it was opened as.
    """
    place = os.path.abspath(path)
    for _ in range(MAX_LINKS):
        folder = os.path.realpath(os.path.dirname(place))
        place = os.path.join(folder, os.path.basename(place))
        named = re.fullmatch(rf"/(?:dev|proc/(?:self|{os.getpid()}))/fd/(\d+)", place)
        if named:
            return int(named[1])
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


def _open_in_place(path: str | os.PathLike[str]) -> BinaryIO:
    """An open file is written to where it stands: opened again, it would be written over from its beginning."""
    descriptor = open_descriptor(path)
    if descriptor is None:
        return open(path, "wb")
    if descriptor == STANDARD_OUTPUT:
        sys.stdout.flush()
    return os.fdopen(os.dup(descriptor), "wb")


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
