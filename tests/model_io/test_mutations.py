"""Damaged copies of the files of every kind of model are refused, or harmless: in bounded time and memory."""

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from contract.registry import those
from fault_sizes import usual_or_long
from saved_kinds import save_kind, saved_kinds
from small_models import STORED

from surefoot.model_io.models import BY_NAME

N_RANDOM, N_ODD = usual_or_long((40, 20), (100_000, 10_000))  # for each kind
N_BATCHES = usual_or_long(1, 4)  # of each kind, each in a process of its own
SECONDS = 3600
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    for name in saved_kinds():
        save_kind(name, folder / name)
    return folder


def test_every_estimator_is_tested():
    assert {type(kind[0]).__name__ for kind in saved_kinds().values()} == BY_NAME.keys()
    assert {subject.name for subject in those(is_saved=True)} <= saved_kinds().keys()


def mutate(paths, seed, cache):
    """The number of refused copies of each file; with ``cache``, kernels check indices and are compiled into it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent)])}
    if cache is not None:
        environment |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache)}
    sizes = [str(N_RANDOM // N_BATCHES), str(N_ODD // N_BATCHES), str(seed)]
    command = [sys.executable, "-X", "faulthandler", str(HERE / "mutate.py"), *sizes, *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS, env=environment)
    assert run.returncode == 0, run.stderr
    return [int(line) for line in run.stdout.split()]


@pytest.mark.fault(number=23)
@pytest.mark.fault(number=24)
def test_damaged_copies(folder, tmp_path):
    names = list(saved_kinds())
    groups = usual_or_long([names], [[name] for name in names])  # a process for all kinds, or for each of them
    batches = [(group, seed) for group in groups for seed in range(N_BATCHES)]
    cache = usual_or_long(None, tmp_path)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda batch: mutate([folder / name for name in batch[0]], batch[1], cache), batches)
        n_refused = Counter()
        for (group, _), refused in zip(batches, results, strict=True):
            n_refused.update(dict(zip(group, refused, strict=True)))
    assert n_refused.keys() == set(names)
    for name, n in n_refused.items():
        assert (N_RANDOM + N_ODD) / 2 < n < N_RANDOM + N_ODD, name  # some copies are read, and predict


@pytest.mark.fault(number=26)
def test_loading_imports_and_unpickles_nothing(folder, fresh_process):
    script = f"""
import sys, pathlib, surefoot
files = sorted([*pathlib.Path({str(STORED)!r}).glob("*/*.surefoot"), *pathlib.Path({str(folder)!r}).iterdir()])
surefoot.load(files[0])
events = []

def record(event, details):
    if event.split(".")[0] in ("import", "pickle", "exec"):
        events.append(event)

sys.addaudithook(record)
for path in files:
    surefoot.load(path)
print(len(files), sorted(set(events)))
import tabnanny
print(sorted(set(events)))
"""
    run = fresh_process(script)
    assert run.returncode == 0, run.stderr
    after_load, after_import = run.stdout.splitlines()
    assert after_load.endswith(" []")
    assert int(after_load.split()[0]) > 15 + len(saved_kinds())
    assert "import" in after_import  # the hook works
