"""Made-up but plausible audits, of a classification and of a regression."""

from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from surefoot.report.audit import Audit
from surefoot.report.sections import QUESTIONS
from surefoot.report.sections.accuracy.findings import AccuracyFindings, Duplicates, LearningCurve, ModelScore
from surefoot.report.sections.over_time.findings import ChunkFindings, OverTimeFindings, UnusualFraction
from surefoot.report.sections.section import NO, PARTLY, UNKNOWN, YES, VerdictLine
from surefoot.report.sections.shift.findings import (
    DeploymentLoss,
    NewRows,
    OutsideRange,
    ShiftedColumn,
    ShiftFindings,
    WeightedEstimate,
)
from surefoot.report.sections.stability.findings import RowRemoval, StabilityFindings, StableSet
from surefoot.report.sections.uncertainty.findings import (
    Calibration,
    Coverage,
    Rejection,
    UncertainRow,
    UncertaintyFindings,
)
from surefoot.report.statistics import Estimate
from surefoot.report.subject import ColumnNote, DataCheck, Subject

GUARANTEE = (
    "For at most a share 0.05 of the rows, removing that row would give a set of models that shares none with this "
    "one. It does not say that any of them is right."
)


@dataclass(frozen=True, repr=False)
class ExampleAudit(Audit):
    """An audit that nobody ran."""

    seconds: float = 147.3
    random_state: int = 0
    version: str = "0.1.0"
    command: str | None = "surefoot audit credit.csv --target risk --new new.csv -o report.html"

    def but(self, **changes: Any) -> "ExampleAudit":
        return replace(self, **changes)


def around(value: float, reach: float) -> Estimate:
    return Estimate(value, value - reach, value + reach)


def rejection(loss: float, ratio: float, top: float, squared: bool = False) -> Rejection:
    """A curve at the fraction ``ratio`` between the random order and the best one."""
    share = np.linspace(0, 1, 101)
    start = loss**2 if squared else loss
    random = start * (1 - share)
    oracle = start * (1 - share) ** 5 if squared else np.maximum(start - share, 0)
    error = random - ratio * (random - oracle)
    kept = np.divide(error, 1 - share, out=np.zeros(101), where=share < 1)
    kept = np.sqrt(kept) if squared else kept
    lines = (share, error, kept, top * (1 - share) ** 1.5, random, oracle)
    return Rejection(*(tuple(line.tolist()) for line in lines), Estimate(ratio, ratio - 0.11, ratio + 0.1))


def model(name: str, what: str, loss: float, **others: Any) -> ModelScore:
    base, reach = others.pop("base", 0.3), others.pop("reach", 0.05)
    gain, auc = others.pop("gain", base - loss), others.pop("auc", None)
    fields = {
        "loss": around(loss, reach),
        "gain": around(gain, 0.04),
        "auc": None if auc is None else around(auc, 0.03),
        "seconds": 1.4,
        "chosen": False,
        "yours": False,
    }
    return ModelScore(name, what, **{**fields, **others})


def verdict_of(*lines: tuple[str, str]) -> tuple[VerdictLine, ...]:
    return tuple(VerdictLine(question, *line) for question, line in zip(("", *QUESTIONS), lines, strict=True))


def classification() -> ExampleAudit:
    notes = (
        ColumnNote("customer_id", "identifier", "It differs in every row, so nothing can be learnt from it.", False),
        ColumnNote("opened", "date", "It is read as days since 1970.", True),
    )
    subject = Subject(
        target="risk",
        task="binary",
        task_sentence="The target has two values; an error is a wrong class.",
        n_rows=1000,
        n_columns=20,
        n_judged=1000,
        n_folds=5,
        n_new=300,
        split="Every row is held out once, in 5 folds, and predicted by a model that has not seen it.",
        classes=("good", "bad"),
        shares=(0.7, 0.3),
        notes=notes,
        checks=(DataCheck("row order", True, "The order of the rows matters."),),
        fingerprint="0123456789abcdef",
        source="credit.csv",
        date="2026-01-31",
        remarks=("12 rows without a target were left out.", "3 rows of the new table have an unknown purpose."),
    )
    verdict = verdict_of(
        (PARTLY, "It is better than a constant and calibrated, but the new rows are not like the training rows."),
        (PARTLY, "24.0% of held-out rows are wrong, 6.0 points fewer than by guessing; more rows might help."),
        (YES, "Handing over the 20% most uncertain rows brings the error rate of the others down to 15.3%."),
        (YES, "The stable set contains 2 choices; 41.2% of the bags choose the one from all rows."),
        (NO, "3 of 20 columns have shifted, and the error rate on the deployment data is 31.3%."),
    )
    records = (_accuracy(), _uncertainty(), _stability(), _shift())
    return ExampleAudit(subject, verdict, *records, over_time=over_time())


