"""Which targets are probably wrong, or unlike the others with these columns."""

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from surefoot.report.sections.labels.findings import LabelFindings
from surefoot.report.sections.labels.measure import measure_labels
from surefoot.report.sections.main_numbers import LOWER, MainNumber
from surefoot.report.sections.section import SectionContext

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


class LabelsSection:
    """Measures contradicted targets, on the first draw of the folds."""

    name = "labels"
    question = "Which labels are probably wrong?"
    main_numbers = MappingProxyType({"wrong_labels": lambda found: MainNumber("wrong labels", found.n_wrong, LOWER)})

    def measure(self, run: "AuditRun") -> LabelFindings | None:
        """Measure, if there is enough time."""
        run.budget.step(0.96, "labels that are probably wrong")
        search = partial(measure_labels, run.fitted, run.audited, run.seed, run.is_unseen_unknown)
        return run.budget.within("wrong labels", 1.0, search)

    def page(self, findings: LabelFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.labels.page import labels_page

        return labels_page(findings, context)
