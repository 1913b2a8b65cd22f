"""Question 4 on the page: its sentences and its chart."""

from math import isfinite

from markupsafe import Markup

from surefoot._formatting import p_value_in_words
from surefoot.report.page.charts import comparison_chart
from surefoot.report.page.numbers import between, counted, hundredths, interval_of, percent, value_of, whole
from surefoot.report.page.templates import model_columns, render
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.shift.deployment_loss import MAX_AUC_FALL, MAX_BIAS
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
from surefoot.report.statistics import Estimate

TEMPLATE = "sections/shift/page.html.j2"
MAX_NAMED = 5  # columns


def shift_page(findings: ShiftFindings, context: SectionContext) -> Markup:
    """The loss on the deployment data, its unusual rows, and every column."""
    if context.is_rate:
        max_bias = f"{100 * WELL_CALIBRATED:g} points, less for a rare class"
    else:
        max_bias = f"{MAX_BIAS:g} standard deviations of the target"
    return render(
        TEMPLATE,
        shift=findings,
        measure=context.measure,
        is_rate=context.is_rate,
        verdict_sentence=context.line.sentence,
        chart=loss_chart(findings),
        shown=model_columns(findings.models),
        outside_range=outside_range,
        uncertain_new_rows=uncertain_new_rows,
        expected_loss=expected_loss,
        separability=separability,
        limits={
            "outside": percent(MAX_OUTSIDE, 0),
            "auc": str(SEPARABLE_AUC),
            "auc_fall": str(MAX_AUC_FALL),
            "bias": max_bias,
        },
    )


def loss_chart(findings: ShiftFindings) -> Markup | None:
    """The loss on held-out training rows, and the measured or expected loss on the deployment data."""
    losses = {"training, held-out rows": findings.loss_here}
    losses |= {f"deployment, {part.name}": part.loss for part in findings.losses}
    if findings.weighted is not None:
        losses["deployment, expected"] = findings.weighted.loss
    shown = {name: loss for name, loss in losses.items() if loss is not None and isfinite(loss.value)}
    if len(shown) < 2:
        return None
    marked = [name for name in shown if name.startswith("deployment")]
    return comparison_chart(
        "transfer", list(shown), list(shown.values()), findings.measure, marked, "of the audited model"
    )


def outside_range(outside: OutsideRange) -> str:
    """How many deployment rows lie outside the range of the training data."""
    if not outside.n_outside:
        return "No deployment row has a number outside the range of the training data, or an unknown category."
    names = ", ".join(f"{name} ({whole(count)})" for name, count in outside.columns[:MAX_NAMED])
    names += f" and {len(outside.columns) - MAX_NAMED} more" if len(outside.columns) > MAX_NAMED else ""
    meaning = "the model must extrapolate" if is_more_than_chance(outside) else _not_more(outside.p_value)
    return (
        f"{whole(outside.n_outside)} of {counted(outside.n_rows, 'deployment row')} "
        f"({percent(outside.fraction.value)}, 95% interval {between(outside.fraction, percent)}) have a number outside "
        f"the range of the training data, or an unknown category: {names}. By chance {percent(outside.expected)} would "
        f"({_test(outside.p_value)}): {meaning}."
    )


def uncertain_new_rows(new: NewRows) -> str:
    """How many deployment rows have much knowledge uncertainty."""
    if is_more_than_chance(new):
        meaning = "the deployment data has more rows that the ensemble knows little about"
    else:
        meaning = _not_more(new.p_value)
    return (
        f"{whole(new.n_above)} of {counted(new.n_rows, 'deployment row')} ({percent(new.share.value)}, 95% interval "
        f"{between(new.share, percent)}) have more knowledge uncertainty than 95% of the held-out training rows; "
        f"{percent(new.expected)} would if both were alike ({_test(new.p_value)}): {meaning}."
    )


def expected_loss(weighted: WeightedEstimate, measure: str) -> str:
    """The expected loss on the deployment data, or why it cannot be estimated."""
    counts = (
        f"Weighted to look like the deployment data, the {counted(weighted.n_rows, 'held-out training row')} carry as "
        f"much information as {whole(weighted.effective_rows)} rows."
    )
    if weighted.loss is None:
        return f"The expected {measure} on the deployment data {weighted.sentence} {counts}"
    expected, plain = (
        f"{value_of(loss, measure)} (95% interval {interval_of(loss, measure)})"
        for loss in (weighted.loss, weighted.plain)
    )
    return (
        f"The expected {measure} on the deployment data is {expected}; on held-out training rows the {measure} is "
        f"{plain}. {weighted.sentence} {counts}"
    )


def separability(auc: Estimate, p: float | None) -> str:
    """How well a classifier separates the two tables."""
    test = "" if p is None else f"; {_test(p)}"
    return (
        "A classifier was trained to separate deployment rows from training rows. Its AUC, the probability that it "
        "scores a deployment row higher than a training row, is "
        f"{hundredths(auc.value)} (95% interval {between(auc, hundredths)}{test}); 0.5 is chance, 1 is perfect."
    )


def _not_more(p: float) -> str:
    return "too few groups to test" if p != p else "no more than chance explains"


def _test(p: float) -> str:
    return "not tested" if p != p else p_value_in_words(p).replace(" ", "\N{NO-BREAK SPACE}")
