"""CatBoost's models, truncated by ``ntree_end``."""

from typing import Any

import numpy as np
from scipy.special import log_expit, softmax
from sklearn.exceptions import NotFittedError

from surefoot.uncertainty.adapters.base import TreeSequence, loss_refusal
from surefoot.uncertainty.member_predictions import (
    ClassificationMembers,
    Members,
    RegressionMembers,
    two_class_probabilities,
)

TWO_CLASSES = ("Logloss", "CrossEntropy")
SEVERAL_CLASSES = ("MultiClass", "MultiClassOneVsAll")
MEAN_AND_SPREAD = "RMSEWithUncertainty"
EXPONENTIATED = ("Poisson", "Tweedie")
REGRESSION = (
    "RMSE",
    "MAE",
    "Quantile",
    "LogLinQuantile",
    "MAPE",
    "Lq",
    "Huber",
    "Expectile",
    "LogCosh",
    *EXPONENTIATED,
)


class CatBoostModel(TreeSequence):
    """A fitted CatBoostClassifier or CatBoostRegressor, or a CatBoost with one of their losses."""

    def __init__(self, model: Any) -> None:
        if not model.is_fitted():
            raise NotFittedError(
                f"model is not fitted: call fit on this {type(model).__name__} before making a VirtualEnsemble of it."
            )
        self._settings = model.get_all_params()
        self._loss = _checked_loss(model, self._settings.get("loss_function", "unknown"))
        super().__init__(model, int(model.tree_count_), _noise_advice(self._settings))

    def predict_truncated(self, X: Any, sizes: tuple[int, ...]) -> Members:
        raws = np.stack([self._raw(X, size) for size in sizes])
        if self._loss == MEAN_AND_SPREAD:
            return RegressionMembers(raws[..., 0], np.exp(2 * raws[..., 1]))
        if self._loss in REGRESSION:
            return RegressionMembers(np.exp(raws) if self._loss in EXPONENTIATED else raws, None)
        return ClassificationMembers(self._probabilities(raws), np.asarray(self.model.classes_))

    def _raw(self, X: Any, size: int) -> np.ndarray:
        cut = self.model.predict(X, prediction_type="RawFormulaVal", ntree_end=size)
        return cut / shrinkage_between(size, self.n_trees, self._settings)

    def _probabilities(self, raws: np.ndarray) -> np.ndarray:
        if self._loss in TWO_CLASSES:
            return two_class_probabilities(raws)
        one_versus_all = self._loss == "MultiClassOneVsAll"  # one probability for each class, scaled to add up to 1
        return softmax(log_expit(raws) if one_versus_all else raws, axis=-1)


def shrinkage_between(size: int, n_trees: int, settings: dict[str, Any]) -> float:
    """The factor by which the trees after ``size`` have shrunk those before.

    CatBoost stores every tree shrunk by all later ones, so that truncated models predict too small a sum. Its own
    ``virtual_ensembles_predict`` corrects this in single precision, and only with ``model_shrink_mode="Constant"``.
    (If a model is cut back to its best iteration, CatBoost leaves the starting value shrunk by the removed trees. This
    is not corrected, so that the last member is equal to ``predict``.)
    """
    rate = settings.get("model_shrink_rate") or 0.0
    if settings.get("model_shrink_mode") == "Decreasing":
        return float(np.prod(1 - rate / np.arange(size, n_trees)))
    return float((1 - rate * settings["learning_rate"]) ** (n_trees - size))


def _checked_loss(model: Any, loss_function: str) -> str:
    loss = loss_function.split(":")[0]  # without its parameters
    known = (*TWO_CLASSES, *SEVERAL_CLASSES, MEAN_AND_SPREAD, *REGRESSION)
    if loss not in known:
        raise loss_refusal(model, "loss_function", loss, known)
    return loss


def _noise_advice(settings: dict[str, Any]) -> str | None:
    noisy = (
        _draws_rows(settings)
        or settings.get("rsm", 1) < 1
        or settings.get("random_strength", 0) > 0
        # With other leaves (Newton is the default) CatBoost accepts langevin=True, but adds no noise.
        or (settings.get("langevin") and settings.get("leaf_estimation_method") == "Gradient")
    )
    return None if noisy else "posterior_sampling=True and leaf_estimation_method='Gradient'"


def _draws_rows(settings: dict[str, Any]) -> bool:
    if settings.get("bootstrap_type") == "Bayesian":
        return settings.get("bagging_temperature", 1) > 0
    return settings.get("bootstrap_type", "No") != "No" and (settings.get("subsample") or 1) < 1
