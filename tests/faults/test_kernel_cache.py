"""A damaged, foreign or stale file in the cache of compiled kernels: the kernel is compiled anew, and stored again."""

import errno
import hashlib
import os
import pickle
import shutil
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

import surefoot
from surefoot import _kernel_files
from surefoot._kernel_files import DAY, MAX_UNUSED_DAYS, KernelFile, kernel_files

SOURCE = """
from surefoot._jit import kernel

@kernel
def add(a, b):
    return a + b
"""


def call_add(folder, a=1, b=2):
    """Call the kernel of a module as a new process does; return whether it was in the cache."""
    module = types.ModuleType("sums")
    module.__file__ = str(folder / "sums.py")
    exec(compile((folder / "sums.py").read_text(), module.__file__, "exec"), vars(module))
    assert module.add(a, b) == a + b
    return bool(module.add.stats.cache_hits)


def cache_folder(folder):
    """Where the kernels of a module in this folder are stored."""
    code: dict = {}
    exec(compile(SOURCE, str(folder / "sums.py"), "exec"), code)
    return Path(code["add"].stats.cache_path)


def cached_files(folder):
    return sorted(kernel_files(cache_folder(folder)))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The name and the content of the file in which the kernel of a module is stored."""
    folder = tmp_path_factory.mktemp("filled")
    (folder / "sums.py").write_text(SOURCE)
    assert not call_add(folder)
    assert call_add(folder)
    (file,) = cached_files(folder)
    return file.name, file.read_bytes()


@pytest.fixture
def cached(filled, tmp_path):
    """A folder with a module, and the file in which its kernel is stored."""
    (tmp_path / "sums.py").write_text(SOURCE)
    name, content = filled
    file = cache_folder(tmp_path) / name
    file.write_bytes(content)
    assert call_add(tmp_path)
    return tmp_path, file


def with_digest(content):
    return hashlib.sha256(content).digest() + content


class Gone:
    """A class that a later version does not have."""


def pickle_of_a_class_that_is_gone():
    return pickle.dumps(Gone()).replace(b"Gone", b"Lost")


DAMAGES = {
    "no bytes": lambda content: b"",
    "half of it": lambda content: content[: len(content) // 2],
    "all but one byte": lambda content: content[:-1],
    "one other bit": lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
    "random bytes": lambda content: np.random.default_rng(0).bytes(4000),
    "an index of numba": lambda content: pickle.dumps("0.60.0") + pickle.dumps(((1.0, 2), {})),
    "another pickle": lambda content: with_digest(pickle.dumps({"a": 1})),
    "a pair": lambda content: with_digest(pickle.dumps((1, 2))),
    "a class that is gone": lambda content: with_digest(pickle_of_a_class_that_is_gone()),
    "no pickle": lambda content: with_digest(b"surefoot"),
}


@pytest.mark.fault(number=21)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_files_are_written_again(cached, damage):
    folder, file = cached
    file.write_bytes(damage(file.read_bytes()))
    assert not call_add(folder)
    assert call_add(folder)


def put_folder(file):
    file.unlink()
    (file / "within").mkdir(parents=True)


def put_link_to_itself(file):
    file.unlink()
    file.symlink_to(file)


def put_pipe(file):
    file.unlink()
    os.mkfifo(file)


@pytest.mark.fault(number=21)
@pytest.mark.skipif(os.name != "posix", reason="links and pipes are those of POSIX")
@pytest.mark.parametrize("replace", [put_folder, put_link_to_itself, put_pipe])
def test_what_cannot_be_read_is_replaced(cached, replace):
    folder, file = cached
    replace(file)
    assert not call_add(folder)
    assert call_add(folder)


@pytest.mark.fault(number=21)
def test_code_of_other_types_is_not_taken(cached):
    """As in numba's own cache, when two processes write at the same time."""
    folder, file = cached
    call_add(folder, 0.5, 1.0)
    (other,) = set(cached_files(folder)) - {file}
    file.write_bytes(other.read_bytes())
    assert not call_add(folder)
    assert call_add(folder)
    assert call_add(folder, 0.5, 1.0)


@pytest.mark.fault(number=21)
def test_a_kernel_that_cannot_be_stored_works(cached, monkeypatch):
    folder, file = cached
    cache = file.parent
    shutil.rmtree(cache)
    assert not call_add(folder)  # the folder is made again
    file.unlink()

    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        assert not call_add(folder)
    assert list(cache.iterdir()) == []  # the unfinished file included
    assert not call_add(folder)
    assert call_add(folder)


@pytest.mark.fault(number=20)
def test_a_kernel_without_a_folder_for_it_works(cached, monkeypatch):
    folder, file = cached
    shutil.rmtree(file.parent)
    file.parent.write_text("no folder")
    monkeypatch.setenv("HOME", os.devnull)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert not call_add(folder)
    assert not call_add(folder)
    assert file.parent.read_text() == "no folder"


RECORDS = """
from typing import NamedTuple

class Pair(NamedTuple):
    a: int
    b: int
"""
KERNEL_OF_RECORDS = """
from surefoot._jit import kernel

@kernel
def add(pair, zero):
    return pair.a + pair.b + zero
"""


