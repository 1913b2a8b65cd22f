"""Graphs side by side, and where they differ."""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.covariance import GraphicalLasso
from sklearn.exceptions import NotFittedError

from surefoot import DataError, ParameterError, StableSelector
from surefoot.plots.graph_display import ONLY_HERE, ONLY_IN_FIRST, SAME, GraphDisplay
from surefoot.selection import LassoSelector, SINDySelector
from surefoot.selection.graphical_lasso_selector import GraphicalLassoSelector

NODES = ("a", "b", "c", "d")
FIRST, SECOND = {("a", "b"), ("b", "c"), ("a", "d")}, {("b", "a"), ("c", "b"), ("d", "c")}


def chain(n_rows=60, seed=0):
    """Each column depends on the one before it."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 5))
    for j in range(1, 5):
        X[:, j] += 0.6 * X[:, j - 1]
    return pd.DataFrame(X, columns=["one", "two", "three", "four", "five"])


@pytest.fixture(scope="module")
def stable():
    return StableSelector(GraphicalLassoSelector(0.25, standardize=False), n_bags=300, epsilon=0.1, random_state=0).fit(
        chain()
    )


def axes(n_axes, **figure):
    return Figure(layout="constrained", **figure).subplots(1, n_axes, squeeze=False)[0]


def labels(ax):
    """The names and their positions."""
    return {text.get_text(): np.array(text.get_position()) for text in ax.texts}


def drawn_edges(ax, lines):
    """The names nearest to the ends of each line."""
    names = labels(ax)
    ends = [] if lines is None else lines.get_segments()
    return {frozenset(min(names, key=lambda name: np.hypot(*(names[name] - end))) for end in line) for line in ends}


def edge_sets(graphs):
    return [{frozenset(edge) for edge in graph} for graph in graphs]


def test_the_graphs_of_the_selector_are_drawn(stable):
    given = axes(3)
    display = GraphDisplay.from_estimator(stable, top=3, axes=given)
    models = list(stable.weights_)[:3]
    first, *others = edge_sets(models)
    assert drawn_edges(given[0], display.edges_[0][SAME]) == first
    for ax, lines, graph in zip(given[1:], display.edges_[1:], others, strict=True):
        for sort, expected in ((SAME, graph & first), (ONLY_HERE, graph - first), (ONLY_IN_FIRST, first - graph)):
            assert drawn_edges(ax, lines.get(sort)) == expected
    for ax, model in zip(given, models, strict=True):
        assert ax.get_title().startswith(f"{stable.weights_[model]:.1%} of the bags, {len(model)} edges")
        assert ax.get_title().endswith("selected") == (model in stable.selected_)
    assert (display.axes_, display.figure_) == (list(given), given[0].figure)


def test_the_heaviest_graph_is_the_most_frequent_one_by_scikit_learn(stable):
    X, bags = chain(), stable._bagging.pool.bags(0, 300)
    fits = [GraphicalLasso(alpha=0.25, tol=1e-6, enet_tol=1e-8).fit(X.to_numpy()[bag]).precision_ for bag in bags]
    found = [frozenset(zip(*np.nonzero(np.triu(np.abs(fit) > 1e-6, 1)), strict=True)) for fit in fits]
    most = max(found, key=found.count)
    display = GraphDisplay.from_estimator(stable, top=1, axes=axes(1))
    assert display.graphs[0] == {(X.columns[a], X.columns[b]) for a, b in most}


def test_edges_that_differ_are_red_and_not_solid():
    given = axes(2)
    display = GraphDisplay(NODES, [FIRST, SECOND]).plot(axes=given)
    same, here, there = (display.edges_[1][sort] for sort in (SAME, ONLY_HERE, ONLY_IN_FIRST))
    assert drawn_edges(given[1], same) == {frozenset("ab"), frozenset("bc")}
    assert drawn_edges(given[1], here) == {frozenset("cd")}
    assert drawn_edges(given[1], there) == {frozenset("ad")}
    assert len({repr(lines.get_linestyle()) for lines in (same, here, there)}) == 3
    assert same.get_linestyle()[0][1] is None  # solid
    for lines in (here, there):
        red, green, blue = to_rgb(lines.get_colors()[0])
        assert red > 0.5 > 0.2 > max(green, blue)
    assert [text.get_text() for text in given[1].get_legend().get_texts()] == [ONLY_HERE, ONLY_IN_FIRST]
    assert given[0].get_legend() is None
    assert set(display.edges_[0]) == {SAME}


def test_nodes_are_on_a_circle_in_order_and_unconnected_ones_are_hollow():
    (ax,) = axes(1)
    GraphDisplay(NODES, [{("a", "c")}]).plot(axes=[ax])
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), [[0, 1], [1, 0], [0, -1], [-1, 0]], atol=1e-12)
    hollow = [tuple(face[:3]) == (1.0, 1.0, 1.0) for face in ax.collections[-1].get_facecolors()]
    assert hollow == [False, True, False, True]
    assert list(labels(ax)) == list(NODES)


def test_titles_without_weights_or_selection():
    given = axes(2)
    GraphDisplay(NODES, [FIRST, {("a", "b")}], selected=[False, True]).plot(axes=given)
    assert [ax.get_title() for ax in given] == ["3 edges", "1 edge, selected"]


def test_without_axes_a_figure_is_created():
    display = GraphDisplay(NODES, [FIRST] * 5).plot()
    assert len(display.axes_) == len(display.figure_.axes) == 5
    assert display.figure_ is plt.gcf()
    plt.close(display.figure_)


@pytest.mark.parametrize(
    ("nodes", "width"),
    [
        ([f"phosphorylated protein kinase {j}" for j in range(11)], None),
        ([f"phosphorylated protein kinase {j}" for j in range(11)], 8.0),
        ([f"gene{j}" for j in range(60)], None),
    ],
)
def test_names_do_not_overlap_and_stay_inside_the_figure(nodes, width):
    graphs = [{(nodes[0], nodes[1])}, {(nodes[0], nodes[2])}]
    display = GraphDisplay(nodes, graphs, weights=[0.6, 0.4])
    display.plot(axes=None if width is None else axes(2, figsize=(width, 4)))
    figure = display.figure_
    figure.canvas.draw()
    for ax in display.axes_:
        middles = np.array([_middle(text) for text in ax.texts])
        apart = np.hypot(*(middles[:, np.newaxis] - middles[np.newaxis]).T) + 1e9 * np.eye(len(nodes))
        assert apart.min() > 8  # a line of small letters is about 11 pixels high
        for text in ax.texts:
            box = text.get_window_extent()
            assert not box.overlaps(ax.title.get_window_extent())
            assert figure.bbox.x0 - 2 < box.x0 < box.x1 < figure.bbox.x1 + 2
            assert figure.bbox.y0 <= box.y0
    assert all(name.get_text().replace("\n", " ")[-2:] == node[-2:] for name, node in zip(ax.texts, nodes, strict=True))
    if width is None:
        plt.close(figure)


def test_axes_do_not_collapse_if_names_have_no_room():
    nodes = [f"phosphorylated protein kinase {j}" for j in range(11)]
    given = axes(3, figsize=(3, 2))
    GraphDisplay(nodes, [{(nodes[0], nodes[1])}] * 3).plot(axes=given)
    given[0].figure.canvas.draw()  # would warn
    assert min(ax.get_window_extent().width for ax in given) > 60


def _middle(text):
    box = text.get_window_extent()
    return (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2


def test_names_are_not_formulas_and_subfigures_are_accepted():
    part = Figure().subfigures(1, 2)[0]
    display = GraphDisplay(("a$_b$", "$c^{", ""), [{("a$_b$", "$c^{")}]).plot(axes=part.subplots())
    part.figure.canvas.draw()
    assert list(labels(display.axes_[0])) == ["a$_b$", "$c^{", ""]


def test_invalid_arguments_are_refused(stable):
    with pytest.raises(ParameterError, match="must have leave_one_out"):
        GraphDisplay.from_estimator(GraphicalLasso())
    with pytest.raises(NotFittedError):
        GraphDisplay.from_estimator(StableSelector(GraphicalLassoSelector(1.0)))
    with pytest.raises(ParameterError, match="top must be 1 or more"):
        GraphDisplay.from_estimator(stable, top=0)
    X, few = chain(), {"n_bags": 20, "epsilon": 0.01, "random_state": 0}
    lasso = StableSelector(LassoSelector(alpha=0.1), **few).fit(X, X["one"])
    with pytest.raises(ParameterError, match="those of LassoSelector are not"):
        GraphDisplay.from_estimator(lasso)
    times = np.linspace(0, 5, 30)
    motion = pd.DataFrame({"x": np.cos(times), "v": np.sin(times)})
    sindy = StableSelector(SINDySelector(degree=1), **few).fit(motion, t=times)
    with pytest.raises(ParameterError, match="those of SINDySelector are not"):
        GraphDisplay.from_estimator(sindy)
    with pytest.raises(ParameterError, match="axes must be 2, for graph 1, graph 2; got 3"):
        GraphDisplay.from_estimator(stable, axes=axes(3))
    with pytest.raises(DataError, match="nodes must be two or more distinct names"):
        GraphDisplay(("a", "a"), [set()])
    with pytest.raises(DataError, match="graphs is empty"):
        GraphDisplay(NODES, [])
    for edge in (("a", "e"), ("a", "a"), ("a", "b", "c"), "ab"):
        with pytest.raises(DataError, match="not a pair of two distinct nodes"):
            GraphDisplay(NODES, [{edge}])
    for argument in ({"weights": [0.5]}, {"selected": [True]}):
        with pytest.raises(DataError, match="1 values for 2 graphs"):
            GraphDisplay(NODES, [FIRST, SECOND], **argument)


@pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA does not name the folder of the data")
def test_the_two_heaviest_graphs_of_the_papers_cells_differ_in_one_edge():
    cells = pd.read_parquet(Path(os.environ["SUREFOOT_DATA"]) / "sachs_cd3cd28icam2_u0126.parquet")
    stable = StableSelector(
        GraphicalLassoSelector(77, standardize=False), bag_size=700, n_bags=500, epsilon=0.05, random_state=0
    )
    display = GraphDisplay.from_estimator(stable.fit(cells), axes=axes(2))  # figure 5 of the paper
    assert len(display.graphs[0] ^ display.graphs[1]) == 1
    assert len(display.edges_[1]) == 2
