"""The lines of the two files that a run fills: what was tried in tuning, and what came out."""

from dataclasses import dataclass
from typing import NamedTuple

TUNING = "tuning.csv"


class MethodUnit(NamedTuple):
    """What one line of the results is about."""

    dataset: str
    split: int
    method: str


class Trial(NamedTuple):
    """What one line of the tuning is about."""

    dataset: str
    split: int
    method: str
    depth: int
    rate: float


@dataclass(frozen=True)
class TuningLine:
    """Settings that were tried: the number of trees that is best for the validation rows, and their likelihood."""

    dataset: str
    split: int
    method: str
    depth: int
    rate: float
    trees: int
    validation_nll: float
    seconds: float

    @property
    def unit(self) -> Trial:
        return Trial(self.dataset, self.split, self.method, self.depth, self.rate)


@dataclass(frozen=True)
class ResultLine:
    """What a method reached on the test rows of a split.

    ``error`` is the RMSE or the share of wrong labels; ``prr``, ``auc`` and ``auc2`` (the second set of rows from
    elsewhere) are given for total and for knowledge uncertainty, NaN where a method has none. ``depth``, ``rate`` and
    ``trees`` are those of one model. ``seconds`` is this method's share of its training, tuning not included.
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
