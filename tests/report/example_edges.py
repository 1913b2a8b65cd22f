"""Audits that could break the page: hostile names, hardly any findings, and unknown numbers."""

from dataclasses import replace
from math import inf, nan

from example_audit import GUARANTEE, ExampleAudit, classification, regression

from surefoot.report.sections.accuracy.findings import Duplicates, LearningCurve, ModelScore
from surefoot.report.sections.importance.findings import PartialDependence
from surefoot.report.sections.section import UNKNOWN, VerdictLine
from surefoot.report.sections.shift.findings import ShiftedColumn, ShiftFindings
from surefoot.report.sections.stability.findings import RowRemoval, StabilityFindings, StableSet
from surefoot.report.sections.subgroups.findings import SubgroupFindings
from surefoot.report.sections.uncertainty.findings import Calibration, Rejection, UncertainRow, UncertaintyFindings
from surefoot.report.statistics import Estimate
from surefoot.report.subject import ColumnNote, DataCheck, Subject

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
    """Every name and every text could break the page."""
    plain = classification()
    names = list(HOSTILE_NAMES)
    models = tuple(
        replace(plain.accuracy.models[place % 8], name=name, what=name, chosen=place == 1)
        for place, name in enumerate(names)
    )
    notes = tuple(ColumnNote(name, name, name, used=False) for name in names)
    subject = replace(
        plain.subject, target=SCRIPT + "\"'", classes=tuple(names), shares=(1 / len(names),) * len(names), notes=notes,
        remarks=tuple(names), task_sentence=names[1], source=names[0], split=names[1],
        checks=tuple(DataCheck(name, True, name) for name in names),
    )  # fmt: skip
    rows = tuple(UncertainRow(name, name, name, 0.2, 0.6, (name, f"{name} = {name}")) for name in names)
    calibration = replace(plain.uncertainty.calibration, xlabel=names[5], ylabel=names[0])
    uncertainty = replace(
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
    drops = tuple(RowRemoval(name, 1, 1, 0.0, 0, 0.0, None) for name in names)
    suspects = tuple(replace(plain.labels.rows[0], row=name, given=name, predicted=name) for name in names)
    labels = replace(plain.labels, rows=suspects, models=tuple(names), rates=tuple((name, 0.1) for name in names[:9]))
    importances = tuple(replace(plain.importance.columns[0], column=name, alternatives=tuple(names)) for name in names)
    kinds, zeros = tuple(names[:4]), (0.0, 1.0, 2.0, 3.0)
    curves = tuple(
        PartialDependence(name, bool(k % 2), kinds, zeros, zeros, zeros, zeros) for k, name in enumerate(names[:6])
    )
    importance = replace(
        plain.importance, model=SCRIPT, columns=importances, dependence=curves, output=names[3], remarks=(names[1],)
    )
    columns = tuple(ShiftedColumn(name, 0.5, 0.01, "shifted", name) for name in names)
    transfer = replace(plain.shift, where=SCRIPT, verdict=names[1], columns=columns, models=models)
    groups = tuple(replace(plain.subgroups.groups[0], name=name, columns=(name,)) for name in names)
    segments = tuple(replace(plain.subgroups.segments[0], name=name) for name in names[:2])
    subgroups = replace(
        plain.subgroups, model=SCRIPT, groups=groups, segments=segments, clearly_worse=names[:3], not_searched=names[1]
    )
    parts = (plain.over_time.chunks * len(names))[: len(names)]
    chunks = tuple(replace(part, name=name, column=name) for part, name in zip(parts, names, strict=True))
    return plain.but(
        subject=subject,
        subgroups=subgroups,
        verdict=tuple(VerdictLine(name, "yes", name) for name in names[:5]),
        accuracy=replace(plain.accuracy, models=models, audited=SCRIPT),
        uncertainty=uncertainty,
        stability=StabilityFindings(sets, drops, names[2]),
        shift=transfer,
        labels=labels,
        importance=importance,
        over_time=replace(plain.over_time, chunks=chunks),
        command=f"surefoot audit '{SCRIPT}.csv' --target \"{names[1]}\"",
        version=SCRIPT,
    )


def bare() -> ExampleAudit:
    """The fewest possible findings."""
    subject = Subject(
        target="y", task="classes", task_sentence="", n_rows=40, n_columns=1, n_judged=40, n_folds=5, n_new=0, split="",
        classes=(), shares=(), notes=(), checks=(), remarks=(), fingerprint="",
    )  # fmt: skip
    accuracy = replace(regression().accuracy, measure="error rate", models=(), curve=None)
    lines = tuple(VerdictLine("", UNKNOWN, "") for _ in range(5))
    return ExampleAudit(subject, lines, accuracy, None, None, None, command=None, seconds=0.2)


def empty_sections() -> ExampleAudit:
    """Every section exists, with empty tuples and unknown numbers."""
    nothing = Estimate(nan, -inf, inf)
    no_curve = Rejection((), (), (), (), (), (), None)
    calibration = Calibration(None, (), (), (), (), (), (), "promised", "observed")
    uncertainty = UncertaintyFindings(
        model="the ensemble", own=True, unit="nats", n_rows=0, loss=nothing, by_total=no_curve, by_knowledge=no_curve,
        calibration=calibration, columns_behind=(), rows=(),
    )  # fmt: skip
    score = ModelScore("only", "", nothing, nothing, None, nan, chosen=True, yours=False)
    curve, equal = LearningCurve("only", (5,), (nothing,), nothing), Duplicates(2, 1, 2, None)
    accuracy = replace(regression().accuracy, models=(score,), audited="only", curve=curve, duplicates=equal)
    stable = StableSet(
        selector="LASSO", single="no column", single_weight=0.0, stable="no column", n_models=1, models=(),
        inclusion=(), undecided=False, claim_inside=True, holds=False, lead=None, guarantee=GUARANTEE, delta=0.05,
        instability=0.0, instability_limit=1.0, n_left_out=1, single_changed=0, n_dropped=0, n_units=1, unit="row",
        n_bags=1, bag_size=1, remarks=(),
    )  # fmt: skip
    drops = (RowRemoval("a random 1% of the rows", 1, 1, None, 0, None, None),)
    transfer = ShiftFindings("the new rows", "", None, None, (), (), None, None, None, "")
    plain, full = bare(), classification()
    return plain.but(
        accuracy=accuracy,
        uncertainty=uncertainty,
        stability=StabilityFindings((stable,), drops, "No columns."),
        shift=transfer,
        subgroups=SubgroupFindings(
            measure="error rate",
            model="only",
            n_rows=0,
            error=nan,
            worst_group=None,
            clearly_worse=(),
            groups=(),
            segments=(),
            n_comparisons=0,
            n_withheld=1,
            columns=(),
            n_columns=1,
            is_rare=True,
            not_searched="few rows",
        ),
        labels=replace(full.labels, n_wrong=None, rows=(), models=(), rates=(), note="There are too few rows."),
        importance=replace(full.importance, columns=(), dependence=(), note="The audited model uses no column."),
    )


EXAMPLES = {
    "classification": classification,
    "regression": regression,
    "hostile": hostile,
    "bare": bare,
    "empty_sections": empty_sections,
}
