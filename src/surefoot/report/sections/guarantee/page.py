"""Conformal intervals or label sets on the page: what is promised, what was observed, and a chart."""

from markupsafe import Markup

from surefoot.conformal.guarantee import in_percent
from surefoot.report.models.scoring import COVERAGE
from surefoot.report.page.charts import comparison_chart
from surefoot.report.page.numbers import between, hundredths, number, percent, whole
from surefoot.report.page.templates import render
from surefoot.report.sections.guarantee.findings import (
    COPIES,
    GROUPS,
    PREDICTIONS,
    ROWS,
    TIME,
    WEIGHTED,
    CoverageOfPart,
    DeploymentCoverage,
    GuaranteeFindings,
)
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.sentences import called, capital
from surefoot.report.statistics import Estimate, is_withheld

TEMPLATE = "sections/guarantee/page.html.j2"
MAX_DRAWN = 10  # groups and classes in the chart, the lowest coverage first
ASSUMED = {
    ROWS: "new rows are drawn from the same population as these rows, independently of each other",
    GROUPS: "new groups are drawn from the same population as these groups; each group counts once, whatever its size",
    COPIES: "new rows are drawn from the same population as these rows; rows with their copies count once",
}


def guarantee_page(findings: GuaranteeFindings, context: SectionContext) -> Markup:
    """The promise, what was observed, groups and classes, and the deployment rows."""
    deployment = findings.deployment
    return render(
        TEMPLATE,
        findings=findings,
        promise=promise_sentence(findings),
        warning=findings.guaranteed is None,
        sentences=[*observed_sentences(findings), parts_sentence(findings)],
        deployment=None if deployment is None else deployment_sentence(findings, deployment),
        chart=coverage_chart(findings),
        noun=_noun(findings),
        n_folds=context.subject.n_folds,
        level=percent(findings.level, 0),
    )


def _noun(findings: GuaranteeFindings) -> str:
    return "label sets" if findings.of_labels else "intervals"


def promise_sentence(findings: GuaranteeFindings) -> str:
    """What is guaranteed and what it assumes, or why nothing is."""
    what = f"Conformal {_noun(findings)} on top of the predictions of {called(findings.model)}"
    if findings.unit == TIME:
        return (
            f"There is no guarantee: rows of different times are not a random sample of one population, and new rows "
            f"come later than all of these. {what} are calibrated on earlier rows here, and only observed."
        )
    if findings.doubt == PREDICTIONS:
        return (
            f"It is not known which models made the predictions. If a single model made them all, trained on none of "
            f"these rows, conformal {_noun(findings)} on top of it contain the target of at least "
            f"{percent(findings.level, 0)} of new rows, if {ASSUMED[findings.unit]}. Otherwise nothing is guaranteed."
        )
    if findings.doubt == WEIGHTED:
        return (
            "There is no guarantee, because the rows have weights: it would be about new rows that all count the same. "
            f"{what} are calibrated with these weights here, and only observed."
        )
    if findings.guaranteed is None:
        return (
            f"There is no guarantee: it is not known which rows the model was trained on, and {_noun(findings)} that "
            "are calibrated on rows that it has seen are too small."
        )
    if findings.n_units < findings.needed_units:
        return (
            f"There is no guarantee at {percent(findings.level, 0)} with {findings.n_units} "
            f"{_units(findings)}: it takes at least {findings.needed_units}."
        )
    level, usual = percent(findings.level, 0), ""
    if findings.guaranteed < findings.level:
        usual = f" About {level} are usual; the guarantee is lower, as each fold has another model."
    where = {GROUPS: "new rows, each of a new group,"}.get(findings.unit, "new rows")
    chosen = ", and that the choice of the model on the same rows matters little" if findings.is_chosen else ""
    return (
        f"{what} contain the target of at least {in_percent(findings.guaranteed)} of {where} on average, however wrong "
        f"the model is.{usual} This assumes that {ASSUMED[findings.unit]}{chosen}."
    )


def _units(findings: GuaranteeFindings) -> str:
    return {GROUPS: "groups", COPIES: "different rows"}.get(findings.unit, "rows")


def observed_sentences(findings: GuaranteeFindings) -> list[str]:
    """What was observed on held-out rows, and how large intervals or sets are."""
    if findings.observed is None:
        return ["There are no earlier held-out rows to calibrate on, so nothing was observed."]
    by = "earlier held-out rows" if findings.unit == TIME else f"the held-out {_units(findings)} of the other parts"
    each = ", the mean over groups" if findings.unit == GROUPS else ""
    first = (
        f"Calibrated for {percent(findings.level, 0)} on {by}, they contain the target of "
        f"{_with_interval(findings.observed)} of the held-out rows{each}."
    )
    if findings.observed.high < findings.level:
        first += " This is less than it should be."
    return [first, _size_sentence(findings)]


