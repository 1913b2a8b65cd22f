"""The section on graphs of proteins: table 2 and figures 4, 5 and 11."""

from pathlib import Path
from typing import Any

import numpy as np

from surefoot.plots import GraphDisplay, StabilityDisplay
from surefoot.plots.stability_display import REFERENCE_STYLE
from surefoot_experiments.skeleton.judge import spread
from surefoot_experiments.skeleton.report import Section, image, new_figure, save_figure, table
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.charts import legend_below, save_correlations
from surefoot_experiments.stability.graph_findings import OURS_RULE, judge_graphs, make_remarks
from surefoot_experiments.stability.graph_folds import PenaltyValidation, draw_figure_11
from surefoot_experiments.stability.graph_peer import PeerComparison
from surefoot_experiments.stability.graph_results import GraphResults

TOP = 2  # graphs that figure 5 shows
FIGURES = ("figure-4", "figure-5", "figure-11", "graph-rules")


def write_section(
    folder: Path, cells: Any, graphs: GraphResults, validation: PenaltyValidation, peers: PeerComparison, seconds: float
) -> Section:
    """Draw the figures and write the section."""
    proteins = list(cells.columns)
    correlations = np.corrcoef(cells.to_numpy().T)
    title = f"Figure 4: correlations of {len(proteins)} proteins"
    save_correlations(folder / "figure-4.png", title, correlations, proteins)
    _draw_figure_5(folder / "figure-5.png", graphs, proteins)
    _draw_rules(folder / "graph-rules.png", graphs)
    if len(validation.penalties):
        draw_figure_11(folder / "figure-11.png", validation)
    text = [
        f"{graphs.n_rows} cells, {len(proteins)} proteins; graphical lasso with penalty {paper.GRAPH_PENALTY:g}, "
        f"{graphs.bags:,} bags of {paper.GRAPH_BAG_SIZE}. Every cell is left out once. Numbers are means over "
        f"{graphs.n_seeds} seeds of the bags, with minimum and maximum; the paper has one seed.",
        _table_2(graphs),
        _weights(graphs),
        *(image(name) for name in FIGURES if (folder / f"{name}.png").exists()),
    ]
    return Section(
        title="Graphs of proteins: table 2, figures 4, 5 and 11",
        text="\n\n".join(text),
        findings=judge_graphs(graphs, validation),
        remarks=make_remarks(graphs, peers),
        seconds=seconds,
    )


def _table_2(graphs: GraphResults) -> str:
    """Our numbers and the paper's."""
    rows = []
    for rule, printed in paper.TABLE_2.items():
        ours = [spread(graphs.instabilities(rule)), spread(graphs.sizes(rule), "{:.2f}".format)]
        rows.append([rule.label, ours[0], f"{printed.instability:.3f}", ours[1], f"{printed.set_size:.2f}"])
    header = ["rule", "instability", "paper", "mean set size without a cell", "paper"]
    return f"**Table 2**\n\n{table(header, rows)}"


def _weights(graphs: GraphResults) -> str:
    weights = [[heaviest[rank][1] for heaviest in graphs.by_seed if len(heaviest) > rank] for rank in range(TOP)]
    ours = [spread(by_seed, "{:.2%}".format) for by_seed in weights if by_seed]
    printed = [f"{weight:.2%}" for weight in paper.FIGURE_5_WEIGHTS]
    return f"The heaviest graphs have {' and '.join(ours)} of the bags; the paper's {' and '.join(printed)}."


def _draw_figure_5(path: Path, graphs: GraphResults, proteins: list[str]) -> None:
    shown = graphs.heaviest[:TOP]
    figure = new_figure(4.9 * len(shown), 4.9)
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    figure.suptitle("Figure 5: the two heaviest graphs of proteins")
    GraphDisplay(proteins, [graph for graph, _ in shown], weights=[weight for _, weight in shown]).plot(axes=axes)
    save_figure(path, figure)


def _draw_rules(path: Path, graphs: GraphResults) -> None:
    """Draw instability and mean set size by epsilon; the paper has no such figure."""
    figure = new_figure(9.6, 4.6)
    first, second = figure.subplots(1, 2)
    epsilon = OURS_RULE.parameter
    first.axvline(epsilon, label=f"the paper's ε, {epsilon:g}", **{**REFERENCE_STYLE, "linestyle": ":"})
    StabilityDisplay(graphs.curves()).plot(axes=[first, second])
    second.set_ylabel("mean number of graphs without a cell")
    legend_below(figure, first)
    figure.suptitle("Graphs of proteins: rules by their parameters")
    save_figure(path, figure)