@pytest.mark.fault(number=21)
def test_a_record_that_moved_between_versions(tmp_path, monkeypatch):
    (tmp_path / "sums.py").write_text(KERNEL_OF_RECORDS)

    def call(module):
        (tmp_path / f"{module}.py").write_text(RECORDS)
        pair, code = __import__(module).Pair(1, 2), {}
        exec(compile(KERNEL_OF_RECORDS, str(tmp_path / "sums.py"), "exec"), code)
        assert code["add"](pair, 3) == 6
        return bool(code["add"].stats.cache_hits)

    monkeypatch.syspath_prepend(tmp_path)
    assert not call("old_records")
    assert call("old_records")
    (tmp_path / "old_records.py").unlink()
    del sys.modules["old_records"]
    assert not call("new_records")
    assert call("new_records")


@pytest.mark.fault(number=12)
def test_kernels_of_other_sources_versions_and_settings_are_not_taken(cached, monkeypatch):
    folder, file = cached
    with monkeypatch.context() as patch:
        patch.setattr(surefoot, "__version__", "99.0")
        assert not call_add(folder)
        assert call_add(folder)
    with monkeypatch.context() as patch:
        patch.setattr("numba.config.BOUNDSCHECK", 1)
        assert not call_add(folder)
    assert call_add(folder)
    assert len(cached_files(folder)) == 3
    (folder / "sums.py").write_text(SOURCE + "\n# changed\n")
    assert not call_add(folder)
    assert call_add(folder)
    assert not file.exists()  # what was compiled from the earlier source is removed


@pytest.mark.fault(number=12)
def test_a_source_that_changes_under_a_running_program_is_not_mixed_up(tmp_path):
    source = tmp_path / "sums.py"
    source.write_text(SOURCE)
    code: dict = {}
    exec(compile(SOURCE, str(source), "exec"), code)
    source.write_text(SOURCE.replace("a + b", "a - b"))
    assert code["add"](1, 2) == 3
    assert cached_files(tmp_path) == []


@pytest.mark.fault(number=21)
def test_unused_files_are_removed(cached):
    folder, file = cached
    long_ago = time.time() - (MAX_UNUSED_DAYS + 1) * DAY
    unused = [file.with_name(f"gone.{name}") for name in ("kernel", "kernel-part")]
    others = [file.with_name(name) for name in ("theirs.nbi", "sums.cpython-311.pyc")]
    for path in unused + others:
        path.write_bytes(b"")
        os.utime(path, (long_ago, long_ago))
    os.utime(file, (long_ago, long_ago))
    assert call_add(folder)  # it is used now
    call_add(folder, 0.5, 1.0)
    assert not any(path.exists() for path in unused)
    assert all(path.exists() for path in others)
    assert len(cached_files(folder)) == 2  # that of whole numbers, and that of the other call
    assert file.exists()


class Attack:
    """A pickle that makes a folder when it is read."""

    def __init__(self, path):
        self._path = str(path)

    def __reduce__(self):
        return os.mkdir, (self._path,)


@pytest.mark.fault(number=26)
@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
def test_files_that_others_can_write_are_not_read(cached):
    folder, file = cached
    file.write_bytes(with_digest(pickle.dumps(Attack(folder / "attacked"))))
    file.chmod(0o666)
    assert not call_add(folder)
    assert not (folder / "attacked").exists()
    assert call_add(folder)


@pytest.mark.fault(number=26)
@pytest.mark.skipif(os.name != "posix", reason="Windows has no such owners")
@pytest.mark.parametrize(
    ("owner", "mode", "trusted"),
    [(7, 0o644, True), (0, 0o644, True), (8, 0o644, True), (9, 0o644, False), (7, 0o664, False), (7, 0o646, False)],
)
def test_only_files_of_this_user_root_and_the_owner_of_the_source_are_trusted(monkeypatch, owner, mode, trusted):
    monkeypatch.setattr(_kernel_files, "_user", lambda: 7)

    def status(owner, mode):
        return os.stat_result((mode, 1, 1, 1, owner, 0, 10, 0, 0, 0))

    assert _kernel_files._is_trusted(status(owner, mode), status(8, 0o644)) == trusted
    assert _kernel_files._is_trusted(status(7, 0o664), status(8, 0o664))  # as on disks that know no modes


@pytest.mark.fault(number=18)
def test_users_write_files_of_their_own(tmp_path, monkeypatch):
    source = tmp_path / "sums.py"
    source.write_text("")
    file = KernelFile(folder=str(tmp_path), kernel="k", build="b", call="c", source=str(source))
    owners = (os.stat(source).st_uid, os.stat(source).st_uid + 1)
    for user in owners:
        monkeypatch.setattr(_kernel_files, "_user", lambda user=user: user)
        file.write(b"of %d" % user)
    assert len(list(kernel_files(tmp_path))) == 2
    monkeypatch.setattr(_kernel_files, "_user", lambda: owners[0])
    assert file.read() == b"of %d" % owners[0]


def test_kernels_use_this_cache():
    from surefoot._jit import KernelCache
    from surefoot._random import fill_bits

    surefoot._random.random_bits(np.uint64(1), 2)
    assert isinstance(fill_bits._cache, KernelCache)
    assert any(file.name.startswith("_random.fill_bits") for file in kernel_files(Path(fill_bits.stats.cache_path)))
