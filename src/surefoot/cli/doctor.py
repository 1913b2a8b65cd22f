"""``surefoot doctor``: installed versions, and a test that training works."""

import importlib
import os
import pkgutil
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import joblib
import typer

import surefoot
from surefoot.cli import FAILED

PACKAGES = (
    "surefoot",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "joblib",
    "narwhals",
    "pandas",
    "pyarrow",
    "matplotlib",
    "jinja2",
    "typer",
    "rich",
)
PACKAGES_WITH_KERNELS = ("data", "trees", "boosting", "uncertainty", "selection", "shift")
CACHE_FILES = ("*.nbi", "*.nbc")  # the index of a compiled function, and its code
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
) -> None:
    """Show versions, threads and the kernel cache; train small models of every kind, and repair a broken cache.

    The exit code is 0 if training works, also after a repair, and 1 if not.
    """
    for name in PACKAGES:
        typer.echo(f"{name:14} {_version(name)}")
    typer.echo(f"{'Python':14} {platform.python_version()} on {platform.system()} {platform.machine()}")
    typer.echo(f"{'cores':14} {os.cpu_count()}, of which --jobs -1 uses {joblib.cpu_count()}")
    folders = cache_folders()
    for folder in folders:
        files = _files(folder)
        size = sum(file.stat().st_size for file in files) / 1e6
        typer.echo(f"{'kernel cache':14} {folder}: {len(files)} files, {size:.1f} MB")
    if not folders:
        typer.echo(f"{'kernel cache':14} none: no folder can be written, so kernels are compiled in every process")
    if clear:
        typer.echo(f"{'cleared':14} {clear_cache()} files")
    raise typer.Exit(_examine())


def _examine() -> int:
    """Train in a fresh process; if that fails, clear the cache and try again."""
    started, problem = time.perf_counter(), trial()
    if problem is not None:
        removed = clear_cache()
        typer.echo(f"{'trial':14} failed ({problem}); {removed} files of the kernel cache removed, trying again ...")
        problem = trial()
        if problem is None:
            typer.echo(f"{'repaired':14} the kernel cache was broken")
    if problem is not None:
        typer.echo(f"surefoot: training fails, even without the kernel cache: {problem}", err=True)
        return FAILED
    typer.echo(f"{'trial':14} everything trains ({time.perf_counter() - started:.0f} s)")
    return 0


def trial() -> str | None:
    """Train small models of every kind in a fresh process; None, or the error."""
    run = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return None
    lines = run.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {run.returncode}"


def cache_folders() -> list[Path]:
    """The folders of the compiled kernels of surefoot."""
    folders = set()
    for name in PACKAGES_WITH_KERNELS:
        package = importlib.import_module(f"surefoot.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"surefoot.{name}."):
            for thing in vars(importlib.import_module(module.name)).values():
                if hasattr(thing, "py_func") and getattr(thing.stats, "cache_path", None):
                    folders.add(Path(thing.stats.cache_path))
    return sorted(folder for folder in folders if folder.is_dir())


def clear_cache() -> int:
    """Remove the compiled kernels, and return the number of files."""
    files = [file for folder in cache_folders() for file in _files(folder)]
    for file in files:
        file.unlink(missing_ok=True)
    return len(files)


def _files(folder: Path) -> list[Path]:
    return [file for pattern in CACHE_FILES for file in folder.glob(pattern)]


def _version(name: str) -> str:
    if name == "surefoot":
        return surefoot.__version__
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
