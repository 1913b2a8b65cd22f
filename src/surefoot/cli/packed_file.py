"""Files of text, packed or not: a small file that unpacks to very much is refused before it fills the memory."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot import DataError

PACKED = {".gz", ".bz2", ".xz", ".zip"}
ALWAYS_READ = 2**28  # bytes: files that unpack to less are read, whatever their size
MAX_RATIO = 100  # of tables of numbers and text it is 3 to 20


def is_packed(path: Path) -> bool:
    """Whether the end of a file's name is that of a compressed file."""
    return path.suffix.lower() in PACKED


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A stream of the bytes of a file, after unpacking."""
    if not is_packed(path):
        with open(path, "rb") as stream:
            yield stream
        return
    with _unpacked(path) as stream, io.BufferedReader(_LimitedStream(stream, path)) as limited:
        yield limited


class _LimitedStream(io.RawIOBase):
    """Raises an error if more bytes are read than a table would have."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream, self._path = stream, path
        self._max_bytes = max(ALWAYS_READ, MAX_RATIO * path.stat().st_size)
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        n_bytes = self._stream.readinto(buffer)
        self._n_bytes += n_bytes
        if self._n_bytes > self._max_bytes:
            raise DataError(
                f"{self._path} unpacks to more than {self._max_bytes:,} bytes, far more than a table of its size: if "
                "it is meant to be that large, unpack it, and name the unpacked file."
            )
        return n_bytes


@contextmanager
def _unpacked(path: Path) -> Iterator[Any]:
    suffix = path.suffix.lower()
    if suffix != ".zip":
        module: Any = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[suffix]
        with module.open(path, "rb") as stream:
            yield stream
        return
    with zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if not name.endswith("/")]
        if len(members) != 1:
            raise DataError(f"{path} contains {len(members):,} files: pack one table in it.")
        with archive.open(members[0]) as stream:
            yield stream
