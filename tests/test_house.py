"""The figures of the package: how long files and functions are, and how things are named."""

import ast
import re
import statistics
from collections import defaultdict
from pathlib import Path

import pytest

import surefoot

SOURCE = Path(surefoot.__file__).parent
CODE = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
LENGTHS = {name: len(code.splitlines()) for name, code in CODE.items() if Path(name).name != "__init__.py"}
MAX_PARAMETERS = 10


def functions(code):
    """(class or None, function) for every function of a file, however deep."""
    tree = ast.parse(code)
    owners = {inner: node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for inner in node.body}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [(owners.get(node), node) for node in found]


def lines_of_body(function):
    """The lines of a function from its first statement to its last; the docstring is not counted."""
    body = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
    return body[-1].end_lineno - body[0].lineno + 1


def n_parameters(function):
    """The parameters of a function, ``self`` and ``cls`` apart."""
    arguments = function.args
    named = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    return len(named) + len(arguments.kwonlyargs) - (named[:1] in (["self"], ["cls"]))


def listed_names(code):
    """The names in the ``__all__`` of a file."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def bases_of(names, parents):
    """The names, and those of the classes that they are made from, however far back."""
    more = names | {parent for name in names for parent in parents.get(name, ())}
    return names if more == names else bases_of(more, parents)


def parents_of(code):
    """The names of the classes that each class of a file is made from."""
    classes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ClassDef)]
    return {node.name: [base.id for base in node.bases if isinstance(base, ast.Name)] for node in classes}


def wide_functions(code, public):
    """The functions with too many parameters, but for public functions and methods."""
    return [
        f"{function.name} ({n_parameters(function)})"
        for owner, function in functions(code)
        if n_parameters(function) > MAX_PARAMETERS
        and (owner or function.name) not in (() if is_private(function.name) else public)
    ]


def is_private(name):
    return name.startswith("_") and name != "__init__"


def class_names(code):
    return [node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ClassDef)]


def quaint_constants(code):
    """The names that begin with MOST_, FEWEST_ or LEAST_ (after underscores, if any)."""
    return sorted(set(re.findall(r"\b_*(?:MOST|FEWEST|LEAST)_\w+", code)))


def has_kernels(code):
    return re.search(r"^@(\w+\.)*kernel\b", code, re.MULTILINE) is not None


def offenders(find):
    found = {name: find(code) for name, code in CODE.items()}
    return {name: problems for name, problems in found.items() if problems}


def test_the_median_file_has_90_to_160_lines():
    assert 90 <= statistics.median(LENGTHS.values()) <= 160


def test_fewer_than_20_files_have_under_40_lines():
    short = {name: length for name, length in LENGTHS.items() if length < 40}
    assert len(short) < 20, short


def test_no_file_but_those_of_kernels_has_more_than_350_lines():
    long = {name: length for name, length in LENGTHS.items() if length > 350 and not has_kernels(CODE[name])}
    assert long == {}


def test_nine_functions_of_ten_have_at_most_16_lines():
    lengths = {
        f"{name}: {function.name}": lines_of_body(function)
        for name, code in CODE.items()
        for _, function in functions(code)
    }
    ninth = sorted(lengths.values())[int(0.9 * len(lengths))]
    assert ninth <= 16, {name: length for name, length in lengths.items() if length > 16}


def test_no_function_but_public_ones_has_more_than_10_parameters():
    parents = {name: bases for code in CODE.values() for name, bases in parents_of(code).items()}
    commands = {Path(name).stem for name in CODE if name.startswith("cli/")}  # their parameters are options
    public = bases_of(set().union(*(listed_names(code) for code in CODE.values())), parents) | commands
    assert offenders(lambda code: wide_functions(code, public)) == {}


def test_no_two_classes_have_one_name():
    homes = defaultdict(list)
    for name, code in CODE.items():
        names = set(class_names(code))
        if name.startswith("dask/"):  # its estimators have the names of the local ones
            names -= listed_names(CODE["dask/__init__.py"])
        for class_name in names:
            homes[class_name].append(name)
    assert {class_name: files for class_name, files in homes.items() if len(files) > 1} == {}


def test_limits_are_named_max_and_min():
    assert offenders(quaint_constants) == {}


def test_no_line_asks_not_to_be_formatted():
    assert offenders(lambda code: code.count("# fmt: skip") + code.count("# fmt: off")) == {}


TEN = ", ".join("abcdefghij")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (f"def f({TEN}): ...", []),
        (f"def f({TEN}, k): ...", ["f (11)"]),
        (f"def f({TEN}, *, k): ...", ["f (11)"]),
        (f"def f(a0, /, {TEN}): ...", ["f (11)"]),
        (f"async def f({TEN}, k): ...", ["f (11)"]),
        (f"def public({TEN}, k): ...", []),
        (f"class C:\n    def f(self, {TEN}): ...", []),
        (f"class C:\n    def f(self, {TEN}, k): ...", ["f (11)"]),
        (f"class C:\n    def public(self, {TEN}, k): ...", ["public (11)"]),
        (f"class C:\n    def __init__(self, {TEN}, k): ...", ["__init__ (11)"]),
        (f"class Public:\n    def __init__(self, {TEN}, k): ...", []),
        (f"class Public:\n    def f(self, {TEN}, k): ...", []),
        (f"class Public:\n    def _f(self, {TEN}, k): ...", ["_f (11)"]),
    ],
)
def test_the_check_for_parameters_finds_what_it_should(code, found):
    assert wide_functions(code, {"public", "Public"}) == found


def test_the_other_checks_find_what_they_should():
    assert [lines_of_body(f) for _, f in functions('def f():\n    """Say."""\n    a = 1\n    return a')] == [2]
    assert [lines_of_body(f) for _, f in functions("def f():\n    def g():\n        pass\n    return g")] == [3, 1]
    assert quaint_constants("MOST_ROWS = 1\n_LEAST_GAIN = 2\nuses = FEWEST_ROWS") == [
        "FEWEST_ROWS",
        "MOST_ROWS",
        "_LEAST_GAIN",
    ]
    assert quaint_constants("MAX_ROWS = 1\nALMOST_ALL = 2") == []
    assert class_names("class A:\n    class B: ...") == ["A", "B"]
    parents = parents_of("class A(Base): ...\nclass B(A, other.Mixin): ...")
    assert bases_of({"B"}, parents) == {"A", "B", "Base"}
    assert listed_names("__all__ = ['a', 'b']") == {"a", "b"}
    assert [has_kernels(code) for code in ("@kernel\ndef f(): ...", "@_jit.kernel\ndef f(): ...", "kernel")] == [
        True,
        True,
        False,
    ]
