"""The deployment data over time on the page: its sentences, its chart and its table."""

import re

from markupsafe import Markup

from surefoot.report.page.templates import render
from surefoot.report.sections.over_time.chart import over_time_chart
from surefoot.report.sections.over_time.findings import LEVEL, ChunkFindings, OverTimeFindings
from surefoot.report.sections.over_time.sentences import sentences_of
from surefoot.report.sections.section import SectionContext

TEMPLATE = "sections/over_time/page.html.j2"
A_FRACTION, A_NUMBER_OF_ROWS = re.compile(r"^[\d.]+%"), re.compile(r"only [\d,]+ rows$")


def over_time_page(findings: OverTimeFindings, context: SectionContext) -> Markup:
    """The sentences, the chart, and a table of all chunks."""
    return render(
        TEMPLATE,
        over_time=findings,
        first=sentences_of(findings)[0],
        sentences=sentences_of(findings)[1:],
        chart=over_time_chart(findings),
        shown_to_be=shown_to_be,
        withheld=withheld_reasons(findings),
        with_measured=any(chunk.measured is not None for chunk in findings.chunks),
        with_uncertain=any(chunk.uncertain is not None for chunk in findings.chunks),
        level=LEVEL,
        audited=context.findings["accuracy"].audited,
    )


def shown_to_be(chunk: ChunkFindings) -> str:
    """What a chunk is shown to be, such as "worse, shifted"."""
    return ", ".join(kind for kind in ("worse", "stranger", "shifted") if getattr(chunk, kind))


def withheld_reasons(findings: OverTimeFindings) -> tuple[tuple[str, str], ...]:
    """Why there is no expected loss, and for which chunks; without the numbers, which the table has."""
    reasons: dict[str, list[str]] = {}
    for chunk in findings.chunks:
        if chunk.expected is not None and chunk.expected.loss is None:
            reason = chunk.expected.sentence.removeprefix("cannot be estimated, because ").partition(". Get the")[0]
            reason = A_NUMBER_OF_ROWS.sub("too few rows", A_FRACTION.sub("too many", reason))
            reasons.setdefault(reason, []).append(chunk.name)
    return tuple((reason, ", ".join(names)) for reason, names in reasons.items())
