"""Tables 1, 4, 5, 6 and 7 of the paper, with our numbers and the paper's, as Markdown and as CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot_experiments.skeleton.judge import is_at_least_by_summary
from surefoot_experiments.skeleton.report import table
from surefoot_experiments.uncertainty.datasets import CLASSIFICATION, DATASETS, REGRESSION, Dataset
from surefoot_experiments.uncertainty.methods import (
    BOOSTERS,
    FOREST,
    FORESTS,
    SGLB,
    SGLB_ENSEMBLE,
    VIRTUAL_FOREST,
    VIRTUAL_SGLB,
)
from surefoot_experiments.uncertainty.paper import PrintedNumber, TableKey, printed
from surefoot_experiments.uncertainty.scores import (
    LOWER_IS_BETTER,
    Score,
    Scores,
    not_worse_than_best,
    on_common_splits,
)

TITLES = {
    ("nll", CLASSIFICATION): "NLL",
    ("nll", REGRESSION): "NLL",
    ("error", CLASSIFICATION): "% error",
    ("error", REGRESSION): "RMSE",
    ("prr", CLASSIFICATION): "% PRR",
    ("prr", REGRESSION): "% PRR",
    ("auc", CLASSIFICATION): "% AUC-ROC",
    ("auc", REGRESSION): "% AUC-ROC",
    ("auc2", CLASSIFICATION): "% AUC-ROC of the second out-of-domain set",
    ("auc2", REGRESSION): "% AUC-ROC of the second out-of-domain set",
}
DECIMALS = {"nll": 2, "error": 2, "prr": 0, "auc": 0, "auc2": 0}
MORE_DECIMALS = {("nll", CLASSIFICATION): 3, ("error", CLASSIFICATION): 1}


@dataclass(frozen=True)
class TableLayout:
    """Which numbers a table shows; each pair of task and measure in ``parts`` is a block."""

    number: int
    title: str
    methods: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]
    uncertainties: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class TableCell:
    """One of our numbers and the paper's, in percent where the paper uses percentages."""

    dataset: Dataset
    measure: str
    uncertainty: str
    method: str
    mean: float
    deviation: float
    n_splits: int
    paper: PrintedNumber | None
    among_best: bool

    @property
    def is_comparable(self) -> bool:
        """Whether the paper has a number for the same rows."""
        return self.paper is not None and not self.dataset.remark

    @property
    def is_reached(self) -> bool | None:
        """Whether our mean over splits is at least as good, within half of the last digit that the paper prints."""
        assert self.paper is not None
        sign = -1.0 if self.measure in LOWER_IS_BETTER else 1.0
        threshold = sign * self.paper.value - 0.5 * 10.0**-self.paper.decimals
        return is_at_least_by_summary(sign * self.mean, self.deviation, self.n_splits, threshold)

    @property
    def text(self) -> str:
        decimals = MORE_DECIMALS.get((self.measure, self.dataset.task), DECIMALS[self.measure])
        small = decimals > 0 and 0 < abs(self.mean) < 0.5 * 10**-decimals
        ours = f"{self.mean:.1g}" if small else f"{self.mean:.{decimals}f}"
        printed = "" if self.paper is None else f" ({self.paper.value:.{self.paper.decimals}f})"
        return f"{ours}{'*' if self.among_best else ''}{printed}"


def compare(layout: TableLayout, scores: Scores) -> list[TableCell]:
    """All numbers of the table that have results."""
    cells: list[TableCell] = []
    for task, measure in layout.parts:
        for dataset in DATASETS:
            if dataset.task == task and dataset.name in scores.datasets:
                cells += _dataset_cells(layout, scores, dataset, measure)
    return cells


def _dataset_cells(layout: TableLayout, scores: Scores, dataset: Dataset, measure: str) -> list[TableCell]:
    """The cells of one dataset and measure, over the splits that all methods have.

    The best is the best of all of them, for total and knowledge uncertainty together, as in the paper.
    """
    keys = [
        TableKey(layout.number, dataset.name, measure, uncertainty, method)
        for uncertainty in layout.uncertainties
        for method in layout.methods
    ]
    all_scores = on_common_splits([scores.get(dataset.name, key.method, measure, key.uncertainty) for key in keys])
    among_best = not_worse_than_best(all_scores, measure)
    return [
        _cell(dataset, key, score, is_best)
        for key, score, is_best in zip(keys, all_scores, among_best, strict=True)
        if score is not None
    ]


