"""The members of a model file: JSON and arrays, in a ZIP archive without compression."""

import zipfile
from collections.abc import Callable
from math import prod
from typing import IO, BinaryIO

import numpy as np
from numpy.lib import format as npy

from surefoot._exceptions import ModelFileError
from surefoot.model_io.model_json import require

STATE = "model.json"
MAX_MEMBERS = 1_000_000
MAX_TEXT = 1 << 26
MAX_HEADER = 512  # bytes of the header of an array
NPY_VERSION = (1, 0)
DATE = (1980, 1, 1, 0, 0, 0)  # the same in all files: equal models give equal files
READ_SIZE = 1 << 20
UNIX = 3
LOCAL_HEADER, DIRECTORY_ENTRY, END = 30, 46, 22  # bytes of the records of a ZIP archive, without names
ZIP64_SIZES, ZIP64_END = 20, 76  # bytes that large members and large archives have in addition
MAX_EXTRA = 28  # bytes of the sizes and the place of a large member


def write_archive(stream: BinaryIO, text: bytes, arrays: dict[str, np.ndarray]) -> None:
    """Write a file; ``arrays`` are by name, and are stored in C order and little-endian."""
    is_valid = len(text) <= MAX_TEXT and len(arrays) < MAX_MEMBERS
    require(is_valid, "it has more categories or members than a model file can hold")
    with zipfile.ZipFile(stream, "w") as archive:
        with archive.open(_member(STATE, len(text)), "w") as member:
            member.write(text)
        for name, array in arrays.items():
            stored = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            with archive.open(_member(f"{name}.npy", array.nbytes + MAX_HEADER), "w") as member:
                npy.write_array(member, stored, NPY_VERSION, allow_pickle=False)


def _member(name: str, size: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, DATE)
    member.create_system, member.file_size = UNIX, size  # the size determines whether its header needs 64 bits
    return member


class Archive:
    """Reads a file from any source; sizes are checked before anything is read."""

    def __init__(self, stream: BinaryIO) -> None:
        size = stream.seek(0, 2)
        try:
            self._zip = zipfile.ZipFile(stream)
        except zipfile.BadZipFile as error:
            raise ModelFileError(f"it is not a model file, or it is damaged: {error}") from error
        self._members = {member.filename: member for member in self._zip.infolist()}
        _check_members(self._zip.infolist(), size)
        _check_places(self._zip.infolist(), size, _tail(stream, size))
        self._unread = set(self._members)

    def text(self) -> bytes:
        """The JSON."""
        member = self._take(STATE)
        require(member.file_size <= MAX_TEXT, f"its JSON has {member.file_size} bytes, more than any model needs")
        return self._zip.read(member)

    def array(self, name: str, n_axes: int, is_expected: Callable[[np.dtype], bool]) -> np.ndarray:
        """An array of a type that ``is_expected`` accepts; its shape must match its size before any byte is read."""
        member = self._take(f"{name}.npy")
        with self._zip.open(member) as stream:
            require(npy.read_magic(stream) == NPY_VERSION, f"{name} is an array of an unknown version")
            shape, by_column, kind = npy.read_array_header_1_0(stream, max_header_size=MAX_HEADER)
            is_valid = not by_column and len(shape) == n_axes and not kind.hasobject and is_expected(kind)
            require(is_valid, f"{name} has the wrong type, order or number of axes: {kind}, {shape}")
            n_bytes = prod(shape) * kind.itemsize
            is_valid = min(shape) >= 0 and n_bytes == member.file_size - stream.tell()
            require(is_valid, f"{name} declares the shape {shape}, which does not match its size")
            array = np.empty(shape, kind)
            _read_into(stream, array)
        array = array.astype(kind.newbyteorder("="), copy=False)
        has_valid_booleans = kind.kind != "b" or (array.view(np.uint8) <= 1).all()
        require(has_valid_booleans, f"{name} has booleans that are neither 0 nor 1")
        return array

    def finish(self) -> None:
        """Refuse a file with members that the model does not use."""
        require(not self._unread, f"it has an unexpected member: {min(self._unread, default='')!r}")

    def _take(self, name: str) -> zipfile.ZipInfo:
        require(name in self._unread, f"{name} is missing")
        self._unread.remove(name)
        return self._members[name]


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse compressed members, equal names, and sizes larger than the file."""
    require(len(members) <= MAX_MEMBERS, f"it has {len(members)} members, more than any model needs")
    for member in members:
        is_bare = not member.comment and len(member.extra) <= MAX_EXTRA
        require(is_bare, f"its member {member.filename!r} has a comment or other unknown bytes")
        is_plain = member.compress_type == zipfile.ZIP_STORED and member.compress_size == member.file_size
        require(is_plain and not member.flag_bits, f"its member {member.filename!r} is compressed or encrypted")
    require(len({member.filename for member in members}) == len(members), "two of its members have the same name")
    require(
        sum(member.file_size for member in members) <= size,
        "the declared sizes of its members are larger than the file",
    )


def _read_into(stream: IO[bytes], array: np.ndarray) -> None:
    """Read the elements of an array, a part at a time: all at once would need twice its memory."""
    to = array.reshape(-1).view(np.uint8)
    for start in range(0, len(to), READ_SIZE):
        part = stream.read(min(READ_SIZE, len(to) - start))
        to[start : start + len(part)] = np.frombuffer(part, dtype=np.uint8)


def _tail(stream: BinaryIO, size: int) -> bytes:
    stream.seek(max(0, size - END))
    return stream.read(END)


def _check_places(members: list[zipfile.ZipInfo], size: int, tail: bytes) -> None:
    """Refuse bytes that belong to no member: before the first, between members, or after the end of the archive."""
    place = 0
    for member in members:
        gap = member.header_offset - place
        require(gap in (0, ZIP64_SIZES), f"there are unknown bytes before its member {member.filename!r}")
        place = member.header_offset + LOCAL_HEADER + len(member.filename.encode()) + member.file_size
    directory = sum(DIRECTORY_ENTRY + len(m.filename.encode()) + len(m.extra) + len(m.comment) for m in members)
    rest = size - place - directory - END
    is_known = any(rest == sizes + end for sizes in (0, ZIP64_SIZES) for end in (0, ZIP64_END))
    require(is_known and tail.startswith(b"PK\5\6") and tail.endswith(b"\0\0"), "there are bytes after its end")
