"""Errors of methods divided by those of plain boosting: task by task, and on average with an interval."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot_experiments.shift.lines import ResultLine
from surefoot_experiments.shift.methods import PLAIN
from surefoot_experiments.shift.protocol import COVERAGE, LEVEL, RESAMPLES, RESAMPLING_SEED
from surefoot_experiments.uncertainty.scores import Score, p_value

BOTH = "both"  # budgets


@dataclass(frozen=True)
class TaskRatio:
    """A method's target RMSE divided by that of plain boosting, on one dataset with one selection and one budget.

    ``ratio`` is the geometric mean over splits; ``p_value`` that of a paired t-test of the logarithms, NaN if there is
    only one split. ``wins`` and ``losses`` count splits.
    """

    dataset: str
    selection: str
    budget: str
    method: str
    ratio: float
    p_value: float
    wins: int
    losses: int
    splits: int

    @property
    def is_better(self) -> bool:
        return self.ratio < 1 and self.p_value < LEVEL

    @property
    def is_worse(self) -> bool:
        return self.ratio > 1 and self.p_value < LEVEL


@dataclass(frozen=True)
class Average:
    """The geometric mean of a method's ratios, equally weighted by dataset, with a bootstrap interval over datasets.

    ``better`` and ``worse`` are the numbers of tasks with a significant difference.
    """

    budget: str
    method: str
    ratio: float
    low: float
    high: float
    tasks: int
    better: int
    worse: int
    wins: int
    losses: int

    @property
    def helps(self) -> bool | None:
        """True if the whole interval is below 1, False if it is above 1, None otherwise."""
        if self.high < 1:
            return True
        return False if self.low > 1 else None


def task_ratios(lines: Iterable[ResultLine], against: str = PLAIN) -> list[TaskRatio]:
    """Return the ratios of every method on every task, over the splits with results of it and of ``against``."""
    by_task: dict[tuple[str, str, str], dict[str, dict[int, float]]] = {}
    for line in lines:
        if not np.isnan(line.rmse):
            methods = by_task.setdefault((line.dataset, line.selection, line.budget), {})
            methods.setdefault(line.method, {})[line.split] = line.rmse
    return [
        _ratio(task, method, errors, methods[against])
        for task, methods in by_task.items()
        for method, errors in methods.items()
        if method != against and against in methods and errors.keys() & methods[against].keys()
    ]


def _ratio(task: tuple[str, str, str], method: str, own: dict[int, float], base: dict[int, float]) -> TaskRatio:
    splits = tuple(sorted(own.keys() & base.keys()))
    first, second = (np.log([errors[split] for split in splits]) for errors in (own, base))
    gaps = first - second
    return TaskRatio(
        *task, method, float(np.exp(gaps.mean())), p_value(Score(splits, first), Score(splits, second)),
        int((gaps < 0).sum()), int((gaps > 0).sum()), len(splits),
    )  # fmt: skip


def averages(ratios: Sequence[TaskRatio]) -> list[Average]:
    """Return the averages of every method, over the tasks of each budget and over all tasks."""
    budgets = list(dict.fromkeys(entry.budget for entry in ratios))
    methods = list(dict.fromkeys(entry.method for entry in ratios))
    means = []
    for budget in [*budgets, BOTH] if len(budgets) > 1 else budgets:
        for method in methods:
            chosen = [entry for entry in ratios if entry.method == method and budget in (entry.budget, BOTH)]
            means += [_average(budget, method, chosen)] if chosen else []
    return means


def compare_budgets(ratios: Sequence[TaskRatio], method: str, first: str, second: str) -> Average | None:
    """Divide a method's ratios with one budget by those with another; None if no task has both."""
    by_task = {(entry.dataset, entry.selection, entry.budget): entry for entry in ratios if entry.method == method}
    both = [
        replace(entry, ratio=entry.ratio / by_task[dataset, selection, second].ratio, p_value=float("nan"))
        for (dataset, selection, budget), entry in by_task.items()
        if budget == first and (dataset, selection, second) in by_task
    ]
    return _average(f"{first} / {second}", method, both) if both else None


def _average(budget: str, method: str, ratios: Sequence[TaskRatio]) -> Average:
    datasets = dict.fromkeys(entry.dataset for entry in ratios)
    logs = np.array([np.mean([np.log(each.ratio) for each in ratios if each.dataset == name]) for name in datasets])
    low, high = _interval(logs)
    return Average(
        budget, method, float(np.exp(logs.mean())), low, high, len(ratios),
        sum(entry.is_better for entry in ratios), sum(entry.is_worse for entry in ratios),
        sum(entry.wins for entry in ratios), sum(entry.losses for entry in ratios),
    )  # fmt: skip


def _interval(logs: np.ndarray) -> tuple[float, float]:
    """Return the interval from resampling datasets, because tasks of one dataset share rows. NaN for one dataset."""
    if len(logs) < 2:
        return float("nan"), float("nan")
    rng = np.random.default_rng(RESAMPLING_SEED)
    means = logs[rng.integers(len(logs), size=(RESAMPLES, len(logs)))].mean(axis=1)
    low, high = np.exp(np.quantile(means, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]))
    return float(low), float(high)
