"""Arrays in a file instead of memory: the state of a shard while other shards are worked on."""

import mmap
import tempfile
from pathlib import Path

import numpy as np


class MappedArrays:
    """Arrays in one file, which has no name: nothing is left of it when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._maps: list[mmap.mmap] = []

    def move(self, array: np.ndarray) -> np.ndarray:
        """The same array in the file."""
        if array.nbytes == 0:
            return array
        with tempfile.TemporaryFile(dir=self.folder) as file:
            file.truncate(array.nbytes)
            mapping = mmap.mmap(file.fileno(), array.nbytes)
        moved: np.ndarray = np.frombuffer(mapping, dtype=array.dtype).reshape(array.shape)
        moved[...] = array
        self._maps.append(mapping)
        return moved

    def keep(self, array: np.ndarray) -> None:
        """Release the memory of an array of ``numpy.load(mmap_mode=...)`` too."""
        self._maps += mapping_of(array)

    def release(self) -> None:
        """Free the memory of all arrays; the next access reads the file."""
        release(self._maps)


def mapping_of(array: np.ndarray) -> list[mmap.mmap]:
    """The file that an array of ``numpy.load(mmap_mode=...)`` is mapped to; none for any other array."""
    mapping = getattr(array.base, "base", None)
    return [mapping] if isinstance(mapping, mmap.mmap) else []


def release(mappings: list[mmap.mmap]) -> None:
    """Free the memory of mapped files, where the system can."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for mapping in mappings:
            mapping.madvise(mmap.MADV_DONTNEED)
