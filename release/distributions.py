"""``make dist``: build what a release consists of, and use each part in an environment with nothing else in it.

The wheel is built from the source archive, so the archive builds from itself. The archive is then unpacked, and its
tests are collected and partly run there: they find every file that they read.
"""

import shutil
import tarfile
import time
from pathlib import Path

from archives import check_sdist, check_wheel
from environments import BUILD, ROOT, Environment, with_extras

DIST = ROOT / "dist"
PROJECTS = {"surefoot": ".", "surefoot_experiments": "experiments"}
EXTRAS = ((), ("cli",), ("dask",), ("onnx",), ("explain",))
SMOKE_TEST = Path(__file__).with_name("smoke_test.py")
READ_FILES = (  # tests that read other files of the repository than Python's
    "tests/model_io/test_stored_models.py",
    "tests/report/test_json_schema.py",
    "tests/test_docs_site.py",
    "tests/test_releases.py",
    "experiments/tests/test_stored_results.py",
)


def main() -> None:
    """Build, then check the wheels, the experiments and the tests of the source archive."""
    started = time.perf_counter()
    wheels, sdists = build()
    for extras in EXTRAS:
        environment = Environment.make("-".join(("smoke", *extras)))
        environment.install(with_extras(wheels["surefoot"], extras))
        environment.run("-W", "error", SMOKE_TEST, *(extras or ["questions"]))
    check_experiments(wheels)
    check_tests_of(sdists["surefoot"])
    print(f"dist/ is ready: all works ({time.perf_counter() - started:.0f} s)")


def build() -> tuple[dict[str, Path], dict[str, Path]]:
    """Build the source archives, and from them the wheels; return both by distribution."""
    shutil.rmtree(DIST, ignore_errors=True)
    builder = Environment.make("builder")
    builder.install("build>=1.2", "twine>=6.1")
    wheels, sdists = {}, {}
    for name, folder in PROJECTS.items():
        builder.run("-m", "build", "--outdir", DIST, ROOT / folder)
        wheels[name], sdists[name] = only(f"{name}-*.whl"), only(f"{name}-*.tar.gz")
        check_wheel(wheels[name], folder)
        check_sdist(sdists[name], folder)
    builder.run("-m", "twine", "check", "--strict", *wheels.values(), *sdists.values())
    return wheels, sdists


def only(pattern: str) -> Path:
    """The only file of ``dist/`` with this name."""
    [path] = DIST.glob(pattern)
    return path


def check_experiments(wheels: dict[str, Path]) -> None:
    """``surefoot reproduce`` comes with the second distribution."""
    environment = Environment.make("smoke-experiments")
    environment.install(with_extras(wheels["surefoot"], ["cli"]), wheels["surefoot_experiments"])
    environment.run("-W", "error", "-c", "from surefoot.cli import main; main()", "reproduce", "--help")


def check_tests_of(sdist: Path) -> None:
    """The tests in the unpacked archive can all be imported, and those that read files find them."""
    folder = BUILD / "unpacked"
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    [root] = folder.iterdir()
    environment = Environment.make("tests")
    environment.install(f"{root}[test]", f"{root / 'experiments'}[test]")
    environment.run("-m", "pytest", "--collect-only", "-qqq", "tests", "experiments/tests", folder=root)
    environment.run("-m", "pytest", *READ_FILES, folder=root)


if __name__ == "__main__":
    main()
