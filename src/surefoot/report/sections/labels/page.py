"""Wrong labels on the page: the sentences, and the rows."""

from markupsafe import Markup

from surefoot._formatting import number
from surefoot.report.page.numbers import between, counted, loss_writer, percent, whole
from surefoot.report.page.templates import render
from surefoot.report.sections.labels.findings import LabelFindings
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.sentences import called, capital, listed

TEMPLATE = "sections/labels/page.html.j2"
MAX_LISTED = 20


def labels_page(findings: LabelFindings, context: SectionContext) -> Markup:
    """How many targets are wrong, the error without them, and the rows."""
    return render(
        TEMPLATE,
        findings=findings,
        rows=findings.rows[:MAX_LISTED],
        sentences=() if findings.note else sentences(findings, context),
        models=listed([called(name) for name in findings.models]) if findings.models else "",
        is_rate=context.is_rate,
    )


def sentences(findings: LabelFindings, context: SectionContext) -> tuple[str, ...]:
    """How many targets are wrong, and how that is seen."""
    n_wrong = findings.n_wrong
    if n_wrong is None:
        return "No label is shown to be wrong. This does not show that all are right.", _contradicted(findings, context)
    first = (
        f"The labels of about {whole(n_wrong.value)} of {counted(findings.n_rows, 'held-out row')} (95% interval "
        f"{between(n_wrong, whole)}) are wrong, or these rows are unlike the others with these columns."
    )
    return first, _contradicted(findings, context), _without(findings, context)


def _contradicted(findings: LabelFindings, context: SectionContext) -> str:
    """The contradicted rows, and how many are expected without any wrong one."""
    if context.is_rate:
        which = f"labels with a calibrated probability of at most {percent(findings.level, 0)}"
    else:
        which = f"values beyond the fitted {percent(1 - findings.level)} interval"
    expected = number(findings.n_expected, 2)
    return f"There are {whole(findings.n_contradicted)} {which}; if no label were wrong, {expected} would be expected."


def _without(findings: LabelFindings, context: SectionContext) -> str:
    """The error of the rows that are right."""
    assert findings.n_wrong is not None
    write = loss_writer(context.measure)
    audited, measure = capital(called(context.findings["accuracy"].audited)), context.measure
    of_right, without = (
        "not known" if loss is None else write(loss) for loss in (findings.loss_of_right, findings.loss_without)
    )
    return (
        f"{audited} has an {measure} of {write(findings.loss)} on these rows. On rows with right labels it is "
        f"estimated to be {of_right}: every row counts with the probability that its label is right. Without the "
        f"{whole(round(findings.n_wrong.value))} most doubtful rows it would be {without}. That is too optimistic, "
        "because leaving out the rows with the largest losses lowers any error."
    )
