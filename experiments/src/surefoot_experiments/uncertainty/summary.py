"""The summary of a run in Markdown: findings, what to know, and every table beside the paper's numbers."""

from collections.abc import Sequence
from typing import Any

from surefoot_experiments.markdown import bullets, table
from surefoot_experiments.uncertainty import table_2
from surefoot_experiments.uncertainty.comparison_table import Cell, Layout, as_markdown, count_reached
from surefoot_experiments.uncertainty.findings import Finding
from surefoot_experiments.uncertainty.heart import detection
from surefoot_experiments.uncertainty.maps import TITLES
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
    findings: Sequence[Finding],
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
