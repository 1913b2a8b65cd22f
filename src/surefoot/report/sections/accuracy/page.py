"""Question 1 on the page: its sentences and its charts."""

from math import isfinite

from markupsafe import Markup

from surefoot._formatting import counted
from surefoot.plots.learning_curve_display import LearningCurveDisplay
from surefoot.report.models.other_libraries import LIBRARIES
from surefoot.report.models.scoring import ERROR_RATE, LOG_LOSS, RANKING_ERROR, RMSE
from surefoot.report.page.chart_svg import chart_style, inline_svg, new_figure
from surefoot.report.page.charts import CURVE_HEIGHT, comparison_chart, interval_ends, label_above, set_few_ticks
from surefoot.report.page.numbers import between, interval_of, loss_writer, percent, value_of, whole
from surefoot.report.page.templates import model_columns, render
from surefoot.report.sections.accuracy.findings import AccuracyFindings, Duplicates, LearningCurve
from surefoot.report.sections.accuracy.verdict import TOLERANCE, USELESS
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.sentences import listed

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
        other_rows=other_rows(accuracy),
        taking_part=taking_part(accuracy),
        noise_floor=noise_floor(accuracy.duplicates, context.measure),
        shown=model_columns(accuracy.models),
        tolerance=percent(TOLERANCE, 0),
        useless=percent(USELESS, 0),
    )


def models_chart(accuracy: AccuracyFindings) -> Markup | None:
    """The losses of the models on the held-out rows."""
    shown = [model for model in accuracy.models[:MAX_MODELS] if isfinite(model.loss.value)]
    names = [model.name for model in shown]
    marked = [model.name for model in shown if model.chosen]
    losses = [model.loss for model in shown]
    return comparison_chart("models", names, losses, accuracy.measure, marked, "on held-out rows")


def learning_chart(curve: LearningCurve | None, measure: str) -> Markup | None:
    """The loss of the audited model by the number of training rows."""
    if curve is None or len(curve.n_rows) < 2 or not all(isfinite(loss.value) for loss in curve.loss):
        return None
    value, low, high = interval_ends(curve.loss)
    with chart_style():
        figure = new_figure(CURVE_HEIGHT)
        ax = figure.subplots()
        LearningCurveDisplay(curve.n_rows, value, low, high, measure).plot(ax=ax)
        set_few_ticks(ax.yaxis, measure)
        label_above(ax, f"{measure} on held-out rows")
        points = (
            f"{whole(n_rows)} rows: {value_of(loss, measure)} ({interval_of(loss, measure)})"
            for n_rows, loss in zip(curve.n_rows, curve.loss, strict=True)
        )
        title = f"Learning curve: {measure} on held-out rows by number of training rows"
        return inline_svg(figure, "chart-learning", title, f"With 95% intervals. {'; '.join(points)}.")


def last_doubling(curve: LearningCurve) -> str:
    """The gain from the last doubling of the training rows."""
    half, every = (whole(count) for count in curve.n_rows[-2:]) if len(curve.n_rows) > 1 else ("half", "all")
    step = curve.last_doubling
    return (
        f"The loss with {half} training rows is {percent(step.value)} above the loss with {every} (95% interval "
        f"{between(step, percent)})."
    )


def other_rows(accuracy: AccuracyFindings) -> str:
    """The loss on the rows of the table that were not drawn; empty if it was not measured."""
    if accuracy.other_rows is None:
        return ""
    loss, measure = accuracy.other_rows.loss, accuracy.measure
    held_out = next(model.loss for model in accuracy.models if model.chosen)
    rows = counted(accuracy.other_rows.n_rows, "row")
    return (
        f"The {rows} of the table that were not drawn are a further test: the audited model ({accuracy.audited}), "
        f"trained on all drawn rows, has a {measure} of {value_of(loss, measure)} on them (95% interval "
        f"{interval_of(loss, measure)}). On held-out rows, the {measure} is {value_of(held_out, measure)}. The answer "
        "is about the drawn rows alone."
    )


def taking_part(accuracy: AccuracyFindings) -> str:
    """The models of other libraries that were compared."""
    labels = [label for label, *_ in LIBRARIES.values()]
    compared = [model.name for model in accuracy.models if model.name in labels]
    if not compared:
        return "No boosting model of another library was compared; --models installed (models= in Python) adds them."
    return f"Of other libraries, {listed(compared)} {'was' if len(compared) == 1 else 'were'} compared, with defaults."


def noise_floor(duplicates: Duplicates, measure: str) -> str:
    """The noise of the target that rows with equal columns show."""
    if not duplicates.n_rows:
        return (
            "No two rows are equal in every column, so the table itself does not show how noisy the target is, and how "
            "much of the error is unavoidable."
        )
    equal = f"{counted(duplicates.n_rows, 'row')} in {counted(duplicates.n_groups, 'group')} are equal in every column"
    if not duplicates.n_conflicting:
        return f"{equal}, and equal rows never differ in their target."
    conflicting = f"{equal}; {whole(duplicates.n_conflicting)} of them are in groups with different targets."
    if duplicates.floor is None or not isfinite(duplicates.floor):
        return conflicting
    floor = loss_writer(measure)(duplicates.floor)
    if measure == ERROR_RATE:
        limit = f"an {measure} below {floor} is impossible on them"
    else:
        limit = f"an {measure} much below {floor} cannot be expected on them"
    return f"{conflicting} No model can distinguish equal rows: {limit}."
