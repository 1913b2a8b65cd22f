"""The section on the study: findings, tables and the chart, from all results in its file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot_experiments.shift.lines import ResultLine
from surefoot_experiments.shift.methods import IN_WORDS, JOINT, PLAIN, UNBIASED, WEIGHTED, default_method
from surefoot_experiments.shift.protocol import COVERAGE, FLEXIBLE, LEVEL, SELECTIONS, SMALL, STRENGTH, ShiftSettings
from surefoot_experiments.shift.ratios import BOTH, Average, TaskRatio
from surefoot_experiments.shift.study_chart import draw_ratios
from surefoot_experiments.shift.study_findings import Averages, judge_study, ratio_in_words
from surefoot_experiments.shift.tables import TABLES
from surefoot_experiments.skeleton.report import Section, bullets, image, table, write_table

PICTURE, RATIOS, AVERAGES = "ratios", "ratios.csv", "averages.csv"
HOW_TO_READ = f"""\
The sample is biased, the target is not: rows were drawn with odds exp({STRENGTH:.2f} score), where the score is a rank.
Ratios divide the target RMSE by that of plain boosting with the same budget, and are geometric means over splits: below
1 is better. A star marks a difference with p < {LEVEL:g} in a paired t-test of logarithms over splits; splits share
rows, so that these p-values are somewhat too small, and none is corrected for the number of tests. Means over tasks
weight every dataset equally; their {100 * COVERAGE:.0f}% intervals come from resampling datasets. `{UNBIASED}` does not
compete: plain boosting on as many rows that were drawn with equal probabilities shows what the bias costs."""


def describe_study(folder: Path, lines: Sequence[ResultLine], settings: ShiftSettings) -> Section | None:
    """Draw the chart, write the tables, and describe them; None if nothing can be compared yet."""
    means = Averages(lines, default_method())
    if not means.ratios:
        return None
    write_table(folder / RATIOS, means.ratios)
    write_table(folder / AVERAGES, means.all)
    draw_ratios(folder / f"{PICTURE}.png", "Boosting on a biased sample", means.ratios, means.all, means.default)
    parts = [HOW_TO_READ, _methods(lines, means.default), _averages(means.all), image(PICTURE)]
    parts += [_samples(lines, settings), *(_ratios(means.ratios, budget.name) for budget in settings.budgets)]
    return Section(
        "Biased samples of nine UCI tables",
        "\n\n".join(parts),
        tuple(judge_study(means)),
        tuple(_remarks(lines)),
        sum(line.seconds for line in lines),
    )


def _methods(lines: Sequence[ResultLine], default: str) -> str:
    present = dict.fromkeys(line.method for line in lines)
    return "Methods:\n\n" + bullets(
        f"`{method}`: {IN_WORDS[method]}{', the default' if method == default else ''}." for method in present
    )


def _averages(means: Sequence[Average]) -> str:
    """Write a row for each method, and a column for each budget."""
    budgets = [name for name in (FLEXIBLE.name, SMALL.name, BOTH) if any(entry.budget == name for entry in means)]
    by_budget = {(entry.method, entry.budget): entry for entry in means}
    rows = []
    for method in dict.fromkeys(entry.method for entry in means):
        shown = [by_budget[method, budget] for budget in budgets if (method, budget) in by_budget]
        last = shown[-1]
        counts = [f"{last.better} / {last.worse} of {last.tasks}", f"{last.wins} / {last.losses}"]
        rows.append([method, *map(ratio_in_words, shown), *counts])
    header = ["method", *budgets, "tasks significantly better / worse", "splits won / lost"]
    return "Mean ratios over all tasks:\n\n" + table(header, rows)


def _ratios(ratios: Sequence[TaskRatio], budget: str) -> str:
    chosen = [entry for entry in ratios if entry.budget == budget]
    methods = list(dict.fromkeys(entry.method for entry in chosen))
    cells = {(entry.dataset, entry.selection, entry.method): _cell(entry) for entry in chosen}
    rows = []
    for name in TABLES:
        for selection in SELECTIONS:
            shown = [cells.get((name, selection, method), "") for method in methods]
            rows += [[TABLES[name].title, selection, *shown]] if any(shown) else []
    return f"Ratios, {budget} models:\n\n" + table(["dataset", "biased by", *methods], rows)


def _cell(entry: TaskRatio) -> str:
    return f"{entry.ratio:.3f}{'*' if entry.is_better or entry.is_worse else ''}"


def _samples(lines: Sequence[ResultLine], settings: ShiftSettings) -> str:
    """Describe the samples, and plain boosting on training and target rows; means over splits."""
    rows, budget = [], settings.budgets[0].name
    for name in TABLES:
        for selection in SELECTIONS:
            task = (name, selection, budget)
            of_task = [line for line in lines if (line.dataset, line.selection, line.budget) == task]
            plain, weighted, joint = ([x for x in of_task if x.method == method] for method in (PLAIN, WEIGHTED, JOINT))
            if plain and weighted and joint:
                rows.append([TABLES[name].title, selection, *_sample_cells(plain, weighted, joint)])
    header = ["dataset", "biased by", "splits", "training rows", "target rows", "shift (KS)"]
    header += ["effective rows, weighted", "coverage, joint", "plain RMSE, source", "plain RMSE, target"]
    return f"The samples ({budget} models):\n\n" + table(header, rows)


def _sample_cells(
    plain: Sequence[ResultLine], weighted: Sequence[ResultLine], joint: Sequence[ResultLine]
) -> list[str]:
    first = plain[0]
    shift, source, target = (np.mean([getattr(x, name) for x in plain]) for name in ("shift", "source_rmse", "rmse"))
    effective, coverage = np.mean([x.effective_rows for x in weighted]), np.mean([x.coverage for x in joint])
    return [str(len(plain)), str(first.train_rows), str(first.target_rows), f"{shift:.2f}", f"{effective:.0f}",
            f"{coverage:.2f}", f"{source:.3g}", f"{target:.3g}"]  # fmt: skip


def _remarks(lines: Sequence[ResultLine]) -> list[str]:
    splits_of = {name: {line.split for line in lines if line.dataset == name} for name in TABLES}
    absent = [TABLES[name].title for name, splits in splits_of.items() if not splits]
    few = [
        f"{TABLES[name].title} {len(splits)} of {TABLES[name].n_splits}"
        for name, splits in splits_of.items()
        if 0 < len(splits) < TABLES[name].n_splits
    ]
    remarks = [f"No results for {', '.join(absent)}."] if absent else []
    remarks += [f"Fewer splits than published: {', '.join(few)}."] if few else []
    refused = [line for line in lines if line.refusal]
    if refused:
        counts = {method: sum(line.method == method for line in refused) for method in {x.method for x in refused}}
        listed = ", ".join(f"{method} {count}" for method, count in sorted(counts.items()))
        remarks.append(f"Samples that a method refused, which have no ratio: {listed}. First: {refused[0].refusal}")
    return remarks
