"""Graphs that bags chose, side by side, as a chart."""

import textwrap
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exceptions import DataError, ParameterError
from surefoot._extras import needs
from surefoot._formatting import shortened
from surefoot._parameters import check_integer
from surefoot.plots.style import (
    LEGEND_SIZE,
    LETTER,
    check_panels,
    require_stable_selector,
    room_in_inches,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAME, ONLY_HERE, ONLY_IN_FIRST = "in the first graph too", "only here", "only in the first graph"
RED, INK = "#C1121F", "0.2"
STYLES: dict[str, dict[str, Any]] = {
    SAME: {"colors": INK, "linewidths": 1.2, "linestyles": "solid", "zorder": 1},
    ONLY_HERE: {"colors": RED, "linewidths": 2.4, "linestyles": "dashed", "zorder": 2},
    ONLY_IN_FIRST: {"colors": RED, "linewidths": 2.0, "linestyles": "dotted", "zorder": 2},
}
MAX_IN_A_ROW = 3
MANY_NODES = 24  # with more nodes, names are written along the radius
MIN_LETTERS, MAX_LETTERS = 6, 14  # in a line of a name
NAME_WIDTH = 0.24  # of the width of axes, for the names on each side
CIRCLE = 2.7  # inches, its diameter
GAP = 0.1  # between a node and its name; the circle's radius is 1

Edge = tuple[str, str]


class GraphDisplay:
    """Graphs with the same nodes, on circles; edges that differ from the first graph are red.

    Edges that the first graph lacks are dashed, and edges that only the first graph has are dotted, for colour-blind
    readers.

    Parameters
    ----------
    nodes : sequence of str
        The nodes in their order around the circle, clockwise from the top.
    graphs : sequence of collections of edges
        An edge is a pair of nodes, in either order.
    weights : sequence of float or None
        The fractions of bags that chose each graph, for the titles.
    selected : sequence of bool or None
        Whether each graph is selected, for the titles.

    Attributes
    ----------
    graphs : list of sets of edges
        The nodes of an edge are in the order of ``nodes``.
    axes_, figure_
        The axes of each graph and the figure, after ``plot``.
    edges_ : list of dict
        The drawn lines of each graph: those that are "in the first graph too", "only here" and "only in the first
        graph".

    Examples
    --------
    >>> from surefoot.plots.graph_display import GraphDisplay
    >>> graphs = [{("a", "b")}, {("a", "b"), ("c", "b")}]
    >>> display = GraphDisplay(("a", "b", "c"), graphs, weights=[0.6, 0.4]).plot()
    >>> sorted(display.graphs[1] - display.graphs[0])
    [('b', 'c')]
    >>> [ax.get_title() for ax in display.axes_]
    ['60.0% of the bags, 1 edge', '40.0% of the bags, 2 edges']
    """

    def __init__(
        self,
        nodes: Sequence[str],
        graphs: Sequence[Collection[Edge]],
        *,
        weights: Sequence[float] | None = None,
        selected: Sequence[bool] | None = None,
    ) -> None:
        self.nodes = tuple(nodes)
        if len(self.nodes) < 2 or len(set(self.nodes)) < len(self.nodes):
            raise DataError(f"nodes must be two or more distinct names, got {self.nodes!r}.")
        if len(graphs) == 0:
            raise DataError("graphs is empty: at least one graph is needed.")
        for argument, values in (("weights", weights), ("selected", selected)):
            if values is not None and len(values) != len(graphs):
                raise DataError(f"{argument} has {len(values)} values for {len(graphs)} graphs: give one for each.")
        self.graphs = [_in_order(graph, self.nodes) for graph in graphs]
        self.weights = weights
        self.selected = selected

    @classmethod
    @needs("matplotlib")
    def from_estimator(cls, estimator: Any, *, top: int = 2, axes: "Sequence[Axes] | None" = None) -> "GraphDisplay":
        """Draw the heaviest graphs of a fitted `StableSelector` of graphs.

        Parameters
        ----------
        estimator : StableSelector
            Fitted, with a `selection.GraphicalLassoSelector` or any other selector of sets of pairs of variables.
        top : int, default=2
            The number of graphs to draw, heaviest first.
        axes : sequence of matplotlib Axes or None, default=None
            One for each graph. None: new axes in a new figure.

        Returns
        -------
        GraphDisplay
            The display, drawn.
        """
        require_stable_selector(estimator)
        check_integer("top", top, 1)
        nodes, items = estimator._bagging.table.names, estimator._bagging.prepared.items
        if items is None or not all(_is_edge(item, nodes) for item in items):
            raise ParameterError(
                f"estimator must have graphs as models, but those of {type(estimator.selector).__name__} are not: fit "
                "a StableSelector with a GraphicalLassoSelector, or use ModelWeightsDisplay."
            )
        models = list(estimator.weights_)[:top]
        chosen = set(estimator.selected_)
        display = cls(
            nodes,
            models,
            weights=[estimator.weights_[model] for model in models],
            selected=[model in chosen for model in models],
        )
        return display.plot(axes=axes)

    def plot(self, axes: "Sequence[Axes] | None" = None) -> "GraphDisplay":
        """Draw each graph on axes of its own.

        Parameters
        ----------
        axes : sequence of matplotlib Axes or None, default=None
            One for each graph. None: new axes in a new figure.

        Returns
        -------
        GraphDisplay
            The display itself, drawn.
        """
        panels = [f"graph {number + 1}" for number in range(len(self.graphs))]
        self.axes_ = self._new_axes() if axes is None else check_panels(axes, panels)
        self.figure_ = self.axes_[0].figure
        angles = np.pi / 2 - 2 * np.pi * np.arange(len(self.nodes)) / len(self.nodes)
        places = dict(zip(self.nodes, np.stack([np.cos(angles), np.sin(angles)], axis=1), strict=True))
        for number, ax in enumerate(self.axes_):
            ax.set_title(self._title(number), fontsize="medium")
            ax.set_axis_off()
        self.edges_ = [self._draw_edges(ax, graph, places) for ax, graph in zip(self.axes_, self.graphs, strict=True)]
        _lay_out(self.figure_)  # the size of the axes decides how long names can be
        for ax, graph in zip(self.axes_, self.graphs, strict=True):
            _draw_nodes(ax, places, {node for edge in graph for node in edge})
        return self

    def _new_axes(self) -> "list[Axes]":
        import matplotlib.pyplot as plt

        n_columns = min(len(self.graphs), MAX_IN_A_ROW)
        n_rows = -(-len(self.graphs) // n_columns)
        across, up = _room_for_names([_name_lines(node, len(self.nodes), MAX_LETTERS) for node in self.nodes])
        size = (n_columns * (CIRCLE + 2 * across + 0.2), n_rows * (CIRCLE + 2 * up + 0.7))
        axes = plt.figure(figsize=size, layout="constrained").subplots(n_rows, n_columns, squeeze=False).ravel()
        for ax in axes[len(self.graphs) :]:
            ax.remove()
        return list(axes[: len(self.graphs)])

    def _draw_edges(self, ax: "Axes", graph: set[Edge], places: dict[str, np.ndarray]) -> dict[str, Any]:
        """Draw the edges as straight lines; return the lines of each kind that occurs."""
        from matplotlib.collections import LineCollection

        first = self.graphs[0]
        kinds = {SAME: graph & first, ONLY_HERE: graph - first, ONLY_IN_FIRST: first - graph}
        lines = {}
        for kind, edges in kinds.items():
            if edges:
                ends = [[places[a], places[b]] for a, b in sorted(edges)]
                lines[kind] = ax.add_collection(LineCollection(ends, label=kind, **STYLES[kind]))
        changed = [line for kind, line in lines.items() if kind != SAME]
        if changed:
            style: dict[str, Any] = {"frameon": False, "fontsize": LEGEND_SIZE, "handlelength": 2.4}
            ax.legend(handles=changed, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, **style)
        return lines

    def _title(self, number: int) -> str:
        n_edges = len(self.graphs[number])
        parts = [] if self.weights is None else [f"{self.weights[number]:.1%} of the bags"]
        parts.append(f"{n_edges:,} edge{'' if n_edges == 1 else 's'}")
        if self.selected is not None and self.selected[number]:
            parts.append("selected")
        return ", ".join(parts)


def _is_edge(item: Any, nodes: Iterable[str]) -> bool:
    known = set(nodes)
    return isinstance(item, tuple) and len(item) == 2 and item[0] != item[1] and set(item) <= known


def _in_order(graph: Collection[Edge], nodes: tuple[str, ...]) -> set[Edge]:
    """The edges, with the nodes of each in their order on the circle."""
    for edge in graph:
        if not _is_edge(edge, nodes):
            raise DataError(f"graphs has the edge {edge!r}, which is not a pair of two distinct nodes.")
    place = {node: number for number, node in enumerate(nodes)}
    return {(a, b) if place[a] < place[b] else (b, a) for a, b in graph}


def _lay_out(figure: Any) -> None:
    """Compute the final positions of the axes."""
    root = figure.figure  # the whole figure, if this is a subfigure
    if root.get_layout_engine() is not None:
        root.get_layout_engine().execute(root)


def _name_lines(node: str, n_nodes: int, letters: int) -> list[str]:
    """The lines in which a node's name is written: two short ones, or one along the radius."""
    if n_nodes > MANY_NODES:
        return [shortened(node, letters)]
    return textwrap.wrap(shortened(node, 2 * letters - 2), letters) or [""]


def _room_for_names(names: list[list[str]]) -> tuple[float, float]:
    """The maximum width and height of names, in inches."""
    across = LETTER * max(len(line) for lines in names for line in lines) + 0.1
    return across, across if len(names) > MANY_NODES else 0.16 * max(map(len, names))


def _draw_nodes(ax: "Axes", places: dict[str, np.ndarray], connected: set[str]) -> None:
    """Draw nodes as dots, hollow if they have no edge, with their names outside the circle."""
    many = len(places) > MANY_NODES
    faces = [INK if node in connected else "white" for node in places]
    x, y = np.array(list(places.values())).T
    ax.scatter(x, y, s=14 if many else 36, c=faces, edgecolors=INK, zorder=3)
    letters = int(np.clip(NAME_WIDTH * room_in_inches(ax)[0] / LETTER, MIN_LETTERS, MAX_LETTERS))
    names = [_name_lines(node, len(places), letters) for node in places]
    for lines, place in zip(names, places.values(), strict=True):
        style = _along_radius(*place) if many else _beside(*place)
        x, y = (1 + GAP) * place
        ax.text(x, y, "\n".join(lines), fontsize=LEGEND_SIZE, parse_math=False, **style)
    _set_limits(ax, *_room_for_names(names))


def _beside(x: float, y: float) -> dict[str, Any]:
    """The alignment of a horizontal name beside its node."""
    across = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"
    return {"ha": across, "va": "center" if abs(y) < 0.8 else "bottom" if y > 0 else "top"}


def _along_radius(x: float, y: float) -> dict[str, Any]:
    """The alignment of a name along the radius of its node, never upside down."""
    right = x > -1e-9
    turn = np.degrees(np.arctan2(y, x)) + (0 if right else 180)
    return {"ha": "left" if right else "right", "va": "center", "rotation": turn, "rotation_mode": "anchor"}


def _set_limits(ax: "Axes", across: float, up: float) -> None:
    """Set limits that leave room for names around the circle, on axes of this size."""
    width, height = room_in_inches(ax)
    radius = max(min(width / 2 - across, height / 2 - up) / (1 + GAP), 0.2 * min(width, height))  # in inches
    right, top = 1 + GAP + across / radius, 1 + GAP + up / radius
    ax.set(aspect="equal", xlim=(-right, right), ylim=(-top, top))
