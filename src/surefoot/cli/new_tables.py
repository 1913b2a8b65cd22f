"""Several files of deployment data: their names on the page, and in errors."""

from collections.abc import Sequence
from pathlib import Path


def names_of(paths: Sequence[Path]) -> list[str]:
    """The names of files without their ends, such as jan of jan.csv; the whole paths if two are the same."""
    names = [path.name.split(".")[0] for path in paths]
    if len(set(names)) == len(names):
        return names
    return [str(path) if paths.count(path) == 1 else f"{path} ({k + 1})" for k, path in enumerate(paths)]


def new_names(paths: Sequence[Path]) -> dict[str, Path]:
    """The files by what they are called in errors."""
    return {"--new": paths[0]} if len(paths) == 1 else {f"table {k + 1} of --new": path for k, path in enumerate(paths)}
