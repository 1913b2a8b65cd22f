"""The numbers of question 3: would the conclusion survive dropping a row?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import TaskRunner, run_tasks
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.cross_fitting import CONSTANT, Comparison, CrossFitted, row_losses
from surefoot.report.sections.sentences import listed
from surefoot.report.sections.stability.bags import BAG_SEED, N_BAGS, Bagged, SmallestSum, Units
from surefoot.report.sections.stability.column_selection import SelectionFrame, copies_of
from surefoot.report.sections.stability.findings import StabilityFindings, StableSet
from surefoot.report.sections.stability.leading_column import LossIncreases
from surefoot.report.sections.stability.row_removal import measure_removals
from surefoot.report.sections.stability.stable_sets import LEADING, NO_COLUMN, WINNER, stable_set
from surefoot.report.time_budget import TimeBudget

MIN_UNITS = 20
COLUMNS_DELTA = 0.05
CLOSE = 0.01  # models whose losses differ by a smaller fraction are equally good for most uses
NO_CHOICE = "There was nothing to choose from."
NO_WEIGHTS, NO_TIME, TOO_LARGE = "it takes no weights of rows", "not enough time", "numbers are too large"


def measure_stability(
    table: AuditTable,
    draws: Sequence[Comparison],
    groups: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
    budget: TimeBudget,
    increases_of: Callable[[CrossFitted], LossIncreases] = LossIncreases.of,
) -> StabilityFindings:
    """Draw each conclusion again from thousands of bags of rows (or of groups), and leave rows out.

    Parameters
    ----------
    draws : sequence of Comparison
        The candidates and the audited model, for each draw of the folds.
    groups : array or None
        The group of every row of the table: then whole groups are dropped.
    seed : int
        For the rows that are left out for a refit. The bags do not depend on it.
    increases_of : callable
        Measures loss increases, and keeps them for further draws of the folds.
    """
    first = draws[0]
    rows, audited = first.audited.splits.rows, first.audited
    units = Units.of(len(rows), None if groups is None else groups[rows])
    if len(units) < MIN_UNITS:
        note = f"There are only {len(units)} {units.name}s to drop, too few to assess conclusions."
        return StabilityFindings((), (), note)
    budget.step(0.72, "question 3: best model")
    winner = budget.within("best model", 1.0, partial(winner_set, draws, groups, n_jobs))
    of_columns, not_assessed = column_sets(table, rows, units, n_jobs, budget)
    sets = [*(winner or ()), *of_columns]
    if winner is None:
        not_assessed.insert(0, f"the best model ({NO_TIME})")
    if audited.fold_models and audited.name != CONSTANT:
        budget.step(0.8, "question 3: leading column of the model")
        lead = partial(leading_set, draws, groups, n_jobs, increases_of)
        leading = budget.within("leading column of the model", 1.0, lead)
        sets += leading or ()
        if leading is None:
            not_assessed.append(f"the column that the model relies on most ({NO_TIME})")
    removals = measure_removals(first.fitted, audited, groups, seed, budget)
    return StabilityFindings(tuple(sets), removals, None if sets else NO_CHOICE, tuple(not_assessed))


def column_sets(
    table: AuditTable, rows: np.ndarray, units: Units, n_jobs: int | None, budget: TimeBudget
) -> tuple[list[StableSet], list[str]]:
    """The columns that each selector chooses, and the selectors that could not be assessed, with the reason."""
    frame, not_assessed = SelectionFrame.of(table, rows), []
    sets: list[StableSet] = []
    for name in frame.selectors:
        what, step = f"the columns that the {name} chooses", f"columns chosen by the {name}"
        if table.weights is not None:
            not_assessed.append(f"{what} ({NO_WEIGHTS})")
            continue
        budget.step(0.75, f"question 3: {step}")
        found = budget.within(step, 1.0, partial(column_set, frame, units, name, n_jobs))
        if not found:
            not_assessed.append(f"{what} ({NO_TIME if found is None else TOO_LARGE})")
        sets += found or []
    return sets, not_assessed


def measured_again(
    stability: StabilityFindings,
    draws: Sequence[Comparison],
    groups: np.ndarray | None,
    n_jobs: int | None,
    increases_of: Callable[[CrossFitted], LossIncreases],
) -> StabilityFindings:
    """The findings with further draws of the folds, on which only the best model and the leading column depend."""
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
    """The model with the smallest loss, on average over the draws of the folds."""
    audited = draws[0].audited
    names, losses = mean_losses(draws)
    if len(names) < 2:
        return []
    units = Units.of(len(losses), None if groups is None else groups[audited.splits.held_out])
    weights = _as_column(audited.outcome.weights, len(losses))
    centred = losses - losses.mean(axis=1, keepdims=True)  # small numbers, so that their sums are exact enough
    centred = centred * weights
    bagged = Bagged.run(SmallestSum(names, units.sums(centred)), units, N_BAGS, n_jobs, no_unit(units))
    return [stable_set(WINNER, bagged, _winner_remarks(bagged, names, losses * weights, audited))]


def _as_column(weights: np.ndarray | None, n_rows: int) -> np.ndarray:
    """The weights of the rows as a column; 1 without weights."""
    return np.ones((n_rows, 1)) if weights is None else weights[:, np.newaxis]


def mean_losses(draws: Sequence[Comparison]) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of models, and the mean loss of each on each held-out row over the draws in which it was fitted."""
    tables = [row_losses(draw.fitted, draw.audited) for draw in draws]
    by_name: dict[str, list[np.ndarray]] = {name: [] for name in tables[0][0]}
    for names, losses in tables:
        for name, of_model in zip(names, losses.T, strict=True):
            by_name[name].append(of_model)
    return tables[0][0], np.column_stack([np.mean(of_model, axis=0) for of_model in by_name.values()])


