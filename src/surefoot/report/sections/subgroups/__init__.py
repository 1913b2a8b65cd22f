"""For whom does it fail: the errors in subgroups of the held-out rows, and a search for the weakest segments."""

from functools import partial
from typing import TYPE_CHECKING

from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.subgroups.findings import SubgroupFindings
from surefoot.report.sections.subgroups.main_numbers import MAIN_NUMBERS
from surefoot.report.sections.subgroups.measure import measure_subgroups

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


class SubgroupSection:
    """Compares subgroups on the first draw of the folds; question 1 names one whose error is clearly larger."""

    name = "subgroups"
    question = "For whom does it fail?"
    main_numbers = MAIN_NUMBERS

    def measure(self, run: "AuditRun") -> SubgroupFindings | None:
        """Measure, if there is enough time."""
        run.budget.step(0.64, "subgroups")
        return run.budget.within("subgroups", 1.0, partial(measure_subgroups, run.audited, run.slices, run.seed))

    def page(self, findings: SubgroupFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.subgroups.page import subgroups_page

        return subgroups_page(findings, context)
