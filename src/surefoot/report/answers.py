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
class Subject:
    """What was audited."""

    target: str
    task: str  # "binary", "classes" or "regression"
    task_sentence: str
    n_rows: int
    n_columns: int
    n_train: int
    n_test: int
    n_new: int
    classes: tuple[str, ...]  # their shares, in the same order, below; both are empty for numbers
    shares: tuple[float, ...]
    notes: tuple[ColumnNote, ...]
    remarks: tuple[str, ...]  # rows without a target, what was left out for want of time, and the like


@dataclass(frozen=True)
class ModelScore:
    """One model on the held-out rows: its loss, and how much less that is than the constant's (same rows, paired)."""

    name: str
    what: str
    cv_loss: float  # on the training rows, by which one is chosen; NaN for one that takes no part
    loss: Estimate  # share of errors, root mean squared error or, of a rare class, share of pairs in the wrong order
    gain: Estimate  # constant's loss less this one's: points, or share of the variance explained (R2)
    auc: Estimate | None  # of two classes
    seconds: float
    chosen: bool
    yours: bool
    error_rate: Estimate | None = None  # where the loss is another


@dataclass(frozen=True)
class LearningCurve:
    """Loss of the chosen model on the held-out rows, trained on more and more of the training rows."""

    n_rows: tuple[int, ...]
    loss: tuple[Estimate, ...]
    last_doubling: Estimate  # loss at half of the rows less that at all of them, paired


@dataclass(frozen=True)
class Duplicates:
    """Rows that are alike in every column, and what their targets tell of noise."""

    n_rows: int  # in groups of two or more
    n_groups: int
    n_conflicting: int  # rows of groups with different targets
    floor: float | None  # least possible loss on such rows: share of errors, or standard deviation; None without any


@dataclass(frozen=True)
class Accuracy:
    """Question 1: is it as accurate as the data allows?"""

    measure: str  # "error rate", "RMSE" or, of a rare class, "ranking error"
    models: tuple[ModelScore, ...]  # the constant first, then by loss in cross-validation
    chosen: str
    folds: int
    curve: LearningCurve | None
    duplicates: Duplicates
    behind: Estimate | None = None  # loss of your own model less that of the chosen one, on the same rows
    behind_measure: str = ""  # error rate even of a rare class, if your model gives labels and no scores
    n_rare: int | None = None  # held-out rows of a rare class


@dataclass(frozen=True)
class Rejection:
    """What is left of the loss when the most uncertain held-out rows are handed to someone who knows."""

    rejected: tuple[float, ...]  # shares of the rows
    error: tuple[float, ...]  # mean loss that is left over all rows: errors, or squared errors
    kept_error: tuple[float, ...]  # error rate or RMSE of the rows that are kept; 0 where none are
    threshold: tuple[float, ...]  # rows of at least this much uncertainty are rejected
    random: tuple[float, ...]
    oracle: tuple[float, ...]
    ratio: Estimate | None  # prediction-rejection ratio; None where every row has the same loss
    claimed: Estimate | None = None  # the same, were targets drawn from the predicted distributions; of 95% of draws


@dataclass(frozen=True)
class Coverage:
    """How many held-out targets lie in the intervals of a level."""

    level: float
    observed: Estimate
    width: float  # mean width


@dataclass(frozen=True)
class Calibration:
    """Do probabilities and intervals mean what they say?"""

    gap: Estimate | None  # mean probability less the share that came true: of one of two classes, or of predicted ones
    coverage: tuple[Coverage, ...]  # of numbers
    expected: tuple[float, ...]  # points of the curve: predicted probabilities, or levels of intervals
    observed: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    counts: tuple[int, ...]
    xlabel: str
    ylabel: str
    of_class: str | None = None  # of two classes, the one whose probabilities these are: the rarer, if it is rare
    share: float | None = None  # of the held-out rows that are of it
    room: float = WELL_CALIBRATED  # gap or change that nobody minds; of a rare class less
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
    """How many new rows are stranger to the ensemble than the strangest 5% of the held-out ones."""

    n_rows: int
    n_above: int
    share: Estimate
    expected: float
    p_value: float  # of as many or more, were the new rows like the held-out ones
    rows: tuple[LeastKnown, ...]


@dataclass(frozen=True)
class Knowing:
    """Question 2: does it know what it does not know?"""

    unit: str
    model: str  # whose errors are looked at
    loss: Estimate
    by_total: Rejection
    by_knowledge: Rejection
    calibration: Calibration
    columns_behind: tuple[tuple[str, float], ...]  # column, by how much of its knowledge uncertainty it accounts for
    rows: tuple[LeastKnown, ...]
    new: NewRows | None
    own_calibration: Calibration | None = None  # of the probabilities of a user's own model, if it gives any
    by_groups: bool = False  # whether whole groups were held out


@dataclass(frozen=True)
class StableSet:
    """What bags of rows agree on, beside what one look at all rows claims."""

    selector: str
    single: str  # the model that the selector chooses on all rows
    single_weight: float  # share of the bags that choose the same
    stable: str  # the expression of the stable set
    n_models: int
    models: tuple[tuple[str, float], ...]  # the heaviest models and their weights
    inclusion: tuple[tuple[str, float], ...]  # variables and the share of bags that choose them; empty for trees
    undecided: bool
    guarantee: str
    delta: float
    instability: float  # measured by leaving out every row
    n_bags: int
    bag_size: int
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Drop:
    """What leaving out some rows does; without any guarantee."""

    what: str  # "a random 1% of the rows", or a group
    n_rows: int
    n_times: int
    disjoint: float | None  # share of times that the stable set has no model in common with the full one
    single_changed: float | None  # share of times that the single look claims something else
    predictions_changed: float | None  # mean share of held-out labels, or root mean squared change in units of the RMSE
    own_loss: Estimate | None  # loss on the group itself, by a model that has not seen it


@dataclass(frozen=True)
class Stability:
    """Question 3: would the conclusion survive dropping a row?"""

    sets: tuple[StableSet, ...]
    drops: tuple[Drop, ...]
    note: str | None  # why there is no set, if there is none


@dataclass(frozen=True)
class ShiftedColumn:
    """How one column differs between the training rows and those where the model will be used."""

    name: str
    distance: float
    p_value: float
    outcome: str
    text: str


@dataclass(frozen=True)
class WeightedEstimate:
    """Loss to be expected on the new rows, from held-out rows weighted to look like them."""

    loss: Estimate | None  # None: cannot be known, and ``sentence`` says why
    plain: Estimate
    effective_rows: float
    n_rows: int
    sentence: str


@dataclass(frozen=True)
class Transfer:
    """Question 4: does it hold where it will be used?"""

    where: str | None  # "the new rows", "the last part by TIME"; None: nobody has said where
    verdict: str  # of the shift report
    auc: Estimate | None
    p_value: float | None
    columns: tuple[ShiftedColumn, ...]
    models: tuple[ModelScore, ...]  # on the rows of where it will be used, if their target is known
    loss_here: Estimate | None  # of the model audited, on the held-out rows
    loss_there: Estimate | None  # and there, if the target is known
    weighted: WeightedEstimate | None
    measure: str  # of these losses: "error rate", "RMSE" or "ranking error"
    target: ShiftedColumn | None = None  # the target itself, if it is known there
    n_known: int = 0  # rows there whose target is known
