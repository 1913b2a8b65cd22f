"""The paper's findings, and the number of datasets on which our results agree, disagree or are inconclusive."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot_experiments.skeleton.judge import MIN_VALUES, VERDICTS, is_above, is_at_least, is_within, spread
from surefoot_experiments.uncertainty.datasets import CLASSIFICATION, DATASETS, REGRESSION
from surefoot_experiments.uncertainty.methods import (
    ENSEMBLES,
    FOREST,
    FORESTS,
    SGB,
    SGB_ENSEMBLE,
    SGLB,
    SGLB_ENSEMBLE,
    VIRTUAL_FOREST,
    VIRTUAL_SGLB,
)
from surefoot_experiments.uncertainty.scores import Scores
from surefoot_experiments.uncertainty.table_2 import MEASURES, ThresholdRow

CLOSE = 0.03  # of AUC-ROC: the meaning of "about as well"
ALL_TASKS = (CLASSIFICATION, REGRESSION)


@dataclass(frozen=True)
class Gap:
    """Two numbers, each identified by method, measure and uncertainty: the first is larger, or both are close."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    close: bool = False

    def judge(self, scores: Scores, dataset: str) -> "GapResult | None":
        """The verdict over the splits; None if one of the numbers is not known."""
        gaps = scores.gaps(dataset, self.first, self.second)
        if not len(gaps):
            return None
        return GapResult(is_within(gaps, 0.0, CLOSE) if self.close else is_above(gaps), gaps)


@dataclass(frozen=True, eq=False)
class GapResult:
    """The verdict on a statement for one dataset, and the gap on each split."""

    holds: bool | None
    gaps: np.ndarray

    @property
    def text(self) -> str:
        """The mean gap, with minimum and maximum over the splits."""
        return f"{self.gaps[0]:+.2f}" if len(self.gaps) == 1 else spread(self.gaps, "{:+.2f}".format)


@dataclass(frozen=True)
class GapClaim:
    """A statement of the paper, and the gaps that it is about, by method; they are judged on every dataset."""

    text: str
    gaps: dict[str, Gap]
    tasks: tuple[str, ...] = ALL_TASKS


@dataclass(frozen=True)
class PerDatasetFinding:
    """A statement of the paper, and its result on each dataset (and method) with the needed numbers."""

    text: str
    results: dict[str, GapResult]

    @property
    def markdown(self) -> str:
        """How often the statement holds, does not hold or is inconclusive, with the gaps over splits."""
        if not self.results:
            return f"**{self.text}** No results yet."
        texts = [self._count(verdict, holds) for holds, verdict in VERDICTS.items()]
        return f"**{self.text}** Of {len(self.results)} results: {'; '.join(text for text in texts if text)}."

    def _count(self, verdict: str, holds: bool | None) -> str:
        results = {name: result for name, result in self.results.items() if result.holds is holds}
        several = [f"{name} {result.text}" for name, result in results.items() if len(result.gaps) >= MIN_VALUES]
        few = [f"{name} {result.text}" for name, result in results.items() if len(result.gaps) < MIN_VALUES]
        parts = [", ".join(several)] if several else []
        parts += [f"fewer than {MIN_VALUES} splits, one ensemble each: {', '.join(few)}"] if few else []
        return f"{verdict} in {len(results)} ({'; '.join(parts)})" if results else ""


CLAIMS = (
    GapClaim(
        "Total uncertainty detects errors better than knowledge uncertainty does (PRR).",
        {method: Gap((method, "prr", "total"), (method, "prr", "knowledge")) for method in ENSEMBLES},
    ),
    GapClaim(
        "Knowledge uncertainty detects out-of-domain rows better than total uncertainty does (AUC-ROC).",
        {method: Gap((method, "auc", "knowledge"), (method, "auc", "total")) for method in ENSEMBLES},
    ),
    GapClaim(
        f"SGB and SGLB ensembles detect out-of-domain rows about equally well (within {100 * CLOSE:.0f} points).",
        {"": Gap((SGB_ENSEMBLE, "auc", "knowledge"), (SGLB_ENSEMBLE, "auc", "knowledge"), close=True)},
    ),
    GapClaim(
        "The virtual ensemble detects out-of-domain rows less well than the ensemble.",
        {"": Gap((SGLB_ENSEMBLE, "auc", "knowledge"), (VIRTUAL_SGLB, "auc", "knowledge"))},
    ),
    GapClaim(
        "On classification tasks the virtual ensemble still detects out-of-domain rows better than a single model.",
        {"": Gap((VIRTUAL_SGLB, "auc", "knowledge"), (SGLB, "auc", "total"))},
        (CLASSIFICATION,),
    ),
    GapClaim(
        "Ensembles have a better likelihood than single models.",
        {SGB: Gap((SGB, "nll"), (SGB_ENSEMBLE, "nll")), SGLB: Gap((SGLB, "nll"), (SGLB_ENSEMBLE, "nll"))},
    ),
    GapClaim(
        "On classification tasks SGLB has a better likelihood than a random forest.",
        {"": Gap((FOREST, "nll"), (SGLB, "nll"))},
        (CLASSIFICATION,),
    ),
    GapClaim(
        "The virtual ensemble of a forest detects out-of-domain rows about as well as a true ensemble (within "
        f"{100 * CLOSE:.0f} points).",
        {"": Gap((VIRTUAL_FOREST, "auc", "knowledge"), (FORESTS, "auc", "knowledge"), close=True)},
    ),
)


def judge_tables(scores: Scores, rows: Sequence[ThresholdRow]) -> list[PerDatasetFinding]:
    """The thresholds of table 2, and the paper's statements about its other tables."""
    return [*(_judge_thresholds(rows, measure) for measure in MEASURES), *(_judge(claim, scores) for claim in CLAIMS)]


def _judge_thresholds(rows: Sequence[ThresholdRow], measure: str) -> PerDatasetFinding:
    """Whether our scores reach the threshold; the gap is the distance below it."""
    text = f"Table 2: our SGB reaches the threshold set by the better of NGBoost and CatBoost ({MEASURES[measure]})."
    gaps = {row.dataset.title: row.margins for row in rows if row.measure == measure}
    return PerDatasetFinding(text, {name: GapResult(is_at_least(values), values) for name, values in gaps.items()})


def _judge(claim: GapClaim, scores: Scores) -> PerDatasetFinding:
    """Judge a claim on every dataset that has the needed numbers."""
    results = {}
    for dataset in DATASETS:
        for method, gap in claim.gaps.items() if dataset.task in claim.tasks else ():
            result = gap.judge(scores, dataset.name)
            if result is not None:
                results[f"{dataset.title} ({method})" if method else dataset.title] = result
    return PerDatasetFinding(claim.text, results)
