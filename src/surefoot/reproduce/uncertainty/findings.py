"""The paper's findings, and on how many datasets our results agree with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from surefoot.reproduce.uncertainty.datasets import CLASSIFICATION, DATASETS, REGRESSION
from surefoot.reproduce.uncertainty.methods import (
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
from surefoot.reproduce.uncertainty.scores import Scores
from surefoot.reproduce.uncertainty.table_2 import MEASURES, BarRow

CLOSE = 0.03  # of AUC-ROC: what "about as well" means here
EVERY_TASK = (CLASSIFICATION, REGRESSION)


@dataclass(frozen=True)
class Gap:
    """Two numbers, each named by method, measure and uncertainty: the first is larger, or both are close."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    close: bool = False

    def holds(self, scores: Scores, dataset: str) -> bool | None:
        """None where one of the numbers is not known."""
        gap = scores.gap(dataset, self.first, self.second)
        if isnan(gap):
            return None
        return abs(gap) <= CLOSE if self.close else gap > 0


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper; its gaps, by the method they are about, are looked for on every dataset."""

    text: str
    gaps: dict[str, Gap]
    tasks: tuple[str, ...] = EVERY_TASK


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper and the places where it could be looked for; True where it holds."""

    text: str
    places: dict[str, bool]

    @property
    def words(self) -> str:
        """How often it holds, and where it does not."""
        if not self.places:
            return f"**{self.text}** No results yet."
        fails = [place for place, holds in self.places.items() if not holds]
        told = f" Not: {', '.join(fails)}." if fails else ""
        return f"**{self.text}** Holds in {len(self.places) - len(fails)} of {len(self.places)}.{told}"


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


def judge(scores: Scores, rows: Sequence[BarRow]) -> list[Finding]:
    """The bars of table 2, and what the paper says about its other tables."""
    return [*(_bars(rows, measure) for measure in MEASURES), *(_look(claim, scores) for claim in CLAIMS)]


def _bars(rows: Sequence[BarRow], measure: str) -> Finding:
    text = f"Table 2: our SGB reaches the bar set by the better of NGBoost and CatBoost ({MEASURES[measure]})."
    return Finding(text, {row.dataset.title: row.is_reached for row in rows if row.measure == measure})


def _look(claim: Claim, scores: Scores) -> Finding:
    """Every dataset that has the results the claim needs."""
    places = {}
    for dataset in DATASETS:
        for about, gap in claim.gaps.items() if dataset.task in claim.tasks else ():
            holds = gap.holds(scores, dataset.name)
            if holds is not None:
                places[f"{dataset.title} ({about})" if about else dataset.title] = holds
    return Finding(claim.text, places)
