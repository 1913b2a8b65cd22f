"""The order of an audit: what is checked and trained once, and used for several questions."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, cached_property
from typing import Any, Self, TypeVar

import numpy as np

from surefoot.report.checks.copies import Copies, find_copies
from surefoot.report.checks.data_checks import check_data, check_predictions
from surefoot.report.close_answers import close_answers, is_near
from surefoot.report.inputs.arguments import AuditArguments
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.candidate_models import CONSTANT, ENSEMBLE, CandidateModel, candidate_models
from surefoot.report.models.choice import choose, choose_name, mean_outcomes
from surefoot.report.models.cross_fitting import SHARE_OF_TIME, Comparison, CrossFitted, cross_fit, named
from surefoot.report.sections import SECTIONS
from surefoot.report.sections.accuracy.findings import AccuracyFindings
from surefoot.report.sections.section import RedrawnSection, Section, SectionContext
from surefoot.report.sections.stability.leading_column import LossIncreases
from surefoot.report.subject import DataCheck, Subject
from surefoot.report.time_budget import TimeBudget

MAX_DRAWS = 5  # of the folds
MAX_DRAWN_CELLS = 36_000  # rows times columns times draws: the folds of larger tables are drawn once, as fits take long
MAX_REDRAWN_SECONDS = 30.0  # of the fits of one draw, if the model is the user's
Findings = TypeVar("Findings")


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
    budget: TimeBudget
    remarks: list[str] = field(default_factory=list)
    draws: list[list[CrossFitted]] = field(default_factory=list)  # every candidate for each draw of the folds
    checks: tuple[DataCheck, ...] = ()
    kept: dict[Hashable, Any] = field(default_factory=dict)  # measurements by section, draw and audited model
    without_curve: set[int] = field(default_factory=set)  # draws that no answer about the learning curve needs

    @classmethod
    def begin(cls, X: Any, y: Any, **arguments: Any) -> Self:
        """Check everything before anything is trained."""
        given = AuditArguments(X=X, y=y, **arguments)
        budget = TimeBudget(given.time_limit, given.callback)
        budget.step(0.0, "reading the table")
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
            budget=budget,
            remarks=remarks,
        )

    def fit(self) -> Self:
        """Fit every candidate on the first draw of the folds."""
        if not self.draws:
            self.draws.append(self._fit(0))
        return self

    def _fit(self, draw: int, names: Collection[str] | None = None) -> list[CrossFitted]:
        """Candidates (None: all) on one draw of the folds."""
        seed = self.seed_of(draw)
        splits = self.splits if draw == 0 else self.splits.drawn_again(self.table.target, seed)
        constant, *others = candidate_models(self.table, seed, self.n_jobs)
        own = [self.own] if self.own else []  # early: it is what the audit is about
        chosen = [each for each in (constant, *own, *others) if names is None or each.name in names]
        fitted, remarks = cross_fit(self.table, splits, chosen, self.budget)
        self.remarks += remarks
        return fitted

    def seed_of(self, draw: int) -> int:
        """Seeds of further draws differ from those of any other seed of the user's."""
        return self.seed if draw == 0 else int(np.random.SeedSequence([self.seed, draw]).generate_state(1)[0])

    @property
    def fitted(self) -> list[CrossFitted]:
        """All candidates on the first draw of the folds."""
        return self.draws[0]

    @property
    def audited(self) -> CrossFitted:
        """The user's predictions or model, or the candidate that was chosen: the one that all answers are about."""
        return self.comparisons[0].audited

    @property
    def comparisons(self) -> list[Comparison]:
        """The candidates of every draw of the folds that has the audited one."""
        own = next((each.name for each in self.fitted if each.candidate.raw), None)
        name = own or choose_name(mean_outcomes(self.draws))[0]
        found = [(fitted, self.given or named(fitted, name)) for fitted in self.draws]
        return [Comparison(fitted, audited) for fitted, audited in found if audited is not None]

    @property
    def ensemble(self) -> CrossFitted | None:
        """The ensemble, if there was time for it."""
        return named(self.fitted, ENSEMBLE)

    def measured_once(self, key: Hashable, measure: Callable[..., Findings], *arguments: Any) -> Findings:
        """The result of a measurement that takes long, kept for when the folds are drawn again."""
        if key not in self.kept:
            self.kept[key] = measure(*arguments)
        return self.kept[key]

    def check(self) -> None:
        """Look for what may make the numbers too good."""
        self.budget.step(0.62, "copies, order and groups of rows")
        found = check_data(self.table, self.splits, self.copies, self.groups, self.time, self.seed, self.n_jobs)
        if self.given is not None:
            found += check_predictions(self.given, choose(self.fitted))
        self.checks = tuple(found)

    def measure(self, sections: Sequence[Section] = SECTIONS) -> dict[str, Any]:
        """The findings of each section by its name.

        The checks come after the first section, which they are about. Where another draw of the folds could turn an
        answer, they are drawn again; the sections that do not depend on the draw come last.
        """
        self.fit()
        redrawn = [section for section in sections if isinstance(section, RedrawnSection)]
        first, *others = redrawn
        found = {first.name: first.measure(self)}
        self.check()
        found |= {section.name: section.measure(self) for section in others}
        while (close := self._close(redrawn, found)) and self._may_draw_again():
            before = found["accuracy"].audited
            if not self._draw_again(found["accuracy"], close):
                break
            for section in redrawn:
                same_model = before == self.audited.name
                found[section.name] = section.measure_again(found[section.name], self, same_model)
        found |= {section.name: section.measure(self) for section in sections if section not in redrawn}
        return {section.name: found[section.name] for section in sections}

    def _may_draw_again(self) -> bool:
        """Whether the folds can be drawn again, and whether that takes a bearable time."""
        n_cells = max(self.table.n_rows * len(self.table.readers), 1)
        by_chance = not self.splits.by_time and self.given is None
        if not by_chance or len(self.draws) >= min(MAX_DRAWS, MAX_DRAWN_CELLS // n_cells):
            return False
        seconds = sum(each.seconds for each in self.fitted)
        if self.own is not None and seconds > MAX_REDRAWN_SECONDS:
            return False
        return self.budget.has_time_for("further draws of the folds", SHARE_OF_TIME, self.budget.seconds)

    def _draw_again(self, accuracy: AccuracyFindings, close: set[str]) -> bool:
        """Draw the folds once more, for the models that close answers depend on; False if one of them failed."""
        needed = {CONSTANT, ENSEMBLE, accuracy.audited}
        if close != {"uncertainty"}:
            needed.add(accuracy.rival or CONSTANT)
        names = {each.name for each in self.fitted if each.name in needed}
        fitted = self._fit(len(self.draws), names)
        if {each.name for each in fitted} != names:
            return False
        if "accuracy" not in close:
            self.without_curve.add(len(self.draws))
        self.draws.append(fitted)
        return True

    def _close(self, sections: Sequence[RedrawnSection], found: dict[str, Any]) -> set[str]:
        """The sections whose answers another draw of the folds may turn; all, if it may change what is audited."""
        close = close_answers(sections, SectionContext(self.subject(), found), len(self.draws))
        behind = choose_name(mean_outcomes(self.draws))[1] if self.own is None else None
        if behind is not None and is_near(behind.low, behind, len(self.draws)):
            return {section.name for section in sections}
        return close

    @cached_property
    def loss_increases(self) -> Callable[[CrossFitted], LossIncreases]:
        """What permuting columns does to a model, measured once for each draw of the folds."""
        return cache(LossIncreases.of)

    def averaged(self) -> CrossFitted:
        """The audited model, its losses the means over the draws of the folds: those that question 1 reports."""
        return replace(self.audited, averaged=mean_outcomes(self.draws)[self.audited.name])

    def subject(self) -> Subject:
        """What was audited, and what was left out."""
        target, splits = self.table.target, self.splits
        late = [f"Left out, as time ran out: {', '.join(self.budget.left_out)}."] if self.budget.left_out else []
        shares = np.bincount(target.y) / len(target.y) if target.is_classes else np.empty(0)
        return Subject(
            target=target.name,
            task=target.task,
            task_sentence=target.sentence,
            n_rows=self.table.n_rows,
            n_columns=len(self.table.readers),
            n_judged=len(splits.judged),
            n_folds=len(splits.folds),
            n_draws=len(self.draws),
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
        times, anew, means = "once", "", ""
        if len(self.draws) > 1:
            times, anew = f"{len(self.draws)} times", " that are drawn anew each time"
            means = " As an answer is close to its limit, numbers are means over the draws."
        if self.groups is not None:
            n_groups = len(np.unique(self.groups[self.splits.rows]))
            return (
                f"Each of the {n_groups:,} groups is held out {times}, whole, in {n_folds} folds{anew}. Intervals "
                f"count groups as what was drawn, not rows.{means}"
            )
        together = " or a copy of it" if self.splits.units is not None else ""
        return (
            f"Every row is held out {times}, in {n_folds} folds{anew}, and predicted by a model that has not seen "
            f"it{together}.{means}"
        )
