"""The heaviest models as rows of squares, or as bars."""

import os
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso

from surefoot import DataError, ParameterError, StableSelector
from surefoot._exceptions import UndecidedWarning
from surefoot.plots.model_weights_display import ModelWeightsDisplay
from surefoot.selection import InclusionProbability, LassoSelector, ModelWeights
from surefoot.selection.graphical_lasso_selector import GraphicalLassoSelector
from surefoot.selection.selector import Selector
from surefoot.selection.table import NO_TARGET

N_COLUMNS = 40
NAMES = [f"measured quantity number {j}" for j in range(N_COLUMNS)]


@dataclass(frozen=True)
class PreparedSign:
    values: np.ndarray
    items: None = None
    are_variables: bool = False
    bags_per_call: int = 100

    def select(self, bags):
        return [("mean above" if mean > 0 else "mean below", "zero") for mean in self.values[bags].mean(axis=1)]


class SignSelector(Selector):
    """A selector of models that are not sets."""

    target = NO_TARGET

    def prepare(self, table):
        return PreparedSign(table.X[:, 0])


def correlated(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    X[:, 3] = X[:, 2] + 0.1 * rng.normal(size=n_rows)
    X[:, 6] = X[:, 5] + 0.1 * rng.normal(size=n_rows)
    return pd.DataFrame(X, columns=NAMES), X[:, 2] + X[:, 5] + 0.3 * rng.normal(size=n_rows)


@pytest.fixture(scope="module")
def stable():
    model = StableSelector(LassoSelector(alpha=0.3, standardize=False), n_bags=500, epsilon=0.3, random_state=0)
    return model.fit(*correlated())


@pytest.fixture
def ax():
    return Figure(figsize=(8, 6), layout="constrained").subplots()


def labels_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def drawn_models(display):
    """The items of each row's black squares."""
    black = np.asarray(display.mesh_.get_array()).reshape(len(display.models), -1).astype(bool)
    return [tuple(item for item, has in zip(display.columns, row, strict=True) if has) for row in black]


def test_squares_show_the_models_with_weights_beside_them(stable, ax):
    display = ModelWeightsDisplay.from_estimator(stable, top=5, ax=ax)
    assert drawn_models(display) == list(stable.weights_)[:5]
    counted = np.sort(np.bincount(stable.bag_models_))[::-1][:5] / 500
    assert [float(label.rstrip("%")) / 100 for label in labels_of(ax.yaxis)] == pytest.approx(counted, abs=6e-4)
    assert display.mesh_.get_cmap()(1.0)[:3] == (0.0, 0.0, 0.0)
    assert (display.ax_, display.figure_) == (ax, ax.figure)


def test_the_first_row_is_the_most_frequent_model_by_scikit_learn(ax):
    X, y = correlated(n_rows=40)
    stable = StableSelector(LassoSelector(alpha=0.3, standardize=False), n_bags=150, epsilon=0.02, random_state=0).fit(
        X, y
    )
    bags = stable._bagging.pool.bags(0, 150)
    fitted = [np.flatnonzero(Lasso(alpha=0.3).fit(X.to_numpy()[bag], y[bag]).coef_) for bag in bags]
    chosen = [tuple(NAMES[j] for j in model) for model in fitted]
    display = ModelWeightsDisplay.from_estimator(stable, top=1, ax=ax)
    assert chosen.count(drawn_models(display)[0]) == max(map(chosen.count, chosen))
    assert labels_of(ax.yaxis) == [f"{max(map(chosen.count, chosen)) / 150:.1%}"]


def test_dots_and_bold_weights_mark_selected_models(stable, ax):
    display = ModelWeightsDisplay.from_estimator(stable, ax=ax)
    marked = [display.models[int(y)] for y in display.dots_.get_ydata()]
    assert marked == [model for model in display.models if model in stable.selected_]
    assert 0 < len(marked) < len(display.models)
    bold = [label.get_fontweight() == "bold" for label in ax.get_yticklabels()]
    assert bold == [model in stable.selected_ for model in display.models]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["selected"]


def test_unused_columns_of_many_are_left_out_and_counted(stable, ax):
    display = ModelWeightsDisplay.from_estimator(stable, top=3, ax=ax)
    used = {name for model in display.models for name in model}
    assert display.columns == [name for name in NAMES if name in used]
    assert display.remarks[0] == f"{N_COLUMNS - len(used)} further columns are in none of these models"
    rest = sum(list(stable.weights_.values())[3:])
    assert display.remarks[1] == f"{len(stable.weights_) - 3} further models have {100 * rest:.3g}% of the weight"
    assert ax.get_xlabel().replace("\n", " ") == " ".join(display.remarks)


def test_few_columns_are_all_shown(ax):
    display = ModelWeightsDisplay({("b",): 1.0}, items=("a", "b", "c")).plot(ax=ax)
    assert display.columns == ["a", "b", "c"]
    assert (display.remarks, ax.get_legend()) == ([], None)


def test_a_limit_keeps_the_columns_of_the_heaviest_models(ax):
    weights = {("a", "d"): 0.5, ("d", "e"): 0.3, ("b", "e"): 0.2}
    display = ModelWeightsDisplay(weights, items=tuple("abcde"), max_columns=2, noun="terms").plot(ax=ax)
    assert display.columns == ["a", "d"]
    assert labels_of(ax.yaxis) == ["50.0%", "30.0%  +1", "20.0%  +2"]
    assert display.remarks == [
        "1 further term is in none of these models",
        "2 further terms of these models are not shown (+)",
    ]
    assert ModelWeightsDisplay(weights, items=tuple("abcde"), max_columns=5).columns == list("abcde")
    unused = ModelWeightsDisplay(weights, items=tuple("abcde"), max_columns=4)
    assert (unused.columns, unused.remarks) == (list("abde"), ["1 further item is in none of these models"])


def test_edges_are_columns(ax):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=["w", "x", "y", "z"])
    X["y"] += X["w"]
    stable = StableSelector(
        GraphicalLassoSelector(0.3, standardize=False), n_bags=200, epsilon=0.3, random_state=0
    ).fit(X)
    display = ModelWeightsDisplay.from_estimator(stable, top=3, ax=ax)
    assert drawn_models(display) == list(stable.weights_)[:3]
    assert labels_of(ax.xaxis) == ["w - x", "w - y", "w - z", "x - y", "x - z", "y - z"]


