"""A trained model and how it is applied to new rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot._parallel import RowThreads, row_blocks, threads_for
from surefoot.data import Columns
from surefoot.trees.vector_forest import VectorForest
from surefoot.uncertainty.recalibration import Recalibration
from surefoot.uncertainty.training_table import Encoding


@dataclass(frozen=True)
class BoostedTrees:
    """A trained model: outputs are ``start`` plus the sum of the trees.

    The model after t trees is ``shrink ** (t - T)`` times the same with the first t trees alone.
    """

    start: np.ndarray
    forest: VectorForest
    shrink: float
    held_out_nll: np.ndarray  # by round; empty where nobody asked
    bounds: np.ndarray  # (trees, 2): least and most of the last output of the model cut after each tree

    def recalibrated(self, line: Recalibration) -> "BoostedTrees":
        """The same model, corrected: outputs are sums, so the parts of the last are multiplied alike."""
        start, leaves = self.start.copy(), self.forest.leaves.copy()
        start[0] += line.mean_shift
        if len(start) > 1:
            start[-1] = line.shift + line.slope * start[-1]
            leaves[:, :, -1] *= line.slope
        finite = np.where(np.isfinite(self.bounds), self.bounds, 0.0)
        bounds = np.where(np.isfinite(self.bounds), line.shift + line.slope * finite, self.bounds)
        return replace(self, start=start, forest=replace(self.forest, leaves=leaves), bounds=bounds)


PREDICT_BLOCK = 4096  # rows whose codes and sums stay in the cache while all trees go over them


@dataclass(frozen=True)
class Member:
    """Trees and the codes that they read."""

    encoding: Encoding
    trees: BoostedTrees
    dispersion: float = 0.0  # by held-out rows; a fitted family has the mean of its members'

    def add_cut(self, codes: np.ndarray, cuts: Sequence[int], out: np.ndarray) -> None:
        """Write the raw outputs of the model cut after each number of trees in ``cuts``, (cuts, outputs, rows)."""
        n_trees, done = self.trees.forest.n_trees, 0
        partial = np.repeat(self.trees.start[:, np.newaxis], codes.shape[1], axis=1)
        for k, cut in enumerate(cuts):
            self.trees.forest.add(codes, done, cut, partial)
            done = cut
            out[k] = partial if self.trees.shrink == 1.0 else partial * self.trees.shrink ** (cut - n_trees)
            np.clip(out[k, -1], *self.trees.bounds[cut - 1], out=out[k, -1])


def raw_outputs(
    members: Sequence[Member], columns: Columns, n_jobs: int | None, cuts: Sequence[int] | None = None
) -> np.ndarray:
    """Raw outputs (members, outputs, rows) on a table; with ``cuts``, of one member cut short at each of them."""
    n_outputs = members[0].trees.forest.n_outputs
    out = np.empty((len(members) if cuts is None else len(cuts), n_outputs, columns.n_rows))

    def keep(raw: np.ndarray, start: int, stop: int) -> None:
        out[:, :, start:stop] = raw

    each_block(members, columns, n_jobs, cuts, keep)
    return out


def each_block(
    members: Sequence[Member],
    columns: Columns,
    n_jobs: int | None,
    cuts: Sequence[int] | None,
    use: Callable[[np.ndarray, int, int], None],
) -> None:
    """Call ``use(raw outputs, start, stop)`` for blocks of rows, in the threads that computed them."""
    n_trees = sum(member.trees.forest.n_trees for member in members)
    n_outputs = members[0].trees.forest.n_outputs

    def fill(block: tuple[int, int]) -> None:
        start, stop = block
        raw = np.empty((len(members) if cuts is None else len(cuts), n_outputs, stop - start))
        codes, encoding = np.empty(0), None
        for k, member in enumerate(members):
            if member.encoding is not encoding:  # members often share their bins
                encoding = member.encoding
                codes = encoding.codes(columns, start, stop)
            here = [member.trees.forest.n_trees] if cuts is None else cuts
            member.add_cut(codes, here, raw[k : k + len(here)])
        use(raw, start, stop)

    with RowThreads(threads_for(n_jobs, columns.n_rows * (columns.n_columns + n_trees))) as threads:
        threads.each(fill, row_blocks(columns.n_rows, PREDICT_BLOCK))
