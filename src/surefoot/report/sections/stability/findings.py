"""The record of question 3: would the conclusion survive dropping a row?"""

from dataclasses import dataclass

from surefoot.report.statistics import Estimate


@dataclass(frozen=True)
class StableSet:
    """One conclusion: the choice from all rows (or groups), and the stable set of the choices from bags of them."""

    selector: str  # "winner", "LASSO", "decision tree" or "leading column"
    single: str  # the choice from all rows
    single_weight: float  # fraction of the bags with the same choice
    stable: str  # the stable set in words
    n_models: int  # choices in it
    models: tuple[tuple[str, float], ...]  # the most frequent choices, and the fractions of the bags
    inclusion: tuple[tuple[str, float], ...]  # models or columns, and the fraction of the bags that choose each
    undecided: bool  # the bags make so many different choices that none is stable
    claim_inside: bool  # the choice from all rows is in the stable set
    holds: bool  # it is the only choice there, clearly ahead, and measured to stay when a row is dropped
    lead: float | None  # standard errors by which a model or column is ahead of all others; None for sets of columns
    guarantee: str
    delta: float  # fraction of rows that the guarantee allows to overturn the set
    instability: float  # fraction of the left-out rows without which the set would share no choice with this one
    instability_limit: float  # its exact 95% upper limit
    n_left_out: int  # rows that were left out in turn
    single_changed: int  # times that the choice from all rows but one is different
    n_dropped: int  # rows that were dropped for this, one at a time; 0: not tried, as there are many rows
    n_units: int  # rows, or groups
    unit: str  # "row" or "group": what is dropped
    n_bags: int
    bag_size: int
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class RowRemoval:
    """The effect of leaving out some rows; without any guarantee."""

    what: str  # "a random 1% of the rows", or a group
    n_rows: int
    n_times: int
    winner_changed: float | None  # fraction of times that another model has the smallest loss on the remaining rows
    n_refits: int  # times that the audited model was fitted again without the rows; 0: too slow, or not enough time
    predictions_changed: float | None  # mean fraction of labels, or root mean squared change in units of the RMSE
    own_loss: Estimate | None  # loss on the group itself, by models that were not trained on it


@dataclass(frozen=True)
class StabilityFindings:
    """Question 3: would the conclusion survive dropping a row?"""

    sets: tuple[StableSet, ...]  # one for each conclusion
    drops: tuple[RowRemoval, ...]
    note: str | None  # why there is no set, if there is none
    not_assessed: tuple[str, ...] = ()  # conclusions that could not be assessed, each with the reason
