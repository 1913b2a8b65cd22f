"""scikit-learn's gradient boosters, truncated, and its forests, divided into parts."""

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaseEnsemble,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import Pipeline

from surefoot._exceptions import ParameterError
from surefoot.uncertainty.adapters.base import TreeSequence, check_fitted, refusal
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers

BOOSTERS = (GradientBoostingClassifier, GradientBoostingRegressor)
HISTOGRAM_BOOSTERS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
RANDOM_FORESTS = (RandomForestClassifier, RandomForestRegressor)
EXTRA_TREES = (ExtraTreesClassifier, ExtraTreesRegressor)


def scikit_learn_sequence(model: Any) -> TreeSequence:
    """The adapter for a model of scikit-learn, or for a class derived from one."""
    if isinstance(model, BOOSTERS):
        return StagedModel(model, "n_estimators_", _booster_noise_advice)
    if isinstance(model, HISTOGRAM_BOOSTERS):
        return StagedModel(model, "n_iter_", _histogram_booster_noise_advice)
    if isinstance(model, RANDOM_FORESTS + EXTRA_TREES):
        return Forest(model)
    raise _refusal(model)


def _refusal(model: Any) -> ParameterError:
    if isinstance(model, Pipeline):
        return refusal(model, "has steps", "Pass its last step, model[-1], and X as model[:-1].transform(X)")
    if hasattr(model, "best_estimator_"):
        return refusal(model, "is a search", "Pass its best model, model.best_estimator_")
    if isinstance(model, AdaBoostClassifier | AdaBoostRegressor):
        return refusal(model, "takes a vote of its trees instead of adding them up")
    if isinstance(model, MetaEstimatorMixin) and not isinstance(model, BaseEnsemble):
        return refusal(model, "wraps other models", "Pass the fitted booster or forest inside it")
    return refusal(model, "is none of the boosters and forests that surefoot supports")


class StagedModel(TreeSequence):
    """A booster with staged predictions: those of the model after each round."""

    def __init__(self, model: Any, rounds: str, noise_advice: Callable[[Any], str | None]) -> None:
        check_fitted(model)
        super().__init__(model, int(getattr(model, rounds)), noise_advice(model))

    def predict_truncated(self, X: Any, sizes: tuple[int, ...]) -> Members:
        if is_classifier(self.model):
            stages = self._at(sizes, self.model.staged_predict_proba(X))
            return ClassificationMembers(stages, self.model.classes_)
        return RegressionMembers(self._at(sizes, self.model.staged_predict(X)), None)

    @staticmethod
    def _at(sizes: tuple[int, ...], stages: Iterable[np.ndarray]) -> np.ndarray:
        wanted = set(sizes)
        return np.stack([np.array(stage) for size, stage in enumerate(stages, start=1) if size in wanted])


def _booster_noise_advice(model: Any) -> str | None:
    noisy = model.subsample < 1.0 or model.max_features_ < model.n_features_in_
    return None if noisy else "subsample=0.5"


def _histogram_booster_noise_advice(model: Any) -> str | None:
    return None if model.max_features < 1.0 else "max_features=0.5"


class Forest(TreeSequence):
    """A forest, divided into smaller forests: its trees are grown independently."""

    methods = ("parts",)

    def __init__(self, model: Any) -> None:
        check_fitted(model)
        if model.n_outputs_ > 1:
            raise refusal(model, f"has {model.n_outputs_} targets", "Pass one model for each target")
        noisy = (
            isinstance(model, EXTRA_TREES)
            or model.bootstrap
            or model.estimators_[0].max_features_ < model.n_features_in_
        )
        super().__init__(model, len(model.estimators_), None if noisy else "bootstrap=True")

    def member_sizes(self, n_members: int) -> tuple[int, ...]:
        """The number of trees of each part, as equal as possible."""
        if self.n_trees < n_members:
            raise self._too_few(n_members, trees_per_member=1)
        return tuple(len(part) for part in np.array_split(np.arange(self.n_trees), n_members))

    def predict_truncated(self, X: Any, sizes: tuple[int, ...]) -> Members:
        stops = np.cumsum(sizes)
        parts = [self._part(stop - size, stop) for size, stop in zip(sizes, stops, strict=True)]
        if is_classifier(self.model):
            return ClassificationMembers(np.stack([part.predict_proba(X) for part in parts]), self.model.classes_)
        return RegressionMembers(np.stack([part.predict(X) for part in parts]), None)

    def _part(self, start: int, stop: int) -> Any:
        """A forest of some of the trees; it shares them, and checks tables like the full forest."""
        part = copy.copy(self.model)
        part.estimators_ = self.model.estimators_[start:stop]
        return part
