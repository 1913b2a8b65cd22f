"""The summary of a run in Markdown: findings, remarks, and every table with the paper's numbers."""

from collections.abc import Iterable, Sequence
from typing import Any

from surefoot_experiments.skeleton.report import QUICK_MARK, bullets, image, table
from surefoot_experiments.uncertainty import table_2
from surefoot_experiments.uncertainty.comparison_table import TableCell, TableLayout, as_markdown, count_reached
from surefoot_experiments.uncertainty.datasets import BY_NAME, DATASETS, Dataset
from surefoot_experiments.uncertainty.findings import PerDatasetFinding
from surefoot_experiments.uncertainty.heart import detection_aucs
from surefoot_experiments.uncertainty.maps import TITLES
from surefoot_experiments.uncertainty.methods import FOREST_SPLITS, FORESTS, HELD_OUT_FOR_SCALE, UncertaintySettings
from surefoot_experiments.uncertainty.out_of_domain import CT_SLICES, NEEDS_CT, YEAR
from surefoot_experiments.uncertainty.scores import Scores
from surefoot_experiments.uncertainty.table_2 import ThresholdRow

HOW_TO_READ = """\
In the tables, our mean over splits comes first and the paper's number is in brackets. The methods of a table are
compared on the splits that all of them have. A star marks the best method on a dataset and all methods that a paired
t-test over splits does not distinguish from it (p > 0.05, the paper's A.4); classification has one split and therefore
no stars. PRR, AUC-ROC and the error rate are in percent. TU is total uncertainty, KU knowledge uncertainty. † marks
datasets that are only a part of the paper's: their numbers are shown, but not counted as reached or not. Splits of one
table share rows, so the t-tests and the standard errors are somewhat too optimistic.

A finding holds for a dataset if the 95% interval of the mean gap (Student's t over at least five splits) lies where the
statement says, and does not hold if the interval lies elsewhere; otherwise it is inconclusive. Gaps are in the units of
the measure, with minimum and maximum over the splits. Classification has one split and one ensemble of each method, so
these datasets are always inconclusive."""
THRESHOLD = """\
The threshold is the better of the paper's NGBoost and CatBoost plus its standard deviation over the square root of the
number of splits. A mean that prints as the same number as the better of the two also reaches it. The threshold is
reached, or not reached, if the 95% interval of our mean over splits lies on one side of it; otherwise the result is
inconclusive."""


def write_summary(
    *,
    title: str,
    command: str,
    seconds: float,
    findings: Sequence[PerDatasetFinding],
    remarks: Sequence[str],
    table_2_rows: Sequence[ThresholdRow],
    tables: Sequence[tuple[TableLayout, Sequence[TableCell]]],
    heart: Any,
) -> str:
    """The whole page; figures are files in the same folder."""
    first, *others = tables
    parts = [
        f"# {title}",
        bullets([f"Command: `{command}`", f"Tuning, training and testing: {seconds / 3600:.2f} hours on one thread"]),
        "## Findings of the paper",
        bullets(finding.markdown for finding in findings),
        "## Remarks",
        bullets(remarks),
        HOW_TO_READ,
        *([] if heart is None else [_figures(heart)]),
        _section(*first),
        f"## Table 2: {table_2.TITLE}\n\n{THRESHOLD}\n\n{table_2.as_markdown(table_2_rows)}\n\n{image('table-2')}",
        *(_section(*other) for other in others),
    ]
    return "\n\n".join(parts) + "\n"


def _section(layout: TableLayout, cells: Sequence[TableCell]) -> str:
    reached = count_reached(cells)
    comparable = sum(reached.values())
    counts = (
        f"In {reached[True]} of {comparable} comparable cells our boosters are at least as good as the paper's, in "
        f"{reached[False]} they are worse, and {reached[None]} cells are inconclusive or have only one split."
    )
    return "\n\n".join(
        [
            f"## Table {layout.number}: {layout.title}",
            *([counts] if comparable else []),
            as_markdown(layout, cells),
            image(f"table-{layout.number}"),
        ]
    )


def _figures(heart: Any) -> str:
    aucs = detection_aucs(heart)
    rows = [
        [title, f"{aucs[method]['total']:.3f}", f"{aucs[method]['knowledge']:.3f}", _mean_knowledge(heart, method)]
        for method, title in TITLES.items()
    ]
    header = ["", "AUC-ROC of total", "AUC-ROC of knowledge", "mean knowledge inside / outside"]
    reached = [title for method, title in TITLES.items() if aucs[method]["knowledge"] == 1.0]
    missed = [title for title in TITLES.values() if title not in reached]
    return "\n\n".join(
        [
            "## Figures 2, 3 and 4: heart and spiral",
            "Cells of the heart, which have no training rows, against the other cells:",
            table(header, rows),
            "In the paper, knowledge uncertainty separates the heart perfectly: "
            f"{_reached_text(reached, missed)} There is one ensemble of one seed each, so this is an example and not a "
            "comparison.",
            *(image(f"figure-{number}") for number in (2, 3, 4)),
        ]
    )


