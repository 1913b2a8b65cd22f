"""How does the deployment data change over time: loss, unusual rows and shift of each of its chunks."""

from functools import partial
from typing import TYPE_CHECKING

from surefoot.report.sections.over_time.findings import OverTimeFindings
from surefoot.report.sections.over_time.measure import STEP, OverTimeInputs, measure_over_time
from surefoot.report.sections.section import SectionContext

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


WITHOUT_WEIGHTS = "The rows have weights, which the tests of deployment data over time do not take: left out."


class OverTimeSection:
    """Measures each chunk of the deployment data; without at least two chunks, it is not on the page."""

    name = "over_time"
    question = "How does it change over time?"

    def measure(self, run: "AuditRun") -> OverTimeFindings | None:
        """Measure, if the deployment data has chunks, and there is enough time."""
        if run.deployment is None or not run.deployment.chunks:
            return None
        if run.table.weights is not None or run.deployment.weights is not None:
            run.remarks.append(WITHOUT_WEIGHTS)
            return None
        if not run.budget.has_time_for(STEP, 0.97):
            return None
        run.budget.step(0.96, STEP)
        inputs = OverTimeInputs(
            table=run.table,
            splits=run.splits,
            deployment=run.deployment,
            audited=run.transferable,
            deployed=run.deployed,
            ensemble=run.ensemble,
            groups=run.groups,
            time=run.time,
            tolerance=run.tolerance,
            seed=run.seed,
            n_jobs=run.n_jobs,
            budget=run.budget,
        )
        return run.budget.within(STEP, 1.0, partial(measure_over_time, inputs))

    def page(self, findings: OverTimeFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.over_time.page import over_time_page

        return over_time_page(findings, context)
