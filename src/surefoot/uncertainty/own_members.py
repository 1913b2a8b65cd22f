"""What the members of our own ensembles, real and virtual, say about rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.data import Columns
from surefoot.uncertainty.decomposition import (
    NATS,
    TARGET_SQUARED,
    Uncertainty,
    classification_uncertainty,
    regression_uncertainty,
)
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.member import Member, each_block


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
