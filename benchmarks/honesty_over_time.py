"""Is the audit right about chunks of deployment data? Simulated tables of training rows and chunks, with a known truth.

    python benchmarks/audit_honesty.py --section over_time --replications 42

A false alarm is a chunk of the same distribution that is shown to be worse, stranger or shifted. Where the rows shift,
more in every chunk, *held* counts intervals of expected losses that contain the loss on 20,000 rows of the chunk's
distribution, and *named* whether the first chunk that is named is the first shifted one or the next.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier, DummyRegressor

from surefoot.report.inputs.arguments import AuditArguments
from surefoot.report.models.cross_fitting import CONSTANT, ENSEMBLE, CandidateModel, CrossFitted, cross_fit
from surefoot.report.models.scoring import Outcome
from surefoot.report.sections.over_time.findings import OverTimeFindings
from surefoot.report.sections.over_time.measure import OverTimeInputs, measure_over_time
from surefoot.report.sections.over_time.sentences import sentences_of
from surefoot.report.sections.shift.deployment_models import DeployedModel
from surefoot.report.time_budget import TimeBudget
from surefoot.uncertainty import BoostingEnsembleClassifier, BoostingEnsembleRegressor

CHUNK_ROWS, SHIFT_ROWS = 100, (2000, 300)  # of exchangeable chunks; of a table that shifts, and of each of its chunks
FRESH_ROWS = 20_000
STEP = 0.3  # standard deviations by which the columns move from chunk to chunk
FIRST_SHIFTED = 3
ASSUMPTION = "a change in how the target depends on the columns cannot be seen"


@dataclass(frozen=True)
class Measured:
    """The findings of one simulated table, and the model that they are about."""

    findings: OverTimeFindings
    audited: CrossFitted


def measured(X: Any, y: Any, seed: int, **options: Any) -> Measured:
    """The section for one table, with a small ensemble instead of all candidates."""
    inputs = AuditArguments(X=X, y=y, random_state=seed, **options).read()
    is_classes, budget = inputs.table.target.is_classes, TimeBudget()
    kind = BoostingEnsembleClassifier if is_classes else BoostingEnsembleRegressor
    shared = {"early_stopping": False, "random_state": seed, "n_jobs": 1}
    ensemble = kind(n_members=3, n_estimators=20, learning_rate=0.2, **shared)
    candidates = [
        CandidateModel(CONSTANT, "", DummyClassifier() if is_classes else DummyRegressor()),
        CandidateModel(ENSEMBLE, "", ensemble),
    ]
    audited = cross_fit(inputs.table, inputs.splits, candidates, budget)[0][-1]
    has_targets = len(inputs.deployment.known) > 0
    given = OverTimeInputs(
        table=inputs.table,
        splits=inputs.splits,
        deployment=inputs.deployment,
        audited=audited,
        deployed=DeployedModel.of(audited, inputs.deployment) if has_targets else None,
        ensemble=audited,
        groups=inputs.groups,
        time=inputs.time,
        tolerance=0.25,
        seed=seed,
        n_jobs=1,
        budget=budget,
    )
    return Measured(measure_over_time(given), audited)


def alarms(findings: OverTimeFindings) -> dict[str, Any]:
    """Which kinds of alarm there are in any chunk."""
    kinds = ("worse", "stranger", "shifted")
    found = {kind: any(getattr(chunk, kind) for chunk in findings.chunks) for kind in kinds}
    return {**found, "any": any(found.values())}


def frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def rows(generator: np.random.Generator, n_rows: int, moved: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """A curved rule; the noise is larger where the first column is."""
    X = generator.normal(size=(n_rows, 4))
    X[:, 0] += moved
    noise = (0.5 + 0.5 / (1 + np.exp(-X[:, 0]))) * generator.uniform(-2, 2, size=n_rows)
    return frame(X), X[:, 0] + np.sin(2 * X[:, 1]) + noise


def seed_of(generator: np.random.Generator) -> int:
    return int(generator.integers(2**31))


def exchangeable(generator: np.random.Generator, n: int, n_chunks: int = 6, targets: bool = False) -> dict[str, Any]:
    """Chunks without targets."""
    X, y = rows(generator, n)
    parts = [rows(generator, CHUNK_ROWS) for _ in range(n_chunks)]
    options = {"y_new": [part[1] for part in parts]} if targets else {}
    return alarms(measured(X, y, seed_of(generator), X_new=[part[0] for part in parts], **options).findings)


def twelve_with_targets(generator: np.random.Generator, n: int) -> dict[str, Any]:
    """Twelve chunks with targets."""
    return exchangeable(generator, n, 12, targets=True)


def heavy_tails(generator: np.random.Generator, n: int) -> dict[str, Any]:
    """Targets with errors of Student's t with 2.2 degrees of freedom; heavy-tailed columns."""

    def draw(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
        X = generator.standard_t(2.2, size=(n_rows, 4))
        return frame(X), np.tanh(X[:, 0]) + generator.standard_t(2.2, size=n_rows)

    (X, y), parts = draw(n), [draw(CHUNK_ROWS) for _ in range(6)]
    X_new, y_new = [part[0] for part in parts], [part[1] for part in parts]
    return alarms(measured(X, y, seed_of(generator), X_new=X_new, y_new=y_new).findings)


def groups(generator: np.random.Generator, n: int) -> dict[str, Any]:
    """Groups of ten rows that are alike in their columns and in their errors, with targets."""

    def draw(n_rows: int, first: int) -> tuple[pd.DataFrame, np.ndarray]:
        codes = np.arange(n_rows) // 10
        shared = generator.normal(size=(codes[-1] + 1, 4))
        X = shared[codes] + 0.5 * generator.normal(size=(n_rows, 4))
        size = np.exp(0.5 * shared[codes, 3])
        y = X[:, 0] + size * generator.uniform(-2, 2, size=n_rows)
        return frame(X).assign(group=[f"g{first + code}" for code in codes]), y

    (X, y), parts = draw(n, 0), [draw(CHUNK_ROWS, 1000 * (k + 1)) for k in range(6)]
    X_new, y_new = [part[0] for part in parts], [part[1] for part in parts]
    return alarms(measured(X, y, seed_of(generator), X_new=X_new, y_new=y_new, groups="group").findings)


def runs(generator: np.random.Generator, n: int) -> dict[str, Any]:
    """The last fifth of a stationary series: a column, and the sizes of the errors, change slowly."""
    n_rows = 10 * n
    slow = np.empty((n_rows, 2))
    slow[0] = generator.normal(size=2)
    for i in range(1, n_rows):
        slow[i] = 0.8 * slow[i - 1] + 0.6 * generator.normal(size=2)
    X = generator.normal(size=(n_rows, 3))
    X[:, 0] = slow[:, 0]
    y = X[:, 0] + X[:, 1] + np.exp(0.5 * slow[:, 1]) * generator.uniform(-1, 1, size=n_rows)
    table = frame(X).assign(t=np.arange(n_rows, dtype=float))
    return alarms(measured(table, y, seed_of(generator), time="t").findings)


def growing_shift(generator: np.random.Generator, n: int) -> dict[str, Any]:
    """The columns of the first three of eight chunks are those of training rows; then one of them moves ever more."""
    X, y = rows(generator, SHIFT_ROWS[0])
    moves = [STEP * max(0, k - FIRST_SHIFTED + 1) for k in range(8)]
    X_new = [rows(generator, SHIFT_ROWS[1], moved)[0] for moved in moves]
    result = measured(X, y, seed_of(generator), X_new=X_new)
    named = [k for k, chunk in enumerate(result.findings.chunks) if chunk.differs][:1]
    held = [_held(chunk.expected.loss, result, generator, moved) for chunk, moved in _pairs(result, moves)]
    return {
        "named": named[0] if named else None,
        "held": sum(each is True for each in held),
        "missed": sum(each is False for each in held),
        "withheld": sum(each is None for each in held),
    }


def _pairs(result: Measured, moves: list[float]) -> Any:
    return zip(result.findings.chunks, moves, strict=True)


def _held(loss: Any, result: Measured, generator: np.random.Generator, moved: float) -> bool | None:
    """Whether the interval contains the mean loss of the fold models on fresh rows."""
    if loss is None:
        return None
    X, y = rows(generator, FRESH_ROWS, moved)
    table, audited = result.audited.table, result.audited
    read, truth = table.like(X, "X"), np.asarray(y, dtype=object)
    losses = [
        Outcome.of_truth(table.target, audited.candidate.predict_table(model, read, table.target), truth).proper.mean()
        for model in audited.fold_models
    ]
    return bool(loss.low <= np.mean(losses) ** 0.5 <= loss.high)


def concept_shift(generator: np.random.Generator, n: int) -> dict[str, Any]:
    """No targets are known, so whatever became of the rule, only the columns are seen.

    *warned* is whether the page says that.
    """
    X, y = rows(generator, n)
    X_new = [rows(generator, CHUNK_ROWS)[0] for _ in range(6)]
    findings = measured(X, y, seed_of(generator), X_new=X_new).findings
    return {**alarms(findings), "warned": any(ASSUMPTION in sentence for sentence in sentences_of(findings))}


SCENARIOS = {
    each.__name__: each
    for each in (exchangeable, twelve_with_targets, heavy_tails, groups, runs, growing_shift, concept_shift)
}


def summary(lines: list[dict[str, Any]]) -> str:
    """Two tables in Markdown."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_name[line["scenario"]].append(line)
    table = ["| scenario | runs | worse | stranger | shifted | any | warned |", "|---|---|---|---|---|---|---|"]
    for name in (each for each in SCENARIOS if each != "growing_shift" and each in by_name):
        of_name = by_name[name]
        counts = [sum(line[kind] for line in of_name) for kind in ("worse", "stranger", "shifted", "any")]
        warned = f"{sum(line['warned'] for line in of_name)}" if name == "concept_shift" else "-"
        shares = [f"{count} ({count / len(of_name):.1%})" for count in counts]
        table.append(f"| {name.replace('_', ' ')} | {len(of_name)} | {' | '.join(shares)} | {warned} |")
    return "\n".join([*table, "", *_of_shift(by_name["growing_shift"])])


def _of_shift(lines: list[dict[str, Any]]) -> list[str]:
    if not lines:
        return []
    held, missed, withheld = (sum(line[kind] for line in lines) for kind in ("held", "missed", "withheld"))
    right = sum(line["named"] in (FIRST_SHIFTED, FIRST_SHIFTED + 1) for line in lines)
    early = sum(line["named"] is not None and line["named"] < FIRST_SHIFTED for line in lines)
    n_known = max(held + missed, 1)
    return [
        f"Growing shift, {len(lines)} runs: {held} of {held + missed} intervals of the expected loss hold "
        f"({held / n_known:.1%}), {withheld} are withheld. In {right} ({right / len(lines):.1%}) the first chunk named "
        f"is the first shifted one or the next, in {early} one before it.",
    ]
