"""Figure 15: the heaviest trees of one draw; what differs from the first is red."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefoot.plots.graph_display import INK, RED
from surefoot_experiments.skeleton.report import new_figure, save_figure
from surefoot_experiments.stability.trees_models import TIES, Cells, TreeLine, grow_again

SPLIT, LEAF = "#E8EEF4", "white"
NODE = "#"  # how scikit-learn begins the text of a node, before its number
Places = dict[str, str]  # what stands at each place of a tree: the path from the root, "l" and "h" for low and high


def draw_figure_15(path: Path, cells: Cells, rows: Sequence[Sequence[TreeLine]]) -> None:
    """A panel for each tree, by scikit-learn's ``plot_tree``; of the thresholds, which do not count, none is shown.

    ``rows`` are the heaviest trees for each way to decide ties.
    """
    grown = [[grow_again(cells, line) for line in lines] for lines in rows]
    every = [tree for trees in grown for tree in trees]
    n_columns, depth = max(map(len, rows)), max(tree.get_depth() for tree in every)
    width, height = max(3.6, *(float(tree.get_n_leaves()) for tree in every)), 0.6 + 0.6 * (depth + 1)
    figure = new_figure(width * n_columns, 0.6 + height * len(rows))
    axes = figure.subplots(len(rows), n_columns, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for row, lines, trees in zip(axes, rows, grown, strict=True):
        _draw_row(row, lines, trees, cells)
    title = f"Figure 15: the heaviest trees of draw {rows[0][0].draw}; low expression left, red: not so in the first"
    figure.suptitle(title)
    save_figure(path, figure)


def _draw_row(axes: Sequence[Any], lines: Sequence[TreeLine], trees: Sequence[Any], cells: Cells) -> None:
    genes, fates = list(cells.genes.columns), sorted(set(cells.fates))
    places = [tree_places(tree, genes, fates) for tree in trees]
    for ax, line, tree, here in zip(axes, lines, trees, places, strict=False):
        draw_tree(ax, tree, here, places[0])
        ax.set_title(f"ties {TIES[line.ties]}: {line.weight:.2%} of the bags", fontsize="medium")


def tree_places(tree: Any, genes: Sequence[str], fates: Sequence[str]) -> Places:
    """The gene or the fate at every place of a tree that scikit-learn has grown."""
    grown, places = tree.tree_, {}
    for node, path in node_paths(tree).items():
        is_split = grown.children_left[node] >= 0
        code = tree.classes_[grown.value[node, 0].argmax()]
        places[path] = genes[grown.feature[node]] if is_split else fates[code]
    return places


def node_paths(tree: Any) -> dict[int, str]:
    """The path from the root to every node, in scikit-learn's numbering."""
    grown, paths = tree.tree_, {0: ""}
    for node in range(grown.node_count):  # children come after their parent
        if grown.children_left[node] >= 0:
            paths[int(grown.children_left[node])] = paths[node] + "l"
            paths[int(grown.children_right[node])] = paths[node] + "h"
    return paths


def draw_tree(ax: Any, tree: Any, places: Places, first: Places) -> None:
    """A tree whose nodes say their gene or fate, in red where the first tree has something else there."""
    from sklearn.tree import plot_tree

    paths = node_paths(tree)
    splits = {path[:-1] for path in places if path}
    for note in plot_tree(tree, ax=ax, node_ids=True, impurity=False, label="none", fontsize=9):
        text = note.get_text().strip()
        if not text.startswith(NODE):
            note.set_visible(False)  # "True" and "False" beside the first branches
            continue
        path = paths[int(text.split("\n")[0].removeprefix(NODE))]
        differs = first.get(path) != places[path]
        note.set_text(places[path])
        note.set_color(RED if differs else INK)
        note.get_bbox_patch().set(
            facecolor=SPLIT if path in splits else LEAF,
            edgecolor=RED if differs else INK,
            linewidth=1.8 if differs else 1.0,
            linestyle="--" if differs else "-",
        )
