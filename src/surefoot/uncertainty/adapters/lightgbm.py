"""LightGBM's models, truncated by ``num_iteration``."""

import re
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from surefoot.uncertainty.adapters.base import TreeSequence, check_fitted, loss_refusal, refusal
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers

CLASSIFICATION = ("binary", "multiclass", "multiclassova")
REGRESSION = (
    "regression",
    "regression_l1",
    "huber",
    "fair",
    "poisson",
    "quantile",
    "mape",
    "gamma",
    "tweedie",
)
NOT_TRUNCATABLE = {
    "dart": "with boosting='dart' rescales earlier trees when it adds one, so its partial sums are not models",
    "rf": "with boosting='rf' averages its trees instead of adding them up",
}
DEFAULTS = {  # for a model with a text that lacks them
    "boosting": "gbdt",
    "objective": "unknown",
    "bagging_freq": "0",
    "bagging_fraction": "1",
    "extra_trees": "0",
    "pos_bagging_fraction": "1",
    "neg_bagging_fraction": "1",
    "feature_fraction": "1",
    "feature_fraction_bynode": "1",
    "data_sample_strategy": "bagging",
}


class LightGBMModel(TreeSequence):
    """A fitted LGBMClassifier or LGBMRegressor, or a Booster."""

    def __init__(self, model: Any) -> None:
        is_booster = not hasattr(model, "fit")
        if not is_booster:
            check_fitted(model)
        booster = model if is_booster else model.booster_
        settings = _settings(booster)
        if settings["boosting"] in NOT_TRUNCATABLE:
            raise refusal(model, NOT_TRUNCATABLE[settings["boosting"]], "Pass one grown with boosting='gbdt'")
        self._classifies = _classifies(model, settings["objective"], is_booster)
        self._one_versus_all = settings["objective"] == "multiclassova"
        # After early stopping, predict uses best_iteration; without early stopping it is 0 or -1.
        n_trees = booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()
        super().__init__(model, n_trees, _noise_advice(settings))

    def predict_truncated(self, X: Any, sizes: tuple[int, ...]) -> Members:
        predict = getattr(self.model, "predict_proba", self.model.predict) if self._classifies else self.model.predict
        predictions = np.stack([np.asarray(predict(X, num_iteration=size)) for size in sizes])
        if not self._classifies:
            return RegressionMembers(predictions, None)
        if predictions.ndim == 2:  # for two classes, a Booster predicts only the second
            predictions = np.stack([1 - predictions, predictions], axis=-1)
        if self._one_versus_all:  # LightGBM does not scale the probabilities of the classes
            predictions = predictions / predictions.sum(axis=-1, keepdims=True)
        return ClassificationMembers(predictions, getattr(self.model, "classes_", np.arange(predictions.shape[-1])))


def _classifies(model: Any, objective: str, is_booster: bool) -> bool:
    if objective in CLASSIFICATION:
        return True
    own_regression = objective == "custom" and not is_booster and is_regressor(model)  # predict returns its output
    if objective in REGRESSION or own_regression:
        return False
    raise loss_refusal(model, "objective", objective, CLASSIFICATION + REGRESSION)


def _settings(booster: Any) -> dict[str, str]:
    """The training parameters of a Booster, by the names in its text: aliases are resolved there."""
    text = booster.model_to_string(num_iteration=1)
    return DEFAULTS | dict(re.findall(r"^\[(\w+): (.*)\]$", text, flags=re.MULTILINE))


def _noise_advice(settings: dict[str, str]) -> str | None:
    draws_rows = float(settings["bagging_freq"]) > 0 and any(
        float(settings[name]) < 1 for name in ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
    )
    draws_columns = any(float(settings[name]) < 1 for name in ("feature_fraction", "feature_fraction_bynode"))
    noisy = draws_rows or draws_columns or settings["data_sample_strategy"] == "goss" or settings["extra_trees"] == "1"
    return None if noisy else "subsample=0.5, subsample_freq=1 (LightGBM draws no rows while subsample_freq is 0)"
