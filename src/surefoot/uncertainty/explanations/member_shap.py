"""SHAP values of the raw outputs of members, in the columns of the user's table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from surefoot._parallel import RowThreads, row_blocks, threads_for
from surefoot.data import Columns
from surefoot.trees.tree_shap import ShapForest
from surefoot.uncertainty.explanations.mixed_codes import CodedRows
from surefoot.uncertainty.member import PREDICT_BLOCK, Member

MAX_NUMBERS = 1 << 22  # of the values of all members in one block of rows
MIN_BLOCK = 16


@dataclass(frozen=True)
class MemberShap:
    """A member with what the SHAP values of its trees need, computed once for all rows."""

    member: Member
    forest: ShapForest
    outputs: list[int]
    background: CodedRows | None

    @classmethod
    def of(cls, member: Member, background: Columns | None, outputs: Sequence[int] | None = None) -> Self:
        """What is needed for some of the outputs; None: for all."""
        chosen = list(range(member.trees.forest.n_outputs) if outputs is None else outputs)
        forest = ShapForest.of(member.trees.forest, tuple(member.encoding.sources), chosen)
        rows = None if background is None else CodedRows.of(member.encoding, background, 0, background.n_rows)
        return cls(member=member, forest=forest, outputs=chosen, background=rows)

    def base(self, cut: int) -> np.ndarray:
        """The mean of each output (outputs,) over the training or background rows, after some trees."""
        trees = self.member.trees
        if self.background is None:
            sums = trees.start[self.outputs] + self.forest.means[:cut].sum(axis=0)
        else:
            raw = np.repeat(trees.start[:, np.newaxis], self.background.codes.shape[1], axis=1)
            trees.forest.add(self.background.codes, 0, cut, raw)
            sums = raw[self.outputs].mean(axis=1)
        return np.asarray(sums * self._shrink(cut))

    def add(self, rows: CodedRows, cuts: Sequence[int], out: np.ndarray) -> None:
        """Add the values of the model truncated after each number of trees to ``out``.

        It has the shape (cuts, outputs, columns, rows).
        """
        partial, done = np.zeros(out.shape[1:]), 0
        for cut, values in zip(cuts, out, strict=True):
            self._add_trees(rows, done, cut, partial)
            values += partial * self._shrink(cut)
            done = cut

    def _add_trees(self, rows: CodedRows, start: int, stop: int, values: np.ndarray) -> None:
        if self.background is None:
            self.forest.add(rows.codes, start, stop, values)
            return
        if self.forest.has_few_mixtures:
            self.forest.add_against(rows.codes, self.background.codes, start, stop, values)
            return
        sums = np.zeros_like(values)
        for codes in rows.mixed_with(self.background):
            self.forest.add_mixed(codes, start, stop, sums)
        values += sums / self.background.codes.shape[1]

    def bounds(self, cut: int) -> np.ndarray:
        """The bounds of the last output after some trees."""
        return np.asarray(self.member.trees.bounds[cut - 1])

    def _shrink(self, cut: int) -> float:
        trees = self.member.trees
        return 1.0 if trees.shrink == 1.0 else float(trees.shrink ** (cut - trees.forest.n_trees))


def mean_values(shaps: Sequence[MemberShap], columns: Columns, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The mean over the members of values (outputs, columns, rows) and of bases (outputs,)."""
    values = np.empty((len(shaps[0].outputs), columns.n_columns, columns.n_rows))

    def keep(block: np.ndarray, start: int, stop: int) -> None:
        values[:, :, start:stop] = block[0] / len(shaps)

    _for_each_block(shaps, None, columns, n_jobs, keep, is_sum=True)
    return values, np.mean([shap.base(shap.member.trees.forest.n_trees) for shap in shaps], axis=0)


def for_each_members_block(
    shaps: Sequence[MemberShap],
    cuts: Sequence[int] | None,
    columns: Columns,
    n_jobs: int | None,
    use: Callable[[np.ndarray, int, int], None],
) -> None:
    """Call ``use(values, start, stop)`` for blocks of rows; values are (members, outputs, columns, rows).

    With ``cuts``, the members are one model truncated at each of them.
    """
    _for_each_block(shaps, cuts, columns, n_jobs, use, is_sum=False)


def _for_each_block(
    shaps: Sequence[MemberShap],
    cuts: Sequence[int] | None,
    columns: Columns,
    n_jobs: int | None,
    use: Callable[[np.ndarray, int, int], None],
    is_sum: bool,
) -> None:
    n_kept = 1 if is_sum else len(shaps) if cuts is None else len(cuts)
    n_numbers = n_kept * len(shaps[0].outputs) * columns.n_columns  # of a row
    size = min(max(MAX_NUMBERS // n_numbers, MIN_BLOCK), PREDICT_BLOCK)

    def fill(block: tuple[int, int]) -> None:
        out = np.zeros((n_kept, len(shaps[0].outputs), columns.n_columns, block[1] - block[0]))
        rows: CodedRows | None = None
        for k, shap in enumerate(shaps):
            if rows is None or shap.member.encoding is not rows.encoding:  # members often share their bins
                rows = CodedRows.of(shap.member.encoding, columns, *block)
            all_trees = [shap.member.trees.forest.n_trees]
            shap.add(rows, all_trees if cuts is None else cuts, out if is_sum or cuts is not None else out[k : k + 1])
        use(out, *block)

    n_trees = sum(shap.member.trees.forest.n_trees for shap in shaps)
    with RowThreads(threads_for(n_jobs, columns.n_rows * n_trees * columns.n_columns)) as threads:
        threads.each(fill, row_blocks(columns.n_rows, size))
