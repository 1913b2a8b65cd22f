"""What the tests of chunks count instead of rows: groups, or runs of rows in time."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits

ROWS, GROUPS, RUNS = "rows", "groups", "runs of rows"
MIN_RUN, RUN_MEMORIES = 20, 5.0  # rows; a weak correlation of neighbours is not seen in the memory
WINDOW = 5.0  # times the memory: as many lags are summed
COARSE_RUNS = 8  # of a chunk, which are trained on or predicted together; and of as many training rows


@dataclass(frozen=True)
class ChunkUnits:
    """The units of the held-out training rows and of the deployment rows.

    Attributes
    ----------
    training, deployment : arrays or None
        Groups (or copies of rows, or runs) of the held-out training rows, and groups of the deployment rows.
    training_time, deployment_time : arrays or None
        If both are known and there are no groups, units are runs of rows that are neighbours in time: 20 rows or, if
        that is more, five times the memory of what is tested.
    """

    training: np.ndarray | None
    deployment: np.ndarray | None
    training_time: np.ndarray | None = None
    deployment_time: np.ndarray | None = None

    @classmethod
    def of(cls, splits: Splits, deployment: DeploymentData, time: np.ndarray | None) -> "ChunkUnits":
        """The units of the sections of question 4, and finer runs where there is a time."""
        if time is None or deployment.time is None or deployment.groups is not None:
            return cls(splits.held_out_units, deployment.groups)
        return cls(splits.held_out_units, None, time[splits.held_out], deployment.time)

    @property
    def counted(self) -> str:
        """What is counted, in words."""
        if self.are_runs:
            return RUNS
        return ROWS if self.deployment is None else GROUPS

    @property
    def are_runs(self) -> bool:
        return self.training_time is not None

    def pair(
        self, values: np.ndarray, places: np.ndarray, rows: np.ndarray, n_chunk: int | None = None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The units of some held-out rows, which have these values, and of some rows of a chunk; None: single rows.

        ``n_chunk`` is the number of rows of the chunk, if ``rows`` are only a sample of them.
        """
        if not self.are_runs:
            return tuple(None if each is None else each[of] for each, of in self._sides(places, rows))  # type: ignore[return-value]
        assert self.training_time is not None
        assert self.deployment_time is not None
        time, new_time = self.training_time[places], self.deployment_time[rows]
        memory = memory_of(np.asarray(values, dtype=np.float64)[np.argsort(time, kind="stable")])
        length = max(MIN_RUN, RUN_MEMORIES * memory)
        density = len(places) / len(self.training_time) * (n_chunk or len(rows)) / max(len(rows), 1)
        return runs_of(time, ceil(length)), runs_of(new_time, max(1, ceil(length / density)))

    def coarse(self, places: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Units that classifiers are trained on, or tested on, as a whole: neighbours in time may be alike."""
        if not self.are_runs:
            return tuple(None if each is None else each[of] for each, of in self._sides(places, rows))  # type: ignore[return-value]
        assert self.training_time is not None
        assert self.deployment_time is not None
        length = max(1, ceil(min(len(rows), len(places)) / COARSE_RUNS))
        return runs_of(self.training_time[places], length), runs_of(self.deployment_time[rows], length)

    def _sides(
        self, places: np.ndarray, rows: np.ndarray
    ) -> tuple[tuple[np.ndarray | None, np.ndarray], tuple[np.ndarray | None, np.ndarray]]:
        return (self.training, places), (self.deployment, rows)


def runs_of(time: np.ndarray, length: int) -> np.ndarray:
    """Runs of so many rows that are neighbours in time; a shorter rest belongs to the last run."""
    ranks = np.argsort(np.argsort(time, kind="stable"), kind="stable")
    return np.asarray(np.minimum(ranks // length, max(len(time) // length - 1, 0)))


def memory_of(series: np.ndarray) -> float:
    """The number of neighbouring values worth one independent value: 1 plus twice the sum of the autocorrelations.

    As many lags are summed as five times the result (Sokal 1997), so that weak but lasting correlations count too.
    """
    centred, n = series - series.mean(), len(series)
    variance = float(centred @ centred)
    memory = 1.0
    for lag in range(1, n // 2 if variance > 0 else 1):
        memory += 2 * float(centred[lag:] @ centred[:-lag]) / variance
        if lag >= WINDOW * memory:
            break
    return max(memory, 1.0)
