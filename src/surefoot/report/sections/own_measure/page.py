"""The user's own measure on the page: its sentences and its chart."""

from math import isfinite

from markupsafe import Markup

from surefoot.plots.cost_curve_display import CostCurveDisplay
from surefoot.report.page.chart_svg import chart_style, inline_svg, new_figure
from surefoot.report.page.charts import CURVE_HEIGHT, label_above
from surefoot.report.page.numbers import between, number, percent, whole
from surefoot.report.page.templates import render
from surefoot.report.sections.own_measure.findings import CostFindings, MetricFindings, OwnMeasureFindings
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.sentences import called, capital
from surefoot.report.statistics import Estimate

TEMPLATE = "sections/own_measure/page.html.j2"


def own_measure_page(findings: OwnMeasureFindings, context: SectionContext) -> Markup:
    """The metric of each model, and what errors cost."""
    audited = context.findings["accuracy"].audited
    cost = findings.cost
    return render(
        TEMPLATE,
        metric=findings.metric,
        cost=cost,
        without_probabilities=findings.without_probabilities,
        model=called(audited),
        by_metric=None if findings.metric is None else metric_sentence(findings.metric, audited),
        by_cost=() if cost is None else cost_sentences(cost, audited),
        chart=None if cost is None else cost_chart(cost),
    )


def metric_sentence(metric: MetricFindings, audited: str) -> str:
    """The metric of the audited model, and how it compares with the best of the others."""
    own = f"{capital(called(audited))} has a {metric.name} of {with_interval(metric.audited)} on the held-out rows."
    if metric.rival is None or metric.ahead is None:
        return own
    ahead, rival = metric.ahead, called(metric.rival)
    gap = f"by {number(abs(ahead.value))}, 95% interval of the difference {between(ahead, number)}"
    if ahead.low > 0:
        return f"{own} This is better than that of the best other model, {rival} ({gap})."
    if ahead.high < 0:
        return f"{own} This is worse than that of {rival} ({gap})."
    return f"{own} Whether it is better or worse than the best other model, {rival}, is not known ({gap})."


def cost_sentences(cost: CostFindings, audited: str) -> tuple[str, ...]:
    """What errors cost at the threshold, what the threshold saves, and whether another one is better."""
    first = (
        f"Predicting {cost.positive} for a row of {cost.negative} costs {number(cost.false_positive)}, the opposite "
        f"error {number(cost.false_negative)}. So {cost.positive} should be predicted from a probability of "
        f"{percent(cost.threshold)} on."
    )
    second = (
        f"At this threshold, the errors of {called(audited)} cost {with_interval(cost.at_threshold)} per row: "
        f"{whole(cost.n_false_negative)} of {whole(cost.n_positive)} rows of {cost.positive} are missed, and "
        f"{whole(cost.n_false_positive)} of {whole(cost.n_rows - cost.n_positive)} other rows are predicted to be "
        f"{cost.positive}. Always predicting {cost.negative} costs {number(cost.always[0])}, always {cost.positive} "
        f"{number(cost.always[1])}."
    )
    return first, second, _saving(cost), _choice(cost)


def _saving(cost: CostFindings) -> str:
    half = f"At a threshold of 50%, errors cost {with_interval(cost.at_half)} per row"
    gap = f"difference {number(cost.saving.value)}, 95% interval {between(cost.saving, number)}"
    if cost.saving.low > 0:
        return f"{half}: more ({gap})."
    if cost.saving.high < 0:
        return f"{half}: less ({gap}). The probabilities are then not calibrated, or the costs are not the true ones."
    return f"{half}; whether this is more or less is not known ({gap})."


def _choice(cost: CostFindings) -> str:
    """The threshold that is best on the rows themselves."""
    chosen = percent(cost.chosen_threshold) if cost.chosen_threshold <= 1 else "above 100%"
    return (
        f"The threshold that is best on other held-out rows is {chosen}, with which errors cost "
        f"{with_interval(cost.at_chosen)} per row. If the probabilities are calibrated, it differs from "
        f"{percent(cost.threshold)} only by chance."
    )


def with_interval(estimate: Estimate) -> str:
    """Such as "0.31 (0.25 to 0.37)"."""
    return f"{number(estimate.value)} ({between(estimate, number)})"


def cost_chart(cost: CostFindings) -> Markup:
    """The cost of errors by threshold."""
    with chart_style():
        figure = new_figure(CURVE_HEIGHT)
        ax = figure.subplots()
        CostCurveDisplay(cost.thresholds, cost.curve, cost.threshold).plot(ax=ax)
        label_above(ax, "cost of errors per row")
        points = [(at, value) for at, value in zip(cost.thresholds, cost.curve, strict=True) if isfinite(value)]
        shown = "; ".join(f"{percent(at, 0)}: {number(value)}" for at, value in points[::10])
        title = f"Cost of errors per row by the threshold for {cost.positive}"
        described = f"{shown}. The threshold that follows from the costs is {percent(cost.threshold)}."
        return inline_svg(figure, "chart-cost", title, described)
