"""The models that can be exported, and what an export reads of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from surefoot._exceptions import ParameterError
from surefoot._fitted_state import current_fit
from surefoot.data.columns import Schema
from surefoot.uncertainty import (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    VirtualEnsemble,
)
from surefoot.uncertainty.families import (
    Bernoulli,
    Categorical,
    ClassificationFamily,
    Gamma,
    Laplace,
    LogNormal,
    Normal,
    Poisson,
    RegressionFamily,
    StudentT,
)
from surefoot.uncertainty.member import Member

MODELS = (
    BoostingEnsembleClassifier,
    BoostingEnsembleRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
FAMILIES = (Normal, LogNormal, Laplace, StudentT, Poisson, Gamma, Bernoulli, Categorical)  # of known formulas
ENSEMBLES = (BoostingEnsembleClassifier, BoostingEnsembleRegressor)


@dataclass(frozen=True)
class ExportedModel:
    """A fitted gradient booster or ensemble.

    Attributes
    ----------
    kind : str
        The name of its class.
    names : tuple of str
        The names of the columns; ``x0``, ``x1`` and so on, if the model was fitted to an array.
    has_names : bool
        Whether the model was fitted to a frame.
    classes : array or None
        The labels of a classifier.
    """

    kind: str
    is_ensemble: bool
    members: tuple[Member, ...]
    family: RegressionFamily | ClassificationFamily
    schema: Schema
    names: tuple[str, ...]
    has_names: bool
    classes: np.ndarray | None

    @classmethod
    def of(cls, model: Any, user: str) -> "ExportedModel":
        """Check a model; errors call the function ``user``."""
        _check_kind(model, user)
        check_is_fitted(model)
        model = current_fit(model)
        family = model.family_
        if type(family) not in FAMILIES:
            known = ", ".join(each.name for each in FAMILIES)
            message = f"{user} knows the distributions {known}, not {family.name}: fit a model with one of them."
            raise ParameterError(message, argument="model")
        names = getattr(model, "feature_names_in_", None)
        return cls(
            kind=type(model).__name__,
            is_ensemble=type(model) in ENSEMBLES,
            members=tuple(model._members),
            family=family,
            schema=model._schema,
            names=tuple(f"x{j}" for j in range(model.n_features_in_)) if names is None else tuple(map(str, names)),
            has_names=names is not None,
            classes=getattr(model, "classes_", None),
        )

    @property
    def version(self) -> str:
        """The version of surefoot."""
        from surefoot import __version__

        return __version__


def _check_kind(model: Any, user: str) -> None:
    """Refuse what is not a gradient booster of question 2, and say what to do instead."""
    if type(model) in MODELS:
        return
    kind = type(model).__name__
    if isinstance(model, type):
        advice = "pass a fitted model, not a class"
    elif hasattr(model, "to_local"):
        advice = "pass what its to_local() returns"
    elif isinstance(model, VirtualEnsemble):
        advice = "pass the model that it is cut out of, or train a BoostingEnsembleRegressor or -Classifier"
    else:
        advice = f"it takes a fitted {', '.join(each.__name__ for each in MODELS)}"
    raise ParameterError(f"{user} cannot export an object of type {kind}: {advice}.", argument="model")
