"""The user's own model, or its predictions; and the rows that it was trained on."""

from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.base import clone

from surefoot._exceptions import DataError, ParameterError
from surefoot._numbers import naming
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.inputs.target import as_objects, has_value
from surefoot.report.models.cross_fitting import YOUR_PREDICTIONS, YOURS, CandidateModel, CrossFitted, takes_weights
from surefoot.report.models.predictions import ModelPredictions

MIN_TRAINED, MIN_UNSEEN = 20, 20  # rows: the other models are trained on the first, all models are tested on the second
TRUE_WORDS, FALSE_WORDS = ("true", "yes", "1", "train"), ("false", "no", "0", "test")


def own_model_of(model: Any, refit: bool, table: AuditTable) -> CandidateModel | None:
    """The user's model as a candidate: fitted again in every fold, or as it is."""
    if model is None:
        return None
    kind, wanted = type(model).__name__, "classifier" if table.target.is_classes else "regressor"
    unwanted = "regressor" if table.target.is_classes else "classifier"
    if _kind_of(model) == unwanted:
        message = f"model is a {kind}, but the target needs a {wanted}: pass a {wanted}."
        raise ParameterError(message, argument="model")
    if not callable(getattr(model, "predict", None)):
        message = f"model is of type {kind}, which has no method predict: pass an object that has one."
        raise ParameterError(message, argument="model")
    if not refit:
        return CandidateModel(YOURS, f"{kind}, as it is", model, raw=True, prefit=True)
    if not callable(getattr(model, "fit", None)):
        message = f"model is of type {kind}, which has no method fit: pass refit=False to audit it as it is."
        raise ParameterError(message, argument="model")
    _check_copies(model)
    if table.weights is not None:
        check_takes_weights(model)
    return CandidateModel(YOURS, f"{kind}, fitted again in every fold", model, raw=True)


def _check_copies(model: Any) -> None:
    """Refuse a model whose copies would continue its fit: see ``new_copy``."""
    try:
        clone(model)
    except (TypeError, RuntimeError) as error:
        if getattr(model, "warm_start", False):
            message = "model cannot be cloned, and with warm_start=True a fit would continue the last: set it to False."
            raise ParameterError(message, argument="model") from error


def check_takes_weights(model: Any) -> None:
    """Refuse a model that is fitted again and would ignore the weights."""
    if not takes_weights(model):
        message = (
            f"model is of type {type(model).__name__}, whose fit takes no sample_weight: leave sample_weight out, or "
            "pass a fitted model and refit=False."
        )
        raise ParameterError(message, argument="sample_weight")


def _kind_of(model: Any) -> str | None:
    """ "classifier" or "regressor", if the model says so."""
    tags = getattr(model, "__sklearn_tags__", None)
    try:
        kind = tags().estimator_type if callable(tags) else getattr(model, "_estimator_type", None)
    except AttributeError:  # a class that only looks like one of scikit-learn's
        return None
    return kind if isinstance(kind, str) else None


def own_predictions_of(predictions: Any, table: AuditTable, splits: Splits) -> CrossFitted | None:
    """The user's predictions for the held-out rows."""
    if predictions is None:
        return None
    with naming("predictions"):
        given, target = as_objects(predictions), table.target
    if len(given) != len(table.is_audited):
        message = f"predictions has {len(given)} rows, but X has {len(table.is_audited)}."
        raise DataError(message, argument="predictions")
    given = given[table.is_audited]
    values = target.read_predictions(given, table.n_rows, "predictions")
    of_second = target.read_scores(given)
    probabilities = None if of_second is None else np.column_stack([1 - of_second, of_second])
    description = "labels, as they were passed" if target.is_classes else "as they were passed"
    if of_second is not None:
        description = f"treated as probabilities of {target.classes[1]}"
    candidate = CandidateModel(YOUR_PREDICTIONS, description, None, raw=True)
    total = None if probabilities is None else entr(probabilities).sum(axis=1)
    read = ModelPredictions(values=values, probabilities=probabilities, scores=of_second, total=total)
    return CrossFitted(candidate, table, splits, (), read[splits.held_out], float("nan"))


def read_trained_on(values: np.ndarray) -> np.ndarray:
    """Which rows the user's model was trained on, from booleans or from words such as "train" and "test"."""
    message = "trained_on must be true for the rows that the model was trained on and false for all others, got {}."
    if not has_value(values).all():
        raise DataError(message.format("missing values"), argument="trained_on")
    words = [str(value).strip().lower().removesuffix(".0") for value in values]
    unknown = sorted(set(words) - {*TRUE_WORDS, *FALSE_WORDS})
    if unknown:
        raise DataError(message.format(repr(unknown[0])), argument="trained_on")
    return np.isin(words, TRUE_WORDS)


def check_trained_on(is_trained: np.ndarray) -> None:
    """Refuse too few rows of either kind."""
    n_trained = int(is_trained.sum())
    n_unseen = len(is_trained) - n_trained
    if n_unseen < MIN_UNSEEN:
        message = f"trained_on leaves {n_unseen} rows that the model has not seen: at least {MIN_UNSEEN} are needed."
        raise DataError(message, argument="trained_on")
    if n_trained < MIN_TRAINED:
        message = (
            f"trained_on names {n_trained} rows, on which the other models are trained: at least {MIN_TRAINED} are "
            "needed. If the model was trained on none of the rows, pass trained_on=False."
        )
        raise DataError(message, argument="trained_on")
