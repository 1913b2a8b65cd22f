"""Arrays in files instead of memory: the system writes their pages to the disk when memory is needed."""

import errno
import mmap
import os
import tempfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.table_folder import error_if_full

CANNOT_RESERVE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


def mapped_zeros(folder: Path, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of zeros in a file without a name: nothing is left of it when the process ends, however it ends.

    The room on the disk is reserved, where the system can: on a full disk, writing to a page would end the process.
    """
    n_bytes = prod(shape) * np.dtype(dtype).itemsize
    if n_bytes == 0:
        return np.zeros(shape, dtype)
    with error_if_full(folder, n_bytes), tempfile.TemporaryFile(dir=folder) as file:
        _reserve(file.fileno(), n_bytes)
        mapping = mmap.mmap(file.fileno(), n_bytes)
    return np.asarray(np.frombuffer(mapping, dtype=dtype).reshape(shape))


def _reserve(descriptor: int, n_bytes: int) -> None:
    """Make a file so large, with room on the disk for all of it if the file system can reserve it."""
    os.truncate(descriptor, n_bytes)
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, 0, n_bytes)
        except OSError as error:
            if error.errno not in CANNOT_RESERVE:
                raise


class MappedArrays:
    """Arrays in files without names: the state of a shard while other shards are worked on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._maps: list[mmap.mmap] = []

    def move(self, array: np.ndarray) -> np.ndarray:
        """The same array in a file."""
        if array.nbytes == 0:
            return array
        moved = mapped_zeros(self.folder, array.shape, array.dtype)
        moved[...] = array
        self.keep(moved)
        return moved

    def keep(self, array: np.ndarray) -> None:
        """Release the memory of an array of ``numpy.load(mmap_mode=...)`` too."""
        self._maps += mapping_of(array)

    def release(self) -> None:
        """Free the memory of all arrays; the next access reads the file."""
        release(self._maps)


def mapping_of(array: np.ndarray) -> list[mmap.mmap]:
    """The file that an array of ``numpy.load(mmap_mode=...)`` or ``mapped_zeros`` is in; none for any other array."""
    mapping = getattr(array.base, "base", None)
    if isinstance(mapping, memoryview):
        mapping = mapping.obj
    return [mapping] if isinstance(mapping, mmap.mmap) else []


def release(mappings: list[mmap.mmap]) -> None:
    """Free the memory of mapped files, where the system can."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for mapping in mappings:
            mapping.madvise(mmap.MADV_DONTNEED)


def scratch_folder(folder: Path) -> Path:
    """Where files without names are made: in ``folder``, or in that for temporary files if it cannot be written to."""
    return folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())
