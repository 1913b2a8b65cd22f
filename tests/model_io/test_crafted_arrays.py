"""Malicious arrays are refused by the right check, before anything large is allocated."""

import re
import struct

import numpy as np
import pytest
from crafting import npy, pack, parts_of, read, refusal

import surefoot


def element(place, value):
    """A change of one element of an array."""

    def change(array):
        array[place] = value
        return array

    return change


def header(text, data=b"", version=(1, 0)):
    """The bytes of an array with a given header."""
    text = text.encode() + b"\n"
    size = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + size + text + data


FOREST, MEMBER = "model.committees.0.forest", "model.members.0.forest"
STATISTIC = "model.encodings.own.0.statistics.0"
ARRAYS = [
    ("stumps", f"{FOREST}.features", element((0, 0), 4), "splits on columns that do not exist"),
    ("stumps", f"{FOREST}.features", element((0, 0), 2**31 - 1), "splits on columns that do not exist"),
    ("stumps", f"{FOREST}.features", element((0, 0), -2), "splits on columns that do not exist"),
    ("stumps", f"{FOREST}.thresholds", element((0, 0), np.nan), "splits by category on numeric columns"),
    ("stumps", f"{FOREST}.thresholds", element((2, 0), 1.0), "splits by category on numeric columns"),
    ("stumps", f"{FOREST}.labels", element((0, 0), 2), "labels of unknown classes"),
    ("trees", f"{FOREST}.labels", element((0, 0), -1), "labels of unknown classes"),
    ("trees", f"{FOREST}.labels", lambda array: array[:, :3], "leaves are not those of perfect trees"),
    ("trees", f"{FOREST}.labels", lambda array: array[:, :1], r"trees cannot have leaves of shape \(3, 1\)"),
    ("trees", f"{FOREST}.labels", lambda array: array[:0], r"trees cannot have leaves of shape \(0, 4\)"),
    ("trees", f"{FOREST}.labels", lambda array: np.zeros((1, 1 << 17), np.int32), r"leaves of shape \(1, 131072"),
    ("trees", f"{FOREST}.features", lambda array: array[:, :2], "nodes are not those of perfect trees"),
    ("trees", f"{FOREST}.sets", lambda array: array[..., :3], "sets of categories and nodes differ in number"),
    ("trees", f"{FOREST}.missing_right", lambda array: (array.view(np.uint8) + 2).view(np.bool_), "neither 0 nor 1"),
    ("trees", "model.committees.0.vote_weights", element(0, np.inf), "vote_weights has values that are not finite"),
    ("trees", "model.committees.0.vote_weights", element(0, 1e308), "a vote weight is not between 0 and 10000"),
    ("trees", "model.committees.0.vote_weights", element(0, -1.0), "a vote weight is not between 0 and 10000"),
    ("trees", "model.committees.0.vote_weights", element(0, 0.0), "a vote weight is not between 0 and 10000"),
    ("trees", "model.committees.0.vote_weights", lambda array: array[:2], "votes and trees differ in number"),
    ("trees", "model.classes", lambda array: array[:2], "votes and classes differ in number"),
    ("trees", "model.classes", lambda array: array[::-1], "at least two labels, in increasing order"),
    ("trees", "model.classes", lambda array: array[:1], "at least two labels, in increasing order"),
    ("majority", "model.classes", lambda array: (array.view(np.uint32) + 0x110000).view("<U3"), "has invalid text"),
    ("sets", f"{MEMBER}.features", element((0, 0), 4), "splits on columns that do not exist"),
    ("sets", f"{MEMBER}.sets", element((0, 0), 3), "splits by sets that do not exist"),
    ("sets", f"{MEMBER}.sets", element((0, 0), -2), "splits by sets that do not exist"),
    ("sets", f"{MEMBER}.tables", lambda array: array[:, :31], "sets of categories do not have 32 bytes"),
    ("sets", f"{MEMBER}.tables", lambda array: np.repeat(array, 100, 0), "sets of categories that no split uses"),
    ("sets", f"{MEMBER}.covers", element((0, 0), -1.0), "leaves with a negative number of rows"),
    ("sets", f"{MEMBER}.covers", element((0, 0), np.nan), "covers has values that are not finite"),
    ("sets", f"{MEMBER}.leaves", lambda array: array * 0 + 1e308, "the sums of its leaves are not finite"),
    ("normal", "model.members.0.start", element(0, 1.7e308), None),
    ("normal", "model.members.0.bounds", element((0, 0), np.inf), "bounds are"),
    ("vmatrix", "model.boosted.0.forest.leaves", lambda array: array * 0 + 1e308, "sums of its leaves are not finite"),
    ("sets", f"{MEMBER}.tables", lambda array: array[:-1], "splits by sets that do not exist"),
    ("sets", f"{MEMBER}.leaves", lambda array: array[:, :3], "leaves are not those of perfect trees"),
    ("sets", f"{MEMBER}.leaves", lambda array: array[..., :2], "start and outputs differ in number"),
    ("sets", f"{MEMBER}.leaves", lambda array: array[..., :0], r"trees cannot have leaves of shape \(3, 4, 0\)"),
    ("sets", f"{MEMBER}.leaves", element((0, 0, 0), np.nan), "leaves has values that are not finite"),
    ("sets", f"{MEMBER}.limits", lambda array: array[:, :1], "nodes are not those of perfect trees"),
    ("normal", f"{MEMBER}.features", element((0, 0), -1), "a node without a split sends rows to the right"),
    ("depthwise", f"{MEMBER}.features", element((0, 2), 4), "splits on columns that do not exist"),
    ("normal", "model.members.0.bounds", lambda array: array[:2], "bounds are not in order"),
    ("normal", "model.members.0.bounds", element((0, 0), np.nan), "bounds are not in order"),
    ("normal", "model.members.0.start", lambda array: array[:1], "start and outputs differ in number"),
    ("normal", "model.encodings.binner.low", element(0, np.inf), "low has values that are not finite"),
    ("normal", "model.encodings.binner.low", lambda array: array[::-1].copy(), "edges of bins do not increase"),
    ("normal", "model.encodings.binner.low", lambda array: array[:-1], "edges and bins differ in number"),
    ("normal", "model.encodings.binner.missing", element(0, 256), "a column does not have 0 to 255 bins"),
    ("normal", "model.encodings.binner.missing", element(0, -1), "a column does not have 0 to 255 bins"),
    ("sets", "model.encodings.binner.missing", element(2, 7), "the codes of column 2 are not those of its categories"),
    ("statistics", f"{STATISTIC}.keys", lambda array: array[::-1].copy(), "keys do not increase"),
    ("statistics", f"{STATISTIC}.keys", lambda array: array[:0], "keys do not increase"),
    ("statistics", f"{STATISTIC}.counts", lambda array: array[:-1], "means, counts and keys differ in number"),
    ("statistics", "model.encodings.own.0.prior", lambda array: np.repeat(array, 2), "means and prior differ"),
    ("statistics", "model.encodings.own.0.binner.categorical", element(0, True), "edges and bins differ in number"),
    ("vmatrix", "model.boosted.0.forest.features", element((0, 0), 4), "splits on columns that do not exist"),
    ("vmatrix", "model.boosted.0.forest.leaves", lambda array: np.repeat(array, 2, 2), "more than one value"),
    # types, orders and shapes
    ("normal", f"{MEMBER}.leaves", lambda array: array.astype(">f8"), "leaves has the wrong type, order or number"),
    ("normal", f"{MEMBER}.leaves", lambda array: array.astype("<f4"), "leaves has the wrong type"),
    ("normal", f"{MEMBER}.leaves", lambda array: array.astype(object), "leaves has the wrong type"),
    ("normal", f"{MEMBER}.leaves", lambda array: array.astype([("a", "<f8")]), "leaves has the wrong type"),
    ("normal", f"{MEMBER}.leaves", np.asfortranarray, "leaves has the wrong type, order"),
    ("normal", f"{MEMBER}.leaves", np.ravel, "leaves has the wrong type, order or number of axes"),
    ("trees", "model.classes", lambda array: array.astype(object), "classes has the wrong type"),
    ("trees", "model.classes", lambda array: array.astype("<M8[D]"), "classes has the wrong type"),
    *(
        ("normal", f"{MEMBER}.leaves", lambda array, shape=shape: header(
            f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}", array.tobytes()
        ), "declares the shape")
        for shape in ((10**10, 1, 1), (10**9, 4, 2), (3, 4, 1), (-3, -4, 2), (2**62, 2**62, 2**62), (0, 10**12, 1))
    ),
    ("normal", f"{MEMBER}.leaves", lambda array: npy(array) + b"more", "declares the shape"),
    ("normal", f"{MEMBER}.leaves", lambda array: npy(array)[:-8], "declares the shape"),
    ("normal", f"{MEMBER}.leaves", lambda array: header("{}", version=(2, 0)), "an unknown version"),
]  # fmt: skip


