"""The summary of a run in Markdown: findings, what to know, and every table beside the paper's numbers."""

from collections.abc import Iterable, Sequence
from typing import Any

from surefoot_experiments.skeleton.report import bullets, table
from surefoot_experiments.uncertainty import table_2
from surefoot_experiments.uncertainty.comparison_table import Cell, Layout, as_markdown, count_reached
from surefoot_experiments.uncertainty.datasets import BY_NAME, DATASETS, Dataset
from surefoot_experiments.uncertainty.findings import DatasetsFinding
from surefoot_experiments.uncertainty.heart import detection
from surefoot_experiments.uncertainty.maps import TITLES
from surefoot_experiments.uncertainty.methods import FOREST_SPLITS, FORESTS, HELD_OUT_FOR_SCALE, UncertaintySettings
from surefoot_experiments.uncertainty.out_of_domain import CT_SLICES, NEEDS_CT, YEAR
from surefoot_experiments.uncertainty.scores import Scores
from surefoot_experiments.uncertainty.table_2 import BarRow

HOW_TO_READ = """\
In the tables our mean over splits stands first and the paper's number in brackets; the methods of a table are compared
on the splits that all of them have. A star marks the best of a dataset and what a paired t-test over splits cannot tell
from it (p > 0.05, the paper's A.4); classification has one split and therefore no stars. PRR, AUC-ROC and the error
rate are in percent. TU is total, KU knowledge uncertainty. † marks datasets that are only a part of the paper's: their
numbers are shown, but not counted as reached or not. Splits of one table share rows, so that the t-tests and the
standard errors are somewhat too sure.

A finding holds in a place where the 95% interval of the mean gap (Student's t over at least five splits) lies where it
says, and does not hold where it lies elsewhere; otherwise it cannot be told. Gaps are in their own units, with the
least and the largest of the splits. Classification has one split and one ensemble of each method: nothing is
claimed from them."""
HOW_THE_BAR_IS_MEANT = """\
The bar is the better of the paper's NGBoost and CatBoost plus its standard deviation over the square root of the number
of splits; a mean that prints as the same number as the better of the two reaches it too. It is reached, or not, where
the 95% interval of our mean over splits lies on one side of it; otherwise it cannot be told."""


def write_summary(
    *,
    title: str,
    command: str,
    seconds: float,
    findings: Sequence[DatasetsFinding],
    remarks: Sequence[str],
    bars: Sequence[BarRow],
    tables: Sequence[tuple[Layout, Sequence[Cell]]],
    heart: Any,
) -> str:
    """The whole page; figures are named as files beside it."""
    first, *others = tables
    parts = [
        f"# {title}",
        bullets([f"Command: `{command}`", f"Tuning, training and testing: {seconds / 3600:.2f} hours of one thread"]),
        "## Findings of the paper",
        bullets(finding.words for finding in findings),
        "## What to know",
        bullets(remarks),
        HOW_TO_READ,
        *([] if heart is None else [_figures(heart)]),
        _section(*first),
        f"## Table 2: {table_2.TITLE}\n\n{HOW_THE_BAR_IS_MEANT}\n\n{table_2.as_markdown(bars)}\n\n{_image('table-2')}",
        *(_section(*other) for other in others),
    ]
    return "\n\n".join(parts) + "\n"


def _section(layout: Layout, cells: Sequence[Cell]) -> str:
    reached = count_reached(cells)
    comparable = sum(reached.values())
    counted = (
        f"Of the {comparable} cells to compare, our boosters are at least as good as the paper's in {reached[True]} "
        f"and worse in {reached[False]}; in {reached[None]} that cannot be told from our splits, or there is only one."
    )
    return "\n\n".join(
        [
            f"## Table {layout.number}: {layout.title}",
            *([counted] if comparable else []),
            as_markdown(layout, cells),
            _image(f"table-{layout.number}"),
        ]
    )


def _figures(heart: Any) -> str:
    found = detection(heart)
    rows = [
        [TITLES[method], f"{found[method]['total']:.3f}", f"{found[method]['knowledge']:.3f}", _levels(heart, method)]
        for method in TITLES
    ]
    header = ["", "AUC-ROC of total", "AUC-ROC of knowledge", "mean knowledge inside / outside"]
    perfect = [title for method, title in TITLES.items() if found[method]["knowledge"] == 1.0]
    missed = [title for title in TITLES.values() if title not in perfect]
    return "\n\n".join(
        [
            "## Figures 2, 3 and 4: heart and spiral",
            "Cells of the heart, which have no training rows, against the others:",
            table(header, rows),
            f"The paper finds the heart perfectly separated by knowledge uncertainty: {_told(perfect, missed)} One "
            "ensemble of one seed each: an example, not a comparison.",
            *(_image(f"figure-{number}") for number in (2, 3, 4)),
        ]
    )


