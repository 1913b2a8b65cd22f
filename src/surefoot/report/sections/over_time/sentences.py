"""What the chunks show, in sentences: the first that differs, each kind of difference, and what is not known."""

from surefoot.report.page.numbers import counted, hundredths, interval_of, percent, value_of, whole
from surefoot.report.sections.over_time.findings import LEVEL, ChunkFindings, OverTimeFindings
from surefoot.report.sections.sentences import listed
from surefoot.report.sections.shift.verdict import NO_TARGETS

MAX_NAMED = 4  # chunks in a sentence


def sentences_of(findings: OverTimeFindings) -> tuple[str, ...]:
    """The sentences above the chart."""
    chunks = findings.chunks
    differing = [chunk for chunk in chunks if chunk.differs]
    first = f"{_first(differing[0], findings)} {_all(differing, findings)}" if differing else _none(findings)
    kinds = [_of_kind(findings, kind) for kind in ("worse", "stranger", "shifted")] if differing else []
    return tuple(sentence for sentence in (first, *kinds, _agreement(findings), _assumption(findings)) if sentence)


def _none(findings: OverTimeFindings) -> str:
    n = min(chunk.n_rows for chunk in findings.chunks)
    return (
        f"None of the {len(findings.chunks)} chunks is shown to be worse, stranger or shifted, compared with the "
        f"held-out training rows. That is no evidence that none is: chunks of {counted(n, 'row')} show only large "
        "differences."
    )


def _first(chunk: ChunkFindings, findings: OverTimeFindings) -> str:
    """The first chunk that differs, and how."""
    parts = []
    if chunk.worse:
        parts.append(f"worse ({_loss(chunk, findings)})")
    if chunk.stranger:
        parts.append(f"stranger ({_unusual(chunk)})")
    if chunk.shifted and chunk.auc is not None:
        column = f"; {chunk.column} differs most" if chunk.column else ""
        parts.append(f"shifted (AUC {hundredths(chunk.auc.value)}{column})")
    name = f"the one {chunk.name}" if findings.by == "time" else chunk.name
    return f"The first chunk that is shown to differ from the training data is {name}: it is {listed(parts)}."


def _loss(chunk: ChunkFindings, findings: OverTimeFindings) -> str:
    if chunk.measured is not None:
        what, loss = "measured", chunk.measured
    else:
        assert chunk.expected is not None
        assert chunk.expected.loss is not None
        what, loss = "expected", chunk.expected.loss
    here = value_of(findings.loss_here, findings.measure)
    return (
        f"{what} {findings.measure} {value_of(loss, findings.measure)}, {interval_of(loss, findings.measure)}; "
        f"{here} on held-out training rows"
    )


def _unusual(chunk: ChunkFindings) -> str:
    """The kinds of unusual rows of which there are more than chance explains."""
    parts, uncertain, outside = [], chunk.uncertain, chunk.outside
    if uncertain is not None and uncertain.p_value < LEVEL:
        parts.append(
            f"{percent(uncertain.fraction.value)} of the rows have much knowledge uncertainty, "
            f"{percent(uncertain.expected)} would by chance"
        )
    if outside.p_value < LEVEL:
        parts.append(
            f"{percent(outside.fraction.value)} lie outside the range of the training data, "
            f"{percent(outside.expected)} would by chance"
        )
    return "; ".join(parts)


def _all(differing: list[ChunkFindings], findings: OverTimeFindings) -> str:
    n = len(findings.chunks)
    return f"{len(differing)} of {n} chunks differ." if len(differing) > 1 else f"The other {n - 1} are not shown to."


def _of_kind(findings: OverTimeFindings, kind: str) -> str:
    """The chunks with one kind of difference."""
    names = [chunk.name for chunk in findings.chunks if getattr(chunk, kind)]
    if not names:
        return f"No chunk is shown to be {kind}."
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    shown = ", ".join(names[:MAX_NAMED]) + more if more else listed(names)
    meaning = {
        "worse": f"the {findings.measure} is above that of held-out training rows",
        "stranger": "more rows than chance explains are uncertain, or outside the training range",
        "shifted": "a classifier separates the rows from training rows",
    }[kind]
    return f"Shown to be {kind} ({meaning}): {shown}."


def _agreement(findings: OverTimeFindings) -> str:
    """Whether the expected losses were right, where targets are known."""
    if not findings.n_compared:
        return ""
    n, agree = findings.n_compared, findings.n_agreeing
    text = (
        f"The expected and the measured {findings.measure} agree within their intervals in {whole(agree)} of "
        f"{counted(n, 'chunk')} where both are known"
    )
    if agree == n:
        return f"{text}."
    return f"{text}; where they do not, the target may depend on the columns in another way than in the training data."


def _assumption(findings: OverTimeFindings) -> str:
    """What cannot be seen without targets."""
    unknown = [chunk.name for chunk in findings.chunks if chunk.measured is None]
    if not unknown:
        return ""
    every = len(unknown) == len(findings.chunks)
    names = listed(unknown) if len(unknown) <= MAX_NAMED else f"{len(unknown)} chunks"
    which = "" if every else f" This concerns {names}."
    return (
        f"{NO_TARGETS}{which} Expected losses assume that it depends on them as in the training data, so a chunk that "
        "is not shown to differ need not be all right."
    )
