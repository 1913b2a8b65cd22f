"""The lines of the two files of a run: the settings tried in tuning, and the results."""

from dataclasses import dataclass
from typing import NamedTuple

TUNING = "tuning.csv"


class MethodUnit(NamedTuple):
    """Identifies a `MethodLine`."""

    dataset: str
    split: int
    method: str


class TuningUnit(NamedTuple):
    """Identifies a `TuningLine`."""

    dataset: str
    split: int
    method: str
    depth: int
    rate: float


@dataclass(frozen=True)
class TuningLine:
    """One setting: its best number of trees for the validation rows, and their negative log-likelihood."""

    dataset: str
    split: int
    method: str
    depth: int
    rate: float
    trees: int
    validation_nll: float
    seconds: float

    @property
    def unit(self) -> TuningUnit:
        return TuningUnit(self.dataset, self.split, self.method, self.depth, self.rate)


@dataclass(frozen=True)
class MethodLine:
    """The results of a method on the test rows of a split.

    ``error`` is the RMSE or the fraction of wrong labels. ``prr``, ``auc`` and ``auc2`` (the second set of
    out-of-domain rows) are computed for total and for knowledge uncertainty; NaN if a method has none. ``depth``,
    ``rate`` and ``trees`` describe one model. ``seconds`` is this method's part of its training time, without tuning.
    """

    dataset: str
    split: int
    method: str
    nll: float
    error: float
    prr_total: float
    prr_knowledge: float
    auc_total: float
    auc_knowledge: float
    auc2_total: float
    auc2_knowledge: float
    depth: int
    rate: float
    trees: int
    train_rows: int
    test_rows: int
    seconds: float

    @property
    def unit(self) -> MethodUnit:
        return MethodUnit(self.dataset, self.split, self.method)
