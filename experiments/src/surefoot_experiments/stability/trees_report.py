"""What the trees of cells show: table 4 and figures 14 and 15."""

from collections.abc import Mapping
from pathlib import Path

from surefoot.plots import StabilityDisplay
from surefoot_experiments.skeleton.judge import spread
from surefoot_experiments.skeleton.report import Section, image, new_figure, save_figure, table
from surefoot_experiments.stability import paper
from surefoot_experiments.stability.charts import legend_below, save_correlations
from surefoot_experiments.stability.rule_grid import INFLATED, TOP_K
from surefoot_experiments.stability.settings import StabilitySettings
from surefoot_experiments.stability.trees_figure_15 import draw_figure_15
from surefoot_experiments.stability.trees_findings import SMALLER, TOP_2, judge_trees, make_remarks
from surefoot_experiments.stability.trees_models import TIES, Cells
from surefoot_experiments.stability.trees_results import Draws

SHOWN = {INFLATED: SMALLER, TOP_K: TOP_2}


def tell(folder: Path, cells: Cells, found: Mapping[str, Draws], settings: StabilitySettings) -> Section:
    """Draw the figures, and say what they show; ``found`` are the draws for each way to decide ties."""
    pictures = _draw(folder, cells, found)
    number = max(len(draws.numbers) for draws in found.values())
    text = [
        f"{number} draws of {paper.TREE_CELLS} out of {len(cells.fates)} cells, {cells.genes.shape[1]} genes, "
        f"{len(set(cells.fates))} fates; scikit-learn's decision tree with its defaults, {settings.tree_bags:,} bags "
        f"of {paper.TREE_BAG_SIZE}. Means over the draws, with the smallest and the largest; the paper has one draw. "
        "Splits that are equally good are decided by chance, anew in each bag, or in a fixed way, alike in all bags.",
        table_4(found),
        _weights(found),
        *map(image, pictures),
    ]
    return Section(
        "Trees of cells: table 4, figures 14 and 15",
        "\n\n".join(text),
        tuple(finding for ties, draws in found.items() for finding in judge_trees(draws, ties)),
        make_remarks(found, settings),
        sum(draws.seconds for draws in found.values()),
    )


def _draw(folder: Path, cells: Cells, found: Mapping[str, Draws]) -> list[str]:
    """All pictures; returns their names."""
    first = min(draws.numbers[0] for draws in found.values())
    drawn = cells.draw(first)
    title = f"Figure 14: correlations of {drawn.genes.shape[1]} genes, draw {first}"
    save_correlations(folder / "figure-14.png", title, drawn.correlations(), list(drawn.genes.columns))
    draw_figure_15(
        folder / "figure-15.png", drawn, [draws.trees[first] for draws in found.values() if first in draws.trees]
    )
    names = ["figure-14", "figure-15"]
    for ties, draws in found.items():
        names.append(f"trees-rules-{ties}")
        title = f"Trees of cells, ties decided {TIES[ties]}: rules over {len(draws.numbers)} draws"
        _draw_rules(folder / f"{names[-1]}.png", title, draws)
    return names


def _draw_rules(path: Path, title: str, draws: Draws) -> None:
    """Instability over the draws, and set sizes against the worst, which the paper has no figure of."""
    figure = new_figure(9.6, 4.6)
    display = StabilityDisplay(draws.curves(SHOWN)).plot(axes=figure.subplots(1, 2))
    display.axes_[0].set_ylabel("draws that are at most so unstable")
    display.axes_[1].set(xlabel="worst instability over the draws", ylabel="median number of trees by all cells")
    legend_below(figure, display.axes_[0])
    figure.suptitle(title)
    save_figure(path, figure)


def table_4(found: Mapping[str, Draws]) -> str:
    """Our numbers beside the paper's."""
    rows = []
    for one, printed in paper.TABLE_4.items():
        unstable = [spread(draws.instabilities(one), "{:.2f}".format) for draws in found.values()]
        sizes = [spread(draws.sizes(one), "{:.2f}".format) for draws in found.values()]
        rows.append([one.label, f"{printed.instability:.2f}", *unstable, f"{printed.set_size:.2f}", *sizes])
    ours = [f"ours, ties {TIES[ties]}" for ties in found]
    header = ["rule", "instability: paper", *ours, "mean set size without a cell: paper", *ours]
    return f"**Table 4**\n\n{table(header, rows)}"


def _weights(found: Mapping[str, Draws]) -> str:
    """How heavy the three heaviest trees are."""
    rows = [
        [str(place), f"{printed:.2%}", *(spread(draws.weights(place), "{:.2%}".format) for draws in found.values())]
        for place, printed in enumerate(paper.FIGURE_15_WEIGHTS, start=1)
    ]
    header = ["place", "paper", *(f"ours, ties {TIES[ties]}" for ties in found)]
    return f"The shares of bags of the heaviest trees:\n\n{table(header, rows)}"
