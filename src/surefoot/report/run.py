"""The order of an audit: what is checked and trained once, and used for several questions."""

from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, Self

import numpy as np

from surefoot.report.accuracy import choose, measure_accuracy
from surefoot.report.answers import Accuracy, DataCheck, Knowing, Stability, Subject, Transfer
from surefoot.report.arguments import AuditArguments
from surefoot.report.candidate_models import ENSEMBLE, CandidateModel, candidate_models
from surefoot.report.checks.copies import Copies, find_copies
from surefoot.report.clock import Clock
from surefoot.report.cross_fitting import CrossFitted, cross_fit
from surefoot.report.data_checks import check_data, check_predictions
from surefoot.report.deployment_data import DeploymentData
from surefoot.report.knowing import measure_uncertainty
from surefoot.report.splits import Splits
from surefoot.report.stability import measure_stability
from surefoot.report.table import AuditTable
from surefoot.report.transfer import measure_shift, no_deployment_data


@dataclass
class AuditRun:
    """A checked table and everything that is fitted to it, each once."""

    table: AuditTable
    splits: Splits
    copies: Copies
    deployment: DeploymentData | None
    groups: np.ndarray | None
    time: np.ndarray | None
    own: CandidateModel | None
    given: CrossFitted | None  # predictions of the user
    tolerance: float
    seed: int
    n_jobs: int | None
    clock: Clock
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def begin(cls, X: Any, y: Any, **arguments: Any) -> Self:
        """Check everything before anything is trained."""
        given = AuditArguments(X=X, y=y, **arguments)
        clock = Clock(given.time_limit, given.watch)
        clock.step(0.0, "reading the table")
        X, groups, time = given.read_apart()
        table = AuditTable.read(X, y, given.task)
        groups, time = (None if each is None else each[table.known] for each in (groups, time))
        copies = find_copies(table.frame, table.target.y)
        together = groups if groups is not None else copies.groups
        splits = Splits.draw(table.target, together, time, given.X_new is not None, given.random_state)
        deployment, remarks = given.deployment(table, splits, groups, time), list(table.remarks)
        if deployment is not None and given.X_new is not None and (n_known := table.count_known(deployment.frame)):
            remarks.append(f"{n_known:,} of the new rows are rows of the table: what is measured on them is no test.")
        return cls(
            table=table,
            splits=splits,
            copies=copies,
            deployment=deployment,
            groups=groups,
            time=time,
            own=given.own_model(table),
            given=given.own_predictions(table, splits),
            tolerance=given.shift_tolerance,
            seed=given.random_state,
            n_jobs=given.n_jobs,
            clock=clock,
            remarks=remarks,
        )

    @cached_property
    def fitted(self) -> list[CrossFitted]:
        """Every model of question 1 after cross-fitting; the constant is the first."""
        constant, *others = candidate_models(self.table, self.seed, self.n_jobs)
        own = [self.own] if self.own else []  # early: it is what the audit is about
        return cross_fit(self.table, self.splits, [constant, *own, *others], self.clock, self.remarks)

    @cached_property
    def audited(self) -> CrossFitted:
        """The user's predictions or model, or the candidate that was chosen: the one that all answers are about."""
        own = [each for each in self.fitted if each.candidate.raw]
        return self.given or (own[0] if own else choose(self.fitted))

    @property
    def ensemble(self) -> CrossFitted | None:
        """The ensemble, if there was time for it."""
        return next((each for each in self.fitted if each.name == ENSEMBLE), None)

    def accuracy(self) -> Accuracy:
        return measure_accuracy(self.table, self.splits, self.fitted, self.audited, self.time, self.seed, self.clock)

    @cached_property
    def checks(self) -> tuple[DataCheck, ...]:
        """What may make the numbers too good."""
        self.clock.step(0.62, "copies, order and groups of rows")
        found = check_data(self.table, self.splits, self.copies, self.groups, self.time, self.seed, self.n_jobs)
        if self.given is not None:
            found += check_predictions(self.given, choose(self.fitted))
        return tuple(found)

    def answers(self) -> tuple[Accuracy, Knowing | None, Stability | None, Transfer | None]:
        """All four, in their order; the checks come after the first, which they are about."""
        accuracy = self.accuracy()
        _ = self.checks
        return accuracy, self.uncertainty(), self.stability(), self.shift()

    def uncertainty(self) -> Knowing | None:
        """Question 2, if there is time."""
        if not self.clock.has_time_for("question 2"):
            return None
        self.clock.step(0.65, "question 2: what it does not know")
        return measure_uncertainty(self.table, self.splits, self.audited, self.ensemble, self.seed)

    def stability(self) -> Stability | None:
        """Question 3, if there is time."""
        if not self.clock.has_time_for("question 3"):
            return None
        self.clock.step(0.7, "question 3: bags of rows")
        return measure_stability(
            self.table, self.splits, self.fitted, self.audited, self.groups, self.seed, self.n_jobs, self.clock
        )

    def shift(self) -> Transfer | None:
        """Question 4, if there are deployment data, and time."""
        if self.deployment is None:
            return no_deployment_data()
        if not self.clock.has_time_for("question 4"):
            return None
        self.clock.step(0.9, "question 4: what has shifted")
        audited = choose(self.fitted) if self.given is not None else self.audited
        return measure_shift(
            self.table, self.splits, self.deployment, audited, self.fitted[0], self.ensemble, self.groups,
            self.tolerance, self.seed, self.n_jobs, self.clock,
        )  # fmt: skip

    def subject(self) -> Subject:
        """What was audited, and what was left out."""
        target, splits = self.table.target, self.splits
        late = [f"Left out, as time ran out: {', '.join(self.clock.left_out)}."] if self.clock.left_out else []
        shares = np.bincount(target.y) / len(target.y) if target.is_classes else np.empty(0)
        return Subject(
            target=target.name,
            task=target.task,
            task_sentence=target.sentence,
            n_rows=self.table.n_rows,
            n_columns=len(self.table.readers),
            n_judged=len(splits.judged),
            n_folds=len(splits.folds),
            n_new=0 if self.deployment is None else len(self.deployment.frame),
            split=self._split_sentence(),
            classes=tuple(map(str, target.classes)),
            shares=tuple(shares.tolist()),
            notes=self.table.notes,
            checks=self.checks,
            remarks=(*self.remarks, *late),
            fingerprint=self.table.fingerprint,
            date=date.today().isoformat(),
        )

    def _split_sentence(self) -> str:
        """How the rows were split."""
        n_folds = len(self.splits.folds)
        if self.splits.by_time:
            how = "every part of the later half is predicted by a model of all earlier rows"
            groups = "" if self.groups is None else ", where possible without rows of the same groups"
            return f"The rows are in order of time: {how}{groups}. Intervals count runs of neighbouring rows."
        if self.groups is not None:
            n_groups = len(np.unique(self.groups[self.splits.rows]))
            return (
                f"Each of the {n_groups:,} groups is held out once, whole, in {n_folds} folds. Intervals count groups "
                "as what was drawn, not rows."
            )
        together = " or a copy of it" if self.splits.units is not None else ""
        return (
            f"Every row is held out once, in {n_folds} folds, and predicted by a model that has not seen it{together}."
        )
