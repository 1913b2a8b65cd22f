"""Question 3 on the page."""

from markupsafe import Markup

from surefoot.report.page.templates import render
from surefoot.report.sections.section import SectionContext
from surefoot.report.sections.stability.findings import StabilityFindings, StableSet

TEMPLATE = "sections/stability/page.html.j2"
SELECTORS = {  # of conclusions: a heading, and how the conclusion is drawn
    "winner": (
        "Which model is best",
        "The model with the smallest mean loss on rows that it has not seen. On each bag, the models are compared by "
        "the losses of the bag's rows.",
    ),
    "LASSO": (
        "Columns that the LASSO chooses",
        "The LASSO is a linear model that leaves out columns that it can do without. Each bag has its own scales and "
        "its own penalty.",
    ),
    "decision tree": (
        "Columns that a small decision tree asks for",
        "A decision tree of two levels: one question about a column, then one more for each answer.",
    ),
    "leading column": (
        "The column that the model relies on most",
        "The column whose permutation raises the loss of the audited model most, on rows that it has not seen.",
    ),
}


def stability_page(findings: StabilityFindings, context: SectionContext) -> Markup:
    """Each conclusion with its stable set, and what the removal of rows changes."""
    return render(
        TEMPLATE,
        stability=findings,
        conclusions=[
            (found, *SELECTORS.get(found.selector, (found.selector, "")), _status(found)) for found in findings.sets
        ],
        measure=context.measure,
        is_rate=context.is_rate,
    )


def _conclusion(found: StableSet) -> tuple[StableSet, str, str, str]:
    """A stable set with its heading, how the conclusion is drawn, and whether it survives."""
    heading, how = SELECTORS.get(found.selector, (found.selector, ""))
    return found, heading, how, _status(found)


def _status(found: StableSet) -> str:
    """Whether a conclusion survives, as its heading has it."""
    if found.holds:
        return "survives"
    return "does not survive" if found.undecided or not found.claim_inside else "open"
