"""Question 4: does it hold where it will be used?"""

from functools import partial
from typing import TYPE_CHECKING

from surefoot.report.models.cross_fitting import YOUR_PREDICTIONS
from surefoot.report.sections.section import UNKNOWN, SectionContext, VerdictLine
from surefoot.report.sections.shift.findings import ShiftFindings
from surefoot.report.sections.shift.main_numbers import MAIN_NUMBERS
from surefoot.report.sections.shift.measure import ShiftInputs, measure_shift, no_deployment_data
from surefoot.report.sections.shift.verdict import QUESTION, shift_line

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun

STEP = "question 4"


class ShiftSection:
    """Compares the training data with the deployment data, and the loss on both."""

    name = "shift"
    question = QUESTION
    main_numbers = MAIN_NUMBERS

    def measure(self, run: "AuditRun") -> ShiftFindings | None:
        """Measure, if there is deployment data and enough time."""
        if run.deployment is None:
            return no_deployment_data()
        if not run.budget.has_time_for(STEP):
            return None
        run.budget.step(0.9, "question 4: shift")
        if len(run.deployment.known) and run.deployed is None:
            run.budget.leave_out(STEP)
            return None
        inputs = ShiftInputs(
            table=run.table,
            splits=run.splits,
            deployment=run.deployment,
            audited=run.transferable,
            constant=run.fitted[0],
            ensemble=run.ensemble,
            groups=run.groups,
            tolerance=run.tolerance,
            seed=run.seed,
            n_jobs=run.n_jobs,
            budget=run.budget,
            deployed=run.deployed,
        )
        return run.budget.within(STEP, 1.0, partial(measure_shift, inputs))

    def verdict(self, findings: ShiftFindings | None, context: SectionContext) -> VerdictLine:
        """Answer the question; it cannot be answered for predictions without their model."""
        line, accuracy = shift_line(findings), context.findings["accuracy"]
        if accuracy.audited != YOUR_PREDICTIONS or findings is None or findings.where is None:
            return line
        without = "Predictions without their model contain no information about other rows. For the best candidate: "
        return VerdictLine(question=line.question, answer=UNKNOWN, sentence=without + line.sentence)

    def page(self, findings: ShiftFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.shift.page import shift_page

        return shift_page(findings, context)
