"""Every public class, function and method has a complete numpydoc docstring; pyproject.toml says which checks hold."""

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpydoc")

from numpydoc.hooks.validate_docstrings import parse_config
from numpydoc.validate import validate

PUBLIC_MODULES = ("surefoot", "surefoot.dask", "surefoot.metrics", "surefoot.plots", "surefoot.selection")
ROOT = Path(__file__).parent.parent


def public_names(module: str) -> Iterator[str]:
    """The classes and functions that a module exports, and their public methods and properties."""
    exporter: Any = importlib.import_module(module)
    for name in exporter.__all__:
        member = getattr(exporter, name)
        if inspect.isclass(member):
            yield f"{module}.{name}"
            yield from (f"{module}.{name}.{method}" for method in own_methods(member))
        elif inspect.isfunction(member):
            yield f"{module}.{name}"


def own_methods(cls: type) -> list[str]:
    """Public methods and properties that surefoot defines; those of scikit-learn are documented there."""
    owners = [owner for owner in cls.__mro__ if owner.__module__.startswith("surefoot.")]
    kinds = (classmethod, staticmethod, property)
    return sorted(
        {
            name
            for owner in owners
            for name, member in vars(owner).items()
            if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))
        }
    )


def test_public_docstrings_are_complete() -> None:
    checks = parse_config(ROOT)["checks"]
    offenders = [
        f"{name}: {code} {text}"
        for module in PUBLIC_MODULES
        for name in public_names(module)
        for code, text in validate(name)["errors"]
        if code in checks
    ]
    assert not offenders, f"{len(offenders)} offences:\n" + "\n".join(offenders)
