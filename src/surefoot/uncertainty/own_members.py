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
        if isinstance(family, RegressionFamily):
            means, variances = zip(*(family.moments(member) for member in raw), strict=True)
            here = regression_uncertainty(np.stack(means), np.stack(variances))
        else:
            here = classification_uncertainty(np.stack([family.probabilities(member) for member in raw]))
        data[start:stop], knowledge[start:stop] = here.data, here.knowledge

    each_block(members, columns, n_jobs, cuts, part)
    unit = TARGET_SQUARED if isinstance(family, RegressionFamily) else NATS
    return Uncertainty(data + knowledge, data, knowledge, unit, index)
