"""The trees of a fit that is not finished, in the folder of a stored table: the same fit continues from them.

Every model in training has a file, to which each of its trees is added as soon as it is grown. A fit that was stopped,
however it was stopped, runs all its rounds again, but takes the splits of the first trees from these files instead of
from histograms. All else is computed anew, so the model is the same, to the byte, as without the stop.
"""

import os
import shutil
import struct
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import numpy as np

from surefoot._exceptions import DataError
from surefoot.data.table_folder import FULL
from surefoot.trees.level_kernels import TreeSplits

HEADER = struct.Struct("<4sIII")  # mark, number of the tree, length and checksum of the record
MARK = b"TREE"
SYNC_SECONDS = 10.0  # a power cut loses the trees of about this time
WHEN = {"folder": "on a folder that is kept", "snapshot": "with a snapshot"}
ADVICE = {
    "folder": "allow it, or copy the folder. With random_state=None, nothing is recorded.",
    "snapshot": "allow it, or name another folder.",
}
FOLDER_PREFIX, LOCK = "training-", "lock"


class ModelLog:
    """The trees of one model: first those of an earlier run are read, then new ones are added.

    A record that is not complete ends the earlier run: it and all after it are overwritten.
    """

    def __init__(self, path: Path, argument: str = "folder") -> None:
        self.path, self.argument, self._n_trees, self._synced = path, argument, 0, time.monotonic()
        with self._errors():
            self._file = open(path, "r+b" if path.exists() else "x+b", buffering=0)  # noqa: SIM115
        self._is_at_end = False

    def next_tree(self, like: TreeSplits) -> TreeSplits | None:
        """The next tree of the earlier run, in arrays of the same shapes and types; None after the last one."""
        if self._is_at_end:
            return None
        start = self._file.tell()
        record = self._read_record()
        if record is None or len(record) != sum(array.nbytes for array in like):
            self._is_at_end = True
            self._file.seek(start)
            with self._errors():
                self._file.truncate()
            return None
        self._n_trees += 1
        arrays, place = [], 0
        for array in like:
            stop = place + array.nbytes
            arrays.append(np.frombuffer(record[place:stop], dtype=array.dtype).reshape(array.shape))
            place = stop
        return TreeSplits(*arrays)

    def _read_record(self) -> bytes | None:
        """The arrays of the next tree as bytes; None if there is no complete record."""
        header = self._file.read(HEADER.size)
        if len(header) < HEADER.size:
            return None
        mark, number, length, checksum = HEADER.unpack(header)
        packed = self._file.read(length) if (mark, number) == (MARK, self._n_trees) else b""
        if len(packed) != length or zlib.crc32(packed, number) != checksum:
            return None
        try:
            return zlib.decompress(packed)
        except zlib.error:
            return None

    def add(self, splits: TreeSplits) -> None:
        """Write a tree after the others, in one record."""
        packed = zlib.compress(b"".join(array.tobytes() for array in splits), 1)
        header = HEADER.pack(MARK, self._n_trees, len(packed), zlib.crc32(packed, self._n_trees))
        rest = memoryview(header + packed)
        with self._errors():
            while len(rest):
                rest = rest[self._file.write(rest) or 0 :]
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        self._n_trees += 1

    def _errors(self) -> AbstractContextManager[None]:
        return errors_of_folder(self.path.parent, self.argument)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TrainingLog:
    """A folder with a file for each model of one fit; models with the same number are told apart by their order."""

    def __init__(self, folder: Path, argument: str = "folder") -> None:
        """``argument`` is the name of the folder in messages."""
        self.folder, self.argument = folder, argument
        self._begun, self._open = Counter[int](), list[ModelLog]()
        self._lock = threading.Lock()  # members may begin in several threads

    @property
    def has_trees(self) -> bool:
        """Whether an earlier run has left trees."""
        return any(path.stat().st_size for path in self.folder.glob("model*"))

    def of_model(self, number: int) -> ModelLog:
        """The trees of the next model with this number."""
        with self._lock:
            log = ModelLog(self.folder / f"model{number}-{self._begun[number]}", self.argument)
            self._begun[number] += 1
            self._open.append(log)
            return log

    def close(self) -> None:
        """Close all files."""
        for log in self._open:
            log.close()

    def remove(self) -> None:
        """Remove the folder: the fit is complete."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def open_log(folder: Path, name: str) -> Iterator[TrainingLog | None]:
    """The log of a fit in the folder of a stored table; None if another process trains the same model there.

    It is removed if the code inside ends without an error.
    """
    own = folder / f"{FOLDER_PREFIX}{name}"
    with ExitStack() as files:
        with errors_of_folder(folder):
            own.mkdir(exist_ok=True)
            lock = files.enter_context(open(own / LOCK, "wb"))
        if not is_locked(lock.fileno()):
            yield None
            return
        log = TrainingLog(own)
        files.callback(log.close)
        yield log
        log.remove()


def is_locked(descriptor: int) -> bool:
    """Lock a file, where the system and its disk can: return False if another process has locked it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def errors_of_folder(folder: Path, argument: str = "folder") -> Iterator[None]:
    """Say what is wrong with a folder that trees are recorded in."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            message = (
                f"The disk of {folder} is full, and training records its trees there: make room. The same fit then "
                "continues from the trees so far."
            )
        else:
            message = (
                f"{folder} cannot be written to ({error.strerror}), and training {WHEN[argument]} records its "
                f"trees there: {ADVICE[argument]}"
            )
        raise DataError(message, argument=argument) from error
