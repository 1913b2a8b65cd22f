"""Where the data files lie."""

import os
from pathlib import Path

from surefoot_experiments.exceptions import DatasetMissingError

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
