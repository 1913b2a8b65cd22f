"""``make oldest``: the tests with the oldest version of every dependency that pyproject.toml allows.

The versions are read from pyproject.toml, so there is no second list of them. Packages that only dependencies need are
the newest that pip finds, as for a user who upgrades some packages and not others.
"""

import sys
import time

from dependencies import constraints, declared
from environments import BUILD, ROOT, Environment

PYTHON = (3, 11)  # the oldest that pyproject.toml allows: newer ones have no wheels of such old packages
EXTRAS = ("cli", "dask", "onnx", "explain", "test")
# Whether the code is well laid out does not depend on versions, and neither do the docs and the stored results.
TESTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "tests").iterdir()
    if path.is_dir() and path.name not in ("__pycache__", "models", "reference")
)


def main() -> None:
    """Install the oldest versions in an environment of their own, and run the tests there."""
    if sys.version_info[:2] != PYTHON:
        sys.exit(f"This is Python {sys.version.split()[0]}: run make oldest PYTHON=python{PYTHON[0]}.{PYTHON[1]}.")
    started = time.perf_counter()
    BUILD.mkdir(exist_ok=True)
    listed = BUILD / "oldest.txt"
    listed.write_text("\n".join(constraints(declared(EXTRAS))) + "\n", encoding="utf-8")
    environment = Environment.make("oldest")
    environment.install(f"{ROOT}[{','.join(EXTRAS)}]", constraints=listed)
    environment.run(ROOT / "release" / "smoke_test.py", "questions", "cli", "dask", "onnx", "explain")
    run_tests(environment, "-W", "ignore::DeprecationWarning")  # old packages use names that newer ones deprecate
    print(f"The oldest versions work ({time.perf_counter() - started:.0f} s)")


def run_tests(environment: Environment, *options: str) -> None:
    """The tests of the library that is installed in ``environment``."""
    environment.run("tests/compile_kernels.py", folder=ROOT)
    usual = ("-n", "auto", "--dist", "worksteal", "-m", "not alone", "-p", "no:cacheprovider")
    environment.run("-m", "pytest", *usual, *options, *TESTS, folder=ROOT)


if __name__ == "__main__":
    main()
