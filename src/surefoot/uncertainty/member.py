"""A trained member, and its raw outputs and uncertainty on new rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot._parallel import RowThreads, rows_in_memory, threads_for
from surefoot.data import Columns
from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.decomposition import (
    NATS,
    TARGET_SQUARED,
    Uncertainty,
    classification_uncertainty,
    regression_uncertainty,
)
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.training_table import Encoding

PREDICT_BLOCK = 4096  # rows whose codes and sums stay in the cache while all trees are applied to them


@dataclass(frozen=True)
class BoostedTrees:
    """A trained model: its outputs are ``start`` plus the sum of the trees.

    The model after t of T trees is ``shrink ** (t - T)`` times ``start`` plus the sum of the first t trees.
    """

    start: np.ndarray
    forest: VectorForest
    shrink: float
    held_out_nll: np.ndarray  # after each round; empty without early stopping
    bounds: np.ndarray  # (trees, 2): bounds of the last output of the model truncated after each tree


@dataclass(frozen=True)
class Member:
    """Trees, and the encoding of the table that they read."""

    encoding: Encoding
    trees: BoostedTrees
    dispersion: float = 0.0  # from held-out rows; the fitted family has the mean over the members
    losses: dict[str, np.ndarray] = field(default_factory=dict)  # of named sets of rows, after each round
    all_trees: BoostedTrees | None = None  # with those that are not kept, until the losses are measured

    def add_cut(self, codes: np.ndarray, cuts: Sequence[int], out: np.ndarray) -> None:
        """Write raw outputs (cuts, outputs, rows) of the model truncated after each number of trees in ``cuts``."""
        n_trees, done = self.trees.forest.n_trees, 0
        partial = np.repeat(self.trees.start[:, np.newaxis], codes.shape[1], axis=1)
        for k, cut in enumerate(cuts):
            self.trees.forest.add(codes, done, cut, partial)
            done = cut
            out[k] = partial if self.trees.shrink == 1.0 else partial * self.trees.shrink ** (cut - n_trees)
            np.clip(out[k, -1], *self.trees.bounds[cut - 1], out=out[k, -1])

    def stages(self, columns: Columns, offset: np.ndarray | None = None) -> Iterator[np.ndarray]:
        """Raw outputs (outputs, rows) after one tree, after two, and so on; ``offset`` is added to the first."""
        codes = self.encoding.codes(columns, 0, columns.n_rows)
        partial = np.repeat(self.trees.start[:, np.newaxis], columns.n_rows, axis=1)
        n_trees = self.trees.forest.n_trees
        for tree in range(n_trees):
            self.trees.forest.add(codes, tree, tree + 1, partial)
            raw = partial * self.trees.shrink ** (tree + 1 - n_trees)
            np.clip(raw[-1], *self.trees.bounds[tree], out=raw[-1])
            if offset is not None:
                raw[: len(offset)] += offset
            yield raw


def raw_outputs(
    members: Sequence[Member],
    columns: Columns,
    n_jobs: int | None,
    cuts: Sequence[int] | None = None,
    offset: np.ndarray | None = None,
) -> np.ndarray:
    """Raw outputs (members, outputs, rows) on a table; with ``cuts``, of one member truncated at each of them.

    An ``offset`` (n, rows) is added to the first n outputs.
    """
    n_outputs = members[0].trees.forest.n_outputs
    out = np.empty((len(members) if cuts is None else len(cuts), n_outputs, columns.n_rows))

    def keep(raw: np.ndarray, start: int, stop: int) -> None:
        out[:, :, start:stop] = raw

    for_each_block(members, columns, n_jobs, cuts, keep)
    if offset is not None:
        out[:, : len(offset)] += offset
    return out


def members_uncertainty(
    members: Sequence[Member],
    family: RegressionFamily | ClassificationFamily,
    columns: Columns,
    n_jobs: int | None,
    index: Any = None,
    offset: np.ndarray | None = None,
) -> Uncertainty:
    """Total, data and knowledge uncertainty of every row, block by block."""
    data, knowledge = np.empty(columns.n_rows), np.empty(columns.n_rows)

    def decompose(raw: np.ndarray, start: int, stop: int) -> None:
        if offset is not None:
            raw[:, : len(offset)] += offset[:, start:stop]
        block = raw_uncertainty(raw, family)
        data[start:stop], knowledge[start:stop] = block.data, block.knowledge

    for_each_block(members, columns, n_jobs, None, decompose)
    unit = TARGET_SQUARED if isinstance(family, RegressionFamily) else NATS
    return Uncertainty(total=data + knowledge, data=data, knowledge=knowledge, unit=unit, index=index)


def raw_uncertainty(raw: np.ndarray, family: RegressionFamily | ClassificationFamily) -> Uncertainty:
    """The uncertainty of members with these raw outputs (members, outputs, rows)."""
    n_members, n_outputs, n_rows = raw.shape
    side_by_side = raw.transpose(1, 0, 2).reshape(n_outputs, -1)  # one call for all members, not one for each
    if isinstance(family, RegressionFamily):
        means, variances = family.moments(side_by_side)
        return regression_uncertainty(means.reshape(n_members, n_rows), variances.reshape(n_members, n_rows))
    return classification_uncertainty(family.probabilities(side_by_side).reshape(n_members, n_rows, -1))


def for_each_block(
    members: Sequence[Member],
    columns: Columns,
    n_jobs: int | None,
    cuts: Sequence[int] | None,
    use: Callable[[np.ndarray, int, int], None],
) -> None:
    """Call ``use(raw outputs, start, stop)`` for blocks of rows, in the threads that computed them."""
    n_trees = sum(member.trees.forest.n_trees for member in members)
    n_outputs, n_raw = members[0].trees.forest.n_outputs, len(members) if cuts is None else len(cuts)

    def fill(block: tuple[int, int]) -> None:
        start, stop = block
        raw = np.empty((n_raw, n_outputs, stop - start))
        codes, encoding = np.empty(0), None
        for k, member in enumerate(members):
            if member.encoding is not encoding:  # members often share their bins
                encoding = member.encoding
                codes = encoding.codes(columns, start, stop)
            member_cuts = [member.trees.forest.n_trees] if cuts is None else cuts
            member.add_cut(codes, member_cuts, raw[k : k + len(member_cuts)])
        use(raw, start, stop)

    with RowThreads(threads_for(n_jobs, columns.n_rows * (columns.n_columns + n_trees))) as threads:
        threads.each(fill, columns.row_blocks(rows_in_memory(PREDICT_BLOCK, n_raw * n_outputs)))
