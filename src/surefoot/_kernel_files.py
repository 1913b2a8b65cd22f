"""Files of compiled kernels: checked before they are read, written completely or not at all, removed when unused.

A compiled kernel is stored as a pickle, and a pickle can run any code when it is read. So only files are read that
nobody else could write: nobody but this user, the administrator, and whoever can change surefoot itself.
"""

import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SUFFIX, PART = ".kernel", ".kernel-part"
DIGEST_BYTES = 32
DAY = 86_400  # seconds
MAX_UNUSED_DAYS = 30
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class KernelFile:
    """The file of one kernel for one signature. Each user writes a file of their own.

    Parameters
    ----------
    folder : str
        The cache.
    kernel : str
        Begins the names of all files of this kernel and version of surefoot, whatever the source and the signature.
    build : str
        A digest of the source.
    call : str
        A digest of everything else on which the compiled code depends.
    source : str
        The path of the kernel's source: those who can write to it are trusted.
    """

    folder: str
    kernel: str
    build: str
    call: str
    source: str

    def read(self) -> bytes | None:
        """The content; None if there is none that is whole and can be trusted."""
        try:
            source = os.stat(self.source)
        except OSError:  # in an archive
            source = None
        for user in dict.fromkeys([_user(), 0, *([source.st_uid] if source else [])]):
            content = _read_checked(self._path(user), source)
            if content is not None:
                return content
        return None

    def write(self, content: bytes) -> None:
        """Store the content, and remove files that are no longer used."""
        path = self._path(_user())
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        part = os.path.join(self.folder, secrets.token_hex(8) + PART)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(part, flags, 0o644), "wb") as stream:
                stream.write(hashlib.sha256(content).digest() + content)
            os.replace(part, path)  # a link is replaced, never followed
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise
        self._remove_unused()

    def _path(self, user: int) -> str:
        return os.path.join(self.folder, f"{self.kernel}-{self.build}-{self.call}-{user}{SUFFIX}")

    def _remove_unused(self) -> None:
        """Remove files of this kernel from before its source changed, and files of any kernel that nobody uses."""
        oldest = time.time() - MAX_UNUSED_DAYS * DAY
        for file in kernel_files(self.folder):
            with suppress(OSError):  # another process removes it, or may not be hindered by this one
                is_superseded = file.name.startswith(f"{self.kernel}-") and f"-{self.build}-" not in file.name
                if is_superseded or file.lstat().st_mtime < oldest:
                    file.unlink()


def kernel_files(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """All files of kernels in a folder, those included that were not finished."""
    for pattern in (f"*{SUFFIX}", f"*{PART}"):
        yield from Path(folder).glob(pattern)


def rejected_files(folder: str | os.PathLike[str], source: str) -> list[Path]:
    """Files that this user does not read: they are damaged or unfinished, or others can write to them."""
    return [file for file in kernel_files(folder) if _read_checked(str(file), os.stat(source)) is None]


def _read_checked(path: str, source: os.stat_result | None) -> bytes | None:
    """What was written to the file; None if it is damaged, if others can write to it, or if it cannot be read."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe is not waited for
    try:
        with open(os.open(path, flags), "rb") as stream:
            info = os.fstat(stream.fileno())
            if not stat.S_ISREG(info.st_mode) or not _is_trusted(info, source):
                return None
            digest, content = stream.read(DIGEST_BYTES), stream.read()
    except OSError:
        return None
    if hashlib.sha256(content).digest() != digest:
        return None
    if info.st_mtime < time.time() - DAY:
        with suppress(OSError):
            os.utime(path)  # it is used
    return content


def _is_trusted(file: os.stat_result, source: os.stat_result | None) -> bool:
    """Whether nobody else could write this file; those who can write the source could run any code without it."""
    if os.name != "posix":
        return True
    users = {_user(), 0} | ({source.st_uid} if source else set())
    writers = file.st_mode & OTHERS_WRITE & ~(source.st_mode if source else 0)
    return file.st_uid in users and not writers


def _user() -> int:
    return os.geteuid() if os.name == "posix" else 0