def _accuracy() -> AccuracyFindings:
    models = (
        model("constant", "always the most frequent class", 0.300, auc=0.5, seconds=0.1),
        model("gradient boosting", "surefoot, stopped early", 0.240, auc=0.782, seconds=4.2, chosen=True),
        model("linear", "logistic regression", 0.252, auc=0.775, seconds=0.4),
        model("forest", "random forest of 200 trees", 0.236, auc=0.790, seconds=2.7),
        model("Bagged AdaBoost", "AdaBoosts on drawn rows", 0.256, auc=0.771, seconds=11.8),
        model("Majority-of-5", "AdaBoosts on five parts of the rows", 0.260, auc=0.752, seconds=1.1),
        model("AdaBoost", "300 stumps", 0.268, auc=0.749, seconds=0.9),
        model("your predictions", "as they were given", 0.272, yours=True, seconds=nan),
    )
    losses = (around(0.29, 0.056), around(0.272, 0.055), around(0.258, 0.054), around(0.24, 0.053))
    curve = LearningCurve("gradient boosting", (93, 187, 375, 750), losses, Estimate(0.018, -0.011, 0.047))
    return accuracy_of("error rate", models, "gradient boosting", curve, Duplicates(46, 21, 10, 0.109))


def accuracy_of(
    measure: str, models: tuple[ModelScore, ...], audited: str, curve: Any, duplicates: Any
) -> AccuracyFindings:
    return AccuracyFindings(
        measure=measure, models=models, audited=audited, gain=around(0.2, 0.03), is_better=True, rival="linear",
        behind=around(0.01, 0.02), curve=curve, duplicates=duplicates, left_out=(), n_rows=1000,
    )  # fmt: skip


def _uncertainty() -> UncertaintyFindings:
    expected = (0.53, 0.58, 0.64, 0.69, 0.74, 0.79, 0.84, 0.88, 0.92, 0.96)
    observed = np.array((0.52, 0.6, 0.56, 0.68, 0.72, 0.8, 0.8, 0.92, 0.88, 0.96))
    curve = (expected, *(tuple(line.tolist()) for line in (observed, observed - 0.17, np.minimum(observed + 0.13, 1))))
    labels = ("predicted probability of the predicted class", "fraction of right predictions")
    described = [
        ("417", "bad", ("credit_amount = 18424", "purpose = others", "duration = 48")),
        ("95", "good", ("credit_amount = 12612", "duration = 36")),
        ("637", "bad", ("duration = 60", "age = 21")),
        ("818", "good", ("age = 74", "purpose = retraining")),
        ("12", "bad", ("credit_amount = 1108", "savings missing")),
    ]
    rows = tuple(
        UncertainRow(row, "good", truth, 0.21 - 0.012 * place, 0.69 - 0.01 * place, behind)
        for place, (row, truth, behind) in enumerate(described)
    )
    return UncertaintyFindings(
        unit="nats",
        model="gradient boosting",
        own=True,
        n_rows=1000,
        loss=around(0.24, 0.053),
        by_total=rejection(0.24, 0.46, 0.72),
        by_knowledge=rejection(0.24, 0.31, 0.3),
        calibration=Calibration(around(0.013, 0.05), (), *curve, (25,) * 10, *labels),
        columns_behind=(("credit_amount", 0.42), ("duration", 0.31), ("purpose", 0.12), ("age", 0.08)),
        rows=rows,
    )


def stable_set(selector: str, single: str, stable: str, **others: Any) -> StableSet:
    fields = {
        "single_weight": 0.412,
        "n_models": 2,
        "models": ((single, 0.412),),
        "inclusion": (),
        "undecided": False,
        "claim_inside": True,
        "holds": False,
        "lead": None,
        "guarantee": GUARANTEE,
        "delta": 0.05,
        "instability": 0.004,
        "instability_limit": 0.011,
        "n_left_out": 750,
        "single_changed": 1,
        "n_dropped": 100,
        "n_units": 750,
        "unit": "row",
        "n_bags": 10_000,
        "bag_size": 250,
        "remarks": (),
    }
    return StableSet(selector, single, stable=stable, **{**fields, **others})


