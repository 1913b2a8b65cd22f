"""Arrows between the rooms of the package point one way, and importing it is light."""

import ast
import re
from pathlib import Path

import pytest

import surefoot

SOURCE = Path(surefoot.__file__).parent
FOUNDATION = {
    "_atomic_io",
    "_blas",
    "_deadline",
    "_early_interrupt",
    "_estimator",
    "_exceptions",
    "_extras",
    "_fitted_state",
    "_formatting",
    "_jit",
    "_kernel_files",
    "_numbers",
    "_parallel",
    "_parameters",
    "_progress",
    "_random",
    "_row_values",
    "_strict_json",
    "_uncompiled",
}
FACE = "the public face"
ALLOWED = {
    "data": set(),
    "metrics": set(),
    "trees": {"data"},
    "boosting": {"data", "trees", "metrics"},
    "uncertainty": {"data", "trees", "metrics"},
    "selection": {"data"},
    "shift": {"data", "trees", "metrics"},
    "conformal": {"data", "selection", "shift"},
    "model_io": {"data", "trees", "boosting", "uncertainty", "shift"},
    "export": {"data", "trees", "uncertainty", "model_io", FACE},
    "plots": {"boosting", "uncertainty", "selection", "shift", "metrics", FACE},
    "dask": {"data", "trees", "boosting", "uncertainty", "selection"},
    "report": {"boosting", "conformal", "export", "uncertainty", "selection", "shift", "metrics", "plots", FACE},
    "cli": {"dask", "data", "model_io", "report", "selection", "uncertainty", FACE},
    "__init__": {"boosting", "conformal", "export", "uncertainty", "selection", "shift", "model_io", "report"},
}
HEAVY = ("dask", "distributed", "matplotlib", "typer", "rich", "pandas", "polars", "pyarrow", "onnx", "onnxruntime")


