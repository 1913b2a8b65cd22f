"""Table 2: our single SGB model, NGBoost, CatBoost and deep ensembles, and whether ours reaches the threshold.

The threshold is the better of the paper's NGBoost and CatBoost plus its standard deviation over the square root of the
number of splits. A mean that the paper would print as the same number as the better of the two also reaches it.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from surefoot_experiments.skeleton.judge import VERDICTS, is_at_least
from surefoot_experiments.skeleton.report import table
from surefoot_experiments.uncertainty.datasets import DATASETS, REGRESSION, Dataset
from surefoot_experiments.uncertainty.methods import SGB
from surefoot_experiments.uncertainty.paper import CATBOOST, DEEP_ENSEMBLE, NGBOOST, PrintedNumber, TableKey, printed
from surefoot_experiments.uncertainty.scores import Score, Scores

NUMBER, TITLE = 2, "Comparison with existing methods"
PEERS = (NGBOOST, CATBOOST, DEEP_ENSEMBLE)
MEASURES = {"nll": "NLL", "error": "RMSE"}


@dataclass(frozen=True)
class ThresholdRow:
    """One dataset and measure: our score, the paper's numbers, and the threshold."""

    dataset: Dataset
    measure: str
    score: Score
    peers: dict[str, PrintedNumber]

    @property
    def better(self) -> PrintedNumber:
        return min((self.peers[NGBOOST], self.peers[CATBOOST]), key=lambda peer: peer.value)

    @property
    def threshold(self) -> float:
        return self.better.value + (self.better.spread or 0.0) / sqrt(self.dataset.n_splits)

    @property
    def margins(self) -> np.ndarray:
        """The distance of each split below the threshold, or below numbers that print as the better of the two."""
        return max(self.threshold, self.better.value + 0.5 * 10.0**-self.better.decimals) - self.score.values

    @property
    def verdict(self) -> str:
        return {True: "reached", False: "not reached", None: VERDICTS[None]}[is_at_least(self.margins)]


def threshold_rows(scores: Scores) -> list[ThresholdRow]:
    """The regression datasets with results, first by likelihood, then by RMSE."""
    rows = []
    for measure in MEASURES:
        for dataset in DATASETS:
            score = scores.get(dataset.name, SGB, measure) if dataset.task == REGRESSION else None
            if score is not None:
                numbers = {peer: printed(TableKey(NUMBER, dataset.name, measure, "", peer)) for peer in PEERS}
                peers = {name: number for name, number in numbers.items() if number}
                rows.append(ThresholdRow(dataset=dataset, measure=measure, score=score, peers=peers))
    return rows


def as_markdown(rows: Sequence[ThresholdRow]) -> str:
    """Two tables, or a sentence if there are no results."""
    blocks = []
    for measure, title in MEASURES.items():
        of_measure = [row for row in rows if row.measure == measure]
        if of_measure:
            header = ["dataset", "splits", "SGB, ours", *(f"{peer}, paper" for peer in PEERS), "threshold", ""]
            lines = [
                [
                    row.dataset.title,
                    str(len(row.score.splits)),
                    _score_text(row.score),
                    *(_printed_text(row.peers[peer]) for peer in PEERS),
                    f"{row.threshold:.3f}",
                    row.verdict,
                ]
                for row in of_measure
            ]
            blocks.append(f"{title} (lower is better):\n\n{table(header, lines)}")
    return "\n\n".join(blocks) if blocks else "No results yet."


def as_csv(rows: Sequence[ThresholdRow]) -> str:
    """One line per dataset and measure."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "measure", "ours", "deviation", "splits", *PEERS, "threshold", "reached"])
    for row in rows:
        writer.writerow(
            [
                row.dataset.name,
                row.measure,
                f"{row.score.mean:.6g}",
                f"{row.score.deviation:.6g}",
                len(row.score.splits),
                *(row.peers[peer].value for peer in PEERS),
                f"{row.threshold:.6g}",
                row.verdict,
            ]
        )
    return text.getvalue()


def _score_text(score: Score) -> str:
    deviation = f" ± {score.deviation:.2f}" if len(score.splits) > 1 else ""
    mean = f"{score.mean:.1g}" if 0 < abs(score.mean) < 0.005 else f"{score.mean:.3f}"
    return mean + deviation


def _printed_text(number: PrintedNumber) -> str:
    deviation = f" ± {number.spread:.2f}" if number.spread is not None else ""
    return f"{number.value:.2f}{deviation}"
