"""The record of what the audited model uses: importance of columns, and partial dependence on them."""

from dataclasses import dataclass

from surefoot.report.statistics import Estimate


@dataclass(frozen=True)
class ColumnImportance:
    """By how much the audited model's loss rises on held-out rows if a column is permuted."""

    column: str
    rise: Estimate  # all intervals hold together, at 95%; the low end also if related columns are permuted with it
    alternatives: tuple[str, ...]  # columns that are so strongly associated that they share their importance
    may_be_chosen: bool  # whether question 3 chooses among columns like this one: not of many categories


@dataclass(frozen=True)
class PartialDependence:
    """The mean prediction if a column has a certain value in every row, by that value."""

    column: str
    is_category: bool
    values: tuple[str, ...]
    positions: tuple[float, ...]  # of the values: numbers; of categories, their order
    mean: tuple[float, ...]  # over the models of the folds
    low: tuple[float, ...]  # the smallest and largest of these models
    high: tuple[float, ...]


@dataclass(frozen=True)
class ImportanceFindings:
    """What the audited model uses."""

    model: str
    loss_name: str  # "log-loss", "squared error" or "error rate"
    loss: float  # mean on the permuted rows
    n_rows: int
    columns: tuple[ColumnImportance, ...]  # the largest rise first
    output: str  # what the dependence is of: the name of the target, or the probability of a class
    dependence: tuple[PartialDependence, ...]  # of the most important columns
    n_models: int  # behind each band; 1: a fitted model, whose curves differ by the rows only
    remarks: tuple[str, ...]
    note: str  # why nothing can be said; empty otherwise
