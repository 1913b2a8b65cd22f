"""Arrays in files: equal to those in memory, before and after their memory is released."""

import errno
import os

import numpy as np
import pytest

from surefoot import DataError
from surefoot.data.mapped_arrays import MappedArrays, mapped_zeros, mapping_of, release


@pytest.mark.parametrize("array", [np.arange(5.0), np.ones((2, 3, 1), dtype=np.int64), np.empty(0), np.arange(4) > 1])
def test_a_moved_array_keeps_its_values_and_what_is_written_later(tmp_path, array):
    files = MappedArrays(tmp_path)
    moved = files.move(array)
    files.release()
    np.testing.assert_array_equal(moved, array)
    assert (moved.dtype, moved.shape, moved.flags.c_contiguous) == (array.dtype, array.shape, True)
    moved[...] = 0
    files.release()
    assert not moved.any()
    assert list(tmp_path.iterdir()) == []


def test_arrays_of_files_are_released_and_read_again(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(10_000))
    array = np.asarray(np.load(tmp_path / "a.npy", mmap_mode="c"))
    assert len(mapping_of(array)) == 1
    release(mapping_of(array))
    np.testing.assert_array_equal(array, np.arange(10_000))


def test_arrays_in_memory_have_no_file():
    assert mapping_of(np.arange(3)) == []
    assert mapping_of(np.arange(8)[2:]) == []


def test_zeros_in_a_file(tmp_path):
    array = mapped_zeros(tmp_path, (3, 1000), "<u8")
    assert (array.dtype, array.shape, array.flags.c_contiguous, array.any()) == (np.uint64, (3, 1000), True, False)
    array[1] = 7
    release(mapping_of(array))
    assert (array[1] == 7).all()
    assert mapped_zeros(tmp_path, (3, 0), np.uint8).shape == (3, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system cannot reserve room")
def test_a_full_disk_is_an_error_before_anything_is_written(tmp_path, monkeypatch):
    def refuse(descriptor, start, length):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    number = errno.ENOSPC
    with pytest.raises(DataError, match=r"The disk of .* is full, and the bins of the table need 0\.0 GB"):
        mapped_zeros(tmp_path, (3, 4), np.uint8)
    number = errno.EOPNOTSUPP  # some file systems cannot reserve room
    assert not mapped_zeros(tmp_path, (3, 4), np.uint8).any()