def _stability() -> StabilityFindings:
    both = "checking_status, duration"
    lasso = stable_set(
        "LASSO",
        f"{both}, credit_history",
        "checking_status and duration and (credit_history or savings)",
        models=((f"{both}, credit_history", 0.412), (f"{both}, savings", 0.387), (both, 0.102)),
        inclusion=(("checking_status", 1.0), ("duration", 0.981), ("credit_history", 0.774), ("savings", 0.446)),
        remarks=("Missing values of 2 columns are filled in each bag.",),
    )
    undecided = {"undecided": True, "guarantee": "This epsilon carries no guarantee.", "delta": 1.0, "instability": 0.0}
    tree = stable_set(
        "decision tree",
        "checking_status, duration and other_plans",
        "undecided",
        single_weight=0.062,
        n_models=214,
        n_bags=1000,
        **undecided,
    )
    drops = (
        RowRemoval("a random 1% of the rows", 8, 200, 0.2, 3, 0.034, None),
        RowRemoval("group north", 230, 1, 0.0, 1, 0.072, around(0.27, 0.06)),
        RowRemoval("group south", 180, 1, None, 0, None, around(0.31, 0.07)),
    )
    return StabilityFindings((lasso, tree), drops, None)


def _shift() -> ShiftFindings:
    columns = (
        ShiftedColumn("credit_amount", 0.34, 1e-9, "shifted", ""),
        ShiftedColumn("duration", 0.22, 0.00031, "shifted", ""),
        ShiftedColumn("purpose", 0.19, 0.012, "shifted", ""),
        ShiftedColumn("age", 0.06, 1.0, "not shifted", ""),
        ShiftedColumn("telephone", nan, nan, "not tested", ""),
    )
    there: dict[str, Any] = {"base": 0.38, "seconds": nan}
    models = (
        model("constant", "always the most frequent class", 0.38, **there),
        model("gradient boosting", "surefoot, stopped early", 0.313, chosen=True, **there),
        model("plain boosting", "squared loss on the training rows", 0.32, **there),
        model("importance-weighted boosting", "rows weighted to look like those there", 0.305, **there),
        model("V-matrix boosting", "the loss as rows there see it", 0.297, **there),
    )
    verdict = (
        "3 of 20 columns have shifted (credit_amount, duration, purpose), and a classifier tells the rows of both "
        "tables apart (AUC 0.71, p < 0.0001)."
    )
    losses = (around(0.24, 0.053), around(0.313, 0.052))
    measured = DeploymentLoss(
        name="all rows", n_rows=300, n_units=None, loss=losses[1], rise=Estimate(0.3, 0.02, 0.62),
        bias=around(-0.03, 0.04), auc_change=None, outcome="undecided", rows_needed=2100,
    )  # fmt: skip
    outside = OutsideRange(300, 12, around(0.04, 0.02), 0.01, 0.003, (("credit_amount", 12),))
    return ShiftFindings(
        "the new rows", verdict, around(0.71, 0.04), 1e-8, columns, models, *losses, None, "error rate", n_known=300,
        n_rows=300, losses=(measured,), bias_tolerance=0.05, outside=outside,
        new=NewRows(300, 38, Estimate(0.1267, 0.0937, 0.1691), 0.0518, 0.00003, _uncertainty().rows),
    )  # fmt: skip


def over_time() -> OverTimeFindings:
    """Three months: the second is shifted, and of the third no target is known and no loss can be expected."""
    here, reason = around(0.24, 0.053), "cannot be estimated, because hardly any row is like the deployment rows."
    expected = WeightedEstimate(around(0.26, 0.07), here, 180.0, 1000, "If.", around(0.08, 0.3))
    withheld = WeightedEstimate(None, here, 9.0, 1000, reason)
    chunks = tuple(
        ChunkFindings(
            name=name, n_rows=100, n_known=100 if k < 2 else 0,
            measured=around(0.25 + 0.1 * k, 0.08) if k < 2 else None,
            expected=withheld if k == 2 else expected, loss_p_value=nan if k == 2 else 0.3,
            uncertain=UnusualFraction(100, 5 + 9 * k, around(0.05 + 0.09 * k, 0.04), 0.0518, 0.2 / (1 + 9 * k)),
            outside=UnusualFraction(100, k, around(0.01 * k, 0.02), 0.01, 1.0), auc=around(0.5 + 0.2 * k, 0.06),
            auc_p_value=1.0 if k == 0 else 0.002, column="duration" if k else None, distance=0.3 if k else nan,
            worse=False, stranger=k == 2, shifted=k > 0,
        )
        for k, name in enumerate(("jan", "feb", "mar"))
    )  # fmt: skip
    return OverTimeFindings(
        by="tables", counted="rows", measure="error rate", loss_here=here, tolerance=0.25, chunks=chunks, n_tests=11,
        n_compared=2, n_agreeing=2,
    )  # fmt: skip


