"""Families of distributions: their names and parameters."""

from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np

from surefoot._exceptions import ModelFileError
from surefoot.model_io.archive import Archive
from surefoot.model_io.fields import Field, Many, Record, Scalar
from surefoot.model_io.model_json import require
from surefoot.uncertainty.families import (
    DISPERSED,
    REGRESSION_FAMILIES,
    Bernoulli,
    Categorical,
    ClassificationFamily,
    Poisson,
    RegressionFamily,
)
from surefoot.uncertainty.families.base import MAX_LOG
from surefoot.uncertainty.fit_spec import MAX_CLASSES

MAX_BOUND = 2000.0  # of outputs that are logs: those of the smallest and the largest float are below 750
MAX_DISPERSION = 1e9  # with a larger one, the probability of a count rounds to 0
AnyFamily: TypeAlias = RegressionFamily | ClassificationFamily
FAMILIES: dict[str, type[AnyFamily]] = {**REGRESSION_FAMILIES, Bernoulli.name: Bernoulli, Categorical.name: Categorical}


class Family:
    """A family of surefoot with its parameters."""

    def write(self, value: AnyFamily, path: str, arrays: dict[str, np.ndarray]) -> Any:
        return {"name": family_name(type(value)), **_parameters_of(type(value)).write(value, path, arrays)}

    def read(self, stored: Any, path: str, archive: Archive) -> AnyFamily:
        require(type(stored) is dict and "name" in stored, f"{path} must be a family of distributions")
        parameters = dict(stored)
        kind = family_of(parameters.pop("name"))
        if kind in DISPERSED:
            parameters = {"dispersion": 0.0, **parameters}  # old files have none
        return _parameters_of(kind).read(parameters, path, archive)


def family_name(kind: type) -> str:
    """The name of a family; families of the user are refused."""
    for name, known in FAMILIES.items():
        if kind is known:
            return name
    raise ModelFileError(f"its distribution {kind.__name__} is not one of {', '.join(REGRESSION_FAMILIES)}")


def family_of(name: Any) -> type[AnyFamily]:
    """The family with this name."""
    require(isinstance(name, str) and name in FAMILIES, f"there is no family of distributions named {name!r}")
    return FAMILIES[name]


def _parameters_of(kind: type[AnyFamily]) -> Record:
    """The parameters of a family, which are all numbers."""
    special: dict[str, Field] = {"n_classes": Scalar(int, 2, MAX_CLASSES), "levels": Many(Scalar(float))}
    parameters: dict[str, Field] = {field.name: special.get(field.name, Scalar(float)) for field in fields(kind)}

    def make(**values: Any) -> AnyFamily:
        family = kind(**values)
        if isinstance(family, RegressionFamily):
            require(family.spread > 0 and family.floor <= family.cap, "its spread or bounds are invalid")
            require(abs(family.floor) <= MAX_BOUND and abs(family.cap) <= MAX_BOUND, "its spread or bounds are invalid")
            require(0 <= getattr(family, "dispersion", 0.0) <= MAX_DISPERSION, "its dispersion is invalid")
            require(abs(getattr(family, "log_mean", 0.0)) <= MAX_BOUND, "its mean is invalid")
            if isinstance(family, Poisson):
                means = family.log_mean + family.floor, family.log_mean + family.cap
                require(max(map(abs, means)) <= MAX_LOG, "its mean is invalid")
        return family

    return Record(parameters, make)
