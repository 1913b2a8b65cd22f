"""Named sets of rows that are measured after every round, and that decide nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from surefoot._exceptions import DataError
from surefoot._parallel import RowThreads, count_jobs
from surefoot.data import Columns
from surefoot.data.checked_table import check_table
from surefoot.data.problem import NumberProblem, Problem, check_numbers, check_weights
from surefoot.uncertainty.families import ClassificationFamily, RegressionFamily
from surefoot.uncertainty.fit_spec import validation_target
from surefoot.uncertainty.member import Member


@dataclass(frozen=True)
class EvalSet:
    """One of the sets: its rows, their targets in the user's units or as codes of classes, and their weights."""

    name: str
    columns: Columns
    y: np.ndarray
    weights: np.ndarray

    def loss(self, family: RegressionFamily | ClassificationFamily, raw: np.ndarray) -> float:
        """Mean negative log-likelihood under the predictions with these raw outputs, as ``metrics.nll`` has it."""
        if isinstance(family, RegressionFamily):
            losses = -family.distribution(raw).logpdf(self.y)
        else:
            with np.errstate(divide="ignore"):
                losses = -np.log(family.probabilities(raw)[np.arange(len(self.y)), self.y])
        used = self.weights > 0  # what is infinite must not meet a weight of 0
        return float((losses[used] * self.weights[used]).sum() / self.weights.sum())


def read_eval_sets(
    model: Any,
    problem: Problem | NumberProblem,
    family: RegressionFamily | ClassificationFamily,
    eval_sets: Mapping[str, tuple[Any, ...]],
) -> tuple[EvalSet, ...]:
    """The sets with the columns and the classes of the training data."""

    def read(name: str, X: Any, y: Any, sample_weight: Any = None) -> EvalSet:
        label = f"y of eval_sets[{name!r}]"
        codes = validation_target(problem, family, y, name=label)  # checked for regression, too
        target = check_numbers(y, label) if isinstance(family, RegressionFamily) else codes
        try:
            columns = check_table(model, X, problem.columns.schema)
        except DataError as error:
            raise DataError(f"eval_sets[{name!r}]: {error}", argument="eval_sets") from error
        n_rows = len(target)
        if columns.n_rows != n_rows:
            message = f"eval_sets[{name!r}] has {columns.n_rows} rows, but {n_rows} targets."
            raise DataError(message, argument="eval_sets")
        weights = check_weights(sample_weight, n_rows, name=f"sample_weight of eval_sets[{name!r}]")
        return EvalSet(name=name, columns=columns, y=target, weights=np.ones(n_rows) if weights is None else weights)

    return tuple(read(name, *given) for name, given in eval_sets.items())


def with_losses(
    members: Sequence[Member],
    family: RegressionFamily | ClassificationFamily,
    eval_sets: Sequence[EvalSet],
    n_jobs: int | None,
) -> list[Member]:
    """The members with the losses of all sets after every round."""
    if not eval_sets:
        return list(members)
    tasks = [(member, one) for member in members for one in eval_sets]
    losses = [np.empty(0)] * len(tasks)

    def measure(place: int) -> None:
        losses[place] = losses_of(*tasks[place], family)

    with RowThreads(min(count_jobs(n_jobs), len(tasks))) as threads:
        threads.each(measure, range(len(tasks)))
    names, n = [one.name for one in eval_sets], len(eval_sets)
    return [
        replace(member, all_trees=None, losses=dict(zip(names, losses[k * n : (k + 1) * n], strict=True)))
        for k, member in enumerate(members)
    ]


def losses_of(member: Member, one: EvalSet, family: RegressionFamily | ClassificationFamily) -> np.ndarray:
    """The loss of a set after each round: of the model truncated there; then with the trees that it did not keep."""
    losses = [one.loss(family, raw) for raw in member.stages(one.columns)]
    if member.all_trees is not None:
        later = replace(member, trees=member.all_trees).stages(one.columns)
        losses += [one.loss(family, raw) for raw in islice(later, len(losses), None)]
    return np.array(losses)


def mean_losses(members: Sequence[Member]) -> dict[str, np.ndarray]:
    """The mean over the members, as far as all of them were trained."""
    return {
        name: np.mean([member.losses[name][:n_rounds] for member in members], axis=0)
        for name in members[0].losses
        for n_rounds in [min(len(member.losses[name]) for member in members)]
    }
