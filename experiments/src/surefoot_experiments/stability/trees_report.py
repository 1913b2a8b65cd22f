"""The section on trees of cells: table 4 and figures 14 and 15."""

from collections.abc import Mapping
from pathlib import Path

from surefoot.plots import StabilityDisplay
from surefoot_experiments.skeleton.judge import spread
from surefoot_experiments.skeleton.report import Section, image, new_figure, save_figure, table
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.charts import legend_below, save_correlations
from surefoot_experiments.stability.compared_rules import INFLATED, TOP_K
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.trees_figure_15 import draw_figure_15
from surefoot_experiments.stability.trees_findings import SMALLER, TOP_2, judge_trees, make_remarks
from surefoot_experiments.stability.trees_models import TIES, Cells
from surefoot_experiments.stability.trees_results import TreeResults

SHOWN = {INFLATED: SMALLER, TOP_K: TOP_2}


def write_section(
    folder: Path, cells: Cells, by_ties: Mapping[str, TreeResults], settings: StabilitySettings
) -> Section:
    """Draw the figures and write the section; ``by_ties`` are the draws for each way of deciding ties."""
    pictures = _draw_pictures(folder, cells, by_ties)
    number = max(len(draws.numbers) for draws in by_ties.values())
    text = [
        f"{number} draws of {paper.TREE_CELLS} out of {len(cells.fates)} cells, {cells.genes.shape[1]} genes, "
        f"{len(set(cells.fates))} fates; scikit-learn's decision tree with its defaults, {settings.tree_bags:,} bags "
        f"of {paper.TREE_BAG_SIZE}. Numbers are means over the draws, with minimum and maximum; the paper has one "
        "draw. Equally good splits are decided at random in each bag, or in a fixed way that is the same in all bags.",
        table_4(by_ties),
        _weights(by_ties),
        *map(image, pictures),
    ]
    return Section(
        title="Trees of cells: table 4, figures 14 and 15",
        text="\n\n".join(text),
        findings=tuple(finding for ties, draws in by_ties.items() for finding in judge_trees(draws, ties)),
        remarks=make_remarks(by_ties, settings),
        seconds=sum(draws.seconds for draws in by_ties.values()),
    )


def _draw_pictures(folder: Path, cells: Cells, by_ties: Mapping[str, TreeResults]) -> list[str]:
    """Draw all pictures, and return their names."""
    first = min(draws.numbers[0] for draws in by_ties.values())
    drawn = cells.draw(first)
    title = f"Figure 14: correlations of {drawn.genes.shape[1]} genes, draw {first}"
    save_correlations(folder / "figure-14.png", title, drawn.correlations(), list(drawn.genes.columns))
    heaviest = [draws.trees[first] for draws in by_ties.values() if first in draws.trees]
    draw_figure_15(folder / "figure-15.png", drawn, heaviest)
    names = ["figure-14", "figure-15"]
    for ties, draws in by_ties.items():
        names.append(f"trees-rules-{ties}")
        title = f"Trees of cells, ties decided {TIES[ties]}: rules over {len(draws.numbers)} draws"
        _draw_rules(folder / f"{names[-1]}.png", title, draws)
    return names


def _draw_rules(path: Path, title: str, draws: TreeResults) -> None:
    """Draw instability over the draws, and set sizes by worst instability; the paper has no such figure."""
    figure = new_figure(9.6, 4.6)
    display = StabilityDisplay(draws.curves(SHOWN)).plot(axes=figure.subplots(1, 2))
    display.axes_[0].set_ylabel("fraction of draws with at most this instability")
    display.axes_[1].set(xlabel="worst instability over the draws", ylabel="median number of trees with all cells")
    legend_below(figure, display.axes_[0])
    figure.suptitle(title)
    save_figure(path, figure)


def table_4(by_ties: Mapping[str, TreeResults]) -> str:
    """Our numbers and the paper's."""
    rows = []
    for rule, printed in paper.TABLE_4.items():
        instabilities = [spread(draws.instabilities(rule), "{:.2f}".format) for draws in by_ties.values()]
        sizes = [spread(draws.sizes(rule), "{:.2f}".format) for draws in by_ties.values()]
        rows.append([rule.label, f"{printed.instability:.2f}", *instabilities, f"{printed.set_size:.2f}", *sizes])
    ours = [f"ours, ties {TIES[ties]}" for ties in by_ties]
    header = ["rule", "instability: paper", *ours, "mean set size without a cell: paper", *ours]
    return f"**Table 4**\n\n{table(header, rows)}"


def _weights(by_ties: Mapping[str, TreeResults]) -> str:
    """The weights of the three heaviest trees."""
    rows = [
        [str(place), f"{printed:.2%}", *(spread(draws.weights(place), "{:.2%}".format) for draws in by_ties.values())]
        for place, printed in enumerate(paper.FIGURE_15_WEIGHTS, start=1)
    ]
    header = ["rank", "paper", *(f"ours, ties {TIES[ties]}" for ties in by_ties)]
    return f"Fractions of the bags that choose the heaviest trees:\n\n{table(header, rows)}"
