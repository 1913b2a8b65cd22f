"""The results of the weak-to-strong experiment: one line per dataset, seed, learner and number of members."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from surefoot_experiments.growing_csv import GrowingCsv


class Unit(NamedTuple):
    """What one line of the results is about."""

    dataset: str
    seed: int
    learner: str
    n_members: int


@dataclass(frozen=True)
class Result:
    """One line of the results; ``seconds`` is what this unit added to the run."""

    dataset: str
    seed: int
    learner: str
    n_members: int
    accuracy: float
    seconds: float
    rows: int
    note: str

    @property
    def unit(self) -> Unit:
        return Unit(self.dataset, self.seed, self.learner, self.n_members)


class ResultsFile(GrowingCsv[Result]):
    """The results of a run."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Result)

    @property
    def results(self) -> dict[Unit, Result]:
        return self.lines
