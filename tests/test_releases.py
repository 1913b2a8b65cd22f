"""What a release consists of: one version everywhere, dependencies with an oldest version, a file to cite."""

import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import surefoot
from surefoot.model_io import save

ROOT = Path(__file__).parent.parent
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


@pytest.fixture
def dependencies(monkeypatch):
    """The module of ``release/`` that reads dependencies; it is a folder of scripts."""
    monkeypatch.syspath_prepend(str(ROOT / "release"))
    yield import_module("dependencies")
    sys.modules.pop("dependencies")


def pages():
    """The Markdown files beside the README."""
    return sorted(ROOT.glob("*.md"))


def test_every_part_has_the_same_version():
    experiments = (ROOT / "experiments/src/surefoot_experiments/__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{surefoot.__version__}"' in experiments
    assert str(CITATION["version"]) == surefoot.__version__
    assert f"| surefoot | {surefoot.__version__} |" in (ROOT / "docs/comparison.md").read_text(encoding="utf-8")
    text = "".join(page.read_text(encoding="utf-8") for page in (*pages(), *(ROOT / "docs").glob("*.md")))
    assert set(re.findall(r"surefoot(?:_experiments)?-([0-9.]+)-py3", text)) == {surefoot.__version__}
    assert f"## {surefoot.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()


def test_the_citation_has_what_its_format_needs():
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    assert CITATION["cff-version"] == "1.2.0"
    assert all(paper["title"] and paper["authors"] for paper in CITATION["references"])


def test_both_distributions_have_the_licence():
    assert (ROOT / "experiments" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_constraints_hold_every_dependency_at_its_oldest_version(dependencies):
    extras = ("cli", "dask", "onnx", "explain")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    written = [*project["dependencies"], *(each for extra in extras for each in optional[extra])]
    lines = dependencies.constraints(dependencies.declared(extras))
    assert len(lines) == len(written)
    assert f"numpy=={re.search(r'numpy>=([0-9.]+)', ' '.join(written))[1]}" in lines
    assert set(lines) <= set(dependencies.constraints(dependencies.declared(("dev",))))  # extras of extras


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy>=1.26,<3"])
def test_a_dependency_without_an_oldest_version_is_an_error(dependencies, requirement):
    with pytest.raises(ValueError, match="has no oldest version"):
        dependencies.constraints([requirement])


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_of_the_pages_beside_the_readme_lead_to_a_file(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("#"):
            assert (ROOT / target.partition("#")[0]).exists(), target


def test_a_model_file_does_not_depend_on_the_version_of_the_library(tmp_path):
    """It has the version of its format, so that a release alone does not change the bytes of a model."""
    model = surefoot.AdaBoostClassifier(n_estimators=2, random_state=0).fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    save(model, tmp_path / "model.surefoot")
    assert surefoot.__version__.encode() not in (tmp_path / "model.surefoot").read_bytes()
