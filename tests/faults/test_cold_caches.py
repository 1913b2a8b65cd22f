"""The first calls on a machine: many threads, several processes, no folder to write to; the same models every time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fault_sizes import usual_or_long

import surefoot
from surefoot._kernel_files import SUFFIX

FIT = usual_or_long(
    """
def fit():
    key = np.uint64(surefoot._random.stream_key(7, 1))
    return surefoot._random.random_normals(key, 1000).tobytes()
""",
    """
def fit():
    X = np.random.default_rng(0).normal(size=(300, 4))
    boosted = surefoot.GradientBoostingRegressor(n_estimators=5, subsample=0.5, random_state=0).fit(X, X[:, 0])
    voted = surefoot.AdaBoostClassifier(n_estimators=5).fit(X, X[:, 0] > 0)
    weighted = surefoot.VMatrixBoostingRegressor(n_estimators=5, random_state=0).fit(X, X[:, 0])
    return b"".join(array.tobytes() for array in
                    (boosted.predict(X), voted.decision_function(X), weighted.predict(X)))
""",
)
START = """
import hashlib, os, sys, threading
import numba
numba.config.CACHE_DIR = {folder!r}
import numpy as np
import surefoot, surefoot._random
{fit}
def digest():
    return hashlib.sha256(fit()).hexdigest()
"""
THREADS = """
barrier, digests = threading.Barrier(8), []

def work():
    barrier.wait()
    digests.append(digest())

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(digests) == 8 and len(set(digests)) == 1, digests
print(digests[0])
"""
PROCESSES = """
children = []
for _ in range({n_processes}):
    child = os.fork()
    if child == 0:
        with open(f"{folder}/{{os.getpid()}}.txt", "w") as file:
            file.write(digest())
        os._exit(0)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)
digests = {{open(f"{folder}/{{child}}.txt").read() for child in children}}
assert len(digests) == 1, digests
print(digests.pop())
"""
STORED = "print(digest(), sum(surefoot._random.fill_bits.stats.cache_hits.values()))"


@pytest.fixture(scope="module")
def expected(tmp_path_factory, fresh_process):
    """The digest of what a process with an empty cache computes."""
    folder = tmp_path_factory.mktemp("cache")
    return run(fresh_process, START.format(folder=str(folder), fit=FIT) + "print(digest())")


def run(fresh_process, script):
    result = fresh_process(script)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.fault(number=16)
def test_eight_threads_call_first(tmp_path, fresh_process, expected):
    assert run(fresh_process, START.format(folder=str(tmp_path), fit=FIT) + THREADS) == expected


@pytest.mark.fault(number=18)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_share_an_empty_cache(tmp_path, fresh_process, expected):
    start = START.format(folder=str(tmp_path), fit=FIT)
    assert run(fresh_process, start + PROCESSES.format(folder=tmp_path, n_processes=4)) == expected
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".txt"]
    assert {path.suffix for path in files} == {SUFFIX}  # nothing unfinished is left
    assert run(fresh_process, start + STORED) == f"{expected} 1"


@pytest.mark.fault(number=12)
@pytest.mark.parametrize("hash_seed", usual_or_long([12345], [0, 1, 12345]))
def test_the_hash_seed_and_the_cache_change_nothing(tmp_path, expected, hash_seed):
    script = START.format(folder=str(tmp_path), fit=FIT) + "print(digest())\n" * 2
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    runs = [
        subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
        for _ in usual_or_long(("cold",), ("cold", "warm"))
    ]
    assert [each.stdout.split() for each in runs] == [[expected] * 2] * len(runs)


@pytest.mark.fault(number=20)
def test_without_a_folder_to_write_to(tmp_path, fresh_process, expected):
    """Files take the places of the folders of the cache, which stops the administrator, too."""
    package = tmp_path / "surefoot"
    shutil.copytree(Path(surefoot.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *filter(Path.is_dir, package.rglob("*"))]:
        (folder / "__pycache__").write_bytes(b"")
    no_home = f"""
import os, sys
os.environ.update(HOME=os.devnull, XDG_CACHE_HOME=os.devnull)
sys.path.insert(0, {str(tmp_path)!r})
"""
    show = "print(digest(), surefoot.__file__, surefoot._random.fill_bits.stats.cache_path)"
    output = run(fresh_process, no_home + START.format(folder="", fit=FIT) + show)
    assert output.split() == [expected, str(package / "__init__.py"), "None"]
