"""The paper's findings, and on how many datasets our results agree with them, cannot tell, or do not agree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot_experiments.skeleton.judge import MIN_VALUES, WORDS, is_above, is_at_least, is_within, spread
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
from surefoot_experiments.uncertainty.table_2 import MEASURES, BarRow

CLOSE = 0.03  # of AUC-ROC: what "about as well" means here
EVERY_TASK = (CLASSIFICATION, REGRESSION)


@dataclass(frozen=True)
class Gap:
    """Two numbers, each named by method, measure and uncertainty: the first is larger, or both are close."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    close: bool = False

    def judge(self, scores: Scores, dataset: str) -> "Place | None":
        """What the splits say; None where one of the numbers is not known."""
        gaps = scores.gaps(dataset, self.first, self.second)
        if not len(gaps):
            return None
        return Place(is_within(gaps, 0.0, CLOSE) if self.close else is_above(gaps), gaps)


@dataclass(frozen=True, eq=False)
class Place:
    """A dataset where a sentence was looked for: whether it holds there, and the gap on each split."""

    holds: bool | None
    gaps: np.ndarray

    @property
    def words(self) -> str:
        """The mean gap, with the least and the largest of the splits."""
        return f"{self.gaps[0]:+.2f}" if len(self.gaps) == 1 else spread(self.gaps, "{:+.2f}".format)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper; its gaps, by the method they are about, are looked for on every dataset."""

    text: str
    gaps: dict[str, Gap]
    tasks: tuple[str, ...] = EVERY_TASK


@dataclass(frozen=True)
class DatasetsFinding:
    """A sentence of the paper and the places where it could be looked for."""

    text: str
    places: dict[str, Place]

    @property
    def words(self) -> str:
        """How often it holds, where it does not and where that cannot be told, with the gaps over splits."""
        if not self.places:
            return f"**{self.text}** No results yet."
        told = [self._told(words, holds) for holds, words in WORDS.items()]
        return f"**{self.text}** Of {len(self.places)} places: {'; '.join(words for words in told if words)}."

    def _told(self, words: str, holds: bool | None) -> str:
        here = {name: place for name, place in self.places.items() if place.holds is holds}
        several = [f"{name} {place.words}" for name, place in here.items() if len(place.gaps) >= MIN_VALUES]
        few = [f"{name} {place.words}" for name, place in here.items() if len(place.gaps) < MIN_VALUES]
        parts = [", ".join(several)] if several else []
        parts += [f"fewer than {MIN_VALUES} splits, one ensemble each: {', '.join(few)}"] if few else []
        return f"{words} in {len(here)} ({'; '.join(parts)})" if here else ""


CLAIMS = (
    Claim(
        "Total uncertainty finds errors better than knowledge uncertainty does (PRR).",
        {method: Gap((method, "prr", "total"), (method, "prr", "knowledge")) for method in ENSEMBLES},
    ),
    Claim(
        "Knowledge uncertainty finds out-of-domain rows better than total uncertainty does (AUC-ROC).",
        {method: Gap((method, "auc", "knowledge"), (method, "auc", "total")) for method in ENSEMBLES},
    ),
    Claim(
        f"SGB and SGLB ensembles find them about equally well (within {100 * CLOSE:.0f} points).",
        {"": Gap((SGB_ENSEMBLE, "auc", "knowledge"), (SGLB_ENSEMBLE, "auc", "knowledge"), close=True)},
    ),
    Claim(
        "The virtual ensemble finds them less well than the ensemble.",
        {"": Gap((SGLB_ENSEMBLE, "auc", "knowledge"), (VIRTUAL_SGLB, "auc", "knowledge"))},
    ),
    Claim(
        "On classification tasks the virtual ensemble still finds them better than a single model.",
        {"": Gap((VIRTUAL_SGLB, "auc", "knowledge"), (SGLB, "auc", "total"))},
        (CLASSIFICATION,),
    ),
    Claim(
        "Ensembles have a better likelihood than single models.",
        {SGB: Gap((SGB, "nll"), (SGB_ENSEMBLE, "nll")), SGLB: Gap((SGLB, "nll"), (SGLB_ENSEMBLE, "nll"))},
    ),
    Claim(
        "On classification tasks SGLB has a better likelihood than a random forest.",
        {"": Gap((FOREST, "nll"), (SGLB, "nll"))},
        (CLASSIFICATION,),
    ),
    Claim(
        f"A forest's virtual ensemble finds them about as well as a true ensemble (within {100 * CLOSE:.0f} points).",
        {"": Gap((VIRTUAL_FOREST, "auc", "knowledge"), (FORESTS, "auc", "knowledge"), close=True)},
    ),
)


def judge_tables(scores: Scores, rows: Sequence[BarRow]) -> list[DatasetsFinding]:
    """The bars of table 2, and what the paper says about its other tables."""
    return [*(_bars(rows, measure) for measure in MEASURES), *(_look(claim, scores) for claim in CLAIMS)]


def _bars(rows: Sequence[BarRow], measure: str) -> DatasetsFinding:
    """The gap is that below the bar."""
    text = f"Table 2: our SGB reaches the bar set by the better of NGBoost and CatBoost ({MEASURES[measure]})."
    gaps = {row.dataset.title: row.margins for row in rows if row.measure == measure}
    return DatasetsFinding(text, {name: Place(is_at_least(values), values) for name, values in gaps.items()})


def _look(claim: Claim, scores: Scores) -> DatasetsFinding:
    """Every dataset that has the results the claim needs."""
    places = {}
    for dataset in DATASETS:
        for about, gap in claim.gaps.items() if dataset.task in claim.tasks else ():
            place = gap.judge(scores, dataset.name)
            if place is not None:
                places[f"{dataset.title} ({about})" if about else dataset.title] = place
    return DatasetsFinding(claim.text, places)
