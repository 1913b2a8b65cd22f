"""Deployment rows unlike the training data: outside its range, or with a high knowledge uncertainty."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import betabinom

from surefoot._formatting import significant
from surefoot.report.inputs.column_readers import CATEGORY
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.sections.shift.findings import NewRows, OutsideRange
from surefoot.report.sections.uncertainty.findings import UncertainRow
from surefoot.report.sections.uncertainty.most_uncertain import (
    SHOWN_ROWS,
    TOP_FRACTION,
    cells_behind,
    falls_by_column,
)
from surefoot.report.statistics import rate_interval
from surefoot.shift.group_permutations import GroupPermutations

MAX_ROWS = 20_000  # of the deployment data, for knowledge uncertainty


def rows_outside(
    table: AuditTable, splits: Splits, deployment: DeploymentData, groups: np.ndarray | None, seed: int
) -> OutsideRange:
    """Count deployment rows with a value outside the range of the training rows.

    By chance there are some: as many as training rows (or groups of them) outside the range of all others.
    """
    flags = RangeFlags.of(table, splits, deployment.frame, groups)
    p_value = _outside_p_value(flags.outside, flags.by_chance, groups, deployment, splits, seed)
    fraction = rate_interval(flags.outside, deployment.units)
    n_rows, n_outside = len(flags.outside), int(flags.outside.sum())
    return OutsideRange(n_rows, n_outside, fraction, float(flags.by_chance.mean()), p_value, flags.columns)


@dataclass(frozen=True)
class RangeFlags:
    """Which deployment rows lie outside the range of the training rows, and which training rows that of all others.

    ``columns`` has the columns with such deployment rows and their number, in descending order.
    """

    outside: np.ndarray
    by_chance: np.ndarray
    columns: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, table: AuditTable, splits: Splits, frame: Any, groups: np.ndarray | None) -> "RangeFlags":
        """Compare every column of deployment rows with ``splits.rows``, or with groups of them."""
        training = table.frame.iloc[splits.rows]
        units = np.arange(len(training)) if groups is None else np.unique(groups[splits.rows], return_inverse=True)[1]
        outside, by_chance, counts = np.zeros(len(frame), dtype=bool), np.zeros(len(training), dtype=bool), []
        for reader in table.readers:
            known, new = training[reader.name], frame[reader.name]
            is_category = reader.kind == CATEGORY
            in_column = _unknown(known, new) if is_category else _beyond(known.to_numpy(), new.to_numpy())
            alone = _only_in_its_unit(known, units) if is_category else _extreme_of_its_unit(known.to_numpy(), units)
            outside, by_chance = outside | in_column, by_chance | alone
            counts.append((str(reader.name), int(in_column.sum())))
        columns = tuple(sorted((each for each in counts if each[1]), key=lambda each: -each[1]))
        return cls(outside, by_chance, columns)


def _unknown(known: Any, new: Any) -> np.ndarray:
    """Rows with a category that the training data does not have."""
    return np.asarray(new.notna() & ~new.astype(object).isin(set(known.dropna().unique())))


def _beyond(known: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Rows with a number outside the range of the training data."""
    known = known[~np.isnan(known)]
    if not len(known):
        return ~np.isnan(new)
    return np.asarray((new < known.min()) | (new > known.max()))


def _only_in_its_unit(known: Any, units: np.ndarray) -> np.ndarray:
    """Rows with a category that no other unit has."""
    codes = known.cat.codes.to_numpy()
    pairs = np.unique(np.column_stack([codes, units]), axis=0)
    n_units = np.bincount(pairs[pairs[:, 0] >= 0, 0], minlength=len(known.cat.categories))
    return np.asarray((codes >= 0) & (n_units[codes] == 1))


