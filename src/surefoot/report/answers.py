"""What an audit finds out: plain records of numbers, from which the page, the JSON file and the verdict are made."""

from dataclasses import dataclass

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "unknown"
WELL_CALIBRATED = 0.05  # difference of promised and observed shares that nobody minds


@dataclass(frozen=True)
class Estimate:
    """A number measured on some rows, with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """One line of the verdict: a question, its answer ("yes", "partly", "no", "unknown"), and why, in a sentence."""

    question: str
    answer: str
    sentence: str


@dataclass(frozen=True)
class ColumnNote:
    """Something about a column that a reader should know; ``used`` says whether models were given it."""

    column: str
    what: str  # "identifier", "constant", "all missing", "leak", "date", "infinite", "many categories", "text"
    sentence: str
    used: bool


@dataclass(frozen=True)
class DataCheck:
    """Something about the rows that a reader should know; if it ``matters``, the errors may be too small."""

    kind: str  # "copies", "near copies", "row order", "column role" or "predictions"
    matters: bool
    sentence: str
    undecided: str = ""  # what is not known, if it is not: "whether ..."


@dataclass(frozen=True)
class Subject:
    """What was audited."""

    target: str
    task: str  # "binary", "classes" or "regression"
    task_sentence: str
    n_rows: int
    n_columns: int
    n_judged: int  # rows that were held out, once in each draw of the folds
    n_folds: int
    n_new: int
    split: str  # how the rows were split, in a sentence
    classes: tuple[str, ...]  # their fractions, in the same order, below; both are empty for numbers
    shares: tuple[float, ...]
    notes: tuple[ColumnNote, ...]
    checks: tuple[DataCheck, ...]
    remarks: tuple[str, ...]  # rows without a target, what was left out when time ran out, and the like
    fingerprint: str  # of all values of the table
    source: str | None = None  # the file it came from
    date: str = ""
    n_draws: int = 1  # of the folds


@dataclass(frozen=True)
class ModelScore:
    """One model on the held-out rows."""

    name: str
    what: str
    loss: Estimate  # fraction of errors, root mean squared error or, for a rare class, fraction of pairs in wrong order
    gain: Estimate  # fraction of the constant's log-loss, or of its squared error (R2), that it removes
    auc: Estimate | None  # of two classes
    seconds: float
    chosen: bool  # the one that is audited
    yours: bool
    error_rate: Estimate | None = None  # where the loss is another
    log_loss: Estimate | None = None  # of classes, where it gives probabilities
    excess: Estimate | None = None  # by what fraction the audited model's loss is above this one's, on the same rows


@dataclass(frozen=True)
class LearningCurve:
    """Loss on the held-out rows of a model trained on more and more of the training rows."""

    model: str  # the audited one; a single booster stands for an ensemble
    n_rows: tuple[int, ...]
    loss: tuple[Estimate, ...]
    last_doubling: Estimate  # by what fraction the loss with half of the rows is above that with all, paired


@dataclass(frozen=True)
class Duplicates:
    """Rows that are alike in every column, and what their targets tell of noise."""

    n_rows: int  # in groups of two or more
    n_groups: int
    n_conflicting: int  # rows of groups with different targets
    floor: float | None  # least possible loss on such rows: fraction of errors, or standard deviation


@dataclass(frozen=True)
class Accuracy:
    """Question 1: is it as accurate as the data allows?"""

    measure: str  # "error rate", "RMSE" or, for a rare class, "ranking error"
    models: tuple[ModelScore, ...]  # the constant first, then by log-loss or squared error
    audited: str
    gain: Estimate  # of your model over the constant; or of the best candidate, on rows that it was not chosen on
    is_better: bool  # whether it is shown to be better than the constant: by that gain, by its errors or its AUC
    rival: str | None  # the best of the others
    behind: Estimate | None  # by what fraction the loss of the audited model is above the rival's
    curve: LearningCurve | None
    duplicates: Duplicates
    left_out: tuple[str, ...]  # candidates that did not take part
    n_rows: int  # held-out rows
    n_rare: int | None = None  # held-out rows of a rare class


@dataclass(frozen=True)
class Rejection:
    """What is left of the loss when the most uncertain held-out rows are handed to someone who knows."""

    rejected: tuple[float, ...]  # fractions of the rows
    error: tuple[float, ...]  # mean loss that is left over all rows: errors, or squared errors
    kept_error: tuple[float, ...]  # error rate or RMSE of the rows that are kept; 0 where none are
    threshold: tuple[float, ...]  # rows of at least this much uncertainty are rejected
    random: tuple[float, ...]
    oracle: tuple[float, ...]
    ratio: Estimate | None  # prediction-rejection ratio; None where every row has the same loss
    claimed: Estimate | None = None  # the same, were targets drawn from the predicted distributions; of 95% of draws


@dataclass(frozen=True)
class Coverage:
    """How many held-out targets lie in the intervals of a level, and how many on either side."""

    level: float
    observed: Estimate
    below: Estimate
    above: Estimate
    width: float | None  # mean width; None where it is not known


@dataclass(frozen=True)
class Calibration:
    """Do probabilities and intervals mean what they say?"""

    gap: Estimate | None  # mean probability less the fraction that came true: of one of two classes, or the predicted
    coverage: tuple[Coverage, ...]  # of numbers
    expected: tuple[float, ...]  # points of the curve: predicted probabilities, or levels of intervals
    observed: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    counts: tuple[int, ...]
    xlabel: str
    ylabel: str
    of_class: str | None = None  # of two classes, the one whose probabilities these are: the rarer, if it is rare
    share: float | None = None  # fraction of the held-out rows that are of it
    room: float = WELL_CALIBRATED  # gap or change that is acceptable; for a rare class less
    slope: Estimate | None = None  # of what came true on the log-odds promised; below 1 these are too extreme
    change: float | None = None  # by how much probabilities would move on average, were they set right by it


@dataclass(frozen=True)
class LeastKnown:
    """A held-out (or new) row that the ensemble knows little about."""

    row: str
    prediction: str
    truth: str  # empty where it is not known
    knowledge: float
    total: float
    behind: tuple[str, ...]  # "column = value" of those whose replacement by a usual value lowers knowledge most


@dataclass(frozen=True)
class NewRows:
    """How many deployment rows have more knowledge uncertainty than all but 5% of the held-out training rows."""

    n_rows: int
    n_above: int
    share: Estimate
    expected: float
    p_value: float  # of as many or more, were the new rows like the held-out ones; NaN for too few groups
    rows: tuple[LeastKnown, ...]


@dataclass(frozen=True)
class Knowing:
    """Question 2: does it know what it does not know?

    ``by_total`` and ``calibration`` are those of the audited model itself. A model that gives neither probabilities nor
    intervals has ``own`` False: then they are those of an ensemble beside it, and of intervals as wide for every row.
    """

    model: str
    own: bool
    unit: str  # "nats" or "target squared"
    n_rows: int
    loss: Estimate
    by_total: Rejection | None
    by_knowledge: Rejection | None  # of the ensemble
    calibration: Calibration | None
    columns_behind: tuple[tuple[str, float], ...]  # column, by how much of its knowledge uncertainty it accounts for
    rows: tuple[LeastKnown, ...]
    by_groups: bool = False  # whether whole groups were held out


@dataclass(frozen=True)
class StableSet:
    """What bags of rows (or of groups) agree on about one conclusion, beside what one look at all of them claims."""

    selector: str  # "winner", "LASSO", "decision tree" or "leading column"
    single: str  # what is chosen on all rows
    single_weight: float  # fraction of the bags that choose the same
    stable: str  # the stable set in words
    n_models: int  # choices in it
    models: tuple[tuple[str, float], ...]  # the choices of most bags, and the fractions of the bags
    inclusion: tuple[tuple[str, float], ...]  # models or columns, and the fraction of the bags that choose each
    undecided: bool  # the bags make so many different choices that none is stable
    claim_inside: bool  # what one look claims is in the stable set
    holds: bool  # it is the only choice there, clearly ahead, and measured to stay when a row is dropped
    lead: float | None  # standard errors by which a model or column is ahead of all others; None for sets of columns
    guarantee: str
    delta: float  # fraction of rows that the guarantee allows to overturn the set
    instability: float  # fraction of the rows left out in turn without which the set would have nothing in common
    instability_limit: float  # its exact 95% upper limit
    n_left_out: int  # rows that were left out in turn
    single_changed: int  # times that one look at all rows but one claims something else
    n_dropped: int  # rows that were so dropped, one at a time; 0: not tried, as there are many rows
    n_units: int  # rows, or groups
    unit: str  # "row" or "group": what is dropped
    n_bags: int
    bag_size: int
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Drop:
    """What leaving out some rows does; without any guarantee."""

    what: str  # "a random 1% of the rows", or a group
    n_rows: int
    n_times: int
    winner_changed: float | None  # fraction of times that another model has the smallest loss on the rows left
    n_refits: int  # how often the audited model was trained again without the rows; 0: it takes too long, or no time
    predictions_changed: float | None  # mean fraction of labels, or root mean squared change in units of the RMSE
    own_loss: Estimate | None  # loss on the group itself, by models that have not seen it


@dataclass(frozen=True)
class Stability:
    """Question 3: would the conclusion survive dropping a row?"""

    sets: tuple[StableSet, ...]  # one for each conclusion
    drops: tuple[Drop, ...]
    note: str | None  # why there is no set, if there is none


@dataclass(frozen=True)
class ShiftedColumn:
    """How one column differs between the training data and the deployment data."""

    name: str
    distance: float  # 0 is the same, 1 is nothing in common
    p_value: float
    outcome: str  # "shifted" (a distance of 0.1 or more), "differs slightly", "not shifted" or "not tested"
    text: str
    interval: tuple[float, float] = (float("nan"), float("nan"))  # 95% interval of the distance; NaN for groups


@dataclass(frozen=True)
class WeightedEstimate:
    """Loss to be expected on the deployment data, from held-out rows weighted to look like it."""

    loss: Estimate | None  # None: cannot be known, and ``sentence`` says why
    plain: Estimate
    effective_rows: float
    n_rows: int
    sentence: str
    rise: Estimate | None = None  # by what fraction the loss is expected to rise


@dataclass(frozen=True)
class OutsideRange:
    """Deployment rows with a value outside the range of the training data, or with a category that it does not have."""

    n_rows: int  # of the deployment data
    n_outside: int
    fraction: Estimate
    expected: float  # fraction of the training rows that lie outside the range of the others: what chance gives
    p_value: float  # of as many or more, were both alike; NaN for too few groups
    columns: tuple[tuple[str, int], ...]  # columns with such values and how many, the most first


@dataclass(frozen=True)
class DeploymentLoss:
    """The audited model on deployment rows whose target is known, compared with the held-out training rows."""

    name: str  # "all rows", "groups seen in training" or "new groups"
    n_rows: int
    n_units: int | None  # groups, or runs of neighbouring rows by time, that intervals count; None: rows
    loss: Estimate
    rise: Estimate  # by what fraction the loss is above that of the held-out training rows
    bias: Estimate | None  # mean prediction less mean truth; for classes of probabilities; None without any
    auc_change: Estimate | None  # of two classes with a rare one: AUC less that of the held-out training rows
    outcome: str  # "inside" all tolerances, "outside" one of them, or "undecided"
    rows_needed: int | None  # about how many rows (or units) in all would decide; None: not known


@dataclass(frozen=True)
class Transfer:
    """Question 4: does it hold where it will be used?"""

    where: str | None  # "the new rows", "the last part by TIME"; None: no deployment data
    verdict: str  # of the shift report
    auc: Estimate | None
    p_value: float | None
    columns: tuple[ShiftedColumn, ...]
    models: tuple[ModelScore, ...]  # on the deployment data, if its target is known
    loss_here: Estimate | None  # of the model audited, on the held-out training rows
    loss_there: Estimate | None  # and on the deployment data, if its target is known
    weighted: WeightedEstimate | None
    measure: str  # of these losses: "log-loss", "error rate" or "RMSE"
    target: ShiftedColumn | None = None  # the target itself, if it is known there
    n_known: int = 0  # deployment rows whose target is known
    n_rows: int = 0  # deployment rows
    losses: tuple[DeploymentLoss, ...] = ()  # of all rows, then of groups seen in training and of new ones
    tolerance: float = 0.25  # rise of the loss
    bias_tolerance: float = float("nan")
    outside: OutsideRange | None = None
    new: NewRows | None = None
    by_groups: bool = False  # whether tests permute groups