def test_models_that_are_not_sets_are_bars(ax):
    X = np.random.default_rng(0).normal(size=(50, 1))
    stable = StableSelector(SignSelector(), n_bags=300, epsilon=0.1, random_state=0).fit(X)
    display = ModelWeightsDisplay.from_estimator(stable, ax=ax)
    assert [bar.get_width() for bar in display.bars_] == list(stable.weights_.values())
    assert labels_of(ax.yaxis) == [f"({', '.join(model)})" for model in stable.weights_]
    assert display.columns is None
    blue, grey = (bar.get_facecolor() for bar in display.bars_)
    assert stable.selected_ == (display.models[0],)
    assert blue != grey
    assert [text.get_text() for text in ax.texts] == [f"{weight:.1%}" for weight in stable.weights_.values()]


def test_the_empty_model_is_a_row_or_a_bar_if_it_is_the_only_one(ax):
    display = ModelWeightsDisplay({(): 0.6, ("a",): 0.4}, items=("a", "b")).plot(ax=ax)
    assert drawn_models(display) == [(), ("a",)]
    alone = ModelWeightsDisplay({(): 1.0}, items=NAMES).plot(ax=Figure().subplots())
    assert alone.columns is None
    assert labels_of(alone.ax_.yaxis) == ["nothing"]


def test_nested_models_are_written_without_quotes(ax):
    tree = ("Lin28a", ("Nanog", "ESC", "EPI"), "NPC")
    ModelWeightsDisplay({tree: 0.7, frozenset({"b", "a"}): 0.2, 3: 0.1}).plot(ax=ax)
    assert labels_of(ax.yaxis) == ["(Lin28a, (Nanog, ESC, EPI), NPC)", "(a, b)", "3"]


def test_means_over_several_selectors_can_be_shown(ax):
    models = [("a",), ("b",), ("a", "b")]
    display = ModelWeightsDisplay(ModelWeights(models, np.mean([[0.2, 0.5, 0.3], [0.4, 0.1, 0.5]], axis=0)), items="ab")
    assert drawn_models(display.plot(ax=ax)) == [("a", "b"), ("a",), ("b",)]
    assert labels_of(ax.yaxis) == ["40.0%", "30.0%", "30.0%"]


def test_selected_models_that_are_not_shown_are_counted(stable, ax):
    chosen = list(stable.weights_)[:4]
    display = ModelWeightsDisplay(stable.weights_, items=NAMES, selected=chosen, top=2)
    assert display.remarks[-1] == "2 models that are not shown are also selected"
    X, y = correlated()
    by_items = StableSelector(
        LassoSelector(alpha=0.3, standardize=False), rule=InclusionProbability(0.01), n_bags=300, random_state=0
    )
    display = ModelWeightsDisplay.from_estimator(by_items.fit(X, y), ax=ax)
    assert by_items.selected_[0] not in by_items.weights_
    assert display.remarks[-1] == "1 model that is not shown is also selected"
    assert len(display.dots_.get_xdata()) == 0


