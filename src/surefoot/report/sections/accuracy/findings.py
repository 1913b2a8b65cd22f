"""The record of question 1: is it as accurate as the data allows?"""

from dataclasses import dataclass

from surefoot.report.statistics import Estimate


@dataclass(frozen=True)
class ModelScore:
    """One model on the held-out rows."""

    name: str
    what: str
    loss: Estimate  # error rate, root mean squared error or, for a rare class, fraction of pairs in the wrong order
    gain: Estimate  # fraction of the constant's log-loss, or of its squared error (R2), that it removes
    auc: Estimate | None  # for two classes
    seconds: float
    chosen: bool  # whether the audit is about this model
    yours: bool
    error_rate: Estimate | None = None  # where the loss is another
    log_loss: Estimate | None = None  # for classes, if the model predicts probabilities
    excess: Estimate | None = None  # by what fraction the audited model's loss is above this one's, on the same rows


@dataclass(frozen=True)
class LearningCurve:
    """Loss on the held-out rows of a model trained on increasing fractions of the training rows."""

    model: str
    n_rows: tuple[int, ...]
    loss: tuple[Estimate, ...]
    last_doubling: Estimate  # by what fraction the loss with half of the rows is above that with all, paired


@dataclass(frozen=True)
class Duplicates:
    """Rows that are equal in every column, and the noise that their targets show."""

    n_rows: int  # in groups of two or more
    n_groups: int
    n_conflicting: int  # rows of groups with different targets
    floor: float | None  # smallest possible loss on such rows: error rate, or standard deviation


@dataclass(frozen=True)
class OtherRowsLoss:
    """The loss of the audited model, trained on all drawn rows, on the rows of the table that were not drawn."""

    n_rows: int
    loss: Estimate  # as in ``ModelScore``
    log_loss: Estimate | None


@dataclass(frozen=True)
class AccuracyFindings:
    """Question 1: is it as accurate as the data allows?"""

    measure: str  # "error rate", "RMSE" or, for a rare class, "ranking error"
    models: tuple[ModelScore, ...]  # the constant first, then by log-loss or squared error
    audited: str
    gain: Estimate  # of your model over the constant; or of the best candidate, on rows that it was not chosen on
    is_better: bool  # whether it is shown to be better than the constant: by that gain, by its errors or its AUC
    rival: str | None  # the best of the other models
    behind: Estimate | None  # by what fraction the loss of the audited model is above the rival's
    curve: LearningCurve | None
    duplicates: Duplicates
    left_out: tuple[str, ...]  # candidates that were not compared
    n_rows: int  # held-out rows
    n_rare: int | None = None  # held-out rows of a rare class
    other_rows: OtherRowsLoss | None = None  # None: all rows were audited, or the others are no fair test
