"""What the graphs of proteins show: table 2 and figures 4, 5 and 11."""

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
from surefoot_experiments.stability.graph_folds import Validation, draw_figure_11
from surefoot_experiments.stability.graph_peer import Peers
from surefoot_experiments.stability.graph_results import Graphs

TOP = 2  # graphs that figure 5 shows
FIGURES = ("figure-4", "figure-5", "figure-11", "graph-rules")


def tell(folder: Path, cells: Any, graphs: Graphs, validation: Validation, peers: Peers, seconds: float) -> Section:
    """Draw the figures, and say what they show."""
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
        f"{graphs.bags:,} bags of {paper.GRAPH_BAG_SIZE}. Every cell is left out once. Means over {graphs.n_seeds} "
        "seeds of the bags, with the least and the largest; the paper has one.",
        _table_2(graphs),
        _weights(graphs),
        *(image(name) for name in FIGURES if (folder / f"{name}.png").exists()),
    ]
    return Section(
        "Graphs of proteins: table 2, figures 4, 5 and 11",
        "\n\n".join(text),
        judge_graphs(graphs, validation),
        make_remarks(graphs, peers),
        seconds,
    )


def _table_2(graphs: Graphs) -> str:
    """Our numbers beside the paper's."""
    rows = []
    for one, printed in paper.TABLE_2.items():
        found = [spread(graphs.instabilities(one)), spread(graphs.sizes(one), "{:.2f}".format)]
        rows.append([one.label, found[0], f"{printed.instability:.3f}", found[1], f"{printed.set_size:.2f}"])
    header = ["rule", "instability", "paper", "mean set size without a cell", "paper"]
    return f"**Table 2**\n\n{table(header, rows)}"


def _weights(graphs: Graphs) -> str:
    weights = [[heaviest[place][1] for heaviest in graphs.by_seed if len(heaviest) > place] for place in range(TOP)]
    shares = [spread(found, "{:.2%}".format) for found in weights if found]
    printed = [f"{weight:.2%}" for weight in paper.FIGURE_5_WEIGHTS]
    return f"The heaviest graphs have {' and '.join(shares)} of the bags; the paper's {' and '.join(printed)}."


def _draw_figure_5(path: Path, graphs: Graphs, proteins: list[str]) -> None:
    shown = graphs.heaviest[:TOP]
    figure = new_figure(4.9 * len(shown), 4.9)
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    figure.suptitle("Figure 5: the two heaviest graphs of proteins")
    GraphDisplay(proteins, [graph for graph, _ in shown], weights=[weight for _, weight in shown]).plot(axes=axes)
    save_figure(path, figure)


def _draw_rules(path: Path, graphs: Graphs) -> None:
    """Instability and mean set size along the inflation, which the paper has no figure of."""
    figure = new_figure(9.6, 4.6)
    first, second = figure.subplots(1, 2)
    epsilon = OURS_RULE.parameter
    first.axvline(epsilon, label=f"the paper's ε, {epsilon:g}", **{**REFERENCE_STYLE, "linestyle": ":"})
    StabilityDisplay(graphs.curves()).plot(axes=[first, second])
    second.set_ylabel("mean number of graphs without a cell")
    legend_below(figure, first)
    figure.suptitle("Graphs of proteins: rules along their parameters")
    save_figure(path, figure)
