"""The family that the parameter ``distribution`` of a gradient booster describes."""

import inspect
from typing import Any

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.uncertainty.families import REGRESSION_FAMILIES, RegressionFamily


def regression_family(distribution: Any, y: np.ndarray, weights: np.ndarray | None = None) -> RegressionFamily:
    """The family that the parameter ``distribution`` describes, fitted to a target.

    Parameters
    ----------
    distribution : str, family or class of families
        A name such as ``"normal"``, or a family with settings, such as ``StudentT(df=4)``.
    y : array of shape (n_rows,)
    weights : array of shape (n_rows,) or None

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.uncertainty.families import StudentT
    >>> from surefoot.uncertainty.families.chosen import regression_family
    >>> regression_family("normal", np.array([1.0, 2.0]))
    Normal()
    >>> regression_family(StudentT(df=4), np.array([1.0, 2.0]))
    StudentT(df=4.0)
    """
    return unfitted_family(distribution).fitted_to(y, weights)


def unfitted_family(distribution: Any) -> RegressionFamily:
    """The family that the parameter ``distribution`` describes, before it is fitted to a target."""
    if isinstance(distribution, str) and distribution in REGRESSION_FAMILIES:
        distribution = REGRESSION_FAMILIES[distribution]
    if inspect.isclass(distribution) and issubclass(distribution, RegressionFamily):
        if not inspect.isabstract(distribution):
            return distribution()
    elif isinstance(distribution, RegressionFamily):
        return distribution
    names = ", ".join(map(repr, REGRESSION_FAMILIES))
    raise ParameterError(
        f"distribution must be one of {names}, or a family such as StudentT(df=4), got {distribution!r}."
    )
