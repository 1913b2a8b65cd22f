"""Question 3 on the page."""

from markupsafe import Markup

from surefoot.report.page.templates import render
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.stability.column_selection import LASSO, TREE
from surefoot.report.sections.stability.findings import StabilityFindings, StableSet
from surefoot.report.sections.stability.stable_sets import LEADING, WINNER
from surefoot.report.sections.stability.verdict import may_survive

TEMPLATE = "sections/stability/page.html.j2"
HEADINGS = {  # of the conclusions, and how each conclusion is drawn
    WINNER: (
        "Which model is best",
        "The model with the smallest mean loss on held-out rows. In each bag, the models are compared by the losses of "
        "the bag's rows.",
    ),
    LASSO: (
        "Columns that the LASSO chooses",
        "The LASSO is a linear model that sets the coefficients of less useful columns to zero. Scales and penalty are "
        "computed in each bag.",
    ),
    TREE: (
        "Columns that a small decision tree splits on",
        "The tree has two levels: one split, and then another one on either side.",
    ),
    LEADING: (
        "The column that the model relies on most",
        "The column with the highest permutation importance: its permutation raises the loss of the audited model on "
        "held-out rows most.",
    ),
}


def stability_page(findings: StabilityFindings, context: SectionContext) -> Markup:
    """Each conclusion with its stable set, and the effect of leaving out rows."""
    return render(
        TEMPLATE,
        stability=findings,
        conclusions=[
            (each, *HEADINGS.get(each.selector, (each.selector, "")), status_of(each)) for each in findings.sets
        ],
        measure=context.measure,
        is_rate=context.is_rate,
    )


def status_of(conclusion: StableSet) -> str:
    """Whether a conclusion survives, as in the verdict."""
    if conclusion.holds:
        return "survives"
    return "not known" if may_survive(conclusion) else "does not survive"
