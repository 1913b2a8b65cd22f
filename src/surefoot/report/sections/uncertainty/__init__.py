"""Question 2: does it know what it does not know?"""

from functools import partial
from typing import TYPE_CHECKING

from surefoot.report.models.cross_fitting import ENSEMBLE, named
from surefoot.report.sections.section import SectionContext, VerdictLine
from surefoot.report.sections.uncertainty.findings import UncertaintyFindings
from surefoot.report.sections.uncertainty.main_numbers import MAIN_NUMBERS
from surefoot.report.sections.uncertainty.measure import mean_uncertainty, measure_uncertainty
from surefoot.report.sections.uncertainty.verdict import QUESTION, uncertainty_line
from surefoot.report.statistics import narrowed_record

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


class UncertaintySection:
    """Measures whether uncertainty finds the errors, and whether probabilities or intervals are calibrated."""

    name = "uncertainty"
    question = QUESTION
    main_numbers = MAIN_NUMBERS

    def measure(self, run: "AuditRun") -> UncertaintyFindings | None:
        """Measure, if there is enough time."""
        run.budget.step(0.65, "question 2: uncertainty")
        return run.budget.within("question 2", 1.0, partial(self._mean, run))

    def _mean(self, run: "AuditRun") -> UncertaintyFindings:
        """Means over the draws of the folds; each draw is measured once."""
        records = []
        for compared in run.comparisons:
            key = (self.name, run.draws.index(compared.fitted), compared.audited.name)
            arguments = (run.table, compared.audited, named(compared.fitted, ENSEMBLE), run.seed)
            records.append(run.measured_once(key, measure_uncertainty, *arguments))
        return mean_uncertainty(records)

    def measure_again(
        self, findings: UncertaintyFindings | None, run: "AuditRun", same_model: bool
    ) -> UncertaintyFindings | None:
        """Measure again after another draw of the folds."""
        return None if findings is None else self._mean(run)

    def moved(self, findings: UncertaintyFindings | None, by: float) -> UncertaintyFindings | None:
        """Return the findings with narrower intervals."""
        return narrowed_record(findings, by)

    def verdict(self, findings: UncertaintyFindings | None, context: SectionContext) -> VerdictLine:
        """Answer the question."""
        return uncertainty_line(findings)

    def page(self, findings: UncertaintyFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.uncertainty.page import uncertainty_page

        return uncertainty_page(findings, context)
