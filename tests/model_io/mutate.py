"""Load many damaged copies of model files: ``python mutate.py RANDOM_BYTES ODD_PARTS SEED FILE...``.

A process of its own, because a file that does harm may end it. It ends with an error if a copy raises anything but a
ModelFileError, takes more than a second, more memory than twice the file and a constant, or predicts NaN.
"""

import resource
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from crafting import damaged, odd_file, read, unpack

import surefoot

MAX_SECONDS = 1.0  # of this process, not of the clock: others may be running
MAX_MEMORY = 64 << 20  # beyond that before the first copy, and twice the file
HANGS = 60  # seconds
N_ROWS = 8


def memory():
    """The largest memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def rows_for(model):
    """Rows for a model: random numbers, and the first of each column's categories."""
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=(N_ROWS, model.n_features_in_))
    numbers[0] = np.nan
    categories = model._schema.categories
    if not hasattr(model, "feature_names_in_") and not categories:
        return numbers
    import pandas as pd

    names = getattr(model, "feature_names_in_", range(model.n_features_in_))
    columns = [
        pd.Series(list(categories[j][:1]) * N_ROWS or [None] * N_ROWS, dtype="category")
        if j in categories
        else numbers[:, j]
        for j in range(len(names))
    ]
    return pd.concat([pd.Series(column) for column in columns], axis=1).set_axis(list(names), axis=1)


def predictions(model):
    """All predictions that are numbers; none for a table that the model's columns cannot have."""
    try:
        X = rows_for(model)
        labels = model.predict(X)
        if hasattr(model, "predict_proba"):
            return model.predict_proba(X)
        return labels
    except surefoot.DataError:  # a column name twice, or another that no frame has
        return np.empty(0)


def check(data, expected):
    """Load one copy; whether it was refused. With ``expected``, a copy that is read must predict this."""
    signal.alarm(HANGS)
    before = time.process_time()
    try:
        model = read(data)
    except surefoot.ModelFileError:
        return True
    finally:
        assert time.process_time() - before < MAX_SECONDS, "too slow"
        signal.alarm(0)
    results = predictions(model)
    assert not np.isnan(results).any(), "NaN"
    if expected is not None:
        np.testing.assert_array_equal(results, expected)
    return False


def mutate(path, n_random, n_odd, seed):
    """How many copies were refused."""
    data, generator = Path(path).read_bytes(), np.random.default_rng(seed)
    state, arrays = unpack(data)
    expected = predictions(read(data))
    base, n_refused = memory(), 0
    for k in range(n_random + n_odd):
        is_random = k < n_random
        copy = damaged(data, generator) if is_random else odd_file(state, arrays, generator)
        try:
            n_refused += check(copy, expected if is_random else None)
        except BaseException:
            sys.stderr.write(f"copy {k} of {path}, seed {seed}\n")
            raise
    assert memory() - base < 2 * len(data) + MAX_MEMORY, f"{(memory() - base) >> 20} MB more memory"
    return n_refused


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for path in sys.argv[4:]:
        sys.stdout.write(f"{mutate(path, *map(int, sys.argv[1:4]))}\n")
