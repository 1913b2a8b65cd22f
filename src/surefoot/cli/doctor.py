"""``surefoot doctor``: the installation, a test that training works, and a report for those who look for a mistake."""

import signal
import subprocess
import sys
import time
from typing import Annotated

import typer

from surefoot.cli import FAILED
from surefoot.cli.console import fail
from surefoot.cli.installation import (
    cache_state,
    clear_cache,
    environment_variables,
    machine,
    package_versions,
    without_home,
)

BRIEF = ("Python", "cores")  # what is shown of the machine without --report
MAX_TRIAL = 1800.0  # seconds; on a slow machine, all kernels compile in some minutes
MAX_LINES = 30  # of an error in a report
TRIAL = """
import warnings
import numpy as np
import surefoot
from surefoot.selection import LassoSelector
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(120, 3)), rng.normal(size=120)
surefoot.BestBoostClassifier(n_estimators=5, max_depth=2, random_state=0).fit(X, y > 0).predict(X)
surefoot.AdaBoostClassifier(n_estimators=5).fit(X, y > 0).predict(X)
surefoot.GradientBoostingRegressor(n_estimators=5, langevin=True, random_state=0).fit(X, y).predict(X)
surefoot.BoostingEnsembleClassifier(n_estimators=5, n_members=2, random_state=0).fit(X, y > 0).predict_uncertainty(X)
surefoot.StableSelector(LassoSelector(0.1), n_bags=50, random_state=0).fit(X, y).leave_one_out()
surefoot.VMatrixBoostingRegressor(n_estimators=5, random_state=0).fit(X, y, X_target=X[:50]).predict(X)
"""


def doctor(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove the compiled kernels; they are compiled again.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Print all that a bug report needs, and change nothing.")
    ] = False,
) -> None:
    """Show versions, threads and the kernel cache; train small models of every kind, and repair a broken cache.

    The exit code is 0 if training works, also after a repair, and 1 if not.
    """
    if clear and report:
        fail("--report shows the cache that --clear removes: use one of them.")
    if report:
        raise typer.Exit(_report())
    _print({name: text for name, text in package_versions().items() if text != "not installed"})
    _print({name: text for name, text in machine().items() if name in BRIEF})
    for line in cache_state():
        _print({"kernel cache": line})
    if clear:
        _clear("cleared")
    raise typer.Exit(_examine())


def _report() -> int:
    """Print everything, the user's home folder as ~; train once."""
    for parts in (package_versions(), machine(), environment_variables()):
        _print(parts)
        typer.echo()
    for line in cache_state():
        _print({"kernel cache": line})
    started, problem = time.perf_counter(), trial(MAX_LINES)
    _print({"trial": problem or f"everything trains ({time.perf_counter() - started:.0f} s)"})
    return 0 if problem is None else FAILED


def _print(parts: dict[str, str]) -> None:
    for name, text in parts.items():
        typer.echo(f"{name:14} {without_home(text)}")


def _clear(what: str) -> None:
    n_removed, errors = clear_cache()
    _print({what: f"{n_removed} files of the kernel cache removed"})
    for error in errors:
        _print({"not removed": error})


def _examine() -> int:
    """Train in a fresh process; if that fails, clear the cache and try again."""
    started, problem = time.perf_counter(), trial()
    if problem is not None:
        _print({"trial": f"failed ({problem}); trying again without the kernel cache ..."})
        _clear("cleared")
        problem = trial()
        if problem is None:
            _print({"repaired": "the kernel cache was broken"})
    if problem is not None:
        typer.echo(f"surefoot: training fails, even without the kernel cache: {problem}", err=True)
        return FAILED
    _print({"trial": f"everything trains ({time.perf_counter() - started:.0f} s)"})
    return 0


def trial(max_lines: int = 1) -> str | None:
    """Train small models of every kind in a fresh process; None, or the last lines of the error."""
    command = [sys.executable, "-X", "faulthandler", "-c", TRIAL]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=MAX_TRIAL)
    except subprocess.TimeoutExpired:
        return f"it did not end in {MAX_TRIAL:g} s"
    if run.returncode == 0:
        return None
    lines = run.stderr.strip().splitlines()[-max_lines:]
    if run.returncode < 0:
        lines.append(f"the process was ended by {signal.Signals(-run.returncode).name}")
    return "\n".join(lines[-max_lines:]) or f"exit code {run.returncode}"
