"""surefoot's own gradient boosters as sequences of trees, and the uncertainty of their members."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.data import Columns
from surefoot.uncertainty.adapters.base import TreeSequence, check_fitted
from surefoot.uncertainty.decomposition import (
    NATS,
    TARGET_SQUARED,
    Uncertainty,
    classification_uncertainty,
    regression_uncertainty,
)
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import Member, each_block
from surefoot.uncertainty.member_predictions import ClassificationMembers, Members, RegressionMembers


class OwnModel(TreeSequence):
    """A fitted gradient booster of surefoot: it cuts itself short in one pass, and undoes the shrinkage of each cut."""

    def __init__(self, model: Any) -> None:
        check_fitted(model)
        noisy = bool(model.langevin) or getattr(model, "subsample", 1.0) < 1.0
        super().__init__(model, int(model.n_trees_), None if noisy else "langevin=True or subsample=0.5")

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


def members_uncertainty(
    members: Sequence[Member],
    family: RegressionFamily | ClassificationFamily,
    columns: Columns,
    n_jobs: int | None,
    cuts: Sequence[int] | None = None,
    index: Any = None,
) -> Uncertainty:
    """Total, data and knowledge uncertainty of every row, block by block; with ``cuts``, of one member cut short."""
    data, knowledge = np.empty(columns.n_rows), np.empty(columns.n_rows)

    def part(raw: np.ndarray, start: int, stop: int) -> None:
        n_members, n_outputs, n_rows = raw.shape
        side_by_side = raw.transpose(1, 0, 2).reshape(n_outputs, -1)  # one call for all members, not one for each
        if isinstance(family, RegressionFamily):
            means, variances = family.moments(side_by_side)
            here = regression_uncertainty(means.reshape(n_members, n_rows), variances.reshape(n_members, n_rows))
        else:
            here = classification_uncertainty(family.probabilities(side_by_side).reshape(n_members, n_rows, -1))
        data[start:stop], knowledge[start:stop] = here.data, here.knowledge

    each_block(members, columns, n_jobs, cuts, part)
    unit = TARGET_SQUARED if isinstance(family, RegressionFamily) else NATS
    return Uncertainty(data + knowledge, data, knowledge, unit, index)
