"""Damaged files, truncated or with bytes changed, lost or repeated: they are refused, or predict as before."""

import os

import numpy as np
import pytest
from crafting import damaged, read
from small_models import STORED, answers, read_rows, rows_for

import surefoot

N_MUTATIONS = int(os.environ.get("SUREFOOT_MUTATIONS", "12000"))
FOLDER = STORED / "1"
ROWS = read_rows(FOLDER)


def file_of(name):
    return (FOLDER / f"{name}.surefoot").read_bytes()


@pytest.mark.fault(number=23)
def test_truncated_files_are_refused():
    data = file_of("stumps")
    for length in range(len(data)):
        with pytest.raises(surefoot.ModelFileError):
            read(data[:length])


@pytest.mark.fault(number=23)
@pytest.mark.parametrize(("name", "fraction"), [("stumps", 0.8), ("sets", 0.1), ("ensemble", 0.1)])
def test_damaged_files_are_refused_or_predict_as_before(name, fraction):
    data, generator = file_of(name), np.random.default_rng(0)
    model = read(data)
    X = rows_for(model, ROWS)
    expected, n_read = answers(model, X), 0
    for _ in range(int(fraction * N_MUTATIONS)):
        try:
            model = read(damaged(data, generator))
        except surefoot.ModelFileError:
            continue
        n_read += 1
        if n_read % 50 == 0:
            results = answers(model, X)
            for method, values in expected.items():
                np.testing.assert_array_equal(values, results[method])
    assert 0 < n_read < fraction * N_MUTATIONS / 4  # dates, for example, are not used


@pytest.mark.fault(number=23)
@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"PK\5\6" + bytes(18), b"{}", bytes(10_000), b"\x80\x04N.", b"PK\3\4" * 1000],
    ids=["empty", "two letters", "empty zip", "json", "zeros", "pickle", "headers"],
)
def test_other_files_are_refused(data, tmp_path):
    path = tmp_path / "some.surefoot"
    path.write_bytes(data)
    with pytest.raises(surefoot.ModelFileError, match=r"some\.surefoot cannot be loaded: .*\.$") as caught:
        surefoot.load(path)
    assert "\n" not in str(caught.value)
