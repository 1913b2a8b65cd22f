"""A full disk and Ctrl-C: outputs are as they were or complete, and nothing else is left."""

import errno
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from fault_sizes import usual_or_long
from reference.audit_tables import numbers
from run_command import run_command

from surefoot import GradientBoostingRegressor, load, save

MAX_SECONDS = 1.5
LINES = {
    "audit": ("audit", "t.csv", "--target", "y", "-o", "out", "--json", "out2"),
    "export": ("export", "m.surefoot", "-o", "out.json"),
    "fit": ("fit", "t.csv", "--target", "y", "-o", "out", "--members", 2),
    "predict": ("predict", "m.surefoot", "t.csv", "-o", "out"),
    "select": ("select", "t.csv", "--target", "y", "--json", "out"),
}


def make_inputs(folder, n_rows):
    X, y = numbers(n_rows)
    X.assign(y=y).to_csv(folder / "t.csv", index=False)
    save(GradientBoostingRegressor(n_estimators=2, random_state=0).fit(X, y), folder / "m.surefoot")
    return {path.name for path in folder.iterdir()}


@pytest.mark.fault(number=22)
@pytest.mark.parametrize("name", ["export", "fit", "predict", "select"])
def test_a_full_disk_keeps_the_old_output(name, tmp_path, monkeypatch, capfd):
    inputs = make_inputs(tmp_path, 40)
    output = "out.json" if name == "export" else "out"
    (tmp_path / output).write_text("old")

    def fail(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", fail)
    assert run_command(*LINES[name]) == 2
    assert "No space left on device" in capfd.readouterr().err.splitlines()[-1]
    assert (tmp_path / output).read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == inputs | {output}


@pytest.mark.alone
@pytest.mark.fault(number=19)
@pytest.mark.skipif(os.name != "posix", reason="needs the signals of a POSIX system")
@pytest.mark.parametrize("name", usual_or_long(["fit"], list(LINES)))
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_command_stops_at_any_moment(name, sent, tmp_path):
    inputs = make_inputs(tmp_path, 4000)
    (tmp_path / "surefoot").write_text("from surefoot.cli import main\nmain()\n")
    moments = random.Random(f"{name} {sent}")
    command = [sys.executable, str(tmp_path / "surefoot"), *map(str, LINES[name])]
    for _ in range(usual_or_long(1, 25)):
        running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(moments.uniform(0.3, 30.0 if name == "audit" else 5.0))
        running.send_signal(sent)
        started = time.monotonic()
        _, printed = running.communicate(timeout=60)
        assert time.monotonic() - started < MAX_SECONDS
        left = {path.name for path in tmp_path.iterdir()} - inputs - {"surefoot"}
        assert "Traceback" not in printed
        if running.returncode == 0:
            assert left
        else:  # before the command starts and after it is done, SIGTERM ends the process as usual
            assert running.returncode in ((130,) if sent == signal.SIGINT else (130, -signal.SIGTERM))
        if "out" in left and name == "fit":
            load(tmp_path / "out")  # it is complete
        assert left <= {"out", "out2", "out.json"}
        for each in left:
            (tmp_path / each).unlink()
