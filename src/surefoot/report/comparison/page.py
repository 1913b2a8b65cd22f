"""The page of a comparison, in the layout, the style and the number formats of an audit's page."""

from base64 import b64encode
from hashlib import sha256

from markupsafe import Markup

from surefoot.report.comparison.comparison import AuditComparison, summary
from surefoot.report.comparison.differences import BETTER, WORSE
from surefoot.report.comparison.rows import RELATIONS, difference_text, subject_rows, value_text
from surefoot.report.page.document import SCRIPT, STYLE
from surefoot.report.page.templates import render, text_of
from surefoot.report.sections.section import NO, UNKNOWN, YES

TEMPLATE = "comparison/page.html.j2"


def comparison_html(comparison: AuditComparison) -> str:
    """The page, as text for a file in UTF-8."""
    script = text_of(SCRIPT)
    html = render(
        TEMPLATE,
        comparison=comparison,
        last=comparison.audits[-1],
        changes=comparison.changes,
        subjects=subject_rows(comparison.audits),
        headline=_headline(comparison),
        summary=summary,
        relations=RELATIONS,
        value_text=value_text,
        difference_text=difference_text,
        style=Markup(text_of(STYLE)),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return str(html).strip() + "\n"


def _headline(comparison: AuditComparison) -> str:
    """The colour of the headline, from what is shown about the last audit; worse comes before better."""
    outcomes = comparison.changes[-1].outcomes
    return NO if WORSE in outcomes else YES if BETTER in outcomes else UNKNOWN
