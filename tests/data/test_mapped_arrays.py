"""Arrays in files: equal to those in memory, before and after their memory is released."""

import numpy as np
import pytest

from surefoot.data.mapped_arrays import MappedArrays, mapping_of, release


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
