"""Question 1: is it as accurate as the data allows?"""

from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot.report.sections.accuracy.findings import AccuracyFindings, OtherRowsLoss
from surefoot.report.sections.accuracy.main_numbers import MAIN_NUMBERS
from surefoot.report.sections.accuracy.measure import loss_on_other_rows, mean_accuracy, measure_accuracy
from surefoot.report.sections.accuracy.verdict import QUESTION, accuracy_line
from surefoot.report.sections.section import SectionContext, VerdictLine
from surefoot.report.sections.subgroups.verdict import with_subgroups
from surefoot.report.statistics import narrowed_record

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


class AccuracySection:
    """Compares candidate models, and measures whether more rows would help."""

    name = "accuracy"
    question = QUESTION
    main_numbers = MAIN_NUMBERS

    def measure(self, run: "AuditRun") -> AccuracyFindings:
        """Means over the draws of the folds; each draw is measured once, as its learning curve is slow."""
        records = []
        for compared in run.comparisons:
            draw = run.draws.index(compared.fitted)
            seed, has_curve = run.seed_of(draw), draw not in run.without_curve
            arguments = (run.table, compared, run.time, seed, run.budget, has_curve)
            key = (self.name, draw, compared.audited.name)
            records.append(run.measured_once(key, measure_accuracy, *arguments))
        return replace(mean_accuracy(records), other_rows=self._on_other_rows(run))

    def _on_other_rows(self, run: "AuditRun") -> OtherRowsLoss | None:
        """The loss on the rows that were not drawn, once for each model that the audit may be about."""
        if run.unrelated_rows is None:
            return None
        key = (self.name, "other rows", run.audited.name)
        return run.measured_once(key, loss_on_other_rows, run.table, run.audited, run.unrelated_rows, run.budget)

    def measure_again(self, findings: AccuracyFindings, run: "AuditRun", same_model: bool) -> AccuracyFindings:
        """Measure again after another draw of the folds."""
        return self.measure(run)

    def moved(self, findings: AccuracyFindings, by: float) -> AccuracyFindings:
        """Return the findings with narrower intervals."""
        return narrowed_record(findings, by)

    def verdict(self, findings: AccuracyFindings, context: SectionContext) -> VerdictLine:
        """Answer the question."""
        line = accuracy_line(findings, context.subject.checks)
        subgroups = context.findings.get("subgroups") if findings.is_better else None
        return with_subgroups(line, subgroups)

    def page(self, findings: AccuracyFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.accuracy.page import accuracy_page

        return accuracy_page(findings, context)
