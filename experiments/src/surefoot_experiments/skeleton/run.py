"""A run: its folder with one set of settings, its lock, its data files and its progress."""

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot import ParameterError
from surefoot._atomic_io import write_text
from surefoot_experiments.exceptions import DatasetMissingError
from surefoot_experiments.skeleton.unit import GrowingCsv

RESULTS, SETTINGS, SUMMARY = "results.csv", "settings.json", "summary.md"

Watcher = Callable[[int, int, str], None]  # units done, units in all, what comes next


@dataclass(frozen=True)
class Outputs:
    """The files that a run leaves in its folder."""

    folder: Path

    @property
    def summary(self) -> Path:
        return self.folder / SUMMARY

    @property
    def files(self) -> tuple[Path, ...]:
        """The summary, then tables, then pictures."""
        return self.summary, *sorted(self.folder.glob("*.csv")), *sorted(self.folder.glob("*.png"))


def default_folder(experiment: str, quick: bool) -> Path:
    """Where results go unless told otherwise; quick ones never among the others."""
    return Path("surefoot-results") / (f"{experiment}-quick" if quick else experiment)


def open_folder(folder: Path, wanted: dict[str, Any], files: dict[str, type[Any]]) -> None:
    """Make the folder and write the settings, unless results are there that speak against it.

    ``files`` are the growing files of the run and the kind of their lines; those that are there must be readable.
    """
    from surefoot import __version__

    settings = {"experiment": wanted["experiment"], "version": __version__, **wanted}
    try:
        checked = check_settings(folder / SETTINGS, settings, folder / RESULTS)
        for name, kind in files.items():
            GrowingCsv(folder / name, kind)
        folder.mkdir(parents=True, exist_ok=True)
        write_settings(folder / SETTINGS, checked)
    except OSError as error:
        raise ParameterError(f"Cannot write to {folder} ({error.strerror}): choose another --out.") from error


def check_jobs(n_jobs: int | None) -> None:
    """Refuse 0 threads."""
    if n_jobs == 0:
        raise ParameterError("jobs must not be 0: 1 is one thread, -1 as many as there are.")


def choose_parts(wanted: Sequence[str] | None, parts: Collection[str]) -> list[str]:
    """The parts of an experiment to run, in its own order; None is all of them."""
    chosen = parts if wanted is None else wanted
    unknown = [part for part in chosen if part not in parts]
    if unknown or not chosen:
        wrong = f"there is no part {unknown[0]!r}" if unknown else "parts names none"
        raise ParameterError(f"{wrong}; there is {', '.join(parts)}.")
    return [part for part in parts if part in chosen]


def check_settings(path: Path, settings: dict[str, Any], results_path: Path) -> dict[str, Any]:
    """The settings to write to ``path``; refuses if results made with others are there.

    Data files may be added to a run, never exchanged.
    """
    if not path.exists():
        if results_path.exists():
            raise ParameterError(f"{results_path} is there without {path.name}: choose another --out, or remove it.")
        return settings
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        sources = {**before["sources"], **settings["sources"]}
    except (ValueError, KeyError, TypeError) as error:
        raise ParameterError(f"{path} cannot be read: choose another --out, or remove that folder.") from error
    changed = [key for key in settings if key != "sources" and before.get(key) != settings[key]]
    differences = [f"{key} {before.get(key)!r} there, {settings[key]!r} now" for key in changed]
    differences += [
        f"{key} from {before['sources'][key]!r} there, {sources[key]!r} now"
        for key in before["sources"]
        if before["sources"][key] != sources[key]
    ]
    if differences:
        raise ParameterError(
            f"{path.parent} holds results of other settings ({'; '.join(differences)}): choose another --out."
        )
    return {**settings, "sources": sources}


def write_settings(path: Path, settings: dict[str, Any]) -> None:
    """Write the settings beside the results they belong to."""
    write_text(path, json.dumps(settings, indent=2) + "\n")


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Refuse a folder that another run is writing to; a run that was killed leaves no lock behind."""
    try:
        import fcntl
    except ImportError:  # not a Unix: nothing to lock with
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
    """``given``, or else what the environment variable SUREFOOT_DATA says; ``wanted`` are the files it should hold."""
    named = given if given is not None else os.environ.get(ENVIRONMENT)
    if not named:
        raise DatasetMissingError(f"No data folder: pass --data DIR, or set {ENVIRONMENT} to a folder with {wanted}.")
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise DatasetMissingError(f"{folder} is not a folder: let --data or {ENVIRONMENT} name one with {wanted}.")
    return folder
