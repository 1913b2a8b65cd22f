"""Question 4 on the page: its sentences and its chart."""

from math import isfinite

from markupsafe import Markup

from surefoot.report.page.charts import comparison_chart
from surefoot.report.page.numbers import between, hundredths, interval_of, p_value, percent, value_of, whole
from surefoot.report.page.templates import model_columns, render
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.shift.deployment_loss import MAX_AUC_FALL
from surefoot.report.sections.shift.findings import (
    SEPARABLE_AUC,
    NewRows,
    OutsideRange,
    ShiftFindings,
    WeightedEstimate,
    is_more_than_chance,
)
from surefoot.report.sections.shift.verdict import MAX_OUTSIDE
from surefoot.report.sections.uncertainty.findings import WELL_CALIBRATED
from surefoot.report.statistics.estimates import Estimate
from surefoot.shift.shift_report_text import counted

TEMPLATE = "sections/shift/page.html.j2"
MAX_NAMED = 5  # columns


def shift_page(findings: ShiftFindings, context: SectionContext) -> Markup:
    """The loss on the deployment data, the rows that are unusual there, and every column."""
    return render(
        TEMPLATE,
        shift=findings,
        measure=context.measure,
        is_rate=context.is_rate,
        verdict_sentence=context.line.sentence,
        chart=loss_chart(findings),
        shown=model_columns(findings.models),
        outside_range=outside_range,
        strange_rows=strange_rows,
        expected_loss=expected_loss,
        told_apart=told_apart,
        limits={
            "outside": percent(MAX_OUTSIDE, 0),
            "auc": str(SEPARABLE_AUC),
            "auc_fall": str(MAX_AUC_FALL),
            "bias": f"{100 * WELL_CALIBRATED:g} points, less for a rare class",
        },
    )


def loss_chart(findings: ShiftFindings) -> Markup | None:
    """The loss on held-out training rows beside what is measured, or to be expected, on the deployment data."""
    found = {"training data, held out": findings.loss_here}
    found |= {f"deployment data, {part.name}": part.loss for part in findings.losses}
    if findings.weighted is not None:
        found["deployment data, expected"] = findings.weighted.loss
    shown = {name: loss for name, loss in found.items() if loss is not None and isfinite(loss.value)}
    if len(shown) < 2:
        return None
    marked = [name for name in shown if name.startswith("deployment")]
    return comparison_chart(
        "transfer", list(shown), list(shown.values()), findings.measure, marked, "of the audited model"
    )


def outside_range(outside: OutsideRange) -> str:
    """How many deployment rows lie outside the range of the training data."""
    if not outside.n_outside:
        return "No deployment row has a number outside the range of the training data, or a category that it lacks."
    names = ", ".join(f"{name} ({whole(count)})" for name, count in outside.columns[:MAX_NAMED])
    names += f" and {len(outside.columns) - MAX_NAMED} more" if len(outside.columns) > MAX_NAMED else ""
    more = is_more_than_chance(outside)
    fraction = outside.fraction
    return (
        f"{whole(outside.n_outside)} of {counted(outside.n_rows, 'deployment row')} ({percent(fraction.value)}, 95% "
        f"interval {between(fraction, percent)}) have a number outside the range of the training data, or a category "
        f"that it lacks: {names}. By chance {percent(outside.expected)} would ({_test(outside.p_value)}): "
        f"{'the model must extrapolate' if more else _no_more(outside.p_value)}."
    )


def strange_rows(new: NewRows) -> str:
    """How many deployment rows have much knowledge uncertainty."""
    more = is_more_than_chance(new)
    meaning = "the deployment data hold more that the ensemble has not learnt about" if more else _no_more(new.p_value)
    return (
        f"{whole(new.n_above)} of {counted(new.n_rows, 'deployment row')} ({percent(new.share.value)}, 95% interval "
        f"{between(new.share, percent)}) have more knowledge uncertainty than 95% of the held-out training rows; were "
        f"they alike, {percent(new.expected)} would be expected ({_test(new.p_value)}): {meaning}."
    )


def expected_loss(weighted: WeightedEstimate, measure: str) -> str:
    """The loss that weighted held-out rows let one expect."""
    counts = (
        f"Weighted to look like the deployment data, the {counted(weighted.n_rows, 'held-out training row')} tell as "
        f"much as {whole(weighted.effective_rows)} rows would."
    )
    if weighted.loss is None:
        return f"The {measure} to be expected on the deployment data: {weighted.sentence} {counts}"
    found, plain = (
        f"{value_of(loss, measure)} (95% interval {interval_of(loss, measure)})"
        for loss in (weighted.loss, weighted.plain)
    )
    return (
        f"On the deployment data {measure} {found} is to be expected; on held-out training rows it is {plain}. "
        f"{counts} {weighted.sentence}"
    )


def told_apart(auc: Estimate, p: float | None) -> str:
    """How well a classifier tells both tables apart."""
    test = "" if p is None else f"; {_test(p)}"
    return (
        "The AUC is the chance that a classifier ranks a deployment row above a training row: 0.5 is chance, 1 tells "
        f"them apart without fail. Here it is {hundredths(auc.value)} (95% interval {between(auc, hundredths)}{test})."
    )


def _no_more(value: float) -> str:
    return "too few groups to test" if value != value else "no more than chance explains"


def _test(value: float) -> str:
    if value != value:
        return "not tested"
    written = p_value(value)
    return (f"p {written}" if written.startswith("<") else f"p = {written}").replace(" ", "\N{NO-BREAK SPACE}")
