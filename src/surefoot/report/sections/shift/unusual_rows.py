"""Deployment rows unlike the training data: outside its range, or with much knowledge uncertainty."""

from typing import Any

import numpy as np
from scipy.stats import betabinom

from surefoot.report.inputs.column_readers import CATEGORY, DATE
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CrossFitted
from surefoot.report.sections.shift.findings import NewRows, OutsideRange
from surefoot.report.sections.uncertainty.findings import UncertainRow
from surefoot.report.sections.uncertainty.most_uncertain import COLUMNS_PER_ROW, SHOWN_ROWS, STRANGE, falls_by_column
from surefoot.report.statistics import share_interval
from surefoot.shift.group_permutations import GroupPermutations

MAX_ROWS = 20_000  # whose knowledge uncertainty is looked at


def rows_outside(
    table: AuditTable, splits: Splits, deployment: DeploymentData, groups: np.ndarray | None, seed: int
) -> OutsideRange:
    """Count deployment rows with a value that lies outside what the training rows have.

    By chance some do: as many as training rows (or groups of them) lie outside the range of all others.
    """
    training = table.frame.iloc[splits.rows]
    units = np.arange(len(training)) if groups is None else np.unique(groups[splits.rows], return_inverse=True)[1]
    n_rows, counts = len(deployment.frame), []
    outside, by_chance = np.zeros(n_rows, dtype=bool), np.zeros(len(training), dtype=bool)
    for reader in table.readers:
        known, new = training[reader.name], deployment.frame[reader.name]
        is_category = reader.kind == CATEGORY
        found = _unseen(known, new) if is_category else _beyond(known.to_numpy(), new.to_numpy())
        by_chance |= _only_in_its_unit(known, units) if is_category else _extreme_of_its_unit(known.to_numpy(), units)
        outside |= found
        counts.append((str(reader.name), int(found.sum())))
    p_value = _outside_p_value(outside, by_chance, groups, deployment, splits, seed)
    columns = tuple(sorted((each for each in counts if each[1]), key=lambda each: -each[1]))
    fraction = share_interval(outside, deployment.units)
    return OutsideRange(n_rows, int(outside.sum()), fraction, float(by_chance.mean()), p_value, columns)


def _unseen(known: Any, new: Any) -> np.ndarray:
    return np.asarray(new.notna() & ~new.astype(object).isin(set(known.dropna().unique())))


def _beyond(known: np.ndarray, new: np.ndarray) -> np.ndarray:
    known = known[~np.isnan(known)]
    if not len(known):
        return ~np.isnan(new)
    return np.asarray((new < known.min()) | (new > known.max()))


def _only_in_its_unit(known: Any, units: np.ndarray) -> np.ndarray:
    """Rows whose category no other unit has."""
    codes = known.cat.codes.to_numpy()
    pairs = np.unique(np.column_stack([codes, units]), axis=0)
    n_units = np.bincount(pairs[pairs[:, 0] >= 0, 0], minlength=len(known.cat.categories))
    return np.asarray((codes >= 0) & (n_units[codes] == 1))


def _extreme_of_its_unit(values: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Rows beyond the range of all other units."""
    found = np.zeros(len(values), dtype=bool)
    for signed in (values, -values):
        known = np.where(np.isnan(signed), np.inf, signed)
        least = np.full(units.max() + 1, np.inf)
        np.minimum.at(least, units, known)
        first = int(least.argmin())
        others = np.delete(least, first)
        if len(others) and np.isfinite(others.min()):
            found |= (units == first) & (known < others.min())
    return found


def _outside_p_value(
    outside: np.ndarray,
    by_chance: np.ndarray,
    groups: np.ndarray | None,
    deployment: DeploymentData,
    splits: Splits,
    seed: int,
) -> float:
    """Of so many rows outside, were both alike: beta-binomial as for a single column, or by permuting groups."""
    if groups is not None and deployment.groups is not None:
        dealt = GroupPermutations(groups[splits.rows], deployment.groups, seed)
        return dealt.p_value(np.concatenate([by_chance, outside])[:, np.newaxis])
    n_chance = max(1, int(by_chance.sum()))
    return float(betabinom.sf(int(outside.sum()) - 1, len(outside), n_chance, len(by_chance) + 1 - n_chance))


def rows_little_known(
    table: AuditTable,
    splits: Splits,
    deployment: DeploymentData,
    ensemble: CrossFitted,
    groups: np.ndarray | None,
    seed: int,
) -> NewRows | None:
    """How many deployment rows have more knowledge uncertainty than all but a twentieth of the held-out rows.

    Both by the model of the last fold, which has seen neither. Were the rows alike, the fraction above the j-th largest
    of m held-out values would follow a beta distribution, and the number of n rows above it a beta-binomial one.
    """
    judged, model = splits.folds[-1][1], ensemble.fold_models[-1]
    held_out = ensemble.predictions[np.searchsorted(splits.judged, judged)].knowledge
    rows = deployment.sample(MAX_ROWS, seed)
    frame = deployment.frame.iloc[rows]
    if held_out is None:
        return None
    found = model.predict_uncertainty(frame)
    m, n = len(held_out), len(rows)
    j = max(1, int(np.ceil(STRANGE * m)))
    above = found.knowledge > np.sort(held_out)[m - j]
    p_value = float(betabinom.sf(above.sum() - 1, n, j, m + 1 - j))
    if groups is not None and deployment.groups is not None:
        p_value = _grouped_p_value(held_out, found.knowledge, groups[judged], deployment.groups[rows], seed)
    strangest = _strangest(model, table, frame, rows, found)
    return NewRows(
        n, int(above.sum()), share_interval(above, deployment.units_of(rows)), j / (m + 1), p_value, strangest
    )


def _strangest(
    model: Any, table: AuditTable, frame: Any, numbers: np.ndarray, uncertainty: Any
) -> tuple[UncertainRow, ...]:
    """The rows of most knowledge uncertainty, each with the columns whose usual value would lower it most."""
    chosen = np.argsort(-uncertainty.knowledge, kind="stable")[:SHOWN_ROWS]
    rows, knowledge = frame.iloc[chosen], uncertainty.knowledge[chosen]
    falls, predicted = falls_by_column(model, table, rows, knowledge), np.asarray(model.predict(rows))
    return tuple(
        UncertainRow(
            row=str(numbers[i]),
            prediction=_written(predicted[k]),
            truth="",
            knowledge=float(knowledge[k]),
            total=float("nan") if uncertainty.total is None else float(uncertainty.total[i]),
            behind=tuple(
                _cell(table.readers[j], rows.iloc[k][table.readers[j].name])
                for j in np.argsort(-falls[:, k], kind="stable")[:COLUMNS_PER_ROW]
                if falls[j, k] > 0
            ),
        )
        for k, i in enumerate(chosen)
    )


def _cell(reader: Any, value: Any) -> str:
    if value is None or value != value:
        return f"{reader.name} missing"
    if reader.kind == DATE:
        return f"{reader.name} = {np.datetime64(0, 'D') + np.timedelta64(int(value), 'D')}"
    return f"{reader.name} = {_written(value)}"


def _written(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _grouped_p_value(
    held_out: np.ndarray, new: np.ndarray, groups: np.ndarray, new_groups: np.ndarray, seed: int
) -> float:
    """By permuting groups; what counts as much is a quantile of all rows, so that it does not depend on their table."""
    dealt = GroupPermutations(groups, new_groups, seed)
    both = np.concatenate([held_out, new])
    return dealt.p_value((both > np.quantile(both, 1 - STRANGE))[:, np.newaxis])