def _extreme_of_its_unit(values: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Rows beyond the range of all other units."""
    extreme = np.zeros(len(values), dtype=bool)
    for signed in (values, -values):
        known = np.where(np.isnan(signed), np.inf, signed)
        minima = np.full(units.max() + 1, np.inf)
        np.minimum.at(minima, units, known)
        first = int(minima.argmin())
        others = np.delete(minima, first)
        if len(others) and np.isfinite(others.min()):
            extreme |= (units == first) & (known < others.min())
    return extreme


def _outside_p_value(
    outside: np.ndarray,
    by_chance: np.ndarray,
    groups: np.ndarray | None,
    deployment: DeploymentData,
    splits: Splits,
    seed: int,
) -> float:
    """Probability of so many rows outside if both tables were alike: beta-binomial, or by permuting groups."""
    if groups is not None and deployment.groups is not None:
        permutations = GroupPermutations(groups[splits.rows], deployment.groups, seed)
        return permutations.p_value(np.concatenate([by_chance, outside])[:, np.newaxis])
    return chance_of_outside(outside, by_chance)


def chance_of_outside(outside: np.ndarray, by_chance: np.ndarray) -> float:
    """Probability of so many rows outside if both tables were alike and rows independent."""
    n_chance = max(1, int(by_chance.sum()))
    return float(betabinom.sf(int(outside.sum()) - 1, len(outside), n_chance, len(by_chance) + 1 - n_chance))


def uncertain_new_rows(
    table: AuditTable,
    splits: Splits,
    deployment: DeploymentData,
    ensemble: CrossFitted,
    groups: np.ndarray | None,
    seed: int,
) -> NewRows | None:
    """Count deployment rows with more knowledge uncertainty than all but a twentieth of the held-out rows.

    Both are predicted by the model of the last fold, which was trained on neither. If the rows were alike, the fraction
    above the j-th largest of m held-out values would follow a beta distribution, and the number of n rows above it a
    beta-binomial one.
    """
    test, model = splits.folds[-1][1], ensemble.fold_models[-1]
    held_out = ensemble.predictions[np.searchsorted(splits.held_out, test)].knowledge
    rows = deployment.sample(MAX_ROWS, seed)
    frame = deployment.frame.iloc[rows]
    if held_out is None:
        return None
    uncertainty = model.predict_uncertainty(frame)
    m, n = len(held_out), len(rows)
    j = max(1, int(np.ceil(TOP_FRACTION * m)))
    above = uncertainty.knowledge > knowledge_limit(held_out)
    p_value = chance_of_knowledge(above, m)
    if groups is not None and deployment.groups is not None:
        p_value = _grouped_p_value(held_out, uncertainty.knowledge, groups[test], deployment.groups[rows], seed)
    return NewRows(
        n_rows=n,
        n_above=int(above.sum()),
        share=rate_interval(above, deployment.units_of(rows)),
        expected=j / (m + 1),
        p_value=p_value,
        rows=_most_uncertain(model, table, frame, rows, uncertainty),
    )


def knowledge_limit(held_out: np.ndarray) -> float:
    """The knowledge uncertainty that a twentieth of the held-out rows have, or more."""
    return float(np.sort(held_out)[len(held_out) - max(1, int(np.ceil(TOP_FRACTION * len(held_out))))])


def chance_of_knowledge(above: np.ndarray, m: int) -> float:
    """Probability of so many rows above the limit of ``m`` held-out rows if all were alike and independent."""
    j = max(1, int(np.ceil(TOP_FRACTION * m)))
    return float(betabinom.sf(above.sum() - 1, len(above), j, m + 1 - j))


def _most_uncertain(
    model: Any, table: AuditTable, frame: Any, numbers: np.ndarray, uncertainty: Any
) -> tuple[UncertainRow, ...]:
    """The rows with the highest knowledge uncertainty, each with the columns behind it."""
    chosen = np.argsort(-uncertainty.knowledge, kind="stable")[:SHOWN_ROWS]
    rows, knowledge = frame.iloc[chosen], uncertainty.knowledge[chosen]
    falls, predicted = falls_by_column(model, table, rows, knowledge), np.asarray(model.predict(rows))
    return tuple(
        UncertainRow(
            row=str(numbers[i]),
            prediction=significant(predicted[k]),
            truth="",
            knowledge=float(knowledge[k]),
            total=float("nan") if uncertainty.total is None else float(uncertainty.total[i]),
            behind=cells_behind(table, rows.iloc[k], falls[:, k]),
        )
        for k, i in enumerate(chosen)
    )


def _grouped_p_value(
    held_out: np.ndarray, new: np.ndarray, groups: np.ndarray, new_groups: np.ndarray, seed: int
) -> float:
    """P-value by permuting groups; the limit is a quantile of all rows, so that it does not depend on their table."""
    permutations = GroupPermutations(groups, new_groups, seed)
    both = np.concatenate([held_out, new])
    return permutations.p_value((both > np.quantile(both, 1 - TOP_FRACTION))[:, np.newaxis])
