"""Table 2: our single SGB model beside NGBoost, CatBoost and deep ensembles, and whether it reaches the bar.

The bar is the better of the paper's NGBoost and CatBoost plus its standard deviation over the square root of the number
of splits. A mean that the paper would print as the same number as the better of the two reaches it too.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from surefoot_experiments.skeleton.judge import WORDS, is_at_least
from surefoot_experiments.skeleton.report import table
from surefoot_experiments.uncertainty.datasets import DATASETS, REGRESSION, Dataset
from surefoot_experiments.uncertainty.methods import SGB
from surefoot_experiments.uncertainty.paper import CATBOOST, DEEP_ENSEMBLE, NGBOOST, Place, Printed, printed
from surefoot_experiments.uncertainty.scores import Score, Scores

NUMBER, TITLE = 2, "Comparison with existing methods"
PEERS = (NGBOOST, CATBOOST, DEEP_ENSEMBLE)
MEASURES = {"nll": "NLL", "error": "RMSE"}


@dataclass(frozen=True)
class BarRow:
    """One dataset and measure: our score, what the paper prints, and the bar."""

    dataset: Dataset
    measure: str
    score: Score
    peers: dict[str, Printed]

    @property
    def better(self) -> Printed:
        return min((self.peers[NGBOOST], self.peers[CATBOOST]), key=lambda peer: peer.value)

    @property
    def bar(self) -> float:
        return self.better.value + (self.better.spread or 0.0) / sqrt(self.dataset.n_splits)

    @property
    def margins(self) -> np.ndarray:
        """How far each split is below the bar, or below what prints as the better of the two."""
        return max(self.bar, self.better.value + 0.5 * 10.0**-self.better.decimals) - self.score.values

    @property
    def verdict(self) -> str:
        return {True: "reached", False: "not reached", None: WORDS[None]}[is_at_least(self.margins)]


def bar_rows(scores: Scores) -> list[BarRow]:
    """Every regression dataset with results, first by likelihood, then by RMSE."""
    rows = []
    for measure in MEASURES:
        for dataset in DATASETS:
            score = scores.get(dataset.name, SGB, measure) if dataset.task == REGRESSION else None
            if score is not None:
                found = {peer: printed(Place(NUMBER, dataset.name, measure, "", peer)) for peer in PEERS}
                rows.append(BarRow(dataset, measure, score, {name: peer for name, peer in found.items() if peer}))
    return rows


def as_markdown(rows: Sequence[BarRow]) -> str:
    """Two tables, or a word that there is nothing yet."""
    blocks = []
    for measure, title in MEASURES.items():
        here = [row for row in rows if row.measure == measure]
        if here:
            header = ["dataset", "splits", "SGB, ours", *(f"{peer}, paper" for peer in PEERS), "bar", ""]
            lines = [
                [row.dataset.title, str(len(row.score.splits)), _ours(row.score),
                 *(_theirs(row.peers[peer]) for peer in PEERS), f"{row.bar:.3f}", row.verdict]
                for row in here
            ]  # fmt: skip
            blocks.append(f"{title} (lower is better):\n\n{table(header, lines)}")
    return "\n\n".join(blocks) if blocks else "No results yet."


def as_csv(rows: Sequence[BarRow]) -> str:
    """One line per dataset and measure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "measure", "ours", "deviation", "splits", *PEERS, "bar", "reached"])
    for row in rows:
        peers = [row.peers[peer].value for peer in PEERS]
        writer.writerow(
            [row.dataset.name, row.measure, f"{row.score.mean:.6g}", f"{row.score.deviation:.6g}",
             len(row.score.splits), *peers, f"{row.bar:.6g}", row.verdict]
        )  # fmt: skip
    return text.getvalue()


def _ours(score: Score) -> str:
    spread = f" ± {score.deviation:.2f}" if len(score.splits) > 1 else ""
    mean = f"{score.mean:.1g}" if 0 < abs(score.mean) < 0.005 else f"{score.mean:.3f}"
    return mean + spread


def _theirs(peer: Printed) -> str:
    spread = f" ± {peer.spread:.2f}" if peer.spread is not None else ""
    return f"{peer.value:.2f}{spread}"
