"""Malicious archives are refused before anything in them is read."""

import io
import json
import struct
import zipfile

import numpy as np
import pytest
from crafting import STATE, npy, pack, parts_of, read, refusal
from small_models import STORED

import surefoot
from surefoot.model_io.models import VERSION


@pytest.mark.fault(number=24)
def test_members_missing_or_too_many():
    state, arrays = parts_of("stumps")
    for name in arrays:
        rest = {other: array for other, array in arrays.items() if other != name}
        assert refusal(pack(state, rest)) == f"{name} is missing"
    for name in ("../../evil.py", "/etc/passwd", "C:\\evil", "model.more.npy", "model.json/"):
        assert "an unexpected member" in refusal(pack(state, {**arrays, name: b"evil"}))
    with zipfile.ZipFile(stream := io.BytesIO(), "w") as archive:
        archive.writestr("model.classes.npy", npy(np.zeros(2)))
    assert refusal(stream.getvalue()) == "model.json is missing"


@pytest.mark.fault(number=24)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_with_the_same_name():
    stream = io.BytesIO(pack(*parts_of("stumps")))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(STATE, "{}")
    assert "members have the same name" in refusal(stream.getvalue())


@pytest.mark.fault(number=24)
def test_compressed_members():
    state, arrays = parts_of("stumps")
    arrays["model.committees.0.errors.npy"] = np.zeros(10_000_000)
    bomb = pack(state, arrays, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 100_000
    assert "is compressed or encrypted" in refusal(bomb)


def with_sizes(data, size):
    """The same file with another size of the first array in its directory."""
    start = data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)
    return data[: start + 20] + struct.pack("<II", size, size) + data[start + 28 :]


@pytest.mark.fault(number=24)
def test_members_that_declare_another_size():
    data = pack(*parts_of("stumps"))
    assert "larger than the file" in refusal(with_sizes(data, 2**31))
    with pytest.raises(surefoot.ModelFileError):
        read(with_sizes(data, 10))


@pytest.mark.fault(number=24)
@pytest.mark.parametrize("more", [b"x", b"#!/bin/sh\n", bytes(100_000), b"PK\3\4", b"PK\5\6" + bytes(18)], ids=len)
def test_bytes_before_or_after_the_archive(more):
    data = pack(*parts_of("stumps"))
    for changed in (more + data, data + more):
        with pytest.raises(surefoot.ModelFileError):
            read(changed)


@pytest.mark.fault(number=24)
def test_bytes_that_belong_to_no_member():
    state, arrays = parts_of("stumps")
    data = pack(state, arrays)
    with zipfile.ZipFile(stream := io.BytesIO(data), "a") as archive:
        archive.comment = b"a comment"
    assert "there are bytes after its end" in refusal(stream.getvalue())
    for name, value in (("comment", b"evil"), ("extra", struct.pack("<HH", 0x7075, 40) + bytes(40))):
        member = zipfile.ZipInfo("model.json")
        setattr(member, name, value)
        with zipfile.ZipFile(stream := io.BytesIO(), "w") as archive:
            archive.writestr(member, json.dumps(state))
            for other, array in arrays.items():
                archive.writestr(other, npy(array))
        assert "unknown bytes" in refusal(stream.getvalue())
    hidden = bytearray(data)
    start = hidden.index(b"PK\1\2")
    hidden[start + 30 : start + 32] = struct.pack("<H", 40)  # more bytes about the first member, in the directory only
    place = start + 46 + len("model.json")
    hidden[place:place] = struct.pack("<HH", 0x7075, 36) + bytes(36)
    hidden[-10:-6] = struct.pack("<I", struct.unpack("<I", hidden[-10:-6])[0] + 40)
    assert "unknown bytes" in refusal(bytes(hidden))
    hidden = bytearray(data)
    start = hidden.index(b"PK\1\2")
    hidden[start:start] = b"hidden"  # between the last member and the directory
    with pytest.raises(surefoot.ModelFileError):
        read(bytes(hidden))


@pytest.mark.fault(number=24)
def test_a_text_that_is_too_long(monkeypatch):
    monkeypatch.setattr("surefoot.model_io.archive.MAX_TEXT", 100)
    assert "more than any model needs" in refusal(pack(*parts_of("stumps")))


@pytest.mark.fault(number=24)
def test_too_many_members(monkeypatch):
    monkeypatch.setattr("surefoot.model_io.archive.MAX_MEMBERS", 5)
    assert "more than any model needs" in refusal(pack(*parts_of("stumps")))


@pytest.mark.fault(number=24)
def test_the_error_names_the_file(tmp_path):
    state, arrays = parts_of("stumps")
    path = tmp_path / "newer.surefoot"
    path.write_bytes(pack(state | {"version": VERSION + 1}, arrays))
    with pytest.raises(
        surefoot.ModelFileError, match=r"newer\.surefoot cannot be loaded: it was written by a newer"
    ) as caught:
        surefoot.load(path)
    assert isinstance(caught.value, ValueError)


@pytest.mark.fault(number=24)
def test_the_error_is_one_short_line(tmp_path):
    state, arrays = parts_of("stumps")
    path = tmp_path / "long.surefoot"
    path.write_bytes(pack(state | {"class": "long\n" * 10_000}, arrays))
    with pytest.raises(surefoot.ModelFileError) as caught:
        surefoot.load(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.fault(number=24)
def test_unpacked_and_packed_files_are_the_same():
    state, arrays = parts_of("ensemble")
    assert read(pack(state, arrays)).get_params() == surefoot.load(STORED / "1" / "ensemble.surefoot").get_params()
