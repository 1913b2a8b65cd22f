"""Outputs never replace inputs, each other, devices or pipes; they are checked before the work."""

import os
import shlex
import stat
import subprocess
import sys
import threading

import pytest
from reference.audit_tables import numbers
from typer.testing import CliRunner

from surefoot import GradientBoostingRegressor, load, save
from surefoot._atomic_io import open_descriptor, whole_file, write_text
from surefoot.cli.app import app

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs the devices and pipes of a POSIX system")


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def model_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.surefoot"
    X, y = numbers(40)
    save(GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X.select_dtypes("number"), y), path)
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path, model_bytes, monkeypatch):
    """A folder with a table and a model, and links to both; training and reading raise an error."""
    X, y = numbers(40)
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    X.to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "m.surefoot").write_bytes(model_bytes)
    for name in ("d.csv", "m.surefoot", "new.csv"):
        (tmp_path / f"link-{name}").symlink_to(tmp_path / name)
        os.link(tmp_path / name, tmp_path / f"hard-{name}")
    (tmp_path / "folder").mkdir()
    (tmp_path / "way").symlink_to(tmp_path)

    def work(*arguments, **options):
        raise AssertionError("the work has begun")

    for command in ("audit", "fit", "predict", "select"):
        if hasattr(sys.modules[f"surefoot.cli.{command}"], "read_table_file"):
            monkeypatch.setattr(sys.modules[f"surefoot.cli.{command}"], "read_table_file", work)
    return tmp_path


def refusal(folder, command):
    """The error line of a command; nothing in the folder has changed."""
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    result = run(*(str(folder / word[1:]) if word.startswith("@") else word for word in shlex.split(command)))
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return result.stderr


OVERWRITES = [
    "predict @m.surefoot @d.csv -o @d.csv",
    "predict @m.surefoot @d.csv -o @m.surefoot",
    "predict @link-m.surefoot @d.csv -o @m.surefoot",
    "fit @d.csv --target y -o @d.csv",
    "audit @d.csv --target y -o @d.csv",
    "audit @d.csv --target y --json @d.csv",
    "audit @d.csv --target y --new @new.csv -o @new.csv",
    "audit @d.csv --target y --new @new.csv --json @new.csv",
    "audit @d.csv --target y --predictions @new.csv --json @new.csv",
    "audit @d.csv --target y --markdown @d.csv",
    "audit @d.csv --target y --junit @d.csv",
    "select @d.csv --target y --json @d.csv",
]


@pytest.mark.parametrize("command", OVERWRITES)
@pytest.mark.parametrize("other", ["", "link-", "hard-", "way/", "folder/../"])
def test_an_output_that_is_an_input_is_refused(command, other, folder):
    start, _, last = command.rpartition("@")
    assert "would overwrite it" in refusal(folder, f"{start}@{other}{last}")


@pytest.mark.parametrize("second", ["x", "way/x", "folder/../x"])
def test_two_outputs_with_the_same_name_are_refused(second, folder):
    assert "are the same file" in refusal(folder, f"audit @d.csv --target y -o @x --json @{second}")
    (folder / "x").touch()
    assert "are the same file" in refusal(folder, f"audit @d.csv --target y -o @x --json @{second}")


def test_the_default_page_is_checked_too(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "d-audit.html").symlink_to(folder / "d.csv")
    assert "would overwrite it" in refusal(folder, "audit @d.csv --target y")


WRITES = [
    "predict @m.surefoot @d.csv -o @OUT",
    "fit @d.csv --target y -o @OUT",
    "audit @d.csv --target y -o @OUT",
    "audit @d.csv --target y --json @OUT",
    "select @d.csv --target y --json @OUT",
]


