"""Question 4: does it hold where it will be used?"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from surefoot._exceptions import CoverageWarning
from surefoot.report.accuracy import Fitted
from surefoot.report.answers import Estimate, ModelScore, ShiftedColumn, Transfer, WeightedEstimate
from surefoot.report.column_readers import CATEGORY
from surefoot.report.contestants import CONSTANT, linear_input_of
from surefoot.report.intervals import bootstrap_interval
from surefoot.report.row_parts import RowParts
from surefoot.report.scoring import (
    ERROR_RATE,
    FEWEST_RARE,
    RANKING_ERROR,
    Outcome,
    enough,
    loss_of,
    main_measure,
    measure_of,
    score,
    scores_of,
)
from surefoot.report.table import AuditTable
from surefoot.report.target import BINARY, Target, has_value
from surefoot.shift import ColumnShift, ShiftReport, VMatrixBoostingClassifier, VMatrixBoostingRegressor, shift_report
from surefoot.shift.column_shift import compare_columns
from surefoot.shift.shift_report_tables import ComparedTables

FEWEST_EFFECTIVE = 30
TOLD_APART = 0.95  # AUC above which hardly a row of one table could be of the other
BOOTSTRAPS = 500


@dataclass(frozen=True)
class There:
    """Rows of where the model will be used: as the audit reads them, as they came, and their target if it is known."""

    where: str
    frame: Any
    raw: Any
    truth: np.ndarray | None

    def outcome(self, model: Any, target: Target, reads: Any, name: str | None = None) -> Outcome:
        """What a fitted model makes of the rows that have a target; a user's own has a ``name``."""
        assert self.truth is not None
        known = has_value(self.truth)
        predicted, scores = np.asarray(model.predict(reads)), scores_of(model, reads, target)
        if name is not None:
            predicted = target.read_predictions(predicted, len(known), name)
        losses = target.losses_there(predicted[known], self.truth[known])
        if target.task != BINARY:
            return Outcome(losses)
        second, said = target.is_second(self.truth[known]), target.is_second(predicted[known])
        return Outcome(losses, second, said, None if scores is None else scores[known])


def nowhere() -> Transfer:
    """Nobody has said where it will be used."""
    return Transfer(None, "", None, None, (), (), None, None, None, "")


def transfer(
    table: AuditTable,
    parts: RowParts,
    there: There,
    audited: Fitted,
    fitted: list[Fitted],
    seed: int,
    n_jobs: int | None,
) -> Transfer:
    """All that is said about question 4."""
    here = np.sort(np.concatenate([parts.train, parts.test]))
    report = shift_report(table.frame.iloc[here], there.frame, random_state=seed, n_jobs=n_jobs)
    auc = None if np.isnan(report.auc) else Estimate(report.auc, *report.auc_interval)
    classifier = density_ratio(table, parts.train, there.frame)
    models: tuple[ModelScore, ...] = ()
    loss_there = weighted = target = None
    if there.truth is not None:
        models, measure = _models_there(table, parts, there, audited, fitted[0], classifier, seed, n_jobs)
        loss_there = next(model.loss for model in models if model.chosen)
        target = target_there(table.target, here, there.truth)
    else:
        measure = main_measure(table.target, parts)
        weighted = _weighted(table, parts, classifier, audited, report, measure, seed)
    p_value = None if auc is None else float(report.p_value)
    loss_here = loss_of(audited.outcome, measure)
    return Transfer(
        there.where, report.verdict, auc, p_value, _columns(report), models, loss_here, loss_there, weighted, measure,
        target, 0 if there.truth is None else int(has_value(there.truth).sum()),
    )  # fmt: skip