@pytest.mark.fault(number=24)
@pytest.mark.parametrize(("name", "array", "change", "message"), ARRAYS)
def test_arrays(name, array, change, message):
    state, arrays = parts_of(name)
    arrays[f"{array}.npy"] = change(arrays[f"{array}.npy"])
    if message is None:  # a valid file
        assert np.isfinite(read(pack(state, arrays)).predict(np.zeros((3, 2)))).all()
        return
    assert re.search(message, refusal(pack(state, arrays)))


@pytest.mark.fault(number=24)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{'descr': '<f8'}",
        "__import__('os').getcwd()",
        "(" * 400,
        "{'descr': 'x', 'fortran_order': 0, 'shape': ()}",
        "9" * 400,
    ],
)
def test_invalid_headers(text):
    state, arrays = parts_of("normal")
    arrays[f"{MEMBER}.leaves.npy"] = header(text)
    with pytest.raises(surefoot.ModelFileError):
        read(pack(state, arrays))


@pytest.mark.fault(number=24)
def test_a_header_that_is_too_long():
    state, arrays = parts_of("normal")
    arrays[f"{MEMBER}.leaves.npy"] = header(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1," * 20_000 + ")}"
    )
    with pytest.raises(surefoot.ModelFileError, match="Header info length"):
        read(pack(state, arrays))


@pytest.mark.fault(number=24)
def test_columns_of_very_many_categories():
    state, arrays = parts_of("vmatrix")
    arrays["model.binner.missing.npy"] = np.full(1_000_000, 255)
    arrays["model.binner.categorical.npy"] = np.ones(1_000_000, dtype=np.bool_)
    assert "more categories than any table has" in refusal(pack(state, arrays))
