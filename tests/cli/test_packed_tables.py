"""Tables of text: packed ones, wide ones, and those whose rows do not match their first line."""

import bz2
import gzip
import lzma
import zipfile

import pytest

from surefoot import DataError
from surefoot.cli import packed_file
from surefoot.cli.table_file import read_table_file

pytestmark = pytest.mark.fault(number=27)
TEXT = b"a;b\n" + b"1;x\n" * 50


def write_zip(path, *texts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for k, text in enumerate(texts):
            archive.writestr(f"t{k}.csv", text)


WRITERS = {
    "gz": lambda path, text: path.write_bytes(gzip.compress(text)),
    "bz2": lambda path, text: path.write_bytes(bz2.compress(text)),
    "xz": lambda path, text: path.write_bytes(lzma.compress(text)),
    "zip": write_zip,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_packed_tables_are_read(ending, tmp_path):
    path = tmp_path / f"t.csv.{ending}"
    WRITERS[ending](path, TEXT)
    frame = read_table_file(path)
    assert (frame.shape, frame["a"].tolist()[0]) == ((50, 2), 1)


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("head", [b"a,b\n", b""], ids=["table", "one line"])
def test_a_file_that_unpacks_to_very_much_is_refused(ending, head, tmp_path, monkeypatch):
    monkeypatch.setattr(packed_file, "ALWAYS_READ", 2**16)
    path = tmp_path / f"t.csv.{ending}"
    WRITERS[ending](path, head + (b"1,2\n" if head else b"1111") * 2**16)
    with pytest.raises(DataError, match=r"t\.csv\.\w+ unpacks to more than 65,536 bytes.*unpack it"):
        read_table_file(path)
    monkeypatch.setattr(packed_file, "ALWAYS_READ", 2**20)
    assert len(read_table_file(path)) == 2**16 if head else True


@pytest.mark.parametrize("texts", [(), (TEXT, TEXT)], ids=["none", "two"])
def test_an_archive_must_have_one_file(texts, tmp_path):
    write_zip(tmp_path / "t.csv.zip", *texts)
    with pytest.raises(DataError, match=f"contains {len(texts)} files: pack one table"):
        read_table_file(tmp_path / "t.csv.zip")


@pytest.mark.parametrize("ending", WRITERS)
def test_a_truncated_file_is_refused(ending, tmp_path):
    path = tmp_path / f"t.csv.{ending}"
    WRITERS[ending](path, TEXT)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match="cannot be read as a table of text"):
        read_table_file(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_first_line_longer_than_131072_characters(delimiter, tmp_path):
    names = [f"{'long name' * 100} {k}" for k in range(200)]
    text = "\n" + delimiter.join(names) + "\n" + delimiter.join(["1"] * 200) + "\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8-sig")
    assert list(read_table_file(tmp_path / "t.csv").columns) == names


def test_rows_with_more_cells_than_names_are_refused(tmp_path):
    """Pandas would take the first column for names of rows, and shift the others."""
    (tmp_path / "t.csv").write_text("a,b\n1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match="more cells than its first line has names"):
        read_table_file(tmp_path / "t.csv")
