"""Malicious files with valid checksums are refused, or kernels of their models stay within their arrays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

N_FILES = int(os.environ.get("SUREFOOT_ODD_FILES", "600"))
SCRIPT = """
import sys, warnings
from collections import Counter
import numpy as np
from crafting import odd_file, read, unpack
from small_models import STORED, read_rows, rows_for
import surefoot

warnings.simplefilter("ignore")
rows, generator, counts = read_rows(STORED / "1"), np.random.default_rng(int(sys.argv[2])), Counter()
files = [unpack(path.read_bytes()) for path in sorted(STORED.glob("1/*.surefoot"))]
for _ in range(int(sys.argv[1])):
    state, arrays = files[generator.integers(len(files))]
    try:
        model = read(odd_file(state, arrays, generator))
    except surefoot.ModelFileError as error:
        counts["refused"] += 1
        counts["damaged"] += "damaged" in str(error)
        continue
    counts["models"] += 1
    X = rows_for(model, rows)
    if hasattr(X, "columns"):
        X = X.set_axis(model.feature_names_in_, axis=1)
    if model.n_features_in_ != X.shape[1]:
        continue
    try:
        model.predict(X)
        model.feature_importances_
    except surefoot.DataError:
        counts["for other tables"] += 1
print(counts["refused"], counts["damaged"], counts["models"], counts["for other tables"])
"""


def run_odd_files(n_files, seed, folder):
    """The numbers of refused files, of those that a parser refused, of models, and of models for other tables."""
    here = Path(__file__).parent
    checked = {
        "NUMBA_BOUNDSCHECK": "1",  # kernels check every index
        "NUMBA_CACHE_DIR": str(folder),  # without the cached kernels that do not
        "PYTHONPATH": os.pathsep.join([str(here), str(here.parent)]),
    }
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", SCRIPT, str(n_files), str(seed)],
        capture_output=True, text=True, check=False, timeout=3000, env=os.environ | checked,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return tuple(map(int, run.stdout.split()))


@pytest.mark.fault(number=24)
def test_odd_files_are_harmless(tmp_path):
    refused, damaged, models, for_other_tables = run_odd_files(N_FILES, 0, tmp_path)
    assert refused + models == N_FILES
    assert damaged == 0
    assert min(refused, models - for_other_tables) > N_FILES / 10  # both are tested
