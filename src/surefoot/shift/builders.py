"""Make the matrix of a table and a target: one feature at a time, or all at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot._parallel import row_blocks
from surefoot._random import random_permutation, stream_key
from surefoot.data import Columns
from surefoot.shift.dominance_gram import COMPARE_CELLS, DominanceGram
from surefoot.shift.product_gram import ProductGram
from surefoot.shift.step_gram import Cells, StepGram
from surefoot.shift.table_pair import values_of

LOWER, BOTH = "lower", "both"
PERMUTE = 1_000_211  # label of a stream: the order of the target's values, feature by feature


@dataclass(frozen=True)
class Feature:
    """One column of the rows and of the target; categories have no order."""

    values: np.ndarray
    targets: np.ndarray
    ordered: bool

    def turned(self) -> "Feature":
        """The same with the order of numbers reversed."""
        return replace(self, values=-self.values, targets=-self.targets) if self.ordered else self

    def shuffled(self, key: np.uint64) -> "Feature":
        """The same with the target's values in another order."""
        return replace(self, targets=self.targets[random_permutation(key, len(self.targets))])

    def cells(self, share: float) -> list[Cells]:
        """Where the rows lie among the target's values; missing ones are a cell of their own."""
        known = self.targets[~np.isnan(self.targets)]
        places, counts = np.unique(known, return_counts=True)
        cell = np.searchsorted(places, self.values)  # the first place that is not below; missing values come last
        mass = np.append(counts * share, 0.0)
        if not self.ordered:
            known_here = np.append(places, np.nan)[cell] == self.values
            cell = np.where(known_here, cell, len(places))
        found = [_merged(np.where(np.isnan(self.values), len(places), cell), mass, self.ordered)]
        n_missing = np.isnan(self.targets).sum()
        if n_missing and np.isnan(self.values).any():
            missing = np.where(np.isnan(self.values), 0, 1).astype(np.int32)
            found.append(Cells(missing, np.array([n_missing * share, 0.0]), ordered=False))
        return found

    def dominated(self, start: int, stop: int) -> np.ndarray:
        """Whether each target (columns) dominates each of some rows."""
        values = self.values[start:stop, np.newaxis]
        reached = self.targets >= values if self.ordered else self.targets == values
        return reached | (np.isnan(values) & np.isnan(self.targets))

    def chances(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of targets that dominate each row, and the kind that two rows must share to be so at once."""
        known = np.sort(self.targets[~np.isnan(self.targets)])
        is_missing = np.isnan(self.values)
        above = len(known) - np.searchsorted(known, self.values, side="left")
        if not self.ordered:
            above = np.searchsorted(known, self.values, side="right") - np.searchsorted(known, self.values, side="left")
        counts = np.where(is_missing, np.isnan(self.targets).sum(), above)
        kinds = np.where(is_missing, -1.0, 0.0 if self.ordered else self.values)
        return counts / len(self.targets), kinds


def features_of(columns: Columns, rows: np.ndarray, target: Columns) -> list[Feature]:
    """Every column of some rows beside the target's."""
    every = np.arange(target.n_rows)
    return [
        Feature(values_of(columns, j, rows), values_of(target, j, every), j not in columns.schema.categories)
        for j in range(columns.n_columns)
    ]


def views_of(features: list[Feature], orientation: str) -> list[list[Feature]]:
    """The features as they are, turned round, or both."""
    turned = [feature.turned() for feature in features]
    return {LOWER: [features], "upper": [turned], BOTH: [features, turned]}[orientation]


def mean_gram(features: list[Feature], orientation: str) -> StepGram:
    """The mean over features of their one-feature matrices."""
    views = views_of(features, orientation)
    share = 1.0 / (len(views) * len(features) * len(features[0].targets))
    return StepGram.of([cells for view in views for feature in view for cells in feature.cells(share)])


def joint_gram(features: list[Feature], orientation: str) -> DominanceGram:
    """Targets that dominate both rows in every feature at once: the paper's estimator."""
    views = views_of(features, orientation)
    n_rows, n_targets = len(features[0].values), len(features[0].targets)
    parts = []
    for view in views:
        bits = np.empty((n_rows, -(-n_targets // 8)), dtype=np.uint8)
        for start, stop in row_blocks(n_rows, max(1, COMPARE_CELLS // n_targets)):
            reached = np.ones((stop - start, n_targets), dtype=np.bool_)
            for feature in view:
                reached &= feature.dominated(start, stop)
            bits[start:stop] = np.packbits(reached, axis=1, bitorder="little")
        parts.append(bits)
    return DominanceGram(np.ascontiguousarray(np.concatenate(parts, axis=1)), len(views) * n_targets)


def shuffled_gram(features: list[Feature], orientation: str, seed: int) -> DominanceGram:
    """The product of the target's marginals, estimated from its rows with every column in an order of its own."""
    return joint_gram([f.shuffled(stream_key(seed, PERMUTE, k)) for k, f in enumerate(features)], orientation)


def product_gram(features: list[Feature], orientation: str) -> ProductGram:
    """The product of the target's marginals, exactly."""
    return ProductGram([_stacked([f.chances() for f in view]) for view in views_of(features, orientation)])


def distribution_gram(values: Sequence[np.ndarray], distributions: Sequence[Any], orientation: str) -> ProductGram:
    """The product of given distributions; at jumps a value counts as reached."""
    lower = [distribution.sf(x) + _jump(distribution, x) for x, distribution in zip(values, distributions, strict=True)]
    upper = [np.asarray(distribution.cdf(x)) for x, distribution in zip(values, distributions, strict=True)]
    chosen = {LOWER: [lower], "upper": [upper], BOTH: [lower, upper]}[orientation]
    return ProductGram([_stacked([(chances, np.zeros(len(chances))) for chances in view]) for view in chosen])


def _jump(distribution: Any, x: np.ndarray) -> np.ndarray:
    """The probability of exactly x."""
    return (
        np.asarray(distribution.pmf(x))
        if hasattr(getattr(distribution, "dist", distribution), "pmf")
        else np.zeros(len(x))
    )


def _stacked(pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    chances, kinds = zip(*pairs, strict=True)
    return np.array(chances, dtype=np.float64), np.array(kinds, dtype=np.float64)


def _merged(cell: np.ndarray, mass: np.ndarray, ordered: bool) -> Cells:
    """Cells without a row join the one before: no row tells them apart."""
    used = np.unique(np.append(cell, len(mass) - 1))
    if ordered:
        mass = np.add.reduceat(mass, used)
    else:
        mass = mass[used]
    return Cells(np.searchsorted(used, cell).astype(np.int32), mass, ordered)
