"""What the audited model uses: importance of the columns, and partial dependence on them."""

from functools import partial
from typing import TYPE_CHECKING

from surefoot.report.sections.importance.findings import ImportanceFindings
from surefoot.report.sections.importance.measure import measure_importance
from surefoot.report.sections.section import SectionContext

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


class ImportanceSection:
    """Measures what the model uses; permutations are those of question 3."""

    name = "importance"
    question = "What does it use?"

    def measure(self, run: "AuditRun") -> ImportanceFindings | None:
        """Measure, if there is enough time."""
        run.budget.step(0.97, "importance of the columns")
        permute = partial(measure_importance, run.comparisons, run.loss_increases, run.is_unseen_unknown)
        return run.budget.within("importance of the columns", 1.0, permute)

    def page(self, findings: ImportanceFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.importance.page import importance_page

        return importance_page(findings, context)
