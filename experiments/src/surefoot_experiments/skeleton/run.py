"""A run: its folder with one set of settings, its lock, its data files and its progress."""

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot import ParameterError
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.skeleton.report import write_text
from surefoot_experiments.skeleton.unit import GrowingCsv

# The first version of surefoot with the same results as this one: a release with other results raises it. Results of
# two versions are never mixed in one folder, but a release without a change of results can continue a run.
RESULTS_VERSION = "0.1.0"
RESULTS, SETTINGS, SUMMARY = "results.csv", "settings.json", "summary.md"

ProgressCallback = Callable[[int, int, str], None]  # units done, units in all, the next unit


@dataclass(frozen=True)
class Outputs:
    """The files of a finished run."""

    folder: Path

    @property
    def summary(self) -> Path:
        return self.folder / SUMMARY

    @property
    def files(self) -> tuple[Path, ...]:
        """The summary, then the tables, then the pictures."""
        return self.summary, *sorted(self.folder.glob("*.csv")), *sorted(self.folder.glob("*.png"))


def default_folder(experiment: str, quick: bool) -> Path:
    """The default folder of the results; quick runs have a folder of their own."""
    return Path("surefoot-results") / (f"{experiment}-quick" if quick else experiment)


def open_folder(folder: Path, wanted: dict[str, Any], files: dict[str, type[Any]]) -> None:
    """Create the folder and write the settings ``wanted``; refuse a folder with results of other settings.

    ``files`` are the growing files of the run and the kind of their lines; existing files must be readable.
    """
    settings = {"experiment": wanted["experiment"], "version": RESULTS_VERSION, **json.loads(json.dumps(wanted))}
    try:
        checked = settings
        for name, kind in files.items():
            checked = check_settings(folder / SETTINGS, settings, folder / name)
            GrowingCsv(folder / name, kind)
        folder.mkdir(parents=True, exist_ok=True)
        write_settings(folder / SETTINGS, checked)
    except OSError as error:
        raise ParameterError(f"Cannot write to {folder} ({error.strerror}): choose another --out.") from error


def check_jobs(n_jobs: int | None) -> None:
    """Refuse 0 threads."""
    if n_jobs == 0:
        raise ParameterError("jobs must not be 0: use 1 for one thread, -1 for as many as there are cores.")


def choose_count(name: str, wanted: int | None, default: int) -> int:
    """How many seeds or splits to run; None is the default."""
    if wanted is None:
        return default
    if wanted < 1:
        raise ParameterError(f"{name} must be 1 or more, got {wanted}.")
    return wanted


def choose_parts(wanted: Sequence[str] | None, parts: Collection[str]) -> list[str]:
    """The parts of an experiment to run, in the order of the experiment; None is all of them."""
    chosen = parts if wanted is None else wanted
    unknown = [part for part in chosen if part not in parts]
    if unknown or not chosen:
        wrong = f"there is no part {unknown[0]!r}" if unknown else "parts is empty"
        raise ParameterError(f"{wrong}; the parts are {', '.join(parts)}.")
    return [part for part in parts if part in chosen]


def check_settings(path: Path, settings: dict[str, Any], results_path: Path) -> dict[str, Any]:
    """Return the settings to write to ``path``; refuse a folder with results of other settings.

    Data files may be added to a run, but not replaced.
    """
    if not path.exists():
        if results_path.exists():
            raise ParameterError(f"{results_path} exists without {path.name}: choose another --out, or remove it.")
        return settings
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        sources = {**before["sources"], **settings["sources"]}
    except (ValueError, KeyError, TypeError) as error:
        raise ParameterError(f"{path} cannot be read: choose another --out, or remove that folder.") from error
    changed = [key for key in settings if key != "sources" and before.get(key) != settings[key]]
    differences = [f"{key} was {before.get(key)!r}, is {settings[key]!r} now" for key in changed]
    differences += [
        f"{key} was read from {before['sources'][key]!r}, now from {sources[key]!r}"
        for key in before["sources"]
        if before["sources"][key] != sources[key]
    ]
    if differences:
        raise ParameterError(
            f"{path.parent} holds results of other settings ({'; '.join(differences)}): choose another --out."
        )
    return {**settings, "sources": sources}


def write_settings(path: Path, settings: dict[str, Any]) -> None:
    """Write the settings into the folder of their results."""
    write_text(path, json.dumps(settings, indent=2) + "\n")


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Refuse a folder that another run is writing to; a run that was killed leaves no lock behind."""
    try:
        import fcntl
    except ImportError:  # not a Unix system: there is no lock
        yield
        return
    path = folder / ".lock"
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ParameterError(
                f"Another run is writing to {folder}: wait for it, or choose another --out."
            ) from error
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


ENVIRONMENT = "SUREFOOT_DATA"


def find_data_folder(given: str | Path | None, wanted: str) -> Path:
    """``given``, or else the value of the environment variable SUREFOOT_DATA; ``wanted`` names the expected files."""
    named = given if given is not None else os.environ.get(ENVIRONMENT)
    if not named:
        raise DatasetMissingError(f"No data folder: pass --data DIR, or set {ENVIRONMENT} to a folder with {wanted}.")
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise DatasetMissingError(f"{folder} is not a folder: set --data or {ENVIRONMENT} to one with {wanted}.")
    return folder
