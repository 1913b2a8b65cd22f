"""The order of an audit: what is read, fitted and checked once and used for several questions."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any, Self, TypeVar

import numpy as np

from surefoot._exceptions import ParameterError
from surefoot.report.checks.copies import Copies
from surefoot.report.checks.data_checks import check_data, check_predictions, check_training_rows
from surefoot.report.inputs.arguments import AuditArguments
from surefoot.report.inputs.deployment_data import DeploymentData
from surefoot.report.inputs.other_rows import OtherRows
from surefoot.report.inputs.splits import Splits
from surefoot.report.inputs.table import AuditTable
from surefoot.report.models.candidate_models import candidate_models
from surefoot.report.models.cross_fitting import (
    COMPARISON_FRACTION,
    CONSTANT,
    ENSEMBLE,
    CandidateModel,
    Comparison,
    CrossFitted,
    choose,
    choose_name,
    cross_fit,
    mean_outcomes,
    named,
)
from surefoot.report.models.other_libraries import library_models
from surefoot.report.sections import SECTIONS
from surefoot.report.sections.accuracy.findings import AccuracyFindings
from surefoot.report.sections.own_measure.cost import Costs
from surefoot.report.sections.section import RedrawnSection, Section, SectionContext, SupportingSection
from surefoot.report.sections.shift.deployment_models import DeployedModel
from surefoot.report.sections.stability.leading_column import LossIncreases
from surefoot.report.sections.subgroups.columns import Slice
from surefoot.report.statistics import Estimate, standard_error
from surefoot.report.subject import DataCheck, Subject
from surefoot.report.time_budget import MIN_SECONDS, TimeBudget

MAX_DRAWS = 5  # of the folds
MAX_DRAWN_CELLS = 36_000  # rows times columns times draws: the folds of larger tables are drawn once, as fits take long
MAX_REDRAWN_SECONDS = 30.0  # of the fits of one draw, if the model is the user's
DRAW_ERRORS = 1.0  # standard errors by which another draw of the folds may move the end of an interval
Findings = TypeVar("Findings")


@dataclass
class AuditRun:
    """The data of an audit and everything that is fitted to it, each once."""

    table: AuditTable
    splits: Splits
    copies: Copies
    deployment: DeploymentData | None
    groups: np.ndarray | None
    time: np.ndarray | None
    own_model: CandidateModel | None
    own_predictions: CrossFitted | None
    is_unseen_unknown: bool
    models: Any
    metric: Any
    costs: Costs | None
    tolerance: float
    seed: int
    n_jobs: int | None
    budget: TimeBudget
    slices: tuple[Slice, ...] = ()
    other_rows: OtherRows | None = None
    weights_name: str = ""  # the column of the weights, or "an array"
    remarks: list[str] = field(default_factory=list)
    draws: list[list[CrossFitted]] = field(default_factory=list)  # the candidates of each draw of the folds
    checks: tuple[DataCheck, ...] = ()
    measurements: dict[Hashable, Any] = field(default_factory=dict)  # by section, draw and audited model
    without_curve: set[int] = field(default_factory=set)  # draws that need no learning curve

    @classmethod
    def begin(cls, X: Any, y: Any, other_rows: OtherRows | None = None, **arguments: Any) -> Self:
        """Check and read everything before anything is fitted.

        ``other_rows`` are those that were not drawn, if the rows were drawn before, from a table that was not read.
        """
        given = AuditArguments(X=X, y=y, **arguments)
        budget = TimeBudget(given.time_limit, given.callback)
        budget.step(0.0, "reading the table")
        inputs = given.read(budget)
        return cls(
            table=inputs.table,
            splits=inputs.splits,
            copies=inputs.copies,
            deployment=inputs.deployment,
            groups=inputs.groups,
            time=inputs.time,
            own_model=inputs.own_model,
            own_predictions=inputs.own_predictions,
            is_unseen_unknown=given.is_unseen_unknown,
            models=given.models,
            metric=given.metric,
            costs=inputs.costs,
            tolerance=given.shift_tolerance,
            seed=given.random_state,
            n_jobs=given.n_jobs,
            budget=budget,
            slices=inputs.slices,
            other_rows=other_rows or inputs.other_rows,
            weights_name=given.sample_weight if isinstance(given.sample_weight, str) else "an array",
            remarks=list(inputs.remarks),
        )

    def measure(self, sections: Sequence[Section | SupportingSection] = SECTIONS) -> dict[str, Any]:
        """The findings of each section by its name.

        The checks come after the first section, as they concern its answer. Where another draw of the folds could
        change an answer, the folds are drawn again; the sections that do not depend on the draw come last.
        """
        self.fit()
        redrawn = [section for section in sections if isinstance(section, RedrawnSection)]
        first, *others = redrawn
        findings = {first.name: first.measure(self)}
        self.check()
        findings |= {section.name: self._measured(section) for section in others}
        while (close := self._close(redrawn, findings)) and self._may_draw_again():
            before = findings["accuracy"].audited
            if not self._draw_again(findings["accuracy"], close):
                break
            for section in redrawn:
                same_model = before == self.audited.name
                findings[section.name] = section.measure_again(findings[section.name], self, same_model)
        findings |= {section.name: self._measured(section) for section in sections if section not in redrawn}
        return {section.name: findings[section.name] for section in sections}

    def _measured(self, section: Section | SupportingSection) -> Any:
        """The findings of a section. Sections of the user are stopped here, ours stop their own steps."""
        if section in SECTIONS:
            return section.measure(self)
        return self.budget.within(f"section {section.name}", 1.0, partial(section.measure, self), MIN_SECONDS)

    def fit(self) -> Self:
        """Fit every candidate on the first draw of the folds."""
        if not self.draws:
            fitted = self._fit(0)
            if self.own_model is not None and named(fitted, self.own_model.name) is None:
                raise ParameterError(
                    f"time_limit={self.budget.time_limit:g} is too short for your model, which the audit is about: "
                    f"{len(self.splits.folds)} fits of it take longer. Raise the limit, or leave it out.",
                    argument="time_limit",
                )
            self.draws.append(fitted)
        return self

    def _fit(self, draw: int, names: Collection[str] | None = None) -> list[CrossFitted]:
        """Fit the candidates with these names (None: all) on one draw of the folds."""
        seed = self.seed_of(draw)
        splits = self.splits if draw == 0 else self.splits.drawn_again(self.table.target, seed)
        constant, *others = candidate_models(self.table, seed, self.n_jobs)
        own = [self.own_model] if self.own_model else []  # early, as the audit is about it
        libraries = library_models(self.models, self.table, seed, self.n_jobs)
        candidates = [each for each in (constant, *own, *others, *libraries) if names is None or each.name in names]
        fitted, remarks = cross_fit(self.table, splits, candidates, self.budget)
        self.remarks += remarks
        return fitted

    def seed_of(self, draw: int) -> int:
        """The seed of a draw; seeds of further draws differ from those that a user would choose."""
        return self.seed if draw == 0 else int(np.random.SeedSequence([self.seed, draw]).generate_state(1)[0])

    def check(self) -> None:
        """Check for reasons why the measured errors may be too small."""
        self.budget.step(0.62, "copies, order and groups of rows")
        given = self.table, self.splits, self.copies, self.groups, self.time, self.seed, self.n_jobs
        checks = check_data(*given, self.budget)
        if self.own_predictions is not None:
            checks += check_predictions(self.own_predictions, choose(self.fitted))
        if self.is_unseen_unknown:
            checks += check_training_rows(
                self.audited, choose([each for each in self.fitted if each.candidate.raw is False])
            )
        self.checks = tuple(checks)

    def _close(self, sections: Sequence[RedrawnSection], findings: dict[str, Any]) -> set[str]:
        """The sections whose answers another draw of the folds may change; all, if it may change the audited model."""
        reach = DRAW_ERRORS / float(len(self.draws) ** 0.5)  # in standard errors of means over the draws
        behind = choose_name(mean_outcomes(self.draws))[1] if self.own_model is None else None
        if behind is not None and is_near(behind.low, behind, reach):
            return {section.name for section in sections}
        return close_answers(sections, SectionContext(self.subject(), findings), reach)

    def _may_draw_again(self) -> bool:
        """Whether the folds can be drawn again in a reasonable time."""
        n_cells = max(self.table.n_rows * len(self.table.readers), 1)
        is_random = not (self.splits.by_time or self.splits.is_fixed) and self.own_predictions is None
        if not is_random or len(self.draws) >= min(MAX_DRAWS, MAX_DRAWN_CELLS // n_cells):
            return False
        seconds = sum(each.seconds for each in self.fitted)
        if self.own_model is not None and seconds > MAX_REDRAWN_SECONDS:
            return False
        return self.budget.has_time_for("further draws of the folds", COMPARISON_FRACTION, self.budget.seconds)

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
        """The candidates of every draw of the folds that includes the audited model."""
        own = next((each.name for each in self.fitted if each.candidate.raw), None)
        name = own or choose_name(mean_outcomes(self.draws))[0]
        pairs = [(fitted, self.own_predictions or named(fitted, name)) for fitted in self.draws]
        return [Comparison(fitted, audited) for fitted, audited in pairs if audited is not None]

    @property
    def unrelated_rows(self) -> OtherRows | None:
        """The rows that were not drawn, if they are a fair test: not of the same groups, copies or earlier times."""
        is_unrelated = self.splits.units is None and (self.own_model is None or not self.own_model.prefit)
        return self.other_rows if is_unrelated else None

    @property
    def ensemble(self) -> CrossFitted | None:
        """The ensemble, if it was fitted."""
        return named(self.fitted, ENSEMBLE)

    def averaged(self) -> CrossFitted:
        """The audited model with its mean losses over the draws of the folds, as question 1 reports them."""
        return replace(self.audited, averaged=mean_outcomes(self.draws)[self.audited.name])

    @cached_property
    def transferable(self) -> CrossFitted:
        """The audited model or, as predictions cannot be made again elsewhere, the best candidate."""
        return choose(self.fitted) if self.own_predictions is not None else self.averaged()

    @cached_property
    def deployed(self) -> DeployedModel | None:
        """The transferable model, fitted to all training rows, on the deployment rows with a known target.

        None if no target is known, or if there is not enough time.
        """
        if self.deployment is None or not len(self.deployment.known):
            return None
        fit = partial(DeployedModel.of, self.transferable, self.deployment, audited=True)
        return self.budget.within("the model on the deployment data", 0.97, fit)

    def measured_once(self, key: Hashable, measure: Callable[..., Findings], *arguments: Any) -> Findings:
        """The result of a slow measurement, kept for when the folds are drawn again."""
        if key not in self.measurements:
            self.measurements[key] = measure(*arguments)
        return self.measurements[key]

    @cached_property
    def loss_increases(self) -> Callable[[CrossFitted], LossIncreases]:
        """The loss increases of a model by column, measured once for each draw of the folds."""
        return cache(LossIncreases.of)

    def subject(self) -> Subject:
        """What was audited, and what was left out."""
        return Subject.of(self)


def close_answers(sections: Sequence[RedrawnSection], context: SectionContext, reach: float) -> set[str]:
    """Names of the sections whose answers change with intervals that are wider or narrower, or with smaller leads."""
    close = set()
    for section in sections:
        moved = (section.moved(context.findings[section.name], by) for by in (-reach, 0.0, reach))
        if len({section.verdict(findings, context).answer for findings in moved}) > 1:
            close.add(section.name)
    return close


def is_near(end: float, estimate: Estimate, reach: float) -> bool:
    """Whether the end of an interval is so close to 0 that another draw of the folds may move it across."""
    return abs(end) < reach * standard_error(estimate)
