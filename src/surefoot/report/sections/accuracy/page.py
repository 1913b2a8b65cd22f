"""Question 1 on the page: its sentences and its charts."""

from math import isfinite

from markupsafe import Markup

from surefoot.plots.learning_curve_display import LearningCurveDisplay
from surefoot.report.models.scoring import ERROR_RATE, LOG_LOSS, RANKING_ERROR, RMSE
from surefoot.report.page.chart_svg import chart_style, inline_svg, new_figure
from surefoot.report.page.charts import CURVE_HEIGHT, comparison_chart, interval_ends, label_above, set_few_ticks
from surefoot.report.page.numbers import between, interval_of, loss_writer, percent, value_of, whole
from surefoot.report.page.templates import model_columns, render
from surefoot.report.sections.accuracy.findings import AccuracyFindings, Duplicates, LearningCurve
from surefoot.report.sections.accuracy.verdict import TOLERANCE, USELESS
from surefoot.report.sections.section import SectionContext
from surefoot.shift.shift_report_text import counted

TEMPLATE = "sections/accuracy/page.html.j2"
MAX_MODELS = 16  # in the chart; the table has all


def accuracy_page(accuracy: AccuracyFindings, context: SectionContext) -> Markup:
    """The models, the learning curve and the noise of the target."""
    return render(
        TEMPLATE,
        accuracy=accuracy,
        subject=context.subject,
        is_rate=context.is_rate,
        loss=LOG_LOSS if context.is_rate else RMSE,
        is_rare=accuracy.measure == RANKING_ERROR,
        models_chart=models_chart(accuracy),
        learning_chart=learning_chart(accuracy.curve, accuracy.measure),
        last_doubling=None if accuracy.curve is None else last_doubling(accuracy.curve),
        noise_floor=noise_floor(accuracy.duplicates, context.measure),
        shown=model_columns(accuracy.models),
        tolerance=percent(TOLERANCE, 0),
        useless=percent(USELESS, 0),
    )


def models_chart(accuracy: AccuracyFindings) -> Markup | None:
    """The models with their losses on the held-out rows."""
    shown = [model for model in accuracy.models[:MAX_MODELS] if isfinite(model.loss.value)]
    names = [model.name for model in shown]
    marked = [model.name for model in shown if model.chosen]
    return comparison_chart(
        "models", names, [model.loss for model in shown], accuracy.measure, marked, "on held-out rows"
    )


def learning_chart(curve: LearningCurve | None, measure: str) -> Markup | None:
    """The loss of the chosen model as its training rows double."""
    if curve is None or len(curve.n_rows) < 2 or not all(isfinite(loss.value) for loss in curve.loss):
        return None
    value, low, high = interval_ends(curve.loss)
    with chart_style():
        figure = new_figure(CURVE_HEIGHT)
        ax = figure.subplots()
        LearningCurveDisplay(curve.n_rows, value, low, high, measure).plot(ax=ax)
        set_few_ticks(ax.yaxis, measure)
        label_above(ax, f"{measure} on held-out rows")
        points = zip(curve.n_rows, curve.loss, strict=True)
        said = (
            f"{whole(n_rows)} rows: {value_of(loss, measure)} ({interval_of(loss, measure)})" for n_rows, loss in points
        )
        title = f"Learning curve: {measure} on held-out rows by number of training rows"
        return inline_svg(figure, "chart-learning", title, f"With 95% intervals. {'; '.join(said)}.")


def last_doubling(curve: LearningCurve) -> str:
    """What twice the rows have given."""
    before, after = (whole(count) for count in curve.n_rows[-2:]) if len(curve.n_rows) > 1 else ("half", "all")
    step = curve.last_doubling
    return (
        f"With {before} training rows the loss is {percent(step.value)} above that with {after} (95% interval "
        f"{between(step, percent)})."
    )


def noise_floor(duplicates: Duplicates, measure: str) -> str:
    """What rows that are alike tell of the noise in the target."""
    if not duplicates.n_rows:
        return (
            "No two rows are alike in every column, so the table itself does not show how noisy the target is, and how "
            "much of the remaining error nobody could avoid."
        )
    alike = f"{counted(duplicates.n_rows, 'row')} in {counted(duplicates.n_groups, 'group')} are alike in every column"
    if not duplicates.n_conflicting:
        return f"{alike}, and rows that are alike never differ in their target."
    said = f"{alike}; {whole(duplicates.n_conflicting)} of them are in groups with different targets."
    if duplicates.floor is None or not isfinite(duplicates.floor):
        return said
    floor = loss_writer(measure)(duplicates.floor)
    if measure == ERROR_RATE:
        return f"{said} No model can tell such rows apart: on them, an {measure} below {floor} is out of reach."
    return f"{said} No model can tell such rows apart: on them, an {measure} much below {floor} cannot be expected."
