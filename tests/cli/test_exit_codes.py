"""Every command ends with an exit code of the table in docs/command-line.md, and explains itself in one line."""

import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest
from reference.audit_tables import numbers
from run_command import run_command

from surefoot import GradientBoostingRegressor, save
from surefoot.cli import DONE, FAILED, INTERNAL_ERROR, INTERRUPTED, USER_ERROR
from surefoot.cli.app import app
from surefoot.cli.process import DEBUG

pytestmark = pytest.mark.fault(number=27)
PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
COMMANDS = ("audit", "compare", "doctor", "export", "fit", "predict", "reproduce", "select")


@pytest.fixture(scope="module")
def model_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.surefoot"
    save(GradientBoostingRegressor(n_estimators=2, random_state=0).fit(*numbers(40)), path)
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path, model_bytes, monkeypatch):
    """The current folder: a table, a file of text, and a model."""
    X, y = numbers(40)
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    X.assign(y=1.0).to_csv(tmp_path / "constant.csv", index=False)
    (tmp_path / "text.csv").write_text("no table\n", encoding="utf-8")
    (tmp_path / "m.surefoot").write_bytes(model_bytes)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capfd):
    """A function that runs the command in this process: the exit code, and what it prints."""

    def command(line):
        return run_command(*shlex.split(line)), *capfd.readouterr()

    return command


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


WRONG = [
    ("audit t.csv", "Missing option '--target'"),
    ("audit t.csv --target nothing", "has no column 'nothing'"),
    ("audit t.csv --target y --seed -1", "--seed: random_state must be between 0 and 4294967295"),
    ("audit t.csv --target y --seed 4294967296", "--seed: random_state must be between 0 and 4294967295"),
    ("audit t.csv --target y --jobs 0", "--jobs: n_jobs must not be 0"),
    ("audit t.csv --target y --max-rows 3", "--max-rows"),
    ("audit t.csv --target y --shift-tolerance nan", "--shift-tolerance"),
    ("audit constant.csv --target y", "--target y: y is '1' in every row"),
    ("audit t.csv --target y --model nothing.surefoot", "--model nothing.surefoot"),
    ("audit . --target y", "has no Parquet files"),
    ("compare text.csv", "compare needs two files or more"),
    ("compare text.csv text.csv", "is not an audit that can be read"),
    ("compare nothing.json text.csv", "nothing.json"),
    ("compare t.csv t.csv --against x", "--against"),
    ("doctor --nothing", "No such option: --nothing. surefoot doctor --help lists what is possible."),
    ("export m.surefoot -o m.txt", "must end in .onnx or .json"),
    ("export t.csv -o m.json", "it is not a model file"),
    ("export m.surefoot", "Missing option"),
    ("export m.surefoot -o m.onnx --quantiles x", "--quantiles"),
    ("fit t.csv --target y", "Missing option"),
    ("fit t.csv --target y -o m --seed -1", "--seed: random_state must be between 0 and 4294967295"),
    ("fit t.csv --target y -o m --seed 99999999999999999999", "--seed"),
    ("fit t.csv --target y -o m --members 0", "--members"),
    ("fit t.csv --target y -o m --members x", "--members"),
    ("fit t.csv --target y -o m --jobs 0 --members 1", "--jobs: n_jobs must not be 0"),
    ("fit t.csv --target y -o m --distribution x", "distribution must be one of"),
    ("fit text.csv --target y -o m", "text.csv"),
    ("fit nothing.csv --target y -o m", "There is no file nothing.csv"),
    ("predict m.surefoot text.csv -o p.csv", "text.csv"),
    ("predict t.csv t.csv -o p.csv", "it is not a model file"),
    ("predict . t.csv -o p.csv", "Is a directory"),
    ("predict m.surefoot t.csv -o p.csv more", "unexpected extra argument"),
    ("reproduce nothing", "there is no experiment 'nothing'"),
    ("select t.csv --target y --seed -1", "--seed: random_state must be between 0 and 4294967295"),
    ("select constant.csv --target y", "--target y: y is '1' in every row"),
    ("nothing", "No such command 'nothing'. surefoot --help lists what is possible."),
]


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line for line, _ in WRONG])
def test_wrong_input_gives_one_line_and_exit_code_2(line, message, run, folder):
    before = files(folder)
    code, out, err = run(line)
    errors = [each for each in err.splitlines() if not each.startswith("[")]  # others are progress
    assert (code, out, len(errors)) == (USER_ERROR, "", 1), err
    assert errors[0].startswith("surefoot: ")
    assert message in errors[0]
    assert files(folder) == before


