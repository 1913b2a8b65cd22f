"""The section on the regression trials: figures 6, 7, 8 and 12."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot.plots import ModelWeightsDisplay
from surefoot.selection.chosen_models import expression_of
from surefoot_experiments.skeleton.judge import Finding, is_unanimous
from surefoot_experiments.skeleton.report import Section, image, new_figure, save_figure
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.charts import draw_correlations, save_by_bags, save_stability
from surefoot_experiments.stability.correlated import BLOCKS, PRODUCT, covariance, covariate_names
from surefoot_experiments.stability.lines import RuleLine, WeightLine
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.sweep import SweepResults
from surefoot_experiments.stability.sweep_findings import (
    BATCHES,
    judge_rules,
    promise_remark,
    rule_table,
    undecided_remarks,
)

TOP = 10


def write_section(
    folder: Path,
    results: Sequence[RuleLine],
    weights: Sequence[WeightLine],
    tables: np.ndarray,
    settings: StabilitySettings,
) -> Section:
    """Draw the figures and write the section."""
    sweeps = SweepResults(results, settings.regression_bags)
    n_rows, names = tables.shape[1], covariate_names(tables.shape[2] - 1)
    means = mean_weights(weights)
    _draw_figure_6(folder / "figure-6.png", tables, names)
    _draw_figure_8(folder / "figure-8.png", means, names)
    _draw_sweeps(folder, sweeps, settings)
    setting = {"n_samples": n_rows, "bag_size": paper.REGRESSION_BAG_SIZE}
    findings = judge_rules(sweeps, paper.FIGURE_7, paper.FIGURE_7_ACCURACY, settings.fewer_bags)
    return Section(
        title="Correlated covariates: figures 6, 7, 8 and 12",
        text="\n\n".join(
            [
                _introduction(sweeps, means, n_rows, names),
                rule_table(sweeps, paper.FIGURE_7, paper.FIGURE_7_ACCURACY, **setting),
                *(image(f"figure-{number}") for number in (6, 7, 8, 12)),
            ]
        ),
        findings=(*findings, judge_top_six(weights, names)),
        remarks=(
            promise_remark(paper.FIGURE_7[-1].parameter, n_rows, paper.REGRESSION_BAG_SIZE),
            *undecided_remarks(sweeps, paper.FIGURE_7),
        ),
        seconds=sum(line.seconds for line in results),
    )


def _draw_sweeps(folder: Path, sweeps: SweepResults, settings: StabilitySettings) -> None:
    """Draw figures 7 and 12."""
    title = "Figure 7: the LASSO on correlated covariates"
    save_stability(folder / "figure-7.png", title, sweeps.curves(paper.FIGURE_7))
    by_bags = sweeps.by_bags(paper.FIGURE_7, settings.fewer_bags)
    save_by_bags(folder / "figure-12.png", "Figure 12: instability by the number of bags, LASSO", by_bags)


def mean_weights(weights: Sequence[WeightLine]) -> dict[tuple[str, ...], float]:
    """The weight of each model, averaged over trials, heaviest first."""
    trials = len({line.trial for line in weights})
    sums: dict[tuple[str, ...], float] = {}
    for line in weights:
        model = tuple(line.model.split())
        sums[model] = sums.get(model, 0.0) + line.weight
    return {model: sums[model] / trials for model in sorted(sums, key=lambda model: -sums[model])}


def judge_top_six(weights: Sequence[WeightLine], names: Sequence[str]) -> Finding:
    """Figure 8: whether the six heaviest models are one of each block, on all trials and on each of five batches."""
    means, expected = mean_weights(weights), [(f"x{i}", f"x{j}") for i in BLOCKS[0] for j in BLOCKS[1]]
    ranked = list(means)
    batches = [[line for line in weights if line.trial % BATCHES == batch] for batch in range(BATCHES)]
    same = [set(list(mean_weights(batch))[: len(expected)]) == set(expected) for batch in batches if batch]
    models = ranked[: len(expected)]
    missing = [
        f" {' and '.join(model)} has rank {ranked.index(model) + 1}, with {means[model]:.1%} of the bags."
        for model in expected
        if model in means and model not in models
    ]
    return Finding(
        text=f"The six heaviest models, on average over trials, are {PRODUCT}.",
        holds=is_unanimous([*same, set(models) == set(expected)]) if len(same) == BATCHES else None,
        detail=f"they are {expression_of(models, list(names))}.{''.join(missing)} The statement holds in {sum(same)} "
        f"of {len(same)} batches of the trials.",
    )


def _introduction(sweeps: SweepResults, means: dict[tuple[str, ...], float], n_rows: int, names: Sequence[str]) -> str:
    trials = len(sweeps.of(paper.FIGURE_7[0]))
    heaviest = expression_of(list(means)[:1], list(names))
    return (
        f"{trials} trials of {n_rows} rows and {len(names)} covariates, response x1 + x3 + noise; LASSO with penalty "
        f"{paper.REGRESSION_PENALTY}, {sweeps.bags:,} bags of {paper.REGRESSION_BAG_SIZE}. On average over trials "
        f"the heaviest model is {heaviest}, with {next(iter(means.values())):.1%} of the bags."
    )


def _draw_figure_6(path: Path, tables: np.ndarray, names: Sequence[str]) -> None:
    """Draw the covariance that the paper states, and that of its trials."""
    figure = new_figure(12.0, 5.4)
    first, second = figure.subplots(1, 2)
    draw_correlations(first, covariance(len(names)), names, "covariance")
    first.set_title("as stated")
    draw_correlations(second, np.mean([np.cov(table[:, :-1].T) for table in tables], axis=0), names, "covariance")
    second.set_title(f"mean over the {len(tables)} trials")
    figure.suptitle("Figure 6: covariance of the covariates; the response depends on x1 and x3")
    save_figure(path, figure)


def _draw_figure_8(path: Path, means: dict[tuple[str, ...], float], names: Sequence[str]) -> None:
    figure = new_figure(8.2, 4.6)
    title = "Figure 8: the heaviest models, weights averaged over trials"
    ModelWeightsDisplay(means, items=names, top=TOP, noun="covariates", name=title).plot(ax=figure.subplots())
    save_figure(path, figure)
