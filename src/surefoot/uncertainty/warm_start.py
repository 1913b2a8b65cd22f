"""Training that ``warm_start=True`` resumes: the state of each member between calls of ``fit``.

There are no trial models. All members hold out the same rows to the end.
"""

from dataclasses import dataclass, replace

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._parallel import Cancellation, RowThreads, count_jobs, run_tasks
from surefoot.uncertainty.early_stopping import MonitoredTraining
from surefoot.uncertainty.fit_spec import FitSpec
from surefoot.uncertainty.member import Member
from surefoot.uncertainty.offsets import same_offsets
from surefoot.uncertainty.training import run_loop, split_rows, start_loop, with_combinations
from surefoot.uncertainty.training_table import Encoding, SharedTable


@dataclass
class MemberRun:
    """The training of one member, which can be resumed."""

    monitored: MonitoredTraining
    encoding: Encoding
    is_complete: bool = True  # False while rounds are run, so also after Ctrl-C in the middle of one

    @classmethod
    def begin(cls, spec: FitSpec, table: SharedTable, member: int) -> "MemberRun":
        """One member before its first tree."""
        with RowThreads(1) as threads:
            loop, encoding = start_loop(spec, table, member, threads)
            return cls(MonitoredTraining([loop], spec.config), encoding)

    def run(self, spec: FitSpec, member: int, n_threads: int, cancellation: Cancellation) -> Member:
        """Train up to the number of trees in the configuration."""
        loop = self.monitored.models[0]
        with RowThreads(n_threads) as threads:
            self.is_complete = False
            loop.resume(spec.config, threads)
            run_loop(self.monitored, member, spec, cancellation, self.encoding)
            loop.use(RowThreads(1))  # a pool of threads cannot be pickled
            self.is_complete = True
            monitored = self.monitored
            all_trees = monitored.all_trees() if spec.options.eval_sets else None
            dispersion = monitored.recalibration().dispersion
            return Member(self.encoding, monitored.result(), dispersion, all_trees=all_trees)

    def check_trees(self, spec: FitSpec) -> None:
        """Refuse fewer trees than are trained already."""
        n_done, n_estimators = self.monitored.n_done, spec.config.n_estimators
        if n_estimators < n_done:
            raise ParameterError(
                f"n_estimators={n_estimators} is below the {n_done} trees of the last fit: with warm_start=True it can "
                "only grow."
            )

    def check_same(self, spec: FitSpec) -> None:
        """Refuse to resume with another table or other settings."""
        mine = self.monitored.models[0]
        begun = begin_runs(replace(spec, seed=mine.seed[0]), 1)[0]
        other = begun.monitored.models[0]
        if not (
            begun.encoding.reads_like(self.encoding)
            and np.array_equal(other.model_rows.tables[0].words, mine.model_rows.tables[0].words)
            and np.array_equal(other.model_rows.tables[0].n_codes, mine.model_rows.tables[0].n_codes)
            and np.array_equal(other.rows.y, mine.rows.y)
            and np.array_equal(other.rows.all_weights, mine.rows.all_weights)
            and np.array_equal(other.rows.train, mine.rows.train)
            and same_offsets(other.rows.offsets, mine.rows.offsets)
        ):
            raise DataError(
                "X, y, sample_weight, offset or exposure is not that of the last fit, which warm_start=True resumes: "
                "pass the same data."
            )
        config = replace(spec.config, n_estimators=mine.config.n_estimators)
        if config != mine.config or spec.family != mine.family:
            raise ParameterError("With warm_start=True only n_estimators may change between calls of fit.")


def begin_runs(spec: FitSpec, n_members: int) -> list[MemberRun]:
    """All members before their first tree."""
    table = with_combinations(spec, SharedTable.of(spec), split_rows(spec, 0)[0])
    return [MemberRun.begin(spec, table, member) for member in range(n_members)]


def resume_runs(runs: list[MemberRun], spec: FitSpec) -> list[Member]:
    """Train the members from the trees that they have up to the number of trees in the configuration."""
    n_threads = spec.n_threads if len(runs) == 1 else 1

    def resume(member: int, cancellation: Cancellation) -> Member:
        return runs[member].run(spec, member, n_threads, cancellation)

    # In threads, whatever the backend of joblib: another process would keep the new state to itself.
    return run_tasks(resume, range(len(runs)), spec.n_jobs, count_jobs(spec.n_jobs))


def check_runs(runs: list[MemberRun], spec: FitSpec, n_members: int) -> None:
    """Refuse to resume with another table, other settings or another number of members."""
    if len(runs) != n_members:
        raise ParameterError(
            f"n_members={n_members}, but the last fit trained {len(runs)}: with warm_start=True only n_estimators may "
            "change between calls of fit."
        )
    for run in runs:
        run.check_trees(spec)
    runs[0].check_same(spec)
