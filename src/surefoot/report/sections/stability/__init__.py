"""Question 3: would the conclusion survive dropping a row?"""

from typing import TYPE_CHECKING

from surefoot.report.sections.section import SectionContext, VerdictLine
from surefoot.report.sections.stability.findings import StabilityFindings
from surefoot.report.sections.stability.main_numbers import MAIN_NUMBERS
from surefoot.report.sections.stability.measure import measure_stability, measured_again
from surefoot.report.sections.stability.verdict import QUESTION, moved_leads, stability_line

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


class StabilitySection:
    """Draws each conclusion again from bags of rows."""

    name = "stability"
    question = QUESTION
    main_numbers = MAIN_NUMBERS

    def measure(self, run: "AuditRun") -> StabilityFindings | None:
        """Measure, if there is enough time."""
        if not run.budget.has_time_for("question 3"):
            return None
        run.budget.step(0.7, "question 3: bags of rows")
        return self._measure(run)

    def _measure(self, run: "AuditRun") -> StabilityFindings:
        return measure_stability(
            run.table, run.comparisons, run.groups, run.seed, run.n_jobs, run.budget, run.loss_increases
        )

    def measure_again(
        self, findings: StabilityFindings | None, run: "AuditRun", same_model: bool
    ) -> StabilityFindings | None:
        """Measure what depends on the folds again; everything, if another model is audited."""
        if findings is None:
            return None
        if not same_model:
            return self._measure(run)
        return measured_again(findings, run.comparisons, run.groups, run.n_jobs, run.loss_increases)

    def moved(self, findings: StabilityFindings | None, by: float) -> StabilityFindings | None:
        """Return the findings with larger leads."""
        return moved_leads(findings, by)

    def verdict(self, findings: StabilityFindings | None, context: SectionContext) -> VerdictLine:
        """Answer the question."""
        return stability_line(findings)

    def page(self, findings: StabilityFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.stability.page import stability_page

        return stability_page(findings, context)
