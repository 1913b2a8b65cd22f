"""XGBoost's models, truncated by ``iteration_range``."""

import json
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import NotFittedError

from surefoot.uncertainty.adapters.base import TreeSequence, check_fitted, loss_refusal, refusal
from surefoot.uncertainty.member_predictions import (
    ClassificationMembers,
    Members,
    RegressionMembers,
    two_class_probabilities,
)

TWO_CLASSES = ("binary:logistic", "binary:logitraw")
SEVERAL_CLASSES = ("multi:softprob", "multi:softmax")
REGRESSION = ("reg:", "count:")  # prefixes of their names
NOT_TRUNCATABLE = {
    "gblinear": "with booster='gblinear' is a linear model, it has no trees",
    "dart": "with booster='dart' rescales earlier trees when it adds one, so its partial sums are not models",
}


class XGBoostModel(TreeSequence):
    """A fitted XGBClassifier or XGBRegressor, or a Booster."""

    def __init__(self, model: Any) -> None:
        self._is_booster = not hasattr(model, "fit")
        if not self._is_booster:
            check_fitted(model)
        booster = model if self._is_booster else model.get_booster()
        learner = _learner(booster)
        grower = learner["gradient_booster"]
        if grower["name"] in NOT_TRUNCATABLE:
            raise refusal(model, NOT_TRUNCATABLE[grower["name"]], "Pass one grown with booster='gbtree'")
        self._objective = _checked_objective(model, learner)
        # predict of a classifier or regressor uses the trees up to the best iteration, that of a Booster all trees.
        stops_early = not self._is_booster and hasattr(model, "best_iteration")
        n_trees = model.best_iteration + 1 if stops_early else booster.num_boosted_rounds()
        super().__init__(model, int(n_trees), _noise_advice(grower))

    def predict_truncated(self, X: Any, sizes: tuple[int, ...]) -> Members:
        classifies = self._objective in TWO_CLASSES + SEVERAL_CLASSES
        predictions = np.stack([self._predict(X, size, margin=classifies) for size in sizes]).astype(np.float64)
        if not classifies:
            return RegressionMembers(predictions, None)
        # Probabilities are computed here in double precision: XGBoost rounds them to single precision.
        several = self._objective in SEVERAL_CLASSES
        probabilities = softmax(predictions, axis=-1) if several else two_class_probabilities(predictions)
        return ClassificationMembers(probabilities, getattr(self.model, "classes_", np.arange(probabilities.shape[-1])))

    def _predict(self, X: Any, size: int, *, margin: bool) -> np.ndarray:
        cut = (0, size)
        is_matrix = hasattr(X, "num_row")  # a DMatrix, which only a Booster accepts
        if self._is_booster and not is_matrix:
            return self.model.inplace_predict(X, iteration_range=cut, predict_type="margin" if margin else "value")
        return self.model.predict(X, output_margin=margin, iteration_range=cut)


def _learner(booster: Any) -> dict[str, Any]:
    """The training parameters of a Booster, from its own configuration."""
    try:
        return json.loads(booster.save_config())["learner"]
    except ValueError as error:  # XGBoost raises a subclass of it if nothing is trained
        raise NotFittedError(
            "model is not fitted: train this Booster before making a VirtualEnsemble of it."
        ) from error


def _checked_objective(model: Any, learner: dict[str, Any]) -> str:
    name = learner["objective"]["name"]
    if int(learner["learner_model_param"]["num_target"]) > 1:
        raise refusal(model, "has several targets", "Pass one model for each target")
    if int(learner["gradient_booster"]["gbtree_model_param"]["num_parallel_tree"]) > 1:
        raise refusal(
            model,
            "grows several trees in a round, as a forest does",
            "Pass one grown with num_parallel_tree=1, or a forest of scikit-learn",
        )
    classifies = name in TWO_CLASSES + SEVERAL_CLASSES
    if classifies and callable(getattr(model, "objective", None)):
        raise refusal(model, "has an objective of your own, which may not give probabilities", "Pass one without it")
    if classifies or name.startswith(REGRESSION):
        return name
    raise loss_refusal(model, "objective", name, (*TWO_CLASSES, *SEVERAL_CLASSES, "reg:...", "count:..."))


def _noise_advice(grower: dict[str, Any]) -> str | None:
    settings = grower["tree_train_param"]
    fractions = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")
    if any(float(settings[name]) < 1 for name in fractions):
        return None
    return "subsample=0.5 (a model loaded from a file has lost this setting: ignore this if it was trained with noise)"
