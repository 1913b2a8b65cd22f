"""Which fits record their trees, and what identifies such a fit: everything that its trees depend on."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from surefoot.data.table_folder import MANIFEST
from surefoot.trees.packed_codes import MAX_SORTED_ROWS
from surefoot.uncertainty.fit_spec import FitSpec
from surefoot.uncertainty.sharded_table import TableInShards
from surefoot.uncertainty.training_log import TrainingLog, open_log

FORMAT = 1  # of the records
LIBRARIES = ("surefoot", "numpy", "numba", "scipy")  # another version may compute other last digits


@contextmanager
def log_of_fit(spec: FitSpec, n_members: int) -> Iterator[TrainingLog | None]:
    """Where the trees of a fit are recorded; None for a table that is not in a folder that is kept.

    There is none for small tables, which are trained in a few seconds, and without a seed: no later fit has the same.
    """
    table = spec.columns
    folder = table.log_folder if isinstance(table, TableInShards) and table.n_rows > MAX_SORTED_ROWS else None
    if folder is None or not spec.is_repeatable:
        if folder is not None:
            spec.progress.note("trees are not recorded, because random_state is not an integer")
        yield None
        return
    with open_log(folder, fingerprint(spec, n_members, folder)) as log:
        if log is None:
            spec.progress.note(f"another process trains this model in {folder}: the trees of this one are not recorded")
        elif log.has_trees:
            spec.progress.note(f"continues the training that was stopped: its trees are in {log.folder}")
        yield log


def fingerprint(spec: FitSpec, n_members: int, folder: Path) -> str:
    """A number for the data, the parameters and the versions of libraries; not for threads and messages."""
    digest = sha256((folder / MANIFEST).read_bytes())
    for array in (spec.y, spec.weights, spec.strata):
        digest.update(b"none" if array is None else f"{array.dtype} {array.shape}".encode())
        if array is not None:
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    if spec.offsets is not None:
        digest.update(np.ascontiguousarray(spec.offsets.raw).view(np.uint8).data)
    family = type(spec.family).__name__, sorted(vars(spec.family).items())
    rest = (FORMAT, [library_version(name) for name in LIBRARIES], family, spec.config, spec.max_bins, spec.hold_out)
    digest.update(repr((*rest, spec.seed, n_members)).encode())
    return digest.hexdigest()[:16]


def library_version(name: str) -> str:
    """The version of a package; empty if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
