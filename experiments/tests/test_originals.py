"""Readers of the original files, on tiny files in the same formats."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from surefoot import DataError
from surefoot_experiments import originals


def write_rows(path: Path, rows: list[list[object]], separator: str = ",", first_line: str = "") -> Path:
    text = first_line + "".join(separator.join(map(str, row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_pima_has_its_label_last(tmp_path: Path) -> None:
    path = write_rows(
        tmp_path / "pima.csv", [[6, 148, 72, 35, 0, 33.6, 0.627, 50, 1], [1, 85, 66, 29, 0, 26.6, 0.3, 31, 0]]
    )
    X, y = originals.read_pima(path)
    assert X.shape == (2, 8)
    assert X[0, 1] == 148
    assert X[1, 7] == 31
    assert y.tolist() == [1, -1]


@pytest.mark.parametrize("name", ["HIGGS.csv", "HIGGS.csv.gz"])
def test_higgs_has_its_label_first(tmp_path: Path, name: str) -> None:
    rows = [[f"{label:.18e}", *(f"{k + label:.18e}" for k in range(28))] for label in (1.0, 0.0, 1.0)]
    X, y = originals.read_higgs(write_rows(tmp_path / name, rows))
    assert y.tolist() == [1, -1, 1]
    np.testing.assert_array_equal(X[1], np.arange(28))


def test_only_the_first_rows_of_higgs_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(originals, "HIGGS_ROWS", 2)
    rows: list[list[object]] = [[1.0, *[k] * 28] for k in range(5)]
    X, _ = originals.read_higgs(write_rows(tmp_path / "HIGGS.csv", rows))
    assert X[:, 0].tolist() == [0, 1]


@pytest.mark.parametrize("name", ["covtype.data", "covtype.data.gz"])
def test_covertype_keeps_types_1_and_2(tmp_path: Path, name: str) -> None:
    rows: list[list[object]] = [[*[k] * 54, kind] for k, kind in enumerate([5, 2, 1, 7, 2])]
    X, y = originals.read_covertype(write_rows(tmp_path / name, rows))
    assert X.shape == (3, 54)
    assert X[:, 0].tolist() == [1, 2, 4]
    assert y.tolist() == [1, -1, 1]


def test_miniboone_has_counts_then_signal_then_background(tmp_path: Path) -> None:
    rows: list[list[object]] = [["", *(f"{k + j / 100:.6E}" for j in range(50))] for k in range(5)]
    X, y = originals.read_miniboone(write_rows(tmp_path / "m.txt", rows, "  ", "  2   3\n"))
    assert X.shape == (5, 50)
    assert X[4, 1] == np.float32(4.01)
    assert y.tolist() == [1, 1, -1, -1, -1]


def test_miniboone_with_a_wrong_count_is_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "m.txt", [[0.0] * 50] * 4, " ", "2 3\n")
    with pytest.raises(DataError, match="has 4 rows, but its first line says 5"):
        originals.read_miniboone(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,2,3\n", "cannot be read as a table of numbers"),
        ("1,2,3\n", "has 3 columns, 9 expected"),
        ("1,2,3,4,5,6,7,8,3\n", "labels must be 0 or 1"),
        ("1,2,3,4,5,6,7,8,1\n1,2,3\n", "incomplete rows"),
        ("", "cannot be read as a table of numbers"),
    ],
)
def test_a_file_that_is_not_the_original_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pima.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        originals.read_pima(path)


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "HIGGS.csv.gz", [[1.0, *range(28)]] * 500)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(DataError, match="cannot be read"):
        originals.read_higgs(path)


def test_parquet_without_target_is_refused(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "pima.parquet")
    with pytest.raises(DataError, match="no column 'target'"):
        originals.read_parquet(tmp_path / "pima.parquet", 0, 1)
    (tmp_path / "pima.parquet").write_text("not parquet")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        originals.read_parquet(tmp_path / "pima.parquet", 0, 1)
