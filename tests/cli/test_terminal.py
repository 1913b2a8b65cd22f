"""What commands print: hostile names, encodings without the characters, standard output that fails."""

import io
import os
import signal
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from reference.audit_tables import numbers
from run_command import run_command

from surefoot.cli.terminal import in_one_line, printable

pytestmark = pytest.mark.fault(number=27)
needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs the devices and signals of a POSIX system")
RED, TITLE = "\x1b[31m", "\x1b]0;title\x07"


def table(path, **columns):
    X, _ = numbers(40)
    X.assign(**columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("größe 尺寸 ✓\t€\n", "größe 尺寸 ✓\t€\n"),
        (f"{RED}a{TITLE}\r\x7f\x9b2J", "\\x1b[31ma\\x1b]0;title\\x07\\r\\x7f\\x9b2J"),
        ("a\u202eb\u2066c\u2028\udc80", "a\\u202eb\\u2066c\\u2028\\udc80"),
    ],
    ids=["usual", "control", "direction"],
)
def test_characters_that_steer_a_terminal_are_escaped(text, printed):
    assert printable(text) == printed


def test_a_line_is_one_line_of_bounded_length():
    assert in_one_line("a\nb") == "a b"
    assert len(in_one_line("x" * 100_000)) == 2000


@pytest.mark.parametrize("stream", ["out", "err"])
def test_names_and_labels_of_a_table_do_not_steer_the_terminal(stream, tmp_path, capfd):
    labels = np.where(np.arange(40) % 2, f"{TITLE}p", "q")
    path = table(tmp_path / f"{RED}t.csv", **{f"{RED}a": np.arange(40) % 7 * 1.0, f"{TITLE}b": 1.0, "y": labels})
    if stream == "out":
        assert run_command("select", path, "--target", "y", "--jobs", 1) == 0
        printed = capfd.readouterr().out
        assert "\\x1b]0;title\\x07b: Every row has the value" in printed
    else:
        assert run_command("fit", path, "--target", f"{RED}z", "-o", tmp_path / "m") == 2
        printed = capfd.readouterr().err
        assert "\\x1b[31mt.csv has no column" in printed
    assert "\x1b" not in printed
    assert "\x07" not in printed


def test_an_encoding_without_the_characters(tmp_path, monkeypatch):
    path = table(tmp_path / "t.csv", **{"größe ✓": 1.0, "y": np.arange(40) % 2})
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert run_command("select", path, "--target", "y", "--jobs", 1) == 0
    assert b"gr\\xf6\\xdfe \\u2713: Every row has the value" in out.buffer.getvalue()


@needs_posix
@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("select", "t.csv", "--target", "y")], ids=" ".join)
def test_a_full_disk_behind_standard_output(arguments, tmp_path, monkeypatch, capfd):
    table(tmp_path / "t.csv", y=np.arange(40) % 2)
    monkeypatch.chdir(tmp_path)
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run_command(*arguments) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert "No space left on device" in err


@needs_posix
@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("select", "t.csv", "--target", "y")], ids=" ".join)
def test_a_reader_that_has_gone_is_no_fault(arguments, tmp_path, monkeypatch, capfd):
    table(tmp_path / "t.csv", y=np.arange(40) % 2)
    monkeypatch.chdir(tmp_path)
    more = ("--json", "s.json") if arguments[0] == "select" else ()
    reading, writing = os.pipe()
    os.close(reading)
    with suppress(BrokenPipeError), open(writing, "w", encoding="utf-8") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert run_command(*arguments, *more) == 0
    assert capfd.readouterr().err == ""
    assert not more or (tmp_path / "s.json").stat().st_size > 100


def test_no_standard_output_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert run_command("select", table(tmp_path / "t.csv", y=np.arange(40) % 2), "--target", "y") == 0
    sys.stdout.close()


STOPPED_WHILE_IMPORTING = """
import os, signal, sys

class Stop:
    def find_spec(self, name, *others):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Stop())
from surefoot.cli import main
main()
"""


@needs_posix
@pytest.mark.fault(number=19)
@pytest.mark.parametrize("name", ["sklearn", "typer"])
def test_ctrl_c_during_imports_ends_without_a_traceback(name, tmp_path):
    """The first is imported by the package, the second by the command."""
    (tmp_path / "surefoot").write_text(STOPPED_WHILE_IMPORTING.format(name=name), encoding="utf-8")
    command = [sys.executable, str(tmp_path / "surefoot"), "--version"]
    stopped = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (130, "", "")


def test_ctrl_c_in_programs_that_import_the_package_is_theirs():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_rows_and_columns_that_are_left_out_are_counted(tmp_path, capfd):
    targets = np.where(np.arange(40) % 4, np.where(np.arange(40) % 3, "p", "q"), "NA")
    path = table(tmp_path / "t.csv", y=targets, always=1.0)
    expected = ["10 rows without a target were left out. Empty cells, NA and similar words are missing values."]
    expected.append("always: Every row has the value 1.0: left out.")
    assert run_command("select", path, "--target", "y") == 0
    assert capfd.readouterr().out.splitlines()[:2] == expected
    for name in ("t.csv", "t.parquet"):
        pd.read_csv(path).to_parquet(tmp_path / "t.parquet")
        folder = () if name == "t.csv" else ("--folder", tmp_path / "bins")
        fit = ("fit", tmp_path / name, "--target", "y", "-o", tmp_path / "m", "--members", 1, *folder)
        assert run_command(*fit) == 0
        assert capfd.readouterr().out.splitlines()[:2] == expected


def test_numbers_too_large_to_select_by(tmp_path, capfd, monkeypatch):
    path = table(tmp_path / "t.csv", large=np.arange(40) * 1e150 % 7e150, y=np.arange(40) % 2)
    assert run_command("select", path, "--target", "y") == 2
    assert "Columns have numbers too large, or too small, to be squared" in capfd.readouterr().err
    table(path, y=np.arange(40) % 2)
    command = sys.modules["surefoot.cli.select"]
    of_trees = command.column_set
    monkeypatch.setattr(command, "column_set", lambda *given: [] if given[2] == "LASSO" else of_trees(*given))
    assert run_command("select", path, "--target", "y") == 0
    assert "LASSO: left out. Columns have numbers too large" in capfd.readouterr().out