def _size_sentence(findings: GuaranteeFindings) -> str:
    """Their size, and that of the model's own intervals."""
    if findings.size is None:
        return f"The {_noun(findings)} are infinite, because there are too few {_units(findings)} to calibrate on."
    has_own, level = findings.own_observed is not None and findings.own_size is not None, percent(findings.level, 0)
    if findings.of_labels:
        size = f"A set has {hundredths(findings.size)} labels on average; {percent(findings.single or 0.0)} have one."
        own = f"The most probable labels with a predicted probability of {level} in total are {{}} labels on average"
        write = hundredths
    else:
        adapted = "proportional to the model's standard deviations" if findings.is_adaptive else "the same for all rows"
        size = f"Their mean width is {number(findings.size)}, {adapted}."
        own, write = f"The model's own {level} intervals have a mean width of {{}}", number
    if not has_own:
        return size
    assert findings.own_observed is not None
    assert findings.own_size is not None
    return f"{size} {own.format(write(findings.own_size))}, and contain {_with_interval(findings.own_observed)}."


def parts_sentence(findings: GuaranteeFindings) -> str:
    """The group or class with the lowest coverage; that none is shown to be low does not mean that none is."""
    average = f"{'This' if findings.guaranteed is None else 'The guarantee'} is an average"
    if not findings.parts:
        return f"{average}: it says nothing about single kinds of rows."
    lowest = findings.parts[0]
    low = [part for part in findings.parts if part.observed.high < findings.level]
    of_all = f"of {len(findings.parts)} groups and classes" if len(findings.parts) > 1 else "of the only one"
    worst = (
        f"{_part_name(lowest)} has the lowest coverage {of_all} with enough rows: {_with_interval(lowest.observed)}, "
        "corrected for their number."
    )
    if low:
        count = "One of them is" if len(low) == 1 else f"{len(low)} of them are"
        return f"{average}. {capital(worst)} {count} clearly below {percent(findings.level, 0)}."
    return f"{average}. {capital(worst)} None is shown to be below {percent(findings.level, 0)}."


def _part_name(part: CoverageOfPart) -> str:
    return f"{part.kind} {part.name}"


def deployment_sentence(findings: GuaranteeFindings, deployment: DeploymentCoverage) -> str:
    """The coverage of the deployment rows: observed, estimated with weights, or neither."""
    if deployment.observed is not None:
        hit = (
            f"Of {deployment.where} ({whole(deployment.n_rows)} with a known target), "
            f"{_with_interval(deployment.observed)} have their target in these {_noun(findings)}"
        )
        if deployment.observed.high < findings.level:
            return f"{hit}: less than the {percent(findings.level, 0)} of rows like the training rows."
        inside = deployment.observed.low >= findings.level
        return f"{hit}." if inside else f"{hit}, which leaves open whether it is {percent(findings.level, 0)}."
    if deployment.estimated is None:
        return (
            f"For {deployment.where}, the coverage is not known: {deployment.reason}. The target of some of these rows "
            "would show it."
        )
    size = "" if deployment.size is None else f" Their mean {_size_name(findings)} is {number(deployment.size)}."
    lost = ""
    if deployment.infinite > 0:
        all_labels = "have all labels in their set" if findings.of_labels else "have an infinite interval"
        lost = f" {percent(deployment.infinite)} of these rows {all_labels}: hardly any training row is like them."
    n_effective = whole(round(deployment.effective_rows or 0))
    return (
        f"For {deployment.where}, held-out rows are weighted to look like these rows, and have as much information as "
        f"{n_effective} rows. With these weights, {_with_interval(deployment.estimated)} are covered.{size}{lost} This "
        "assumes that the target depends on the columns as in the training data, and that the weights, which are "
        "estimated, are right."
    )


def _size_name(findings: GuaranteeFindings) -> str:
    return "number of labels" if findings.of_labels else "width"


def _with_interval(estimate: Estimate) -> str:
    return f"{percent(estimate.value)} (95% interval {between(estimate, percent)})"


def coverage_chart(findings: GuaranteeFindings) -> Markup | None:
    """Coverage of all rows, by the model's own intervals, of groups and classes, and of the deployment rows."""
    lines = [("all held-out rows", findings.observed), ("the model's own", findings.own_observed)]
    if findings.deployment is not None:
        there = findings.deployment.observed or findings.deployment.estimated
        lines.append((f"{findings.deployment.where}{'' if findings.deployment.observed else ', weighted'}", there))
    lines += [(_part_name(part), part.observed) for part in findings.parts[:MAX_DRAWN]]
    known = [(name, estimate) for name, estimate in lines if estimate is not None and not is_withheld(estimate)]
    names, estimates = [name for name, _ in known], [estimate for _, estimate in known]
    return comparison_chart("guarantee", names, estimates, COVERAGE, names[:1], "of held-out rows", findings.level)