def test_undecided_selections_have_a_remark(ax):
    X, y = correlated()
    with pytest.warns(UndecidedWarning):
        undecided = StableSelector(
            LassoSelector(alpha=0.3, standardize=False), epsilon=1.2, n_bags=200, random_state=0
        ).fit(X, y)
    assert "cannot tell" in ModelWeightsDisplay.from_estimator(undecided, ax=ax).remarks[-1]


def test_nothing_overlaps_with_long_names_a_title_and_many_remarks(stable):
    display = ModelWeightsDisplay.from_estimator(stable, name="all rows", max_columns=3)
    ax, figure = display.ax_, display.figure_
    figure.canvas.draw()
    boxes = [ax.title.get_window_extent(), ax.get_legend().get_window_extent(), ax.get_window_extent()]
    boxes += [label.get_window_extent() for label in ax.get_xticklabels()]
    boxes += [label.get_window_extent() for label in ax.get_yticklabels()] + [ax.xaxis.label.get_window_extent()]
    for place, box in enumerate(boxes):
        assert not any(box.fully_overlaps(other) for other in boxes[place + 1 :])
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
    squares = ax.get_window_extent()
    assert squares.width / 3 == pytest.approx(squares.height / len(display.models))
    assert labels_of(ax.xaxis)[0].endswith(display.columns[0][-8:])
    plt.close(figure)


def test_names_are_not_formulas_and_subfigures_are_accepted():
    part = Figure(layout="constrained").subfigures(1, 2)[0]
    display = ModelWeightsDisplay({("a$_b$", r"\frac$"): 0.9, ("<c>",): 0.1}, items=("a$_b$", r"\frac$", "<c>"))
    display.plot(ax=part.subplots()).figure_.figure.canvas.draw()
    assert labels_of(display.ax_.xaxis) == ["a$_b$", r"\frac$", "<c>"]
    bars = ModelWeightsDisplay({"$x^{$": 1.0}).plot(ax=Figure().subplots())
    bars.figure_.canvas.draw()


def test_invalid_arguments_are_refused(stable):
    with pytest.raises(ParameterError, match="must have leave_one_out, but Lasso does not: pass a fitted StableSel"):
        ModelWeightsDisplay.from_estimator(Lasso())
    with pytest.raises(NotFittedError):
        ModelWeightsDisplay.from_estimator(StableSelector(LassoSelector(alpha=0.3, standardize=False)))
    with pytest.raises(ParameterError, match="top must be 1 or more"):
        ModelWeightsDisplay.from_estimator(stable, top=0)
    with pytest.raises(ParameterError, match="max_columns must be 1 or more"):
        ModelWeightsDisplay.from_estimator(stable, max_columns=0)
    with pytest.raises(DataError, match="weights is empty"):
        ModelWeightsDisplay({})
    with pytest.raises(DataError, match="items lacks 'b'"):
        ModelWeightsDisplay({("a", "b"): 1.0}, items=["a"])


def test_importing_the_displays_of_selection_does_not_import_matplotlib(fresh_process):
    names = ("model_weights_display", "stability_display", "graph_display")
    modules = ", ".join(f"surefoot.plots.{name}" for name in names)
    script = f"import sys, {modules}; print('matplotlib' in sys.modules)"
    run = fresh_process(script)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["False"]


@pytest.mark.skipif("SUREFOOT_DATA" not in os.environ, reason="SUREFOOT_DATA does not name the folder of the data")
def test_the_papers_regression_has_the_models_of_figure_8(ax):
    trials = np.load(Path(os.environ["SUREFOOT_DATA"]) / "correlated_regression_trials.npz")["data"]
    total: dict = {}
    for trial in trials:
        stable = StableSelector(
            LassoSelector(alpha=0.5, standardize=False), bag_size=25, epsilon=0.01, n_bags=200, random_state=0
        )
        for model, weight in stable.fit(trial[:, :-1], trial[:, -1]).weights_.items():
            total[model] = total.get(model, 0.0) + weight / len(trials)
    display = ModelWeightsDisplay(total, items=[f"x{j}" for j in range(20)], top=8).plot(ax=ax)
    product = {(first, second) for first in ("x0", "x1") for second in ("x2", "x3", "x4")}
    drawn = drawn_models(display)
    assert set(drawn[:5]) < product < set(drawn)  # Lasso also has a model of three variables
