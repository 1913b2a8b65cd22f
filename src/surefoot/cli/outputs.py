"""The output files of a command: checked before any work, so that no input is overwritten and no work is lost."""

import errno
import os
import stat
import tempfile
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

from surefoot._atomic_io import STANDARD_OUTPUT, is_written_in_place, open_descriptor
from surefoot.cli.console import fail
from surefoot.cli.terminal import echo


def check_outputs(outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs that cannot be written, or that are the same file as an input or another output.

    Both are given by their names on the command line, such as ``--json``; None stands for an option that is not used.
    """
    given = {option: path for option, path in outputs.items() if path is not None}
    for option, path in given.items():
        _check_writable(path)
        for name, source in inputs.items():
            if source is not None and _is_same(path, source):
                fail(f"{option} {path} is {name} ({source}), and would overwrite it: name another file.")
    for (option, path), (other, second) in combinations(given.items(), 2):
        if _is_same(path, second) and not path.is_char_device():
            fail(f"{option} {path} and {other} {second} are the same file: name two.")


def check_output_folder(option: str, folder: Path, name: str, source: Path | None) -> None:
    """Refuse a results folder that is the data folder."""
    if source is not None and _is_same(folder, source):
        fail(f"{option} {folder} is {name} ({source}): choose another folder for the results.")


def echo_beside(text: object, *outputs: Path | None) -> None:
    """Print text on standard output, or on standard error if one of the outputs goes to standard output."""
    is_taken = any(path is not None and open_descriptor(path) == STANDARD_OUTPUT for path in outputs)
    echo(text, err=is_taken)


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths are the same file, also through links; also if a file does not exist yet."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _check_writable(path: Path) -> None:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            fail(f"{path} cannot be written: {error.strerror}.")
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        fail(f"{path} cannot be written: it is a folder.")
    if mode is not None and (stat.S_ISSOCK(mode) or not os.access(path, os.W_OK)):
        fail(f"{path} cannot be written: it is {'a socket' if stat.S_ISSOCK(mode) else 'write-protected'}.")
    if not is_written_in_place(path):
        _check_folder(path, Path(os.path.realpath(path)).parent)


def _check_folder(path: Path, folder: Path) -> None:
    """Try to write a temporary file into the folder: permissions alone do not show whether that is possible."""
    if not folder.is_dir():
        fail(f"{path} cannot be written: there is no folder {folder}.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        fail(f"{path} cannot be written: no file can be created in the folder {folder} ({error.strerror}).")
