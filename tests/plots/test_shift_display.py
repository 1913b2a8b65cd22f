"""Charts of shift reports."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from surefoot._exceptions import DataError, ParameterError
from surefoot.plots.shift_display import NOT_SHIFTED, SHIFTED, ShiftDisplay
from surefoot.shift.shift_report import shift_report

NAMES = ["age", "a name that is much too long to be written beside a bar, in thousands", "$x_{", "two\nlines", "gone"]


def tables(names=NAMES, n_rows=80):
    generator = np.random.default_rng(0)
    X, X_target = (pd.DataFrame(generator.normal(size=(n_rows, len(names))), columns=names) for _ in range(2))
    X_target[names[0]] += 2.0
    X_target[names[-1]] = np.nan
    return X, X_target


@pytest.fixture(scope="module")
def report():
    return shift_report(*tables(), random_state=0)


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def test_bars_are_the_distances_of_the_report(report, ax):
    display = ShiftDisplay.from_report(report, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.columns == report.columns
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == [0.0 if np.isnan(column.distance) else column.distance for column in report.columns]
    colours = [bar.get_facecolor()[:3] for bar in display.bars_]
    assert colours == [to_rgb(SHIFTED if column.shifted else NOT_SHIFTED) for column in report.columns]
    assert {to_rgb(SHIFTED), to_rgb(NOT_SHIFTED)} == set(colours)
    heights = [ax.transData.transform((0, bar.get_y()))[1] for bar in display.bars_]
    assert heights == sorted(heights, reverse=True)  # the first is at the top
    weights = [label.get_fontweight() for label in ax.get_yticklabels()]
    assert weights == ["bold" if column.shifted else "normal" for column in report.columns]


def test_the_title_has_the_joint_test(report, ax):
    display = ShiftDisplay.from_report(report, ax=ax, name="2024")
    title = " ".join(ax.get_title(loc="left").split())
    low, high = report.auc_interval
    assert title.startswith(
        f"2024: a classifier separates the tables, AUC {report.auc:.2f} 95% interval {low:.3f} to {high:.3f}"
    )
    assert display.report.p_value < 0.05
    X = tables()[0]
    same = ShiftDisplay.from_samples(X, X, random_state=0, ax=Figure().subplots())
    assert "a classifier does not separate the tables" in " ".join(same.ax_.get_title(loc="left").split())
    few = ShiftDisplay.from_samples(X[:5], X[:5], ax=Figure().subplots())
    assert "at least 20 rows" in " ".join(few.ax_.get_title(loc="left").split())


def test_diamonds_are_differences_of_missing_values(report, ax):
    display = ShiftDisplay.from_report(report, ax=ax)
    place = [column.name for column in report.columns].index("gone")
    assert display.diamonds_.get_xdata().tolist() == [1.0]
    assert display.diamonds_.get_ydata().tolist() == [place]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["shifted", "not shifted", "missing values"]
    whole = ShiftDisplay.from_samples(np.eye(4), np.eye(4), ax=Figure().subplots())
    assert whole.diamonds_ is None
    assert [text.get_text() for text in whole.ax_.get_legend().get_texts()] == ["not shifted"]


def test_small_differences_of_missing_values_are_marked_if_significant():
    generator = np.random.default_rng(0)
    X, X_target = (pd.DataFrame(generator.normal(size=(4000, 3)), columns=list("abc")) for _ in range(2))
    X_target.loc[:11, "a"] = np.nan  # 0.3%, p = 0.0005
    X_target.loc[:2, "b"] = np.nan  # 0.075%
    X_target.loc[:23, "c"], X.loc[:1, "c"] = np.nan, np.nan
    report = shift_report(X, X_target, random_state=0, max_rows=20)
    assert set(report.slightly_different_columns) == {"a", "c"}
    display = ShiftDisplay.from_report(report, ax=Figure().subplots())
    marked = [display.columns[place].name for place in display.diamonds_.get_ydata()]
    assert set(marked) == {"a", "c"}
    little = shift_report(X[["b"]], X_target[["b"]], random_state=0, max_rows=20)
    assert ShiftDisplay.from_report(little, ax=Figure().subplots()).diamonds_ is None


def test_columns_that_were_not_tested_are_hollow():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, 2.0]})
    display = ShiftDisplay.from_samples(X, X + 9, ax=Figure().subplots())
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["not tested"]
    assert {bar.get_facecolor()[:3] for bar in display.bars_} == {to_rgb("white")}
    assert {bar.get_edgecolor()[:3] for bar in display.bars_} == {to_rgb(NOT_SHIFTED)}


def test_axes_alone_in_a_figure_get_room_for_names(report):
    figure = Figure(figsize=(7, 4))
    display = ShiftDisplay.from_report(report, ax=figure.subplots())
    figure.draw_without_rendering()
    ax = display.ax_
    for box in [*(label.get_window_extent() for label in ax.get_yticklabels()), ax._left_title.get_window_extent()]:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


def test_existing_layouts_are_not_changed(report):
    several, moved, placed = Figure(), Figure(), Figure()
    tight = Figure(layout="tight")
    moved.subplots_adjust(left=0.4)
    given = [several.subplots(1, 2)[0], moved.subplots(), placed.add_axes((0.5, 0.2, 0.4, 0.5)), tight.subplots()]
    layout = tight.get_layout_engine()
    for ax in given:
        ShiftDisplay.from_report(report, ax=ax)
    assert [figure.get_layout_engine() for figure in (several, moved, placed)] == [None, None, None]
    assert tight.get_layout_engine() is layout


def test_only_the_most_shifted_columns_are_shown():
    X, X_target = tables([f"v{j}" for j in range(30)], n_rows=40)
    display = ShiftDisplay.from_samples(X, X_target, random_state=0)
    assert len(display.bars_) == 20
    assert display.columns == display.report.columns[:20]
    assert display.remark == "10 further columns, none of them shifted"
    assert display.remark in display.ax_.get_xlabel()
    plt.close(display.figure_)
    first = ShiftDisplay(display.report, top=1)
    assert first.remark == "29 further columns, 1 of them shifted"
    assert ShiftDisplay(display.report, top=30).remark is None
    assert ShiftDisplay(display.report, top=29).remark == "1 further column, not shifted"
    several = shift_report(X + 9, X, random_state=0)
    assert ShiftDisplay(several, top=16).remark == "14 further columns, all of them shifted"


@pytest.mark.parametrize("top", [1, 5])
def test_nothing_is_cut_off_or_overlaps(report, top):
    display = ShiftDisplay.from_report(report, top=top)
    figure, ax = display.figure_, display.ax_
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    boxes += [ax.get_legend().get_window_extent(), ax.xaxis.label.get_window_extent()]
    boxes += [ax._left_title.get_window_extent()]
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[place + 1 :])
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
    for text in ax.texts:  # the distances, beside their bars
        assert text.get_window_extent().x1 <= figure.bbox.x1
    plt.close(figure)


def test_names_are_not_formulas_and_stay_on_one_line(report, ax):
    display = ShiftDisplay.from_report(report, ax=ax)
    display.figure_.canvas.draw()
    labels = {label.get_text() for label in ax.get_yticklabels()}
    assert {"age", "$x_{", "two lines"} < labels
    assert all(len(label) <= 36 for label in labels)
    assert any(label.endswith("in thousands") for label in labels)


def test_subfigures_and_narrow_axes_are_accepted(report):
    figure = Figure(figsize=(7, 4), layout="constrained")
    part = figure.subfigures(1, 2)[0]
    display = ShiftDisplay.from_report(report, ax=part.subplots())
    figure.canvas.draw()
    legend, title = display.ax_.get_legend().get_window_extent(), display.ax_._left_title.get_window_extent()
    assert not legend.overlaps(title)
    assert title.x1 <= part.bbox.x1
    assert display.ax_.xaxis.label.get_window_extent().x1 <= part.bbox.x1


def test_invalid_arguments_are_refused(report):
    with pytest.raises(ParameterError, match="report must be what shift_report returns, got DataFrame"):
        ShiftDisplay.from_report(report.to_frame())
    with pytest.raises(ParameterError, match="top must be 1 or more, got 0"):
        ShiftDisplay.from_report(report, top=0)
    for ax in (Figure(), Figure().subplots(1, 2)):
        with pytest.raises(
            ParameterError, match=f"ax must be matplotlib Axes or None, got {type(ax).__name__}: for a fig"
        ):
            ShiftDisplay.from_report(report, ax=ax)
    X, X_target = tables()
    with pytest.raises(ParameterError, match="ax must be matplotlib Axes or None, got Figure"):
        ShiftDisplay.from_samples(None, None, ax=Figure())  # before anything is compared
    with pytest.raises(ParameterError, match="top must be a whole number"):
        ShiftDisplay.from_samples(X, X_target, top="all")
    with pytest.raises(DataError, match="X_target lacks the column 'age'"):
        ShiftDisplay.from_samples(X, X_target.drop(columns="age"))


def test_importing_the_display_does_not_import_matplotlib(fresh_process):
    script = "import sys, surefoot.plots.shift_display; print('matplotlib' in sys.modules)"
    run = fresh_process(script)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["False"]
