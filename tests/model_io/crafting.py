"""Unpack model files and pack valid or invalid ones, with zipfile, json and NumPy only."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
from small_models import STORED

import surefoot
from surefoot.model_io.model_file import read_stream

STATE = "model.json"
ODD_NUMBERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 254, 255, 256, 2**15, 2**31 - 1, 2**31, 2**63 - 1)
ODD_FLOATS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 5e-324, 1e-300)
ODD_SCALARS = (None, True, False, "", "x", "array", [], {}, [0], 0.0, 1.5, -1.0, 1e308, 1e-300, 10**300, *ODD_NUMBERS)
ODD_KINDS = ("<i4", "<i8", "<f4", "<f8", ">f8", "|u1", "|b1")
ODD_SHAPES = (
    lambda array: array[:-1],
    lambda array: array[..., :-1],
    lambda array: np.repeat(array, 2, axis=0),
    lambda array: array[np.newaxis],
    lambda array: array.T,
    np.ravel,
)


def read(data):
    """The model in the bytes of a file."""
    return read_stream(io.BytesIO(data))


def unpack(data):
    """The JSON of a file, and its arrays by the names of their members."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        state = json.loads(archive.read(STATE))
        names = [name for name in archive.namelist() if name != STATE]
        return state, {name: np.load(io.BytesIO(archive.read(name)), allow_pickle=False) for name in names}


def npy(array):
    """The bytes of an array; bytes are returned unchanged."""
    if isinstance(array, bytes):
        return array
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def pack(state, arrays, compression=zipfile.ZIP_STORED):
    """A file with valid checksums; ``state`` is JSON, or a text in place of it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr(STATE, state if isinstance(state, str | bytes) else json.dumps(state))
        for name, array in arrays.items():
            archive.writestr(name, npy(array))
    return stream.getvalue()


def parts_of(name):
    """The parts of a stored model."""
    return unpack((STORED / "1" / f"{name}.surefoot").read_bytes())


def refusal(data):
    """The message of the check that refuses a file; it must not need much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(surefoot.ModelFileError) as caught:
            read(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30 * len(data) + 1_000_000
    assert "damaged" not in str(caught.value)  # the word for errors of a parser
    return str(caught.value)


def damaged(data, generator):
    """The data with a few bytes changed, or a part lost or repeated."""
    data, damage = bytearray(data), generator.integers(10)
    start, length = generator.integers(len(data)), generator.integers(1, 200)
    if damage == 0:
        del data[start : start + length]
    elif damage == 1:
        data[start:start] = data[start : start + length]
    elif damage == 2:
        data[start : start + length] = bytes(min(length, len(data) - start))
    else:
        for place in generator.integers(len(data), size=generator.integers(1, 4)):
            data[place] = generator.integers(256)
    return bytes(data)


def odd_file(state, arrays, generator):
    """The same file with one or two changes: of an array, or of the JSON."""
    state, arrays = json.loads(json.dumps(state)), dict(arrays)
    for _ in range(generator.choice([1, 1, 1, 2])):
        if generator.random() < 0.6:
            name = sorted(arrays)[generator.integers(len(arrays))]
            arrays[name] = odd_array(arrays[name], generator)
        else:
            make_odd(state, generator)
    return pack(state, arrays)


def odd_array(array, generator):
    """An array of another type, of another shape, or with another element."""
    array, choice = array.copy(), generator.random()
    if choice < 0.1 and array.dtype.kind != "U":
        with np.errstate(invalid="ignore", over="ignore"):
            return array.astype(generator.choice(ODD_KINDS))
    if choice < 0.2:
        return ODD_SHAPES[generator.integers(len(ODD_SHAPES))](array)
    if array.size == 0:
        return np.zeros((1, *array.shape[1:]), array.dtype)
    place = generator.integers(array.size)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            array.flat[place] = np.array(generator.choice(ODD_FLOATS)).astype(array.dtype)
    elif array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        array.flat[place] = min(max(ODD_NUMBERS[generator.integers(len(ODD_NUMBERS))], limits.min), limits.max)
    else:  # booleans and text may be any bytes
        raw = array.view(np.uint8)
        raw.flat[generator.integers(raw.size)] = generator.integers(256)
    return array


def make_odd(value, generator):
    """Follow a random path in the tree of JSON, and replace the value at its end."""
    keys = sorted(value) if isinstance(value, dict) else range(len(value))
    key = keys[generator.integers(len(keys))]
    if isinstance(value[key], dict | list) and value[key] and generator.random() < 0.95:
        make_odd(value[key], generator)
    else:
        value[key] = ODD_SCALARS[generator.integers(len(ODD_SCALARS))]
