"""Temporary files of killed processes are removed by the next save, and those of running processes are not."""

import os

import pytest
from fault_sizes import usual_or_long
from small_models import STORED, small_model

import surefoot
from surefoot import _atomic_io

posix = pytest.mark.skipif(os.name != "posix", reason="needs the signals and locks of a POSIX system")
N_KILLS = usual_or_long(3, 200)
N_WRITERS, N_SAVES = usual_or_long((2, 5), (4, 500))
PROLOGUE = f"""
import os, signal, sys, time
from pathlib import Path
import surefoot
model = surefoot.load({str(STORED / "1" / "stumps.surefoot")!r})
folder = Path(sys.argv[1])
path = folder / "model"

def child(task):
    number = os.fork()
    if number == 0:
        task()
        os._exit(0)
    return number

def unfinished():
    return sorted(one.name for one in folder.glob(".surefoot-*.part"))
"""
KILL_SAVES = """
def save_forever():
    while True:
        surefoot.save(model, path)

surefoot.save(model, path)
left = 0
for k in range({n_kills}):
    process = child(save_forever)
    while not unfinished():
        pass
    time.sleep(0.0002 * (k % 20))
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    left += len(unfinished())
    surefoot.load(path)
    surefoot.save(model, path)
    assert os.listdir(folder) == ["model"]
assert left > 0
"""
SAVE_BESIDE = """
fsync, reading, writing = os.fsync, *os.pipe()

def save_slowly():
    def wait(handle):
        os.read(reading, 1)
        fsync(handle)
    os.fsync = wait
    surefoot.save(model, folder / "slow")

process = child(save_slowly)
while not unfinished():
    pass
time.sleep(0.1)
(written,) = unfinished()
surefoot.save(model, path)
assert unfinished() == [written]
os.write(writing, b"xx")  # of the file, and of its folder
assert os.waitpid(process, 0)[1] == 0
assert sorted(os.listdir(folder)) == ["model", "slow"]
surefoot.load(folder / "slow")
"""
SAVE_TOGETHER = """
def save_often():
    for _ in range({n_saves}):
        surefoot.save(model, path)
        surefoot.load(path)

surefoot.save(model, path)
expected = path.read_bytes()
running = {{child(save_often) for _ in range({n_writers})}}
while running:
    assert path.read_bytes() == expected  # never a part of a file
    number, status = os.waitpid(-1, os.WNOHANG)
    assert status == 0
    running.discard(number)
assert os.listdir(folder) == ["model"]
"""


@pytest.fixture
def run_in(fresh_process, tmp_path):
    """A function that runs a script in a process of its own, with the folder of the test."""

    def run(script):
        result = fresh_process(f"import sys; sys.argv = ['', {str(tmp_path)!r}]\n{PROLOGUE}{script}")
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


@posix
@pytest.mark.fault(number=22)
def test_what_a_killed_process_leaves_is_removed_by_the_next_save(run_in):
    run_in(KILL_SAVES.format(n_kills=N_KILLS))


@posix
@pytest.mark.fault(number=22)
def test_a_file_that_another_process_is_writing_stays(run_in):
    run_in(SAVE_BESIDE)


@posix
@pytest.mark.fault(number=22)
def test_processes_that_save_to_one_path_at_once(run_in):
    run_in(SAVE_TOGETHER.format(n_writers=N_WRITERS, n_saves=N_SAVES))


@posix
@pytest.mark.fault(number=22)
def test_only_files_are_removed(tmp_path):
    """Not folders, not links, not pipes, and not what has another name; and the content of a link stays."""
    kept = tmp_path / "kept"
    kept.write_text("kept")
    (tmp_path / ".surefoot-folder.part").mkdir()
    (tmp_path / ".surefoot-link.part").symlink_to(kept)
    os.mkfifo(tmp_path / ".surefoot-pipe.part")
    (tmp_path / ".other.part").touch()
    (tmp_path / ".surefoot-file.part").touch()
    before = set(os.listdir(tmp_path))
    surefoot.save(small_model("stumps"), tmp_path / "model")
    assert set(os.listdir(tmp_path)) == before - {".surefoot-file.part"} | {"model"}
    assert kept.read_text() == "kept"


@posix
@pytest.mark.fault(number=22)
def test_a_file_that_was_removed_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    flock, removed = _atomic_io.fcntl.flock, []

    def remove_once(stream, operation):
        if not removed:
            removed.extend(tmp_path.glob(".surefoot-*.part"))
            removed[0].unlink()
        flock(stream, operation)

    monkeypatch.setattr(_atomic_io.fcntl, "flock", remove_once)
    surefoot.save(small_model("stumps"), tmp_path / "model")
    assert removed
    assert os.listdir(tmp_path) == ["model"]


@posix
@pytest.mark.fault(number=22)
def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(stream, operation):
        raise OSError("Operation not supported")

    monkeypatch.setattr(_atomic_io.fcntl, "flock", refuse)
    (tmp_path / ".surefoot-file.part").touch()
    surefoot.save(small_model("stumps"), tmp_path / "model")
    assert sorted(os.listdir(tmp_path)) == [".surefoot-file.part", "model"]  # it may be another process's


@posix
@pytest.mark.fault(number=22)
def test_a_folder_without_permission(tmp_path, run_in):
    """The error names the path of the user, not that of the temporary file; the file that is there stays as it was."""
    path = tmp_path / "model"
    surefoot.save(small_model("stumps"), path)
    before = path.read_bytes()
    tmp_path.chmod(0o500)
    if os.geteuid() == 0:  # permissions are those of another user
        for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
            folder.chmod(folder.stat().st_mode | 0o055)
    named = run_in("""
if os.geteuid() == 0:
    os.seteuid(65534)
os.chdir("/")
try:
    surefoot.save(model, path)
except PermissionError as error:
    print(error.filename)
""")
    tmp_path.chmod(0o700)
    assert named == f"{path}\n"
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.fault(number=22)
def test_a_folder_in_place_of_a_file(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        surefoot.save(small_model("stumps"), tmp_path / "folder")
    assert caught.value.filename == str(tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]