def _reached_text(reached: Sequence[str], missed: Sequence[str]) -> str:
    texts = [f"reached by {' and '.join(reached)}"] if reached else []
    texts += [f"not reached by {' and '.join(missed)}"] if missed else []
    return "; ".join(texts) + "."


def _mean_knowledge(heart: Any, method: str) -> str:
    values, inside = heart[f"{method} knowledge"], heart["inside"].astype(bool)
    return f"{values[inside].mean():.2g} / {values[~inside].mean():.2g}"


GENERAL_REMARKS = (
    "Depth, rate and (for SGB) the number of trees are chosen on each split by the likelihood of a fifth of its "
    "training rows (tuning.csv); then all training rows are used. The paper uses 1,000 trees for SGB too.",
    "Single models are the first members of the ensembles. In regression an ensemble trains one more model, which "
    f"holds out a tenth of the training rows so that the others can fit their scale ({' and '.join(HELD_OUT_FOR_SCALE)}"
    "); with SGB it may also remove the last trees.",
    "The second out-of-domain set, from Higgs, is ours: the paper has no numbers for it.",
    "The mask and the noise of the heart, and the spirals, are ours: the paper shows its own only as pictures.",
)


def make_remarks(scores: Scores, settings: UncertaintySettings, sources: dict[str, str]) -> list[str]:
    """Remarks on the run; ``sources`` are the files of the tables."""
    present = [dataset for dataset in DATASETS if dataset.name in scores.datasets]
    absent = [dataset for dataset in DATASETS if dataset not in present]
    remarks = [_quick_remark(settings)] if settings.quick else []
    remarks += [
        f"{dataset.title}† is PARTIAL ({_row_counts(scores, dataset)}): {dataset.remark}."
        for dataset in present
        if dataset.remark
    ]
    if absent:
        remarks.append(f"No results for {', '.join(f'{dataset.title} ({dataset.file})' for dataset in absent)}.")
    remarks += _missing_splits(scores, present)
    remarks += [*_out_of_domain_remarks(sources), *GENERAL_REMARKS]
    if any(scores.get(dataset.name, FORESTS, "error") for dataset in present):
        remarks.append(
            f"Forests are run on the first {FOREST_SPLITS} splits. Those of the ensemble have "
            f"{settings.forest_trees // settings.members} trees each, where the authors have as many as in the single "
            f"forest, {settings.forest_trees:,}. Leave-one-out means are multiplied by noise as in the authors' code; "
            "probabilities of 0 are raised to 2e-16, as in scikit-learn."
        )
    return remarks


def _quick_remark(settings: UncertaintySettings) -> str:
    return (
        f"{QUICK_MARK}: {settings.trees} trees, depths {_join(settings.depths)}, rates {_join(settings.rates)}, "
        f"forests of {settings.forest_trees} trees, {settings.rows_per_cell} rows in a cell of the heart."
    )


def _join(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _row_counts(scores: Scores, dataset: Dataset) -> str:
    line = scores.lines(dataset.name)[0]
    return f"{line.train_rows + line.test_rows:,} rows of the paper's {dataset.paper_rows:,}"


def _missing_splits(scores: Scores, datasets: list[Dataset]) -> list[str]:
    counts = {dataset: len({line.split for line in scores.lines(dataset.name)}) for dataset in datasets}
    few = [f"{dataset.title} {n} of {dataset.n_splits}" for dataset, n in counts.items() if n < dataset.n_splits]
    return [f"Fewer splits than published: {', '.join(few)}."] if few else []


def _out_of_domain_remarks(sources: dict[str, str]) -> list[str]:
    """The source of the first set of out-of-domain rows, if it differs from the paper's."""
    remarks = []
    if sources.get(YEAR.title, "").endswith(".parquet"):
        remarks.append(
            f"Out-of-domain rows are drawn, with replacement, from the first 1,176 rows of Year MSD "
            f"({sources[YEAR.title]}), because the whole table ({next(iter(YEAR.files))}) is not available."
        )
    if sources and CT_SLICES.title not in sources:
        names = ", ".join(BY_NAME[name].title for name in NEEDS_CT)
        remarks.append(
            f"CT slices ({next(iter(CT_SLICES.files))}) are not available: the out-of-domain rows of {names} come from "
            "Year MSD (those of Year MSD itself from Higgs)."
        )
    return remarks
