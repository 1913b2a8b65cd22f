"""One run at a time in a folder of results."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from surefoot import ParameterError


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
