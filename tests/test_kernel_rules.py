"""What compiled code must not do: use numba's own threads, change the meaning of arithmetic, or call across files.

A cached kernel that calls a kernel of another file does not notice when that file changes. A kernel without reference
counts must make no arrays, and must not pass arrays to or from kernels with them: nobody would free them, or two would.
"""

import ast
import builtins
from functools import cache
from pathlib import Path

import pytest

import surefoot

SOURCE = Path(surefoot.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
# what kernels without reference counts may use of NumPy, and of arrays: nothing that makes an array
NUMPY_SCALARS = {
    *("abs", "bool_", "ceil", "exp", "expm1", "float32", "float64", "floor", "inf", "int32", "int64", "isinf", "isnan"),
    *("log", "log1p", "nan", "rint", "sign", "sqrt", "uint8", "uint16", "uint32", "uint64"),
}
ARRAY_METHODS = {"reshape", "view"}
FORBIDDEN_NAMES = {"prange", "jitclass", "fastmath", "stencil", "guvectorize", "vectorize"}


def imported_names(tree, package):
    """The names that a file imports from modules of ``package`` (or from beside it)."""
    names = set()
    for node in ast.walk(tree):
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


def kernels(tree, names=("kernel", "inner_kernel")):
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [function for function in functions if decorators(function).intersection(names)]


def threads_and_loose_arithmetic(code):
    """Every use of numba's own threads, of loose arithmetic or of compiled classes."""
    found = []
    for node in ast.walk(ast.parse(code)):
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
    for node in ast.walk(ast.parse(code)):
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
    tree = ast.parse(code)
    foreign = imported_names(tree, "surefoot")
    own = {kernel.name for kernel in kernels(tree)} | {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and [getattr(base, "id", "") for base in node.bases] == ["NamedTuple"]
    }
    found = []
    for kernel in kernels(tree):
        for node in [inner for statement in kernel.body for inner in ast.walk(statement)]:
            if isinstance(node, ast.Name) and node.id in foreign:
                found.append((kernel.name, node.id))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                if name not in own and name not in foreign and not hasattr(builtins, name):
                    found.append((kernel.name, name))
    return found


def inner_kernels_in_python(code):
    """Inner kernels that the Python of their own file uses, where they would run uncompiled."""
    tree = ast.parse(code)
    inner = {kernel.name for kernel in kernels(tree, ("inner_kernel",))}
    compiled = {id(node) for kernel in kernels(tree) for node in ast.walk(kernel)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in compiled]
    return sorted({node.id for node in names} & inner)


def allocates(kernel):
    """Whether a kernel is marked as one that makes arrays."""
    keywords = [keyword for decorator in kernel.decorator_list for keyword in getattr(decorator, "keywords", [])]
    return any(keyword.arg == "allocates" and getattr(keyword.value, "value", False) for keyword in keywords)


def mixed_allocations(code):
    """(kernel, name) for every call between kernels that allocate and others, and every array that the others make."""
    own = {kernel.name: kernel for kernel in kernels(ast.parse(code))}
    found = []
    for name, kernel in own.items():
        for node in [inner for statement in kernel.body for inner in ast.walk(statement)]:
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in own and allocates(own[called.id]) != allocates(kernel):
                found.append((name, called.id))
            elif isinstance(node, ast.Attribute) and not allocates(kernel):
                is_numpy = isinstance(node.value, ast.Name) and node.value.id == "np"
                if is_numpy and node.attr not in NUMPY_SCALARS:
                    found.append((name, node.attr))
            if isinstance(called, ast.Attribute) and not allocates(kernel):
                is_module = isinstance(called.value, ast.Name) and called.value.id in ("np", "math")
                if not is_module and called.attr not in ARRAY_METHODS:
                    found.append((name, called.attr))
    return found


@cache
def all_inner_kernels():
    """(module, name) of every inner kernel."""
    return {
        (".".join(path.relative_to(SOURCE.parent).with_suffix("").parts), kernel.name)
        for path in FILES
        for kernel in kernels(ast.parse(path.read_text(encoding="utf-8")), ("inner_kernel",))
    }


def inner_kernels_of_other_files(code):
    """Inner kernels that a file imports."""
    inner = all_inner_kernels()
    imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    return sorted(alias.name for node in imports for alias in node.names if (node.module, alias.name) in inner)


def offenders(find):
    """What ``find`` finds in the code of each source file, by file; files in which it finds nothing are left out."""
    found = {str(path.relative_to(SOURCE)): find(path.read_text(encoding="utf-8")) for path in FILES}
    return {name: problems for name, problems in found.items() if problems}


def test_no_threads_of_numba_and_no_loose_arithmetic():
    assert offenders(threads_and_loose_arithmetic) == {}


def test_numba_is_imported_in_one_place():
    assert list(offenders(imports_numba)) == ["_jit.py"]


def test_kernels_use_nothing_of_another_file():
    assert offenders(calls_across_files) == {}


def test_python_calls_no_inner_kernel():
    assert offenders(inner_kernels_in_python) == {}
    assert offenders(inner_kernels_of_other_files) == {}


def test_kernels_without_reference_counts_make_no_arrays():
    assert offenders(mixed_allocations) == {}


def test_there_are_kernels_to_check():
    n_kernels = sum(len(kernels(ast.parse(path.read_text(encoding="utf-8")))) for path in FILES)
    assert n_kernels >= 20


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
        ("from surefoot.data.edges import LIMIT\n@kernel\ndef f(x):\n    return x < LIMIT", [("f", "LIMIT")]),
        ("import surefoot\n@kernel\ndef f(x):\n    return surefoot.gain(x)", [("f", "surefoot")]),
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
        ("@kernel\ndef f(x):\n    return np.empty(3)", [("f", "empty")]),
        ("@kernel\ndef f(x):\n    return x.copy()", [("f", "copy")]),
        ("@kernel(allocates=True)\ndef f(x):\n    return np.empty(3)", []),
        ("@kernel\ndef f(x):\n    x[0] = np.sqrt(x[1])", []),
        ("@inner_kernel\ndef g(x): ...\n@kernel(allocates=True)\ndef f(x):\n    g(x)", [("f", "g")]),
        ("@inner_kernel(allocates=True)\ndef g(x): ...\n@kernel\ndef f(x):\n    g(x)", [("f", "g")]),
        ("@inner_kernel(allocates=True)\ndef g(x): ...\n@kernel(allocates=True)\ndef f(x):\n    g(x)", []),
    ],
)
def test_the_check_for_allocations_finds_what_it_should(code, found):
    assert mixed_allocations(code) == found


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