def test_every_command_is_tested():
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert names == set(COMMANDS) == {line.split()[0] for line, _ in WRONG} - {"nothing"}


LINES = {
    "audit": "audit t.csv --target y",
    "compare": "compare a.json b.json",
    "export": "export m.surefoot -o m.json",
    "fit": "fit t.csv --target y -o m",
    "predict": "predict m.surefoot t.csv -o p.csv",
    "select": "select t.csv --target y --json s.json",
}


@pytest.fixture(params=LINES)
def failing(request, monkeypatch):
    """A command line, and a function that lets its first step raise an error."""

    def let_it_raise(error):
        def raise_it(*arguments):
            raise error

        monkeypatch.setattr(sys.modules[f"surefoot.cli.{request.param}"], "check_outputs", raise_it)

    return LINES[request.param], let_it_raise


def test_an_internal_error_has_an_exit_code_of_its_own(failing, run, folder, monkeypatch):
    line, let_it_raise = failing
    let_it_raise(ZeroDivisionError("division\nby zero"))
    code, out, err = run(line)
    assert (code, out, err.count("\n")) == (INTERNAL_ERROR, "", 1)
    assert "internal error" in err
    assert "ZeroDivisionError: division by zero" in err
    assert "surefoot doctor --report" in err
    monkeypatch.setenv(DEBUG, "1")
    code, _, err = run(line)
    assert code == INTERNAL_ERROR
    assert "Traceback (most recent call last)" in err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError("Unable to allocate 80 GiB"), USER_ERROR, "not enough memory"),
        (OSError(28, "No space left on device", "p.csv"), USER_ERROR, "p.csv: No space left on device."),
        (BrokenPipeError(), USER_ERROR, "an output is a pipe that was closed"),
        (KeyboardInterrupt(), INTERRUPTED, "stopped; nothing was written."),
        (ModuleNotFoundError("no pandas", name="pandas"), USER_ERROR, "this command needs 'pandas': pip install"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_errors_of_the_machine(error, code, message, failing, run, folder):
    line, let_it_raise = failing
    let_it_raise(error)
    found, out, err = run(line)
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert message in err


def test_ctrl_c_outside_of_a_command(run, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["surefoot.cli.doctor"], "package_versions", stop)
    code, _, err = run("doctor")
    assert code == INTERRUPTED
    assert "Traceback" not in err


def test_a_warning_is_one_line_and_printed_once(run, folder, monkeypatch):
    def warn(*arguments):
        for _ in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.warn("strange\x1b[31m", UserWarning, stacklevel=1)
        raise MemoryError

    monkeypatch.setattr(sys.modules["surefoot.cli.fit"], "check_outputs", warn)
    _, _, err = run(LINES["fit"])
    assert err.splitlines()[0] == "surefoot: warning: strange\\x1b[31m"
    assert len(err.splitlines()) == 2


def test_without_arguments_the_help_is_printed(run):
    code, out, err = run("")
    assert (code, err) == (DONE, "")
    assert all(name in out for name in COMMANDS)
    assert run("--version")[0] == DONE


def test_the_page_has_every_exit_code():
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)}
    assert listed == {DONE, FAILED, USER_ERROR, INTERNAL_ERROR, INTERRUPTED}
