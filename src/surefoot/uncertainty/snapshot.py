"""The trees of a fit of a table in memory, in a folder: after a crash, the same fit continues from them.

Trees are recorded as those of tables in files are: see ``training_log.py``. A description of the fit lies beside them:
its data, its parameters and the versions of libraries. Trees of another fit are never used.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from surefoot._atomic_io import write_text
from surefoot._exceptions import ParameterError
from surefoot._parallel import row_blocks
from surefoot.data import Columns
from surefoot.data.problem import NumberProblem, Problem
from surefoot.uncertainty.fit_log import FORMAT, LIBRARIES, library_version
from surefoot.uncertainty.fit_options import FitOptions
from surefoot.uncertainty.fit_spec import FitSpec
from surefoot.uncertainty.offsets import GivenOffsets
from surefoot.uncertainty.training_log import LOCK, TrainingLog, errors_of_folder, is_locked
from surefoot.uncertainty.training_rows import ValidationRows

Description = Mapping[str, Mapping[str, Any]]
DESCRIPTION, TREES, UNFINISHED = "snapshot.json", "model*", ".surefoot-*.part"
IN_MESSAGES = "snapshot"  # the argument of ``fit``
NO_LONGER = 60  # letters of a value in a message
WHAT_TO_DO = "Pass what it was begun with, name another folder, or remove this one."


@contextmanager
def log_of_snapshot(spec: FitSpec) -> Iterator[TrainingLog | None]:
    """Where the trees of a fit are recorded, if the user asks for it.

    The folder is removed if the code inside ends without an error.
    """
    folder = spec.options.snapshot
    if folder is None:
        yield None
        return
    with ExitStack() as files:
        with errors_of_folder(folder, IN_MESSAGES):
            _check_folder(folder)
            folder.mkdir(parents=True, exist_ok=True)
            lock = files.enter_context(open(folder / LOCK, "wb"))
        if not is_locked(lock.fileno()):
            _refuse(f"snapshot={str(folder)!r} is in use by another fit: name another folder.")
        _begin(folder, spec.options.description)
        log = TrainingLog(folder, IN_MESSAGES)
        files.callback(log.close)
        if log.has_trees:
            spec.progress.note(f"continues the training that was stopped: its trees are in {folder}")
        yield log
        log.close()
        _remove(folder)
    (folder / LOCK).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def describe(
    options: FitOptions,
    problem: Problem | NumberProblem,
    validation: ValidationRows | None,
    given: GivenOffsets,
    spec: FitSpec,
) -> Description:
    """Everything that the trees of a fit with a snapshot depend on: not threads, messages or callbacks."""
    if options.snapshot is None:
        return {}
    target = (problem.y,) if isinstance(problem, NumberProblem) else (problem.classes, problem.codes)
    data = {"X": _digest_table(problem.columns), "y": _digest(*target), "sample_weight": _digest(problem.weights)}
    data |= {name: _digest(np.asarray(value)) for name, value in given._asdict().items() if value is not None}
    if validation is not None and spec.validation is not None:
        data["X_val"] = _digest_table(spec.validation)
        data |= {"y_val": _digest(np.asarray(validation.y)), "sample_weight_val": _digest(validation.weights)}
        offsets = {f"{name}_val": value for name, value in validation.offsets._asdict().items() if value is not None}
        data |= {name: _digest(np.asarray(value)) for name, value in offsets.items()}
    return {
        "format": {"format": FORMAT},
        "libraries": {name: library_version(name) for name in LIBRARIES},
        "parameters": {name: _described(value) for name, value in sorted(options.parameters.items())},
        "data": data,
        "family": {"distribution": _digest(type(spec.family).__name__, *sorted(vars(spec.family).items()))},
    }


def differences(before: Mapping[str, Any], now: Description) -> list[str]:
    """What differs between two descriptions, in words."""
    words = []
    for part in ("format", "libraries", "parameters"):
        for name in _differing(before[part], now[part]):
            words.append(f"{name} was {_short(before[part].get(name))} and is {_short(now[part].get(name))}")
    changed = _differing(before["data"], now["data"])
    if before["parameters"].get("class_weight") != now["parameters"].get("class_weight"):
        changed = [name for name in changed if name != "sample_weight"]  # both are in one array
    words += [f"{name} has changed" for name in changed]
    return words or [f"{name} has changed" for name in _differing(before["family"], now["family"])]


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def _check_folder(folder: Path) -> None:
    """Refuse a path that neither is a snapshot nor can become one; nothing of the user's must be removed later."""
    if folder.exists() and not folder.is_dir():
        _refuse(f"snapshot={str(folder)!r} is a file: name a folder.")
    if folder.is_dir() and not (folder / DESCRIPTION).exists():
        others = {path.name for path in folder.iterdir()} - {LOCK, *_names(folder, UNFINISHED)}
        if others:
            _refuse(f"snapshot={str(folder)!r} is a folder of something else: name a folder that is new or empty.")


def _begin(folder: Path, now: Description) -> None:
    """Write the description of the fit, or compare it with the one that is there."""
    path = folder / DESCRIPTION
    if not path.exists():
        with errors_of_folder(folder, IN_MESSAGES):
            write_text(path, json.dumps(now, indent=1))
        return
    try:
        words = differences(json.loads(path.read_text(encoding="utf-8")), now)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        _refuse(f"snapshot={str(folder)!r} cannot be read, because {DESCRIPTION} is damaged: remove the folder.")
    if words:
        _refuse(f"snapshot={str(folder)!r} is of another fit: {'; '.join(words)}. {WHAT_TO_DO}")


def _remove(folder: Path) -> None:
    """Remove what belongs to a snapshot; the description last, because trees without it are refused."""
    for name in [*_names(folder, TREES), *_names(folder, UNFINISHED), DESCRIPTION]:
        (folder / name).unlink(missing_ok=True)


def _names(folder: Path, pattern: str) -> list[str]:
    return [path.name for path in folder.glob(pattern)]


def _refuse(message: str) -> NoReturn:
    raise ParameterError(message, argument=IN_MESSAGES)


def _digest(*parts: Any) -> str:
    """A number for arrays and other values."""
    digest = sha256()
    for part in parts:
        is_numbers = isinstance(part, np.ndarray) and part.dtype.kind != "O"
        digest.update(f"{part.dtype} {part.shape}".encode() if is_numbers else _described(part).encode())
        if is_numbers:
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return digest.hexdigest()[:32]


def _digest_table(columns: Columns) -> str:
    """A number for the values and the categories of a table."""
    digest, categories = sha256(), columns.schema.categories
    digest.update(repr((columns.n_columns, columns.n_rows, sorted(categories.items()))).encode())
    for start, stop in row_blocks(columns.n_rows):
        digest.update(columns.block(start, stop).data)
        for j in sorted(categories):  # a block has only the codes that fit in a byte
            digest.update(np.ascontiguousarray(columns.category_codes(j, start, stop)).data)
    return digest.hexdigest()[:32]


def _described(value: Any) -> str:
    """A parameter as text; the order of a dict is none of its values."""
    if isinstance(value, dict):
        return repr(sorted(value.items(), key=repr))
    return repr(value.tolist() if isinstance(value, np.ndarray | np.generic) else value)


def _short(text: Any) -> str:
    words = "missing" if text is None else str(text)
    return words if len(words) <= NO_LONGER else f"{words[:NO_LONGER]}..."
