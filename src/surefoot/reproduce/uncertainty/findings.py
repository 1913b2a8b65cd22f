"""The paper's findings, and on how many datasets our results agree with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan

from surefoot.reproduce.uncertainty.datasets import BY_NAME, CLASSIFICATION, DATASETS
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

CLOSE = 0.03  # of AUC-ROC: what "about as well" means


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper and the places where it could be looked for; True where it holds."""

    text: str
    places: dict[str, bool]

    @property
    def holds(self) -> int:
        return sum(self.places.values())

    @property
    def words(self) -> str:
        """How often it holds, and where it does not."""
        if not self.places:
            return f"**{self.text}** No results yet."
        fails = [place for place, holds in self.places.items() if not holds]
        told = f" Not: {', '.join(fails)}." if fails else ""
        return f"**{self.text}** Holds in {self.holds} of {len(self.places)}.{told}"


def judge(scores: Scores, rows: Sequence[BarRow]) -> list[Finding]:
    """What the paper says about its tables."""
    return [
        *(_bars(rows, measure) for measure in MEASURES),
        _finding(
            "Total uncertainty finds errors better than knowledge uncertainty (PRR).",
            scores,
            {
                method: lambda at, method=method: at(method, "prr", "total") - at(method, "prr", "knowledge")
                for method in ENSEMBLES
            },
        ),
        _finding(
            "Knowledge uncertainty finds out-of-domain rows better than total uncertainty (AUC-ROC).",
            scores,
            {
                method: lambda at, method=method: at(method, "auc", "knowledge") - at(method, "auc", "total")
                for method in ENSEMBLES
            },
        ),
        _finding(
            f"SGB and SGLB ensembles find out-of-domain rows about equally well (within {100 * CLOSE:.0f} points).",
            scores,
            {"": lambda at: CLOSE - abs(at(SGB_ENSEMBLE, "auc", "knowledge") - at(SGLB_ENSEMBLE, "auc", "knowledge"))},
        ),
        _finding(
            "The virtual ensemble finds them less well than the ensembles.",
            scores,
            {"": lambda at: at(SGLB_ENSEMBLE, "auc", "knowledge") - at(VIRTUAL_SGLB, "auc", "knowledge")},
        ),
        _finding(
            "On classification tasks the virtual ensemble still finds them better than a single model.",
            scores,
            {"": lambda at: at(VIRTUAL_SGLB, "auc", "knowledge") - at(SGLB, "auc", "total")},
            only_classification=True,
        ),
        _finding(
            "Ensembles have a better likelihood than single models.",
            scores,
            {
                SGB: lambda at: at(SGB, "nll") - at(SGB_ENSEMBLE, "nll"),
                SGLB: lambda at: at(SGLB, "nll") - at(SGLB_ENSEMBLE, "nll"),
            },
        ),
        _finding(
            "SGLB has a better likelihood than random forests (classification).",
            scores,
            {"": lambda at: at(FOREST, "nll") - at(SGLB, "nll")},
            only_classification=True,
        ),
        _finding(
            f"For forests a virtual ensemble finds out-of-domain rows about as well as a true one (within {100 * CLOSE:.0f} points).",
            scores,
            {"": lambda at: CLOSE - abs(at(VIRTUAL_FOREST, "auc", "knowledge") - at(FORESTS, "auc", "knowledge"))},
        ),
    ]


def _bars(rows: Sequence[BarRow], measure: str) -> Finding:
    text = f"Table 2: the better of NGBoost and CatBoost is reached ({MEASURES[measure]})."
    return Finding(text, {row.dataset.title: row.is_reached for row in rows if row.measure == measure})


def _finding(
    text: str,
    scores: Scores,
    claims: dict[str, Callable[[Callable[..., float]], float]],
    only_classification: bool = False,
) -> Finding:
    """A claim holds where its number is above 0; places without the results it needs are left out."""
    places = {}
    for dataset in DATASETS:
        if dataset.name not in scores.datasets or (only_classification and dataset.task != CLASSIFICATION):
            continue
        for name, claim in claims.items():
            number = claim(lambda *what, dataset=dataset: scores.mean(dataset.name, *what))
            if not isnan(number):
                places[f"{BY_NAME[dataset.name].title}{f' ({name})' if name else ''}"] = number > 0
    return Finding(text, places)
