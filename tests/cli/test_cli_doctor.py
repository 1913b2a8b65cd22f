"""``surefoot doctor``: the installation, a trial, repairs of the kernel cache, and a report."""

import importlib
import os
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import surefoot
from surefoot import _random
from surefoot._kernel_files import kernel_files
from surefoot.cli import doctor, installation
from surefoot.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, ["doctor", *arguments])


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A folder with a damaged kernel, which fails the trial, and one of an earlier version."""
    (tmp_path / "damaged.kernel").write_bytes(b"cut off")
    (tmp_path / "earlier.nbi").write_bytes(b"cut off")
    monkeypatch.setattr(doctor, "TRIAL", f"import os; assert not os.path.exists({str(tmp_path / 'damaged.kernel')!r})")
    monkeypatch.setattr(installation, "cache_folders", lambda: [tmp_path])
    return tmp_path


def test_the_doctor_prints_versions_and_trains(monkeypatch):
    monkeypatch.setattr(doctor, "TRIAL", "pass")  # that of users is run below
    result = run()
    assert result.exit_code == 0, result.output
    assert f"surefoot       {surefoot.__version__}" in result.stdout
    assert "everything trains" in result.stdout


@pytest.mark.fault(number=21)
def test_the_doctor_repairs_a_broken_cache(cache):
    result = run()
    assert result.exit_code == 0, result.output
    assert "1 of them are damaged" in result.stdout
    assert "repaired" in result.stdout
    assert list(cache.iterdir()) == []


@pytest.mark.fault(number=21)
def test_the_doctor_clears_what_it_can(cache, monkeypatch):
    (cache / "a folder.kernel").mkdir()
    (cache / "a folder.kernel" / "within").write_bytes(b"")
    unlink = Path.unlink

    def fail(path, **settings):
        if path.name == "damaged.kernel":
            raise PermissionError(1, "Operation not permitted")
        unlink(path, **settings)

    monkeypatch.setattr(Path, "unlink", fail)
    result = run("--clear")
    assert result.exit_code == 1
    assert "2 files of the kernel cache removed" in result.stdout
    assert re.search(r"not removed .*damaged.kernel: Operation not permitted", result.stdout)
    assert [file.name for file in cache.iterdir()] == ["damaged.kernel"]


def test_the_doctor_reports_that_training_fails(cache, monkeypatch):
    monkeypatch.setattr(doctor, "TRIAL", "raise RuntimeError('no use')")
    result = run()
    assert result.exit_code == 1
    assert "no use" in result.stderr


@pytest.mark.parametrize(
    ("script", "max_seconds", "problem"),
    [
        ("import os; os.kill(os.getpid(), 11)", 60, "ended by SIGSEGV"),
        ("import time; time.sleep(60)", 0.5, "did not end in 0.5 s"),
        ("import sys; sys.exit(3)", 60, "exit code 3"),
    ],
    ids=["crash", "endless", "silent"],
)
@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_the_doctor_names_what_ended_the_trial(monkeypatch, script, max_seconds, problem):
    monkeypatch.setattr(doctor, "TRIAL", script)
    monkeypatch.setattr(doctor, "MAX_TRIAL", max_seconds)
    assert problem in doctor.trial()


@pytest.mark.fault(number=21)
def test_the_folders_of_all_kernels_are_found():
    _random.random_bits(np.uint64(1), 2)
    folders = set(installation.cache_folders())
    assert Path(_random.fill_bits.stats.cache_path) in folders
    for room in ("data.binner", "trees.leaves", "boosting.stump_kernels", "selection.table", "shift.gram"):
        module = importlib.import_module(f"surefoot.{room}")
        paths = {each.stats.cache_path for each in vars(module).values() if hasattr(each, "py_func")}
        assert {Path(path) for path in paths if Path(path).is_dir()} <= folders


def test_the_trial_of_the_doctor_runs_and_the_cache_is_found():
    assert doctor.trial() is None
    assert any(any(kernel_files(folder)) for folder in installation.cache_folders())


def test_a_report_can_be_pasted(cache, monkeypatch):
    monkeypatch.setenv("HOME", str(cache))
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    monkeypatch.setenv("OMP_PLACES", str(cache / "places"))
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    monkeypatch.setattr(doctor, "TRIAL", f"import warnings\nraise RuntimeError({str(cache / 'table.csv')!r})")
    result = run("--report")
    assert result.exit_code == 1
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines() if re.match(r"\S+ +\S", line))
    for name in ("numba", "llvmlite", "scikit-learn", "catboost", "hessboost", "Python", "system", "openblas"):
        assert name in lines
    assert (lines["NUMBA_NUM_THREADS"], lines["OMP_PLACES"]) == ("1", "~/places")
    assert "RuntimeError: ~/table.csv" in result.stdout
    assert "in <module>" in result.stdout  # the whole error
    assert str(cache) not in result.stdout
    assert "hidden" not in result.stdout
    assert len(list(cache.iterdir())) == 2  # a report changes nothing


def test_a_report_and_clear_exclude_each_other():
    result = run("--report", "--clear")
    assert (result.exit_code, "use one of them" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("home", "text", "expected"),
    [
        ("/home/ada", "/home/ada/t.csv and /home/adam", "~/t.csv and /home/adam"),
        ("/", "/srv/t.csv", "/srv/t.csv"),
    ],
)
def test_the_home_folder_is_replaced(monkeypatch, home, text, expected):
    monkeypatch.setattr(Path, "home", lambda: Path(home))
    assert installation.without_home(text) == expected