def density_ratio(table: AuditTable, rows: np.ndarray, new: Any) -> Any:
    """A classifier of new rows against those at hand: its odds say how much more frequent a row is among the new."""
    import pandas as pd

    both = pd.concat([table.frame.iloc[rows], new], ignore_index=True)
    for name in table.categories:
        both[name] = both[name].astype(object)
    numbers = [name for name in table.frame.columns if name not in table.categories]
    model = make_pipeline(linear_input_of(numbers, table.categories), LogisticRegression(max_iter=1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(both, np.arange(len(both)) >= len(rows))


def odds(classifier: Any, frame: Any, categories: list[Any]) -> np.ndarray:
    """Odds of being a new row, one on average."""
    read = frame.copy()
    for name in categories:
        read[name] = read[name].astype(object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        share = np.clip(classifier.predict_proba(read)[:, 1], 1e-9, 1 - 1e-9)
    found = share / (1 - share)
    return found / found.mean()


def _models_there(
    table: AuditTable, parts: RowParts, there: There, audited: Fitted, constant: Fitted, classifier: Any, seed: int,
    n_jobs: int | None,
) -> tuple[tuple[ModelScore, ...], str]:  # fmt: skip
    """The audited model, and plain, weighted and V-matrix boosting, on the rows there; and the measure."""
    kind = VMatrixBoostingClassifier if table.target.is_classes else VMatrixBoostingRegressor
    X, y = table.frame.iloc[parts.train], table.target.labels[parts.train]
    weights = odds(classifier, X, table.categories)
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)
        plain = kind(blend=0, **shared).fit(X, y)
        weighted = kind(blend=0, **shared).fit(X, y, weights)
        for_there = kind(**shared).fit(X, y, X_target=there.frame)
    trained = [
        ("plain boosting", "squared loss on the training rows", plain),
        ("importance-weighted boosting", "rows weighted to look like those there", weighted),
        ("V-matrix boosting", "the loss as rows there see it", for_there),
    ]
    contestant, target = audited.contestant, table.target
    reads, name = (there.raw, contestant.name) if contestant.raw else (there.frame, None)
    own = there.outcome(audited.model, target, reads, name)
    base = there.outcome(constant.model, target, there.frame)
    lines = [(CONSTANT, constant.contestant.what, base), (contestant.name, contestant.what, own)]
    lines += [(name, what, there.outcome(model, target, there.frame)) for name, what, model in trained]
    measure = main_measure(target, parts) if base.second is None or enough(base.second) else measure_of(target)
    return tuple(
        score(name, what, outcome, base, measure, seed, chosen=i == 1, yours=i == 1 and contestant.raw)
        for i, (name, what, outcome) in enumerate(lines)
    ), measure


def _weighted(
    table: AuditTable,
    parts: RowParts,
    classifier: Any,
    audited: Fitted,
    report: ShiftReport,
    measure: str,
    seed: int,
) -> WeightedEstimate:
    """The loss that the held-out rows let one expect there, if the target depends on the columns as it does here."""
    weights, outcome = odds(classifier, table.frame.iloc[parts.test], table.categories), audited.outcome
    n_rows, effective = len(weights), effective_rows(weights)
    plain, too_few = loss_of(outcome, measure), effective < FEWEST_EFFECTIVE
    if measure == RANKING_ERROR:
        assert outcome.second is not None
        of_either = [effective_rows(weights[kind]) for kind in (outcome.second, ~outcome.second)]
        too_few = too_few or min(of_either) < FEWEST_RARE
    if too_few or report.auc > TOLD_APART:
        sentence = (
            "It cannot be known: hardly any held-out row, or of a rare class hardly any of its rows, is like the rows "
            "there. Get the target of some rows there, and run the audit again with them."
        )
        return WeightedEstimate(None, plain, effective, n_rows, sentence)
    sentence = "If the target depends on the columns there as it does here, which no look at the columns can tell."
    loss = bootstrap_interval(
        lambda rows: weighted_loss(outcome, weights, rows, measure), n_rows, seed, BOOTSTRAPS, outcome.groups
    )
    return WeightedEstimate(loss, plain, effective, n_rows, sentence)


def effective_rows(weights: np.ndarray) -> float:
    """As many rows of equal weight would tell as much."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def weighted_loss(outcome: Outcome, weights: np.ndarray, rows: np.ndarray, measure: str) -> float:
    """The loss of some rows, each by its weight; NaN where rows of one class alone cannot be ranked."""
    if measure == RANKING_ERROR:
        scores, second = (each[rows] for each in outcome.ranking)
        one_class = second.all() or not second.any()
        return float("nan") if one_class else 1 - float(roc_auc_score(second, scores, sample_weight=weights[rows]))
    mean = float(np.average(outcome.losses[rows].astype(np.float64), weights=weights[rows]))
    return mean if measure == ERROR_RATE else float(np.sqrt(mean))


def target_there(target: Target, here: np.ndarray, truth: np.ndarray) -> ShiftedColumn:
    """How the target itself differs between rows at hand and rows there."""
    import pandas as pd

    known = truth[has_value(truth)]
    if target.is_classes:
        tables = [pd.Series(pd.Categorical(target.text_of(labels))) for labels in (target.labels[here], known)]
        shares = pd.concat([table.value_counts(normalize=True) for table in tables], axis=1).fillna(0.0)
        most = (shares.iloc[:, 1] - shares.iloc[:, 0]).abs().idxmax()
        text = f"{most}: {shares.loc[most].iloc[0]:.1%} of the rows here, {shares.loc[most].iloc[1]:.1%} there"
        unseen = shares[shares.iloc[:, 0] == 0]
        if len(unseen):
            text += f"; {', '.join(unseen.index[:3])}, not seen here: {unseen.iloc[:, 1].sum():.1%} there"
    else:
        tables = [pd.Series(values.astype(np.float64)) for values in (target.y[here], known)]
        means, spreads = ([f"{getattr(table, what)():.4g}" for table in tables] for what in ("mean", "std"))
        text = f"mean {means[0]} here, {means[1]} there; standard deviation {spreads[0]} and {spreads[1]}"
    one, other = (table.to_frame(target.name) for table in tables)
    (found,) = compare_columns(ComparedTables.read(one, other, "from_dtype"))
    return ShiftedColumn(target.name, found.distance, found.p_value, found.outcome, text)


def _columns(report: ShiftReport) -> tuple[ShiftedColumn, ...]:
    return tuple(
        ShiftedColumn(column.name, column.distance, column.p_value, column.outcome, _difference(column))
        for column in report.columns
    )


def _difference(column: ColumnShift) -> str:
    """What differs besides the distribution, in a few words."""
    parts = []
    if column.missing or column.missing_target:
        parts.append(f"missing {column.missing:.1%} here, {column.missing_target:.1%} there")
    if column.unseen:
        what = "a category not seen here" if column.kind == CATEGORY else "a value outside the range here"
        parts.append(f"{column.unseen:.1%} have {what}")
    return "; ".join(parts)
