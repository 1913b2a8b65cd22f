"""The record of the errors in subgroups of the rows."""

from dataclasses import dataclass

from surefoot.report.statistics import Estimate


@dataclass(frozen=True)
class Subgroup:
    """The held-out rows of one subgroup, compared with all other held-out rows.

    The intervals hold together: all those of one kind contain the truth in 95% of tables.
    """

    name: str  # such as "sex = female"
    columns: tuple[str, ...]
    n_rows: int
    n_units: int | None  # groups, or runs of rows in time; None where rows were drawn one by one
    error: float  # error rate or RMSE
    interval: Estimate  # of the error
    rest_error: float  # of the other rows
    ratio: Estimate  # the error, divided by that of the other rows
    expected: float | None  # the error that the predicted probabilities or distributions claim
    bias: Estimate | None  # mean of observed minus predicted: numbers, or rates of a class
    coverage: Estimate | None  # fraction of the targets inside the predicted 90% intervals


@dataclass(frozen=True)
class Segment:
    """A rule that was found on one half of the held-out rows, and measured on the other half."""

    name: str  # such as "age > 61 and sex = female"
    columns: tuple[str, ...]
    n_rows: int  # of the half that it is measured on
    n_measured: int  # rows of that half
    error: float
    interval: Estimate
    rest_error: float
    ratio: Estimate
    expected: float | None


@dataclass(frozen=True)
class SubgroupFindings:
    """For whom does it fail? The errors in subgroups of the held-out rows, in the first draw of the folds."""

    measure: str  # "error rate" or "RMSE"
    model: str
    n_rows: int
    error: float  # of all held-out rows
    worst_group: Subgroup | None  # the one with the largest error
    clearly_worse: tuple[str, ...]  # subgroups and segments whose error is clearly larger; the clearest first
    groups: tuple[Subgroup, ...]  # the largest error first
    segments: tuple[Segment, ...]  # one for each half
    n_comparisons: int  # subgroups that were compared; two that are each other's complement count once
    n_withheld: int  # subgroups with too few rows
    columns: tuple[str, ...]  # that were looked at
    n_columns: int  # of the table, and those that were named besides
    is_rare: bool  # whether a class is rare, so that error rates say little
    not_searched: str  # why there is no search for segments; empty if there is one
