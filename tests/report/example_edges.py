"""Audits that would like to break the page: hostile names, next to nothing to say, and numbers that are not known."""

from dataclasses import replace
from math import inf, nan

from example_audit import GUARANTEE, ExampleAudit, classification, regression

from surefoot.report.answers import (
    UNKNOWN,
    Accuracy,
    Calibration,
    ColumnNote,
    Drop,
    Duplicates,
    Estimate,
    Knowing,
    LearningCurve,
    LeastKnown,
    Line,
    ModelScore,
    NewRows,
    Rejection,
    ShiftedColumn,
    Stability,
    StableSet,
    Subject,
    Transfer,
)

SCRIPT = "<script>alert(1)</script>"
HOSTILE_NAMES = (
    SCRIPT,
    "\"><img src=x onerror='alert(2)'>",
    "</title></style></script><b>",
    "{{ 7 * 7 }}{% endif %}",
    'it\'s "quoted" & <ampersanded>',
    "$\\frac{1}{$",
    "עמודה בעברית",
    "\u202eflipped",
    "日本語の列 🦶",
    "null\x00, bell\x07 and half a character \ud800",
    "a\nb\tc",
    "long" * 500,
    "",
)


def hostile() -> ExampleAudit:
    """Every name and every text is one that would like to break the page."""
    plain = classification()
    names = list(HOSTILE_NAMES)
    models = tuple(
        replace(plain.accuracy.models[place % 8], name=name, what=name, chosen=place == 1)
        for place, name in enumerate(names)
    )
    notes = tuple(ColumnNote(name, name, name, used=False) for name in names)
    subject = replace(
        plain.subject, target=SCRIPT + "\"'", classes=tuple(names), shares=(1 / len(names),) * len(names), notes=notes,
        remarks=tuple(names), task_sentence=names[1],
    )  # fmt: skip
    rows = tuple(LeastKnown(name, name, name, 0.2, 0.6, (name, f"{name} = {name}")) for name in names)
    calibration = replace(plain.uncertainty.calibration, xlabel=names[5], ylabel=names[0])
    knowing = replace(
        plain.uncertainty,
        model=SCRIPT,
        rows=rows,
        columns_behind=tuple((name, 0.1) for name in names),
        calibration=calibration,
    )
    pairs = tuple((name, 0.05) for name in names)
    sets = tuple(
        replace(
            each,
            selector=name,
            single=name,
            stable=name,
            models=pairs,
            inclusion=pairs,
            guarantee=name,
            remarks=(name,),
        )
        for each, name in zip(plain.stability.sets, names, strict=False)
    )
    drops = tuple(Drop(name, 1, 1, 0.0, 0.0, 0.0, None) for name in names)
    columns = tuple(ShiftedColumn(name, 0.5, 0.01, "shifted", name) for name in names)
    transfer = replace(plain.shift, where=SCRIPT, verdict=names[1], columns=columns, models=models)
    return plain.but(
        subject=subject,
        verdict=tuple(Line(name, "yes", name) for name in names[:5]),
        accuracy=replace(plain.accuracy, models=models, chosen=SCRIPT),
        uncertainty=knowing,
        stability=Stability(sets, drops, names[2]),
        shift=transfer,
        command=f"surefoot audit '{SCRIPT}.csv' --target \"{names[1]}\"",
        version=SCRIPT,
    )


def bare() -> ExampleAudit:
    """As little as an audit can say."""
    subject = Subject("y", "classes", "", 40, 1, 30, 10, 0, (), (), (), ())
    accuracy = Accuracy("error rate", (), "", 0, None, Duplicates(0, 0, 0, None))
    lines = tuple(Line("", UNKNOWN, "") for _ in range(5))
    return ExampleAudit(subject, lines, accuracy, None, None, None, command=None, seconds=0.2)


def empty_sections() -> ExampleAudit:
    """Every section is there, with empty tuples and with numbers that are not known."""
    nothing = Estimate(nan, -inf, inf)
    no_curve = Rejection((), (), (), (), (), (), None)
    calibration = Calibration(None, (), (), (), (), (), (), "promised", "observed")
    knowing = Knowing(
        "nats", "the ensemble", nothing, no_curve, no_curve, calibration, (), (), NewRows(0, 0, nothing, 0.05, nan, ())
    )
    score = ModelScore("only", "", nan, nothing, nothing, None, nan, chosen=True, yours=False)
    accuracy = Accuracy(
        "RMSE", (score,), "only", 1, LearningCurve((5,), (nothing,), nothing), Duplicates(2, 1, 2, None)
    )
    stable = StableSet("LASSO", "no variable", 0.0, "no variable", 1, (), (), False, GUARANTEE, 0.05, 0.0, 1, 1, ())
    drops = (Drop("a random 1% of the rows", 1, 1, None, None, None, None),)
    transfer = Transfer("the new rows", "", None, None, (), (), None, None, None, "")
    plain = bare()
    return plain.but(
        accuracy=accuracy, uncertainty=knowing, stability=Stability((stable,), drops, "No columns."), shift=transfer
    )


EXAMPLES = {
    "classification": classification,
    "regression": regression,
    "hostile": hostile,
    "bare": bare,
    "empty_sections": empty_sections,
}
