"""Families of distributions, by name and numbers."""

from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np

from surefoot._exceptions import ModelFileError
from surefoot.model_io.archive import Archive
from surefoot.model_io.fields import Field, Record, Scalar
from surefoot.model_io.strict_json import require
from surefoot.uncertainty.classifier import MAX_CLASSES
from surefoot.uncertainty.families import (
    DISPERSED,
    REGRESSION_FAMILIES,
    Bernoulli,
    Categorical,
    ClassificationFamily,
    RegressionFamily,
)

AnyFamily: TypeAlias = RegressionFamily | ClassificationFamily
FAMILIES: dict[str, type[AnyFamily]] = {**REGRESSION_FAMILIES, Bernoulli.name: Bernoulli, Categorical.name: Categorical}


class Family:
    """A family that surefoot has, with its settings."""

    def write(self, value: AnyFamily, path: str, arrays: dict[str, np.ndarray]) -> Any:
        return {"name": family_name(type(value)), **_numbers(type(value)).write(value, path, arrays)}

    def read(self, stored: Any, path: str, archive: Archive) -> AnyFamily:
        require(type(stored) is dict and "name" in stored, f"{path} must be a family of distributions")
        numbers = dict(stored)
        kind = family_of(numbers.pop("name"))
        if kind in DISPERSED:
            numbers = {"dispersion": 0.0, **numbers}  # files of earlier versions have none
        return _numbers(kind).read(numbers, path, archive)


def family_name(kind: type) -> str:
    """The name of a family; one that is not of surefoot has none."""
    for name, known in FAMILIES.items():
        if kind is known:
            return name
    raise ModelFileError(f"its distribution {kind.__name__} is not one of {', '.join(REGRESSION_FAMILIES)}")


def family_of(name: Any) -> type[AnyFamily]:
    """The family of a name."""
    require(isinstance(name, str) and name in FAMILIES, f"there is no family of distributions named {name!r}")
    return FAMILIES[name]


def _numbers(kind: type[AnyFamily]) -> Record:
    """The settings of a family: numbers, all of them."""
    settings: dict[str, Field] = {
        field.name: Scalar(int, 2, MAX_CLASSES) if field.name == "n_classes" else Scalar(float)
        for field in fields(kind)
    }

    def make(**numbers: Any) -> AnyFamily:
        family = kind(**numbers)
        if isinstance(family, RegressionFamily):
            require(family.spread > 0 and family.floor <= family.cap, "its spread and bounds are those of no family")
            require(getattr(family, "dispersion", 0.0) >= 0, "its dispersion is that of no family")
        return family

    return Record(settings, make)