def _winner_remarks(
    bagged: Bagged, names: tuple[str, ...], losses: np.ndarray, audited: CrossFitted
) -> tuple[str, ...]:
    """The loss by which models are compared, and how much the models of the stable set differ."""
    target = audited.table.target
    measure = "squared error" if not target.is_classes else "log-loss"
    if target.is_classes and audited.outcome.log_losses is None:
        measure = "error rate"
    remarks = [f"Models are compared by their mean {measure} on held-out rows."]
    inside = {name for model in bagged.selected for name in model}
    means = {name: mean for name, mean in zip(names, losses.mean(axis=0), strict=True) if name in inside}
    smallest = min(means.values())
    if len(means) > 1 and not bagged.undecided and smallest > 0:
        excess = max(means.values()) / smallest - 1
        close = f": less than {CLOSE:.0%}, so any of them is acceptable" if excess < CLOSE else ""
        remarks.append(f"The mean losses of {listed(list(means))} differ by {excess:.1%}{close}.")
    return tuple(remarks)


def column_set(
    frame: SelectionFrame,
    units: Units,
    name: str,
    n_jobs: int | None,
    seed: int = BAG_SEED,
    runner: TaskRunner = run_tasks,
) -> list[StableSet]:
    """The columns that a selector chooses; empty if numbers are so large that their squares overflow."""
    try:
        prepared, n_bags = frame.prepare(name, units), frame.n_bags(name, units)
        bagged = Bagged.run(prepared, units, n_bags, n_jobs, COLUMNS_DELTA, seed, runner)
    except DataError:
        return []
    return [stable_set(name, bagged, frame.remarks_on(name))]


def leading_set(
    draws: Sequence[Comparison],
    groups: np.ndarray | None,
    n_jobs: int | None,
    increases_of: Callable[[CrossFitted], LossIncreases],
) -> list[StableSet]:
    """The column that the audited model relies on most: the one whose permutation raises its loss most."""
    audited = draws[0].audited
    increases = LossIncreases.mean_of([increases_of(draw.audited) for draw in draws])
    units = Units.of(len(increases.rows), None if groups is None else groups[audited.splits.held_out[increases.rows]])
    if len(units) < MIN_UNITS:
        return []
    names, weights = (*increases.columns, NO_COLUMN), audited.outcome.weights
    weights = _as_column(None if weights is None else weights[increases.rows], len(increases.rows))
    sums = units.sums(np.column_stack([-increases.increases * weights, np.zeros(len(increases.rows))]))
    readers = [reader for reader in audited.table.readers if str(reader.name) in increases.columns]
    frame = audited.table.frame[[reader.name for reader in readers]]
    copies = copies_of(frame.iloc[audited.splits.rows])
    bagged = Bagged.run(SmallestSum(names, sums, copies), units, N_BAGS, n_jobs, no_unit(units))
    return [stable_set(LEADING, bagged, increases.remarks)]
