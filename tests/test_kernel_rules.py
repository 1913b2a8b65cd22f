"""What compiled code must not do: use numba's own threads, change the meaning of arithmetic, or call across files.

A cached kernel that calls a kernel of another file does not notice when that file changes.
"""

import ast
import builtins
from functools import cache, lru_cache
from pathlib import Path

import pytest

import surefoot

SOURCE = Path(surefoot.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
INSTRUCTIONS = {"add_at", "read_at", "call_at"}  # of _jit.py: what they do never changes
FORBIDDEN_NAMES = {"prange", "jitclass", "fastmath", "stencil", "guvectorize", "vectorize"}


@lru_cache(maxsize=1)  # all checks of a file follow each other
def nodes_of(code):
    return tuple(ast.walk(ast.parse(code)))


def imported_names(nodes, package):
    """The names that a file imports from modules of ``package`` (or from beside it)."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == package):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {
                alias.asname or alias.name.split(".")[0] for alias in node.names if alias.name.split(".")[0] == package
            }
    return names


def decorators(function):
    """The last names of the decorators of a function, with or without a call."""
    called = [getattr(decorator, "func", decorator) for decorator in function.decorator_list]
    return {getattr(decorator, "id", getattr(decorator, "attr", "")) for decorator in called}


def kernels(code, names=("kernel", "inner_kernel")):
    functions = [node for node in nodes_of(code) if isinstance(node, ast.FunctionDef)]
    return [function for function in functions if decorators(function).intersection(names)]


def threads_and_loose_arithmetic(code):
    """Every use of numba's own threads, of loose arithmetic or of compiled classes."""
    found = []
    for node in nodes_of(code):
        if isinstance(node, ast.keyword) and node.arg in ("parallel", "fastmath"):
            if not (isinstance(node.value, ast.Constant) and node.value.value is False):
                found.append(node.arg)
        elif isinstance(node, ast.Dict):
            found += [
                key.value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
                and key.value in ("parallel", "fastmath")
                and not (isinstance(value, ast.Constant) and value.value is False)
            ]
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES:
            found.append(node.id)
        elif isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_NAMES:
            found.append(node.attr)
        elif isinstance(node, ast.alias) and node.name.split(".")[-1] in FORBIDDEN_NAMES:
            found.append(node.name)
    return found


def imports_numba(code):
    for node in nodes_of(code):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if any(name.split(".")[0] == "numba" for name in names):
            return True
    return False


def calls_across_files(code):
    """(kernel, name) for every name a kernel uses from another file, and every call of what is no kernel."""
    foreign = imported_names(nodes_of(code), "surefoot") - INSTRUCTIONS
    own = {kernel.name for kernel in kernels(code)} | {
        node.name
        for node in nodes_of(code)
        if isinstance(node, ast.ClassDef) and [getattr(base, "id", "") for base in node.bases] == ["NamedTuple"]
    }
    found = []
    for kernel in kernels(code):
        for node in [inner for statement in kernel.body for inner in ast.walk(statement)]:
            if isinstance(node, ast.Name) and node.id in foreign:
                found.append((kernel.name, node.id))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                if name not in own | INSTRUCTIONS | foreign and not hasattr(builtins, name):
                    found.append((kernel.name, name))
    return found


def inner_kernels_in_python(code):
    """Inner kernels that the Python of their own file uses, where they would run uncompiled."""
    inner = {kernel.name for kernel in kernels(code, ("inner_kernel",))}
    compiled = {id(node) for kernel in kernels(code) for node in ast.walk(kernel)}
    names = [node for node in nodes_of(code) if isinstance(node, ast.Name) and id(node) not in compiled]
    return sorted({node.id for node in names} & inner)


@cache
def all_inner_kernels():
    """(module, name) of every inner kernel."""
    return {
        (".".join(path.relative_to(SOURCE.parent).with_suffix("").parts), kernel.name)
        for path in FILES
        if "inner_kernel" in (code := path.read_text(encoding="utf-8"))
        for kernel in kernels(code, ("inner_kernel",))
    }


def inner_kernels_of_other_files(code):
    """Inner kernels that a file imports."""
    inner = all_inner_kernels()
    imports = [node for node in nodes_of(code) if isinstance(node, ast.ImportFrom)]
    return sorted(alias.name for node in imports for alias in node.names if (node.module, alias.name) in inner)


CHECKS = (
    threads_and_loose_arithmetic,
    imports_numba,
    calls_across_files,
    inner_kernels_in_python,
    inner_kernels_of_other_files,
    kernels,
)


@cache
def all_found():
    """What each check finds in the code of each source file, which is parsed once."""
    all_inner_kernels()
    return {
        (path, find): find(code)
        for path, code in ((path, path.read_text(encoding="utf-8")) for path in FILES)
        for find in CHECKS
    }


def offenders(find):
    """What ``find`` finds in the code of each source file, by file; files in which it finds nothing are left out."""
    found = all_found().items()
    return {str(path.relative_to(SOURCE)): problems for (path, each), problems in found if each is find and problems}


def test_no_threads_of_numba_and_no_loose_arithmetic():
    assert offenders(threads_and_loose_arithmetic) == {}


def test_numba_is_imported_in_one_place():
    assert list(offenders(imports_numba)) == ["_jit.py"]


def test_kernels_use_nothing_of_another_file():
    assert offenders(calls_across_files) == {}


def test_python_calls_no_inner_kernel():
    assert offenders(inner_kernels_in_python) == {}
    assert offenders(inner_kernels_of_other_files) == {}


def test_there_are_kernels_to_check():
    assert sum(map(len, offenders(kernels).values())) >= 20


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("numba.njit(parallel=True)(f)", ["parallel"]),
        ("OPTIONS = {'nogil': True, 'fastmath': True}", ["fastmath"]),
        ("numba.njit(fastmath={'nnan'})(f)", ["fastmath"]),
        ("for i in numba.prange(3): pass", ["prange"]),
        ("from numba import prange", ["prange"]),
        ("from numba.experimental import jitclass\n@jitclass\nclass A: pass", ["jitclass", "jitclass"]),
        ("numba.njit(parallel=False)(f)", []),
        ("threads.run(f, parallel)", []),
    ],
)
def test_the_check_for_threads_finds_what_it_should(code, found):
    assert sorted(threads_and_loose_arithmetic(code)) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import numba", True),
        ("import numba.typed as nt", True),
        ("from numba import njit", True),
        ("def f():\n    from numba.core import types", True),
        ("import numpy", False),
        ("import numbat", False),
    ],
)
def test_the_check_for_numba_finds_what_it_should(code, found):
    assert imports_numba(code) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from surefoot.trees.split_kernels import gain\n@kernel\ndef f(x):\n    return gain(x)", [("f", "gain")]),
        ("from .splits import gain as g\n@kernel\ndef f(x):\n    return 1 + g(x)", [("f", "g")]),
        ("from surefoot.data.bin_edges import LIMIT\n@kernel\ndef f(x):\n    return x < LIMIT", [("f", "LIMIT")]),
        ("import surefoot\n@kernel\ndef f(x):\n    return surefoot.gain(x)", [("f", "surefoot")]),
        ("from surefoot._jit import read_at\n@kernel\ndef f(x):\n    return read_at(x)", []),
        ("def plain(x): ...\n@kernel\ndef f(x):\n    return plain(x)", [("f", "plain")]),
        ("@_jit.kernel\ndef f(x):\n    return unknown(x)", [("f", "unknown")]),
        ("@kernel\ndef g(x): ...\n@kernel\ndef f(x):\n    return max(g(x), 0)", []),
        ("LIMIT = 3\nimport numpy as np\n@kernel\ndef f(x):\n    return np.sum(x) < LIMIT", []),
        ("from surefoot.trees.split_kernels import gain\ndef f(x):\n    return gain(x)", []),
    ],
)
def test_the_check_for_calls_finds_what_it_should(code, found):
    assert calls_across_files(code) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("@inner_kernel\ndef g(x): ...\n@kernel\ndef f(x):\n    return g(x)", []),
        ("@inner_kernel\ndef g(x): ...\ndef f(x):\n    return g(x)", ["g"]),
        ("@_jit.inner_kernel\ndef g(x): ...\nrun(g)", ["g"]),
    ],
)
def test_the_check_for_inner_kernels_finds_what_it_should(code, found):
    assert inner_kernels_in_python(code) == found


def test_the_check_for_imports_of_inner_kernels_finds_what_it_should():
    assert inner_kernels_of_other_files("from surefoot.trees.level_kernels import add_gains, grow_part") == [
        "add_gains"
    ]