def regression() -> ExampleAudit:
    """A regression, without targets of the deployment data."""
    sentence = "A number is predicted; errors are measured by the RMSE, in the unit of the target."
    subject = Subject(
        target="progression", task="regression", task_sentence=sentence, n_rows=442, n_columns=10, n_judged=442,
        n_folds=5, n_new=200, split="Every row is held out once.", classes=(), shares=(), notes=(), checks=(),
        remarks=(), fingerprint="0123456789abcdef",
    )  # fmt: skip
    verdict = verdict_of(
        (PARTLY, "It explains about half of the variance; its error on the deployment data is not known."),
        (YES, "The RMSE is 54.3, and a simpler model does as well."),
        (PARTLY, "Its 90% intervals hold 88.1% of the targets."),
        (YES, "Every set without one row shares a model with this one."),
        (UNKNOWN, "It cannot be known: hardly any held-out row is like the rows there."),
    )
    models = (
        model("constant", "the mean of the training rows", 77.2, reach=6.2, gain=0.0),
        model("linear", "ridge regression", 54.3, reach=6.2, gain=0.505, chosen=True),
        model("gradient boosting", "surefoot, stopped early", 55.9, reach=6.2, gain=0.476),
        model("forest", "random forest of 200 trees", 57.12, reach=6.2, gain=0.453),
    )
    losses = tuple(around(loss, 6.0) for loss in (63.0, 59.1, 56.0, 54.3))
    curve = LearningCurve("linear", (41, 83, 166, 332), losses, Estimate(1.7, 0.2, 3.2))
    accuracy = accuracy_of("RMSE", models, "linear", curve, Duplicates(0, 0, 0, None))
    lasso = stable_set("LASSO", "bmi, bp, s5", "bmi and s5 and (bp or s3)", single_weight=0.71, instability=0.0)
    drop = RowRemoval("a random 1% of the rows", 3, 200, 0.1, 3, 0.041, None)
    stability = StabilityFindings((lasso,), (drop,), None)
    return ExampleAudit(
        subject, verdict, accuracy, _uncertainty_of_numbers(), stability, _shift_without_target(), command=None
    )


def _uncertainty_of_numbers() -> UncertaintyFindings:
    levels = np.arange(1, 20) / 20
    seen = levels**1.15
    lines = (levels, seen, np.maximum(seen - 0.06, 0), np.minimum(seen + 0.06, 1))
    coverage = tuple(
        Coverage(level, around(level**1.2, 0.055), *[around((1 - level**1.2) / 2, 0.02)] * 2, 180 * level**2)
        for level in (0.5, 0.8, 0.9, 0.95)
    )
    labels = ("level of the central interval", "fraction of targets inside it")
    rows = (
        UncertainRow("23", "212.4", "310", 612.0, 3800.0, ("bmi = 0.171", "s5 = 0.134")),
        UncertainRow("99", "98.1", "71", 580.0, 3300.0, ()),
    )
    return UncertaintyFindings(
        unit="target squared",
        model="linear",
        own=False,
        n_rows=442,
        loss=around(54.3, 6.2),
        by_total=rejection(54.3, 0.28, 9100.0, squared=True),
        by_knowledge=rejection(54.3, 0.12, 900.0, squared=True),
        calibration=Calibration(None, coverage, *(tuple(line.tolist()) for line in lines), (110,) * 19, *labels),
        columns_behind=(("bmi", 0.3), ("s5", 0.22)),
        rows=rows,
    )


def _shift_without_target() -> ShiftFindings:
    sentence = (
        "It cannot be known: hardly any held-out row is like the rows there. Get the target of some rows there, and "
        "run the audit again with them."
    )
    weighted = WeightedEstimate(None, around(54.3, 6.2), 9.3, 110, sentence)
    columns = (ShiftedColumn("bmi", 0.81, 1e-30, "shifted", ""), ShiftedColumn("sex", 0.02, 1.0, "not shifted", ""))
    verdict = "1 of 10 columns has shifted (bmi)."
    here = around(54.3, 6.2)
    return ShiftFindings(
        "the last part by visit", verdict, around(0.97, 0.02), 1e-20, columns, (), here, None, weighted, "RMSE"
    )
