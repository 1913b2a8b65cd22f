"""``make pythons``: the smoke test and the tests with every version of Python that is installed here."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from environments import ROOT, Environment
from oldest import run_tests

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("cli", "dask", "onnx", "explain")


def main() -> None:
    """Test the versions of the command line, or all that are found; ``--smoke`` leaves the tests out."""
    smoke, wanted = "--smoke" in sys.argv, [name for name in sys.argv[1:] if name != "--smoke"]
    found = {version: path for version in wanted or VERSIONS if (path := interpreter(version))}
    missing = [version for version in wanted or VERSIONS if version not in found]
    if wanted and missing:
        sys.exit(f"Python {', '.join(missing)} is not installed here.")
    for version, path in found.items():
        started = time.perf_counter()
        environment = Environment.make(f"python-{version}", path)
        environment.install(f"{ROOT}[{','.join(EXTRAS if smoke else ('test',))}]")
        environment.run("-W", "error", ROOT / "release" / "smoke_test.py", "questions", *EXTRAS)
        if not smoke:
            run_tests(environment)
        print(f"Python {version} works ({time.perf_counter() - started:.0f} s)", flush=True)
    print(f"Tested: {', '.join(found)}. Not installed here: {', '.join(missing) or 'none'}.")


def interpreter(version: str) -> str | None:
    """The path of a Python of this version that runs: on the search path, or among those of pyenv."""
    candidates = [shutil.which(f"python{version}"), sys.executable]
    candidates += sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"), reverse=True)
    for candidate in filter(None, candidates):
        code = "import sys, venv; print('.'.join(map(str, sys.version_info[:2])))"
        run = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False)
        if run.stdout.strip() == version:
            return str(candidate)
    return None


if __name__ == "__main__":
    main()
