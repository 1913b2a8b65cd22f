"""Limits on the sizes and names in this package, as in the library's tests/test_house.py."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import surefoot_experiments

SOURCE = Path(surefoot_experiments.__file__).parent
CODE = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
MAX_LINES, MAX_PARAMETERS = 350, 10
COMMANDS = {"reproduce"}  # the parameters of a command are its options
UNFINISHED = "shift/"  # still has lines with "# fmt: skip", and imports private modules of surefoot
PRIVATE_IMPORTS = {"exceptions.py": ["surefoot._exceptions"]}  # for the old name of the error, for one release


def nodes_of(code: str, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> list:
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, kind)]


def count_parameters(function: ast.FunctionDef) -> int:
    """The number of parameters without ``self`` and ``cls``."""
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def long_parameter_lists(code: str) -> list[str]:
    functions = nodes_of(code, (ast.FunctionDef, ast.AsyncFunctionDef))
    return [f.name for f in functions if count_parameters(f) > MAX_PARAMETERS and f.name not in COMMANDS]


def private_imports(code: str) -> list[str]:
    """The modules of surefoot whose name begins with an underscore."""
    return [node.module for node in nodes_of(code, ast.ImportFrom) if (node.module or "").startswith("surefoot._")]


def old_limit_names(code: str) -> list[str]:
    """Names of limits that do not begin with MAX_ or MIN_."""
    return sorted(set(re.findall(r"\b_*(?:MOST|FEWEST|LEAST)_\w+", code)))


def test_no_two_classes_have_the_same_name() -> None:
    files = defaultdict(list)
    for file, code in CODE.items():
        for node in nodes_of(code, ast.ClassDef):
            files[node.name].append(file)
    assert {name: homes for name, homes in files.items() if len(homes) > 1} == {}


def test_files_are_short() -> None:
    lengths = {file: len(code.splitlines()) for file, code in CODE.items()}
    assert {file: length for file, length in lengths.items() if length > MAX_LINES} == {}


def test_functions_have_few_parameters() -> None:
    long_lists = {file: long_parameter_lists(code) for file, code in CODE.items()}
    assert {file: names for file, names in long_lists.items() if names} == {}


def test_no_line_is_excluded_from_formatting() -> None:
    files = [file for file, code in CODE.items() if "# fmt:" in code and not file.startswith(UNFINISHED)]
    assert files == []


def test_no_private_module_of_surefoot_is_imported() -> None:
    imports = {file: private_imports(code) for file, code in CODE.items() if not file.startswith(UNFINISHED)}
    assert {file: modules for file, modules in imports.items() if modules} == PRIVATE_IMPORTS


def test_limits_are_named_max_and_min() -> None:
    names = {file: old_limit_names(code) for file, code in CODE.items()}
    assert {file: matches for file, matches in names.items() if matches} == {}


def test_the_checks_find_violations() -> None:
    ten = ", ".join("abcdefghij")
    assert long_parameter_lists(f"def f({ten}): ...\nclass C:\n    def g(self, {ten}): ...") == []
    assert long_parameter_lists(f"def f({ten}, *, k): ...") == ["f"]
    assert old_limit_names("MOST_ROWS = _LEAST_GAIN = ALMOST_ALL = MAX_ROWS = 1") == ["MOST_ROWS", "_LEAST_GAIN"]
    assert private_imports("from surefoot._parallel import f\nfrom surefoot import g") == ["surefoot._parallel"]
    assert [node.name for node in nodes_of("class A:\n    class B: ...", ast.ClassDef)] == ["A", "B"]
