"""surefoot's own gradient boosters as sequences of trees."""

from typing import Any

import numpy as np

from surefoot.uncertainty.adapters.base import TreeSequence, check_fitted
from surefoot.uncertainty.decomposition import Uncertainty
from surefoot.uncertainty.member import members_uncertainty
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers


class OwnModel(TreeSequence):
    """A fitted gradient booster of surefoot: one pass computes all truncated models, without the later shrinkage."""

    def __init__(self, model: Any) -> None:
        check_fitted(model)
        noisy = bool(model.langevin) or getattr(model, "subsample", 1.0) < 1.0
        super().__init__(model, int(model.n_iter_), None if noisy else "langevin=True or subsample=0.5")

    def predict_uncertainty(self, X: Any, sizes: tuple[int, ...], index: Any = None) -> Uncertainty:
        model = self.model
        return members_uncertainty(model._members, model.family_, model._columns(X), model.n_jobs, sizes, index)

    def predict_members(self, X: Any, sizes: tuple[int, ...]) -> Members:
        raws = self.model._member_raw(X, sizes)
        family = self.model.family_
        if hasattr(family, "probabilities"):
            return ClassificationMembers(np.stack([family.probabilities(raw) for raw in raws]), self.model.classes_)
        distributions = [family.distribution(raw) for raw in raws]
        return RegressionMembers(
            np.stack([distribution.mean for distribution in distributions]),
            np.stack([distribution.var for distribution in distributions]),
        )
