"""Environments with nothing in them, into which a distribution is installed as a user does it."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"  # all environments are here, and git ignores it
UNSET = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")  # would let something in from outside


@dataclass(frozen=True)
class Environment:
    """A virtual environment in ``folder``."""

    folder: Path

    @classmethod
    def make(cls, name: str, python: str = sys.executable) -> "Environment":
        """Create the environment ``build/name`` anew, with the interpreter ``python``."""
        folder = BUILD / name
        shutil.rmtree(folder, ignore_errors=True)
        if python == sys.executable:
            venv.create(folder, with_pip=True)
        else:
            subprocess.run([python, "-m", "venv", str(folder)], check=True)
        return cls(folder)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / "python"

    def install(self, *requirements: str | Path, constraints: Path | None = None) -> None:
        """Install with pip, then check that all requirements of all packages are met."""
        options = [] if constraints is None else ["--constraint", str(constraints)]
        self.run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options, *map(str, requirements))
        self.run("-m", "pip", "check")

    def run(self, *arguments: str | Path, folder: Path = BUILD, **variables: str) -> None:
        """Run Python with ``arguments`` in ``folder``; an error ends everything."""
        environment = {name: value for name, value in os.environ.items() if name not in UNSET} | variables
        print(f"{self.folder.name}: python", *arguments, flush=True)
        subprocess.run([str(self.python), *map(str, arguments)], cwd=folder, env=environment, check=True)


def with_extras(distribution: Path, extras: Sequence[str]) -> str:
    """The requirement for a file of the distribution with its extras."""
    return f"{distribution}[{','.join(extras)}]" if extras else str(distribution)
