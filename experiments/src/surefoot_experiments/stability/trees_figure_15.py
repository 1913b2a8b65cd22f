"""Figure 15: the heaviest trees of one draw; differences from the first tree are red."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefoot.plots.graph_display import INK, RED
from surefoot_experiments.skeleton.report import new_figure, save_figure
from surefoot_experiments.stability.trees_models import TIES, Cells, TreeLine, grow_again

SPLIT, LEAF = "#E8EEF4", "white"
NODE = "#"  # the beginning of the text of a node in scikit-learn, before its number
NodeLabels = dict[str, str]  # gene or fate by the path from the root: "l" for low and "h" for high expression


def draw_figure_15(path: Path, cells: Cells, rows: Sequence[Sequence[TreeLine]]) -> None:
    """Draw each tree in a panel with scikit-learn's ``plot_tree``, without thresholds, which are not part of a model.

    ``rows`` are the heaviest trees for each way of deciding ties.
    """
    grown = [[grow_again(cells, line) for line in lines] for lines in rows]
    all_trees = [tree for trees in grown for tree in trees]
    n_columns, depth = max(map(len, rows)), max(tree.get_depth() for tree in all_trees)
    width, height = max(3.6, *(float(tree.get_n_leaves()) for tree in all_trees)), 0.6 + 0.6 * (depth + 1)
    figure = new_figure(width * n_columns, 0.6 + height * len(rows))
    axes = figure.subplots(len(rows), n_columns, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for row, lines, trees in zip(axes, rows, grown, strict=True):
        _draw_row(row, lines, trees, cells)
    title = f"Figure 15: the heaviest trees of draw {rows[0][0].draw}; left: low expression, red: not in the first tree"
    figure.suptitle(title)
    save_figure(path, figure)


def _draw_row(axes: Sequence[Any], lines: Sequence[TreeLine], trees: Sequence[Any], cells: Cells) -> None:
    genes, fates = list(cells.genes.columns), sorted(set(cells.fates))
    labels = [node_labels(tree, genes, fates) for tree in trees]
    for ax, line, tree, of_tree in zip(axes, lines, trees, labels, strict=False):
        draw_tree(ax, tree, of_tree, labels[0])
        ax.set_title(f"ties {TIES[line.ties]}: {line.weight:.2%} of the bags", fontsize="medium")


def node_labels(tree: Any, genes: Sequence[str], fates: Sequence[str]) -> NodeLabels:
    """The gene or the fate of every node of a scikit-learn tree."""
    grown, labels = tree.tree_, {}
    for node, path in node_paths(tree).items():
        is_split = grown.children_left[node] >= 0
        code = tree.classes_[grown.value[node, 0].argmax()]
        labels[path] = genes[grown.feature[node]] if is_split else fates[code]
    return labels


def node_paths(tree: Any) -> dict[int, str]:
    """The path from the root to every node, by scikit-learn's node numbers."""
    grown, paths = tree.tree_, {0: ""}
    for node in range(grown.node_count):  # children come after their parent
        if grown.children_left[node] >= 0:
            paths[int(grown.children_left[node])] = paths[node] + "l"
            paths[int(grown.children_right[node])] = paths[node] + "h"
    return paths


def draw_tree(ax: Any, tree: Any, labels: NodeLabels, first: NodeLabels) -> None:
    """Draw a tree with the gene or fate of every node, in red where the first tree has another one."""
    from sklearn.tree import plot_tree

    paths = node_paths(tree)
    splits = {path[:-1] for path in labels if path}
    for note in plot_tree(tree, ax=ax, node_ids=True, impurity=False, label="none", fontsize=9):
        text = note.get_text().strip()
        if not text.startswith(NODE):
            note.set_visible(False)  # "True" and "False" beside the first branches
            continue
        path = paths[int(text.split("\n")[0].removeprefix(NODE))]
        differs = first.get(path) != labels[path]
        note.set_text(labels[path])
        note.set_color(RED if differs else INK)
        note.get_bbox_patch().set(
            facecolor=SPLIT if path in splits else LEAF,
            edgecolor=RED if differs else INK,
            linewidth=1.8 if differs else 1.0,
            linestyle="--" if differs else "-",
        )
