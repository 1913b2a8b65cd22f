"""Families of distributions that boosted trees can predict, one per file."""

import inspect
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.uncertainty.families.base import RATIO_MAX, Z_MAX, ClassificationFamily, RegressionFamily
from surefoot.uncertainty.families.bernoulli import Bernoulli
from surefoot.uncertainty.families.categorical import Categorical
from surefoot.uncertainty.families.gamma import Gamma
from surefoot.uncertainty.families.laplace import Laplace
from surefoot.uncertainty.families.lognormal import LogNormal
from surefoot.uncertainty.families.normal import Normal
from surefoot.uncertainty.families.poisson import Poisson
from surefoot.uncertainty.families.student_t import StudentT

__all__ = [
    "DISPERSED",
    "RATIO_MAX",
    "REGRESSION_FAMILIES",
    "Z_MAX",
    "Bernoulli",
    "Categorical",
    "ClassificationFamily",
    "Gamma",
    "Laplace",
    "LogNormal",
    "Normal",
    "Poisson",
    "RegressionFamily",
    "StudentT",
    "regression_family",
]

REGRESSION_FAMILIES: dict[str, type[RegressionFamily]] = {
    family.name: family for family in (Normal, LogNormal, Laplace, StudentT, Poisson, Gamma)
}

DISPERSED = (Normal, Poisson)  # those with a dispersion that held-out rows tell


def regression_family(distribution: Any, y: np.ndarray, weights: np.ndarray | None = None) -> RegressionFamily:
    """The family that ``distribution`` means, fitted to a target.

    Parameters
    ----------
    distribution : str, family or class of families
        A name such as ``"normal"``, or a family with settings, such as ``StudentT(df=4)``.
    y : array of shape (n_rows,)
    weights : array of shape (n_rows,) or None

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import StudentT, regression_family
    >>> regression_family("normal", np.array([1.0, 2.0]))
    Normal()
    >>> regression_family(StudentT(df=4), np.array([1.0, 2.0]))
    StudentT(df=4.0)
    """
    if isinstance(distribution, str) and distribution in REGRESSION_FAMILIES:
        distribution = REGRESSION_FAMILIES[distribution]
    if inspect.isclass(distribution) and issubclass(distribution, RegressionFamily):
        if not inspect.isabstract(distribution):
            return distribution.for_target(y, weights)
    elif isinstance(distribution, RegressionFamily):
        return distribution.fitted_to(y, weights)
    names = ", ".join(map(repr, REGRESSION_FAMILIES))
    raise ParameterError(
        f"distribution must be one of {names}, or a family such as StudentT(df=4), got {distribution!r}."
    )
