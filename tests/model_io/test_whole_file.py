"""A file is replaced completely or not at all, also if writing fails."""

import errno
import os
import signal
import subprocess
import sys

import pytest
from small_models import STORED, small_model

import surefoot
from surefoot.model_io import model_file

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs the signals and limits of a POSIX system")
OLD = b"the old content"
SAVE_A_MODEL = f"""
import os, resource, signal, sys, surefoot
model = surefoot.load({str(STORED / "1" / "stumps.surefoot")!r})
{{before}}
surefoot.save(model, sys.argv[1])
"""


@pytest.fixture
def old_file(tmp_path):
    path = tmp_path / "model.surefoot"
    path.write_bytes(OLD)
    return path


def run_script(before, path):
    script = SAVE_A_MODEL.format(before=before)
    return subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, check=False, timeout=120
    )


def fails_after_half(error):
    def write(stream, text, arrays):
        stream.write(text[: len(text) // 2])
        raise error

    return write


@pytest.mark.fault(number=22)
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()], ids=repr
)
def test_a_failure_while_writing_keeps_the_old_file(error, old_file, monkeypatch):
    monkeypatch.setattr(model_file, "write_archive", fails_after_half(error))
    with pytest.raises(type(error)):
        surefoot.save(small_model("stumps"), old_file)
    assert old_file.read_bytes() == OLD
    assert os.listdir(old_file.parent) == [old_file.name]


@pytest.mark.fault(number=22)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_after_writing_keeps_the_old_file(step, old_file, monkeypatch):
    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(KeyboardInterrupt):
        surefoot.save(small_model("stumps"), old_file)
    assert old_file.read_bytes() == OLD
    assert os.listdir(old_file.parent) == [old_file.name]


@pytest.mark.fault(number=22)
def test_a_file_that_cannot_be_read_back_is_removed(old_file, monkeypatch):
    def fail(stream):
        raise surefoot.ModelFileError("a part is missing")

    monkeypatch.setattr(model_file, "read_stream", fail)
    with pytest.raises(surefoot.ModelFileError, match="This AdaBoostClassifier cannot be saved: a part is missing"):
        surefoot.save(small_model("stumps"), old_file)
    assert old_file.read_bytes() == OLD
    assert os.listdir(old_file.parent) == [old_file.name]


@pytest.mark.fault(number=22)
@needs_posix
def test_a_full_disk_keeps_the_old_file(old_file):
    limit = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    run = run_script(limit, old_file)
    assert "OSError: [Errno 27] File too large" in run.stderr
    assert old_file.read_bytes() == OLD
    assert os.listdir(old_file.parent) == [old_file.name]


@pytest.mark.fault(number=22)
@needs_posix
def test_a_killed_process_keeps_the_old_file(old_file, fresh_process):
    killed = "os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)"
    run = fresh_process(f"import sys; sys.argv = ['', {str(old_file)!r}]\n" + SAVE_A_MODEL.format(before=killed))
    assert run.returncode == -signal.SIGKILL
    assert old_file.read_bytes() == OLD
    surefoot.save(small_model("stumps"), old_file)  # the temporary file of the killed process does not matter
    surefoot.load(old_file)


@pytest.mark.fault(number=22)
def test_the_new_file_replaces_the_old_one(old_file):
    surefoot.save(small_model("majority"), old_file)
    assert type(surefoot.load(old_file)) is surefoot.MajorityBoostClassifier
    surefoot.save(small_model("stumps"), str(old_file))
    assert type(surefoot.load(str(old_file))) is surefoot.AdaBoostClassifier
    assert os.listdir(old_file.parent) == [old_file.name]


@pytest.mark.fault(number=22)
@needs_posix
def test_links_and_permissions_are_kept(old_file):
    link = old_file.with_name("link")
    link.symlink_to(old_file)
    old_file.chmod(0o640)
    surefoot.save(small_model("stumps"), link)
    assert link.is_symlink()
    assert old_file.read_bytes() != OLD
    assert old_file.stat().st_mode & 0o777 == 0o640


@pytest.mark.fault(number=22)
@needs_posix
def test_a_new_file_has_the_default_permissions(tmp_path):
    surefoot.save(small_model("stumps"), tmp_path / "model.surefoot")
    (tmp_path / "other").touch()
    assert (tmp_path / "model.surefoot").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.fault(number=22)
def test_invalid_paths(tmp_path):
    with pytest.raises(FileNotFoundError):
        surefoot.save(small_model("stumps"), tmp_path / "nowhere" / "model.surefoot")
    with pytest.raises(OSError, match="directory"):
        surefoot.save(small_model("stumps"), tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        surefoot.load(tmp_path / "nowhere.surefoot")
    with pytest.raises(OSError, match="directory"):
        surefoot.load(tmp_path)