def _told(perfect: Sequence[str], missed: Sequence[str]) -> str:
    told = [f"reached by {' and '.join(perfect)}"] if perfect else []
    told += [f"not reached by {' and '.join(missed)}"] if missed else []
    return "; ".join(told) + "."


def _levels(heart: Any, method: str) -> str:
    values, inside = heart[f"{method} knowledge"], heart["inside"].astype(bool)
    return f"{values[inside].mean():.2g} / {values[~inside].mean():.2g}"


def _image(name: str) -> str:
    return f"![{name}]({name}.png)"


QUICK_MARK = "QUICK RUN, not the experiment"
ALWAYS = (
    "Depth, rate and (for SGB) the number of trees are chosen on each split by the likelihood of a fifth of its "
    "training rows (tuning.csv); then all training rows are used. The paper keeps 1,000 trees for SGB too.",
    "Single models are the first members of the ensembles. In regression an ensemble trains one model more, which "
    f"holds back a tenth of the training rows for the others to fit their scale ({' and '.join(HELD_OUT_FOR_SCALE)}); "
    "of SGB it may also cut the last trees.",
    "The second out-of-domain set, from Higgs, is ours: the paper has no numbers for it.",
    "The mask and the noise of the heart, and the spirals, are ours: the paper shows its own as pictures only.",
)


def make_remarks(scores: Scores, settings: UncertaintySettings, sources: dict[str, str]) -> list[str]:
    """One sentence or two for each; ``sources`` are the files that tables were read from."""
    there = [dataset for dataset in DATASETS if dataset.name in scores.datasets]
    absent = [dataset for dataset in DATASETS if dataset not in there]
    remarks = [_quick(settings)] if settings.quick else []
    remarks += [
        f"{dataset.title}† is PARTIAL ({_rows(scores, dataset)}): {dataset.remark}."
        for dataset in there
        if dataset.remark
    ]
    remarks += (
        [f"No results for {', '.join(f'{dataset.title} ({dataset.file})' for dataset in absent)}."] if absent else []
    )
    remarks += _few_splits(scores, there)
    remarks += [*_elsewhere(sources), *ALWAYS]
    if any(scores.get(dataset.name, FORESTS, "error") for dataset in there):
        remarks.append(
            f"Forests are run on the first {FOREST_SPLITS} splits. Those of the ensemble have "
            f"{settings.forest_trees // settings.members} trees each, where the authors have as many as in the single "
            f"forest, {settings.forest_trees:,}. Leave-one-out means are noised as in the authors' code; probabilities "
            "of 0 are raised to 2e-16, as scikit-learn does."
        )
    return remarks


def _quick(settings: UncertaintySettings) -> str:
    return (
        f"{QUICK_MARK}: {settings.trees} trees, depths {_listed(settings.depths)}, rates {_listed(settings.rates)}, "
        f"forests of {settings.forest_trees} trees, {settings.rows_per_cell} rows in a cell of the heart."
    )


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _rows(scores: Scores, dataset: Dataset) -> str:
    line = scores.lines(dataset.name)[0]
    return f"{line.train_rows + line.test_rows:,} rows of the paper's {dataset.paper_rows:,}"


def _few_splits(scores: Scores, datasets: list[Dataset]) -> list[str]:
    counts = {dataset: len({line.split for line in scores.lines(dataset.name)}) for dataset in datasets}
    few = [f"{dataset.title} {n} of {dataset.n_splits}" for dataset, n in counts.items() if n < dataset.n_splits]
    return [f"Fewer splits than published: {', '.join(few)}."] if few else []


def _elsewhere(sources: dict[str, str]) -> list[str]:
    """Where the first set of out-of-domain rows comes from, as far as that is not what the paper says."""
    remarks = []
    if sources.get(YEAR.title, "").endswith(".parquet"):
        remarks.append(
            f"Out-of-domain rows are drawn, with replacement, from the first 1,176 rows of Year MSD "
            f"({sources[YEAR.title]}): the whole table ({next(iter(YEAR.files))}) is not at hand."
        )
    if sources and CT_SLICES.title not in sources:
        names = ", ".join(BY_NAME[name].title for name in NEEDS_CT)
        remarks.append(
            f"CT slices are not at hand ({next(iter(CT_SLICES.files))}): the out-of-domain rows of {names} come from "
            "Year MSD (those of Year MSD itself from Higgs)."
        )
    return remarks