@pytest.mark.parametrize("command", WRITES)
def test_outputs_that_cannot_be_written_are_refused_before_the_work(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert "it is a folder" in refusal(folder, command.replace("OUT", "folder"))
    assert "there is no folder" in refusal(folder, command.replace("OUT", "nowhere/x"))
    assert "there is no folder" in refusal(folder, command.replace("OUT", "d.csv/x"))
    assert "File name too long" in refusal(folder, command.replace("OUT", "x" * 300))


@needs_posix
@pytest.mark.parametrize("command", WRITES)
def test_a_folder_without_write_access_is_refused_before_the_work(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    if os.geteuid() == 0:  # permissions do not stop root, but a system folder does
        assert "no file can be created in the folder" in refusal(folder, command.replace("@OUT", "/proc/x"))
        return
    (folder / "folder").chmod(0o500)
    assert "no file can be created in the folder" in refusal(folder, command.replace("OUT", "folder/x"))


@needs_posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="nothing is write-protected from root")
def test_a_write_protected_file_is_not_replaced(folder):
    (folder / "kept").touch(mode=0o400)
    assert "it is write-protected" in refusal(folder, "fit @d.csv --target y -o @kept")


@pytest.fixture
def ready(tmp_path, model_bytes):
    """A folder with a model and a table for it."""
    X, _ = numbers(40)
    X.select_dtypes("number").to_csv(tmp_path / "d.csv", index=False)
    (tmp_path / "m.surefoot").write_bytes(model_bytes)
    return tmp_path


@needs_posix
def test_devices_are_written_to_and_not_replaced(ready):
    result = run("predict", ready / "m.surefoot", ready / "d.csv", "-o", "/dev/null")
    assert (result.exit_code, result.stderr) == (0, "")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    (ready / "link").symlink_to("/dev/null")
    assert run("predict", ready / "m.surefoot", ready / "d.csv", "-o", ready / "link").exit_code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    save(load(ready / "m.surefoot"), "/dev/null")
    write_text("/dev/null", "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@needs_posix
def test_a_named_pipe_is_written_to_and_not_replaced(ready):
    pipe, read = ready / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    result = run("predict", ready / "m.surefoot", ready / "d.csv", "-o", pipe)
    reader.join(timeout=60)
    assert result.exit_code == 0, result.output
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    assert run("predict", ready / "m.surefoot", ready / "d.csv", "-o", ready / "p.csv").exit_code == 0
    assert read == [(ready / "p.csv").read_bytes()]


@needs_posix
def test_a_model_can_be_written_to_a_pipe(ready):
    pipe, read = ready / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    save(load(ready / "m.surefoot"), pipe)
    reader.join(timeout=60)
    assert read == [(ready / "m.surefoot").read_bytes()]


def in_bash(folder, line):
    start = f"{shlex.quote(sys.executable)} -c 'from surefoot.cli import main; main()' predict m.surefoot d.csv"
    return subprocess.run(
        ["bash", "-c", line.replace("PREDICT", start)], cwd=folder, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


@needs_posix
def test_standard_output_and_process_substitution(ready):
    """A file that is appended to, and the input of another process."""
    assert run("predict", ready / "m.surefoot", ready / "d.csv", "-o", ready / "p.csv").exit_code == 0
    expected = (ready / "p.csv").read_text()
    result = in_bash(ready, "{ echo before; PREDICT -o /dev/stdout; } >> all; PREDICT -o >(cat > through); wait")
    assert result.returncode == 0, result.stderr
    assert (ready / "all").read_text() == "before\n" + expected  # the summary is on standard error
    assert result.stderr == "40 rows: /dev/stdout\n"
    assert "40 rows: /dev/fd/" in result.stdout
    for _ in range(100):  # the other process may still be writing
        if (ready / "through").read_text() == expected:
            break
        threading.Event().wait(0.1)
    assert (ready / "through").read_text() == expected


@needs_posix
def test_a_closed_pipe_gives_one_line(ready):
    reading, writing = os.pipe()
    os.close(reading)
    result = run("predict", ready / "m.surefoot", ready / "d.csv", "-o", f"/dev/fd/{writing}")
    os.close(writing)
    assert (result.exit_code, result.stderr) == (
        2,
        "surefoot: an output is a pipe that was closed before everything was written.\n",
    )


@needs_posix
def test_an_open_file_is_written_to_at_its_position(ready):
    with open(ready / "open", "w+b", buffering=0) as stream:
        stream.write(b"before\n")
        result = run("predict", ready / "m.surefoot", ready / "d.csv", "-o", f"/dev/fd/{stream.fileno()}")
        assert result.exit_code == 0, result.output
        stream.write(b"after\n")
    lines = (ready / "open").read_text().splitlines()
    assert (lines[0], lines[1][:10], len(lines), lines[-1]) == ("before", "prediction", 43, "after")


@needs_posix
def test_names_of_open_files(tmp_path):
    assert open_descriptor("/dev/stdout") == 1
    assert open_descriptor("/dev/fd/../fd/63") == 63
    assert open_descriptor(f"/proc/{os.getpid()}/fd/5") == 5
    (tmp_path / "link").symlink_to("/dev/stderr")
    assert open_descriptor(tmp_path / "link") == 2
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for path in (tmp_path / "round", tmp_path, tmp_path / "nothing", "/dev/null", "1"):
        assert open_descriptor(path) is None


@needs_posix
def test_output_that_fails_is_not_written_to_a_device(tmp_path):
    """Opening a pipe without a reader would block the test."""
    os.mkfifo(tmp_path / "pipe")

    def fill():
        with whole_file(tmp_path / "pipe") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
