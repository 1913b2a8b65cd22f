"""With what guarantee: conformal intervals or label sets on top of the audited model."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from surefoot.report.sections.guarantee.deployment import deployment_coverage
from surefoot.report.sections.guarantee.findings import GuaranteeFindings
from surefoot.report.sections.guarantee.main_numbers import MAIN_NUMBERS
from surefoot.report.sections.guarantee.measure import measure_guarantee
from surefoot.report.sections.section import SectionContext

if TYPE_CHECKING:
    from surefoot.report.run import AuditRun


class GuaranteeSection:
    """Calibrates intervals or sets on the held-out predictions of the first draw of the folds; nothing is fitted."""

    name = "guarantee"
    question = "With what guarantee?"
    main_numbers = MAIN_NUMBERS

    def measure(self, run: "AuditRun") -> GuaranteeFindings | None:
        """Measure, if there is enough time, and if the model predicts numbers or probabilities."""
        run.budget.step(0.68, "the guarantee of intervals")
        calibrate = partial(measure_guarantee, run.audited, run.groups, run.is_unseen_unknown)
        findings = run.budget.within("the guarantee of intervals", 1.0, calibrate)
        if findings is None or run.deployment is None:
            return findings
        cover = partial(deployment_coverage, run.audited, run.deployment, run.groups, run.seed, run.n_jobs)
        covered = run.budget.within("the guarantee on the deployment data", 0.97, cover)
        return findings if covered is None else replace(findings, deployment=covered)

    def page(self, findings: GuaranteeFindings, context: SectionContext) -> str:
        """Render the section; only this needs jinja2 and matplotlib."""
        from surefoot.report.sections.guarantee.page import guarantee_page

        return guarantee_page(findings, context)
