"""How good is it by the user's own measure: a metric, the costs of errors, or both."""

from functools import partial
from typing import TYPE_CHECKING

from surefoot.report.sections.own_measure.cost import measure_cost
from surefoot.report.sections.own_measure.findings import OwnMeasureFindings
from surefoot.report.sections.own_measure.main_numbers import MAIN_NUMBERS
from surefoot.report.sections.own_measure.metric import measure_metric
from surefoot.report.sections.section import SectionContext

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


class OwnMeasureSection:
    """Measures what the user asked for, on the first draw of the folds; without such a wish, it is not on the page."""

    name = "own_measure"
    question = "How good is it by your own measure?"
    main_numbers = MAIN_NUMBERS

    def measure(self, run: "AuditRun") -> OwnMeasureFindings | None:
        """Measure, if there is a metric or a cost, and enough time."""
        if run.metric is None and run.costs is None:
            return None
        run.budget.step(0.64, "your own measure")
        return run.budget.within("your own measure", 1.0, partial(self._measure, run))

    def _measure(self, run: "AuditRun") -> OwnMeasureFindings:
        cost = None if run.costs is None else measure_cost(run.costs, run.audited, run.fitted)
        return OwnMeasureFindings(
            metric=None if run.metric is None else measure_metric(run.metric, run.audited, run.fitted, run.seed),
            cost=cost,
            without_probabilities=run.costs is not None and cost is None,
        )

    def page(self, findings: OwnMeasureFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.own_measure.page import own_measure_page

        return own_measure_page(findings, context)
