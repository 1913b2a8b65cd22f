"""Files and folders that are written completely or not at all; devices and pipes are written to, never replaced."""

import errno
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

from surefoot._numbers import checked_path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".surefoot-", ".part"
MAX_LINKS = 40
STANDARD_OUTPUT = 1


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A temporary file to write; at the end it is flushed to the disk and renamed to ``path`` in one step.

    If writing fails or is stopped, ``path`` does not change, and the temporary file is removed; if the process is
    killed, the next file that is written to the same folder removes it. A device, a named pipe or an open file such as
    /dev/stdout is never replaced: the finished content is written to it.
    """
    path = checked_path("path", path)
    if is_written_in_place(path):
        with tempfile.TemporaryFile() as copied:
            yield copied
            copied.seek(0)
            with _open_in_place(path) as device:
                shutil.copyfileobj(copied, device)
        return
    target = os.path.realpath(path)  # a link remains a link
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", os.fspath(path))
    folder = os.path.dirname(target)
    _remove_unfinished(folder)
    try:
        stream, temporary = _new_file(folder)
    except OSError as error:  # it names the temporary file, which the user does not know
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if os.path.exists(target):
                shutil.copymode(target, temporary)
            if fcntl is None:
                stream.close()  # Windows does not rename an open file; elsewhere, closing it would end the lock
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[str]:
    """A temporary folder beside ``path`` to fill; at the end it is renamed to ``path`` in one step.

    If filling it fails or is stopped, it is removed. ``path`` must not exist, or be an empty folder.
    """
    target = os.path.realpath(path)
    parent, name = os.path.split(target)
    temporary = tempfile.mkdtemp(prefix=f".{name}-", suffix=SUFFIX, dir=parent)
    try:
        yield temporary
        if os.path.isdir(target):
            os.rmdir(target)  # not every system replaces an empty folder
        os.rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync_folder(parent)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``path``."""
    with whole_file(path) as stream:
        stream.write(text.encode("utf-8"))


def is_written_in_place(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` cannot be replaced: it is a device, a pipe, or an open file of this process."""
    if open_descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def open_descriptor(path: str | os.PathLike[str]) -> int | None:
    """The descriptor of an open file of this process, such as /dev/stdout or /dev/fd/63; None for other paths.

    Links are followed one by one, because the last link leads from the open file to the path that was opened.
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


def _new_file(folder: str) -> tuple[BinaryIO, str]:
    """A new file, locked while it is open, and its path.

    Another process may take it for one that was left behind, in the moment before it is locked: then there is a next.
    """
    while True:
        path = os.path.join(folder, f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}")
        stream = open(path, "x+b")  # noqa: SIM115 (the caller closes it)
        if fcntl is None:
            return stream, path
        with suppress(OSError):  # a file system without locks
            fcntl.flock(stream, fcntl.LOCK_EX)
        if os.fstat(stream.fileno()).st_nlink:
            return stream, path
        stream.close()


def _remove_unfinished(folder: str) -> None:
    """Remove what killed processes have left behind: a running process holds the lock of its file."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        paths = [one.path for one in entries if one.name.startswith(PREFIX) and one.name.endswith(SUFFIX)]
        for path in paths:
            with suppress(OSError):  # of another user, or on a file system without locks
                _remove_unlocked(path)


def _remove_unlocked(path: str) -> None:
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
    finally:
        os.close(handle)


def _open_in_place(path: str | os.PathLike[str]) -> BinaryIO:
    """An open file is written to at its current position; if it were opened again, it would be overwritten."""
    descriptor = open_descriptor(path)
    if descriptor is None:
        return open(path, "wb")
    if descriptor == STANDARD_OUTPUT:
        sys.stdout.flush()
    return os.fdopen(os.dup(descriptor), "wb")


def _sync_folder(folder: str) -> None:
    """Keep the new name after a power cut, if the system supports it."""
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