def rooms_imported(code, module):
    """The rooms and root modules of surefoot that the code of ``module`` (a dotted name) imports, anywhere in it."""
    rooms = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: -node.level]
                base = ".".join([*parents, base] if base else parents)
            targets = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:
            first, _, rest = target.partition(".")
            if first == "surefoot":
                name = rest.split(".")[0]
                is_room = (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file() or name in ALLOWED
                rooms.add(name if name and is_room else FACE)
    return rooms


def wrong_arrows(code, module):
    """What ``module`` imports and must not."""
    home = module.split(".")[1]
    if home in FOUNDATION:
        return rooms_imported(code, module) - FOUNDATION - ({"data"} if home == "_estimator" else set())
    base = FOUNDATION - {"_estimator"} if home in ("data", "metrics") else FOUNDATION
    allowed = ALLOWED.get(home, set()) | base | {home}
    return rooms_imported(code, module) - allowed


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        yield ".".join(("surefoot", *parts)), path


def test_every_room_says_what_it_may_import():
    homes = {module.split(".")[1] for module, _ in modules()}
    assert homes - ALLOWED.keys() - FOUNDATION == set()


def test_no_arrow_points_the_wrong_way():
    wrong = {module: wrong_arrows(path.read_text(encoding="utf-8"), module) for module, path in modules()}
    assert {module: rooms for module, rooms in wrong.items() if rooms} == {}


@pytest.mark.parametrize(
    ("code", "module", "found"),
    [
        ("from surefoot.boosting import AdaBoostClassifier", "surefoot.data.columns", {"boosting"}),
        ("import surefoot.trees.forest", "surefoot.data.columns", {"trees"}),
        ("from surefoot import trees", "surefoot.data.columns", {"trees"}),
        ("from surefoot import AdaBoostClassifier", "surefoot.boosting.best_boost", {FACE}),
        ("import surefoot", "surefoot.trees.classification_grower", {FACE}),
        ("from ..boosting import base", "surefoot.trees.classification_grower", {"boosting"}),
        ("from .. import boosting", "surefoot.trees.classification_grower", {"boosting"}),
        ("def late():\n    from surefoot.cli import app", "surefoot.boosting.base", {"cli"}),
        ("from surefoot.report import tables", "surefoot.plots.margin_display", {"report"}),
        ("from surefoot.data import Columns", "surefoot.metrics.margins", {"data"}),
        ("from surefoot.data import Columns", "surefoot._random", {"data"}),
        ("from surefoot.cli import app", "surefoot.__init__", {"cli"}),
        ("from surefoot._jit import kernel\nfrom .edges import midpoints", "surefoot.data.columns", set()),
        ("import numpy\nfrom surefoot.data import Columns", "surefoot.trees.classification_grower", set()),
    ],
)
def test_the_checker_finds_what_it_should(code, module, found):
    assert wrong_arrows(code, module) == found


@pytest.fixture
def modules_loaded_by(fresh_process):
    def run(statement):
        script = f"{statement}; import sys; print(*(name for name in {HEAVY!r} if name in sys.modules))"
        process = fresh_process(script)
        assert process.returncode == 0, process.stderr
        return set(process.stdout.split())

    return run


NEEDED_ANYWAY = "import sklearn.ensemble, narwhals, joblib, numba, scipy.special"


def test_importing_surefoot_loads_nothing_heavy(modules_loaded_by):
    assert modules_loaded_by("import surefoot") - modules_loaded_by(NEEDED_ANYWAY) == set()


def test_fitting_on_an_array_loads_nothing_heavy(modules_loaded_by):
    fit = "surefoot.AdaBoostClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0]], [0, 1, 1])"
    assert modules_loaded_by(f"import surefoot; {fit}") - modules_loaded_by(NEEDED_ANYWAY) == set()


def test_the_loading_check_can_fail(modules_loaded_by):
    assert "polars" in modules_loaded_by("import surefoot, polars")


@pytest.fixture
def run_without(fresh_process):
    """Run a statement where the packages ``missing`` cannot be imported."""

    def run(missing, statement):
        return fresh_process(f"import sys; sys.modules.update(dict.fromkeys({missing!r})); {statement}")

    return run


def test_surefoot_works_where_nothing_optional_is_installed(run_without):
    fit = "surefoot.AdaBoostClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0]], [0, 1, 1]).predict([[2.0]])"
    run = run_without(HEAVY, f"import surefoot; {fit}")
    assert run.returncode == 0, run.stderr


WITHOUT_EXTRA = {
    "pandas": "surefoot.Uncertainty(total=None, data=None, knowledge=[1.0], unit='nats').to_frame()",
    "jinja2": "surefoot.audit(None, None)",  # bad input is not looked at before
    "pyarrow": "from surefoot.data.stored_table import StoredTable; StoredTable.read('missing.parquet')",
    "matplotlib": "import surefoot.plots; surefoot.plots.MarginDisplay.from_estimator(None, None, None)",
}


@pytest.mark.parametrize("package", WITHOUT_EXTRA)
def test_without_an_extra_its_name_is_said_before_any_work(package, run_without):
    run = run_without((package,), f"import surefoot; {WITHOUT_EXTRA[package]}")
    assert run.stderr.rstrip().endswith(f'needs {package}: pip install "surefoot[cli]".'), run.stderr


@pytest.mark.parametrize("package", ["dask", "distributed", "pandas"])
def test_without_the_extra_of_dask_its_name_is_said(package, run_without):
    run = run_without((package,), "import surefoot.dask")
    assert re.search(r'surefoot.dask needs [\w.]+: pip install "surefoot\[dask\]"\.$', run.stderr.rstrip()), run.stderr


def test_without_the_extra_of_onnx_its_name_is_said(run_without):
    run = run_without(("onnx",), "import surefoot; surefoot.to_onnx(None)")
    assert run.stderr.rstrip().endswith('to_onnx needs onnx: pip install "surefoot[onnx]".'), run.stderr


def test_the_check_for_optional_packages_can_fail(run_without):
    assert "ModuleNotFoundError" in run_without(("joblib",), "import surefoot").stderr
