"""Question 3: would the conclusion survive dropping a row?"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from surefoot._exceptions import DataError
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.candidate_models import CONSTANT
from surefoot.report.models.cross_fitting import Comparison, CrossFitted
from surefoot.report.sections.stability.bags import BAG_SEED, N_BAGS, Bagged, SmallestSum, Units
from surefoot.report.sections.stability.column_selection import SelectionFrame, copies_of
from surefoot.report.sections.stability.findings import StabilityFindings, StableSet
from surefoot.report.sections.stability.leading_column import LossIncreases
from surefoot.report.sections.stability.row_removal import measure_drops
from surefoot.report.sections.stability.stable_sets import LEADING, NO_COLUMN, WINNER, stable_set
from surefoot.report.sections.stability.verdict import stability_line
from surefoot.report.sections.stability.winner import mean_losses, winner_remarks
from surefoot.report.time_budget import TimeBudget

__all__ = ["measure_stability", "stability_line"]

MIN_UNITS = 20
COLUMNS_DELTA = 0.05


def measure_stability(
    table: AuditTable,
    draws: Sequence[Comparison],
    groups: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
    budget: TimeBudget,
    increases_of: Callable[[CrossFitted], LossIncreases] = LossIncreases.of,
) -> StabilityFindings:
    """Draw each conclusion again on thousands of bags of rows (or of groups), and leave rows out.

    Parameters
    ----------
    draws : sequence of Comparison
        The candidates that were compared and the model that the audit is about, for each draw of the folds.
    groups : array or None
        The group of every row of the table: then whole groups are dropped.
    seed : int
        Of the rows that are left out for a refit. The bags do not depend on it.
    increases_of : callable
        Keeps what it has measured, if the folds may be drawn again.
    """
    first = draws[0]
    rows, audited = first.audited.splits.rows, first.audited
    units = Units.of(len(rows), None if groups is None else groups[rows])
    if len(units) < MIN_UNITS:
        return StabilityFindings(
            (), (), f"There are only {len(units)} {units.name}s to drop: conclusions were not judged."
        )
    budget.step(0.72, "question 3: which model wins")
    sets = winner_set(draws, groups, n_jobs)
    frame = SelectionFrame.of(table, rows)
    for name in frame.selectors:
        if budget.has_time_for(f"columns chosen by the {name}"):
            budget.step(0.75, f"question 3: columns chosen by the {name}")
            sets += column_set(frame, units, name, n_jobs)
    if audited.fold_models and audited.name != CONSTANT and budget.has_time_for("leading column of the model"):
        budget.step(0.8, "question 3: leading column of the model")
        sets += leading_set(draws, groups, n_jobs, increases_of)
    drops = measure_drops(first.fitted, audited, groups, seed, budget)
    return StabilityFindings(tuple(sets), drops, None if sets else "There was nothing to choose between.")


def measured_again(
    stability: StabilityFindings,
    draws: Sequence[Comparison],
    groups: np.ndarray | None,
    n_jobs: int | None,
    increases_of: Callable[[CrossFitted], LossIncreases],
) -> StabilityFindings:
    """The same with further draws of the folds, on which only the best model and the leading column depend."""
    sets: list[StableSet] = []
    for each in stability.sets:
        if each.selector == WINNER:
            sets += winner_set(draws, groups, n_jobs)
        elif each.selector == LEADING:
            sets += leading_set(draws, groups, n_jobs, increases_of)
        else:
            sets.append(each)
    return replace(stability, sets=tuple(sets))


def no_unit(units: Units) -> float:
    """A fraction of the units that is less than one of them.

    Losses of cross-fitting depend on how the folds were drawn: the lead of a model or a column must be clear, so that
    another draw would show it too.
    """
    return 1 / (len(units) + 1)


def winner_set(draws: Sequence[Comparison], groups: np.ndarray | None, n_jobs: int | None) -> list[StableSet]:
    """Which model has the smallest loss, on average over the draws of the folds."""
    audited = draws[0].audited
    names, losses = mean_losses(draws)
    if len(names) < 2:
        return []
    units = Units.of(len(losses), None if groups is None else groups[audited.splits.judged])
    apart = losses - losses.mean(axis=1, keepdims=True)  # small numbers, whose sums are exact enough
    bagged = Bagged.run(SmallestSum(names, units.sums(apart)), units, N_BAGS, n_jobs, no_unit(units))
    return [stable_set(WINNER, bagged, winner_remarks(bagged, names, losses, audited))]


def column_set(
    frame: SelectionFrame, units: Units, name: str, n_jobs: int | None, seed: int = BAG_SEED
) -> list[StableSet]:
    """Which columns a selector chooses; nothing if numbers are so large that their squares are not."""
    try:
        bagged = Bagged.run(frame.prepare(name, units), units, frame.n_bags(name, units), n_jobs, COLUMNS_DELTA, seed)
    except DataError:
        return []
    return [stable_set(name, bagged, frame.remarks_on(name))]


def leading_set(
    draws: Sequence[Comparison],
    groups: np.ndarray | None,
    n_jobs: int | None,
    increases_of: Callable[[CrossFitted], LossIncreases],
) -> list[StableSet]:
    """Which column the audited model relies on most: the one whose permutation raises its loss most."""
    audited = draws[0].audited
    found = LossIncreases.mean_of([increases_of(draw.audited) for draw in draws])
    units = Units.of(len(found.rows), None if groups is None else groups[audited.splits.judged[found.rows]])
    if len(units) < MIN_UNITS:
        return []
    names = (*found.columns, NO_COLUMN)
    sums = units.sums(np.column_stack([-found.increases, np.zeros(len(found.rows))]))
    frame = audited.table.frame[[reader.name for reader in audited.table.readers if str(reader.name) in found.columns]]
    copies = copies_of(frame.iloc[audited.splits.rows])
    bagged = Bagged.run(SmallestSum(names, sums, copies), units, N_BAGS, n_jobs, no_unit(units))
    return [stable_set(LEADING, bagged, found.remarks)]