def _cell(dataset: Dataset, key: TableKey, score: Score, among_best: bool) -> TableCell:
    in_percent = key.measure != "nll" and (key.measure != "error" or dataset.task == CLASSIFICATION)
    scale = 100.0 if in_percent else 1.0
    return TableCell(
        dataset=dataset,
        measure=key.measure,
        uncertainty=key.uncertainty,
        method=key.method,
        mean=scale * score.mean,
        deviation=scale * score.deviation,
        n_splits=len(score.splits),
        paper=printed(key),
        among_best=among_best,
    )


def as_markdown(layout: TableLayout, cells: Sequence[TableCell]) -> str:
    """One table per block: our number, a star if nothing is significantly better, and the paper's in brackets."""
    blocks = []
    for task, measure in layout.parts:
        of_block = [cell for cell in cells if (cell.dataset.task, cell.measure) == (task, measure)]
        if of_block:
            direction = "lower is better" if measure in LOWER_IS_BETTER else "higher is better"
            blocks.append(f"{task.capitalize()}, {TITLES[measure, task]} ({direction}):\n\n{_block(layout, of_block)}")
    return "\n\n".join(blocks) if blocks else "No results yet."


def _block(layout: TableLayout, cells: Sequence[TableCell]) -> str:
    abbreviations = {"total": "TU", "knowledge": "KU"}
    texts = {(cell.dataset.name, cell.uncertainty, cell.method): cell.text for cell in cells}
    rows = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        n_splits = max(cell.n_splits for cell in cells if cell.dataset == dataset)
        for uncertainty in layout.uncertainties:
            shown = [texts.get((dataset.name, uncertainty, method), "") for method in layout.methods]
            label = f"{dataset.title}{'†' if dataset.remark else ''}"
            rows.append([label, *([abbreviations[uncertainty]] if uncertainty else []), str(n_splits), *shown])
    header = ["dataset", *(["uncertainty"] if layout.uncertainties != ("",) else []), "splits", *layout.methods]
    return table(header, [row for row in rows if any(row[-len(layout.methods) :])])


def as_csv(cells: Sequence[TableCell]) -> str:
    """One line per number."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["dataset", "task", "measure", "uncertainty", "method", "ours", "deviation", "splits", "paper", "among_best"]
    )
    for cell in cells:
        deviation = "" if np.isnan(cell.deviation) else f"{cell.deviation:.6g}"
        paper = "" if cell.paper is None else cell.paper.value
        writer.writerow(
            [
                cell.dataset.name,
                cell.dataset.task,
                cell.measure,
                cell.uncertainty,
                cell.method,
                f"{cell.mean:.6g}",
                deviation,
                cell.n_splits,
                paper,
                cell.among_best,
            ]
        )
    return text.getvalue()


def count_reached(cells: Sequence[TableCell]) -> dict[bool | None, int]:
    """The number of cells in which our boosters are at least as good as the paper's, are worse, or are inconclusive."""
    verdicts = [cell.is_reached for cell in cells if cell.is_comparable and cell.method in BOOSTERS]
    return {verdict: verdicts.count(verdict) for verdict in (True, False, None)}


TABLE_1 = TableLayout(
    1,
    "Detection of errors and of out-of-domain rows",
    BOOSTERS,
    tuple((task, measure) for task in (CLASSIFICATION, REGRESSION) for measure in ("prr", "auc", "auc2")),
    ("total", "knowledge"),
)


TABLE_4 = TableLayout(
    4,
    "NLL, and RMSE or error rate",
    BOOSTERS,
    tuple((task, measure) for task in (CLASSIFICATION, REGRESSION) for measure in ("nll", "error")),
)


TABLE_5 = TableLayout(
    5,
    "Comparison with random forests: NLL and error rate of classifiers",
    (SGLB, FOREST, SGLB_ENSEMBLE, FORESTS),
    ((CLASSIFICATION, "nll"), (CLASSIFICATION, "error")),
)


TABLE_6 = TableLayout(
    6,
    "Comparison with random forests: RMSE",
    (SGLB, FOREST, SGLB_ENSEMBLE, FORESTS),
    ((REGRESSION, "error"),),
)


TABLE_7 = TableLayout(
    7,
    "Comparison with random forests: detection of errors and of out-of-domain rows",
    (VIRTUAL_SGLB, VIRTUAL_FOREST, SGLB_ENSEMBLE, FORESTS),
    tuple((task, measure) for task in (CLASSIFICATION, REGRESSION) for measure in ("prr", "auc", "auc2")),
    ("total", "knowledge"),
)
